"""Core facts: few, numbered, always there; what is of use stays, what is pinned stays as it is."""

from dataclasses import replace
from typing import Any

from graph_memory.companion import CoreFact, CoreKind
from graph_memory.companion.core_facts import MOST, CoreFacts
from graph_memory.library import OWNER, Amendment
from graph_memory.model import Fact
from graph_memory.store import Draft, Rows

from ..world import CLUB, ZHANG, World, zhang


async def kept(world: World) -> dict[int, CoreFact]:
    return {row.number: row for row in await world.rows(CoreFact)}


async def test_core_facts_follow_what_the_owner_amends(world: World) -> None:
    await world.commands.remember(replace(zhang, text="我的座位号是7排3座"))
    await world.memory.settle()
    (fact,) = await world.rows(Fact)
    amended = await world.memory.library.amend(fact.id, Amendment("张三的座位号是9排1座"), OWNER)
    assert "9排1座" in await world.commands.companion.core(zhang)
    await world.memory.library.undo(amended.id, OWNER)
    assert "7排3座" in await world.commands.companion.core(zhang)


async def shelved(world: World, work: Any) -> dict[int, CoreFact]:
    def draft(rows: Rows) -> Draft:
        shelf = CoreFacts(rows, CLUB.id, ZHANG, world.clock[0])
        work(shelf)
        made = Draft("test", "core", put=[CLUB])
        shelf.write(made)
        return made

    world.later(1)
    await world.memory.journal.commit(draft)
    return await kept(world)


async def filled(world: World) -> dict[int, CoreFact]:
    """As many as there may be."""
    for number in range(MOST):
        text = f"第{number}件事"
        await shelved(world, lambda s, t=text: s.add(t, CoreKind.FACT, 1.0, (1,)))
    return await kept(world)


async def test_what_was_of_use_longest_ago_makes_room(world: World) -> None:
    full = await filled(world)
    assert sorted(full) == list(range(1, MOST + 1))
    await shelved(world, lambda s: s.use(full[1].id))
    pinned = Draft("test", "core", put=[replace(full[2], pinned=True)])
    await world.memory.journal.commit(lambda _: pinned)
    after = await shelved(world, lambda s: s.add("新的事", CoreKind.MOMENT, 1.0, (2,)))
    assert len(after) == MOST
    assert after[3].text == "新的事"
    assert (after[1].text, after[2].text) == ("第0件事", "第1件事")


async def test_with_everything_pinned_nothing_is_added(world: World) -> None:
    pinned = [replace(row, pinned=True) for row in (await filled(world)).values()]
    await world.memory.journal.commit(lambda _: Draft("test", "core", put=[*pinned]))
    after = await shelved(world, lambda s: s.add("新的事", CoreKind.FACT, 1.0, (2,)))
    assert "新的事" not in {row.text for row in after.values()}


async def test_the_same_words_are_the_same_thing(world: World) -> None:
    await shelved(world, lambda s: s.add("张三喜欢 Python", CoreKind.FACT, 1.0, (1,)))
    after = await shelved(world, lambda s: s.add("张三喜欢 python", CoreKind.FACT, 2.0, (5,)))
    assert len(after) == 1
    assert after[1].evidence == (1, 5)
