"""Forgetting, correcting and undoing do what their names say, with all that rests on it."""

from dataclasses import replace

from graph_memory.companion import CoreFact
from graph_memory.library import OWNER, Amendment
from graph_memory.model import Fact, Turn

from ..scripted import answer, said
from ..world import World, li_in_club, zhang, zhang_in_club


async def remember(world: World, text: str, turn: Turn = zhang) -> None:
    await world.commands.remember(replace(turn, text=text))
    await world.memory.settle()


async def reminded(world: World, text: str, turn: Turn = zhang) -> str:
    """All that stands before the model when somebody says something."""
    found, lead = await world.ask(turn, text)
    return f"{lead}\n{found.block}"


async def test_a_message_that_is_forgotten_takes_its_core_fact(world: World) -> None:
    await remember(world, "我不吃香菜")
    (core,) = await world.rows(CoreFact)
    await world.memory.library.unsay(core.evidence[0], zhang.asker, zhang.user)
    assert await world.rows(CoreFact) == []


async def test_a_line_is_forgotten_on_its_day_and_comes_back_by_undo(world: World) -> None:
    await world.say(zhang, "这周都在出差")
    await world.learn(answer(said("U1", "status", "出差", "张三在出差", 1)))
    await world.commands.mine(zhang)
    assert "看不懂" in await world.commands.forget(zhang, "1 改天")
    assert "出差" in await world.commands.forget(zhang, "1 2026-12-31")
    (fact,) = await world.rows(Fact)
    assert fact.expires
    assert "不会到期" in await world.commands.undo(zhang)
    assert (await world.rows(Fact))[0].expires is None
    await world.commands.forget(zhang, "1 2026-12-31")
    world.clock[0] = fact.expires + 1
    await world.memory.upkeep._step()
    await world.memory.settle()
    assert "出差" not in await world.commands.mine(zhang)
    assert "出差" not in await reminded(world, "我这周在忙什么？")
    told = await world.commands.undo(zhang)
    assert "出差" in told
    assert "不再到期" in told
    assert "出差" in await world.commands.mine(zhang)
    await world.memory.upkeep._step()
    assert "出差" in await world.commands.mine(zhang)


async def test_nobody_dates_what_is_not_theirs(world: World) -> None:
    await world.say(li_in_club, "我喜欢听评书")
    await world.learn(answer(said("U1", "likes", "评书", "李四喜欢听评书", 1)))
    (fact,) = await world.rows(Fact)
    assert "不是你的" in await world.commands.forget(zhang_in_club, f"{fact.id} 2030-01-01")
    assert (await world.rows(Fact))[0].expires is None
    for day in ("2030-01-01", "5月8日", "周五", "这周", "tomorrow"):
        assert "忘掉" in await world.commands.forget(li_in_club, f"{fact.id} {day}")
        assert (await world.rows(Fact))[0].expires > fact.said_at


async def test_core_facts_follow_what_the_owner_amends(world: World) -> None:
    await remember(world, "我的座位号是7排3座")
    (fact,) = await world.rows(Fact)
    amended = await world.memory.library.amend(fact.id, Amendment("张三的座位号是9排1座"), OWNER)
    assert "9排1座" in await world.commands.companion.core(zhang)
    await world.memory.library.undo(amended.id, OWNER)
    assert "7排3座" in await world.commands.companion.core(zhang)
