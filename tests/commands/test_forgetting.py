"""Forgetting, correcting and undoing do what their names say, with all that rests on it."""

from dataclasses import replace

from graph_memory.companion import CoreFact
from graph_memory.library import OWNER, Amendment
from graph_memory.model import Fact, Turn

from ..world import World, zhang


async def remember(world: World, text: str, turn: Turn = zhang) -> None:
    await world.commands.remember(replace(turn, text=text))
    await world.memory.settle()


async def test_a_message_that_is_forgotten_takes_its_core_fact(world: World) -> None:
    await remember(world, "我不吃香菜")
    (core,) = await world.rows(CoreFact)
    await world.memory.library.unsay(core.evidence[0], zhang.asker, zhang.user)
    assert await world.rows(CoreFact) == []


async def test_core_facts_follow_what_the_owner_amends(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    (fact,) = await world.rows(Fact)
    amended = await world.memory.library.amend(fact.id, Amendment("张三的座位号是9排1座"), OWNER)
    assert "9排1座" in await world.commands.companion.core(zhang)
    await world.memory.library.undo(amended.id, OWNER)
    assert "7排3座" in await world.commands.companion.core(zhang)


async def test_a_number_without_end_is_none_of_the_list(world: World) -> None:
    assert "没有" in await world.commands.forget(zhang, "9" * 5_000)
