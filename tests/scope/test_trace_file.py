"""Traces over a restart tell nobody, not even the owner, what they may not see."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.recall import traces

from ..makers import T0
from ..world import CLUB, World, li_in_club, living, zhang_in_club

pytestmark = pytest.mark.slow

VERSIONS = ("密道在书架后面，往左数第三块砖", "钥匙在花盆底下")
"""Of a message that is taken back."""


async def told(directory: Path, words: str) -> tuple[list[Any], bytes]:
    """What is shown after a restart, and the file, if words were said and taken back."""
    async with living(directory) as world:
        await world.say(zhang_in_club, "密道和钥匙是谁管的？")
        await world.ask(zhang_in_club, "谁管密道？")
        await world.memory.learning.hear(replace(li_in_club, text=words, ref="7@1"))
        await world.memory.settle()
        await world.ask(zhang_in_club, "密道和钥匙在哪？")
        assert await world.memory.library.retract(CLUB.circle, "7")
    async with living(directory, clock=[T0 + 900]) as world:
        await world.memory.settle()
        recent = world.memory.recall.traces.recent()
        assert [trace.query for trace in recent] == ["谁管密道？"]
        seen = [await world.memory.recall.retrace(trace) for trace in recent]
        shown = [repr((replace(each, weigh=tuple, timing={}), each.candidates)) for each in seen]
        shown.append(repr(await world.memory.recall.explain(zhang_in_club.asker)))
    text = (directory / traces.FILE).read_text(encoding="utf-8")
    return shown, text.partition('"timing"')[0].encode()


async def test_what_was_taken_back_changes_no_trace(tmp_path: Path) -> None:
    one, other = [await told(tmp_path / words, words) for words in VERSIONS]
    assert one == other


async def as_seen(world: World) -> list[Any]:
    """View as, for both people of the group."""
    found: list[Any] = []
    for turn in (zhang_in_club, li_in_club):
        outlook = await world.memory.view_as.outlook(turn.asker, world.clock[0])
        compared = await world.memory.view_as.compare(turn.asker, "露营定在哪座山？")
        found += [outlook, [item.text for item in compared.told.items], compared.kept]
    return found


async def test_view_as_is_the_same_with_and_without_traces(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        await world.say(zhang_in_club, "露营定在莫干山")
        await world.say(li_in_club, "我来啦")
        await world.ask(zhang_in_club, "露营定在哪座山？")
        end = world.clock[0]
    async with living(tmp_path, clock=[end]) as world:
        await world.memory.settle()
        assert world.memory.recall.traces.recent()
        with_traces = await as_seen(world)
        assert len(world.memory.recall.traces.recent()) == 1, "and it leaves none itself"
    (tmp_path / traces.FILE).unlink()
    async with living(tmp_path, clock=[end]) as world:
        await world.memory.settle()
        assert await as_seen(world) == with_traces
