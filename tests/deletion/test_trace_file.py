"""The file of traces after each way to delete: no id, no account, no word is left in it."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.deletion import Outcome
from graph_memory.recall import traces

from ..makers import T0, entity, fact, holding, message, put
from ..transfer.support import OPTIONS, exported, hear, opened
from ..transfer.support import put as write
from ..world import CLUB, LI, World, li_in_club, living, zhang_in_club

WORD = "密道在书架后面"
TOLD = fact(CLUB, LI, entity("密道"), f"李四说{WORD}", speaker=LI)


async def retract(world: World) -> None:
    assert await world.memory.library.retract(CLUB.circle, "7")


async def forget_me(world: World) -> None:
    assert await world.memory.forget_me.forget(LI) is Outcome.DONE


async def forget(world: World) -> None:
    await world.memory.library.forget([TOLD.id], None, "owner")


WAYS = {retract: False, forget_me: False, forget: True}
"""Each with whether the questions of others stay."""


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_no_id_of_what_is_deleted_is_left(tmp_path, way):
    async with living(tmp_path) as world:
        line = await world.memory.learning.hear(replace(li_in_club, text=WORD, ref="7@1"))
        assert line
        await put(world.memory.journal, replace(TOLD, evidence=(line.id,)))
        await world.memory.settle()
        await world.ask(li_in_club, "书架后面的密道怎么走？")
        found, _ = await world.ask(zhang_in_club, "书架后面有密道吗？")
        assert {TOLD.id, f"m{line.id}"} & {each.id for each in found.trace.candidates}
    assert holding(tmp_path, TOLD.id, traces.FILE)
    assert holding(tmp_path, LI, traces.FILE)
    async with living(tmp_path, clock=[T0 + 600]) as world:
        await world.memory.settle()
        await way(world)
        assert bool([trace.query for trace in world.memory.recall.traces.recent()]) == WAYS[way]
        for text in () if WAYS[way] else (TOLD.id, f'"m{line.id}"', LI):
            assert holding(tmp_path, text, traces.FILE) == [], "at once, whoever kills us now"
        await world.ask(zhang_in_club, "书架那边有什么？")
    assert holding(tmp_path, TOLD.id, traces.FILE) == []
    assert (holding(tmp_path, f'"m{line.id}"', traces.FILE) == []) or way is forget
    assert (holding(tmp_path, LI, traces.FILE) == []) or way is not forget_me


async def test_an_import_that_is_undone_takes_the_traces_since(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as other:
        await hear(other, CLUB, message(CLUB, LI, WORD, T0))
        file = write(tmp_path / "x.jsonl", await exported(other))
    async with living(tmp_path / "b") as world:
        await world.ask(zhang_in_club, "今晚吃什么好呢？")
        brought = await world.memory.transfer.bring(
            await world.memory.transfer.importer(file, OPTIONS)
        )
        assert brought.run.count
        await world.memory.settle()
        await world.ask(zhang_in_club, "书架后面有密道吗？")
        await world.memory.transfer.undo()
        kept = [trace.query for trace in world.memory.recall.traces.recent()]
        assert kept == ["今晚吃什么好呢？"]
