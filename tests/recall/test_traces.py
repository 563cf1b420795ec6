"""Traces of the last days: what survives a restart, and what must not."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from graph_memory.model import Fact
from graph_memory.recall import RecallOptions, traces
from tests.makers import entity, fact, holding, put
from tests.scripted import answer, said
from tests.world import HOME, ZHANG, World, li, li_in_club, living, zhang, zhang_in_club

DAY = 86_400
CAT = fact(HOME, ZHANG, entity("橘猫"), "张三养了一只橘猫", predicate="has_pet")


def stored(directory: Path) -> list[dict[str, Any]]:
    path = directory / traces.FILE
    return json.loads(path.read_text())["traces"] if path.exists() else []


def asked(world: World) -> list[str]:
    return [trace.query for trace in world.memory.recall.traces.recent()]


async def test_a_trace_survives_a_restart_without_a_word(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        await world.say(zhang, "我对花生过敏")
        await put(world.memory.journal, CAT)
        found, _ = await world.ask(zhang, "橘猫能吃花生吗？")
        before = await world.memory.recall.retrace(found.trace)
        assert before.block
    for words in ("橘猫", "花生", "过敏", "张三"):
        assert traces.FILE not in holding(tmp_path, words)
    async with living(tmp_path, clock=[found.trace.at + DAY]) as world:
        await world.memory.settle()
        assert asked(world) == ["橘猫能吃花生吗？"]
        (old,) = world.memory.recall.traces.recent()
        after = await world.memory.recall.retrace(old)
        assert [each.text for each in after.candidates] == [e.text for e in before.candidates]
        assert [each.dropped for each in after.candidates] == [e.dropped for e in before.candidates]
        assert after.candidates[0].signals == before.candidates[0].signals
        assert (after.timing, after.visible, after.lost) == (before.timing, before.visible, 0)
        assert (after.is_old, after.block) == (True, "")
        told = await world.memory.recall.explain(zhang.asker)
        assert [each.text for each in told.shown] == [
            each.text for each in before.candidates if not each.dropped
        ]
        assert await world.memory.recall.explain(li.asker) is None


async def test_what_is_gone_is_shown_of_no_trace(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        await put(world.memory.journal, CAT)
        found, _ = await world.ask(zhang, "我的橘猫呢？")
        assert "橘猫" in found.trace.block
        await world.memory.library.forget([CAT.id], None, "owner")
        await world.memory.settle()
        left = await world.memory.recall.retrace(found.trace)
        assert (left.block, [each.text for each in left.candidates]) == ("", ["我的橘猫呢？"])
        assert left.lost == 1
        assert await world.rows(Fact) == []
    assert holding(tmp_path, CAT.id, traces.FILE) == []
    assert stored(tmp_path)


async def test_only_what_is_stored_leaves_a_question(tmp_path: Path) -> None:
    """Who paused, or is on no list, is answered, and nothing of it is kept."""
    async with living(tmp_path) as world:
        await world.say(zhang, "我对花生过敏")
        options = RecallOptions(message=0)
        await world.memory.recall.remind(zhang.asker, "我的病历号是多少？", options)
        assert asked(world) == [""]
    assert stored(tmp_path) == []


async def test_traces_are_bounded_in_days_and_number(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(traces, "STORED", 3)
    async with living(tmp_path) as world:
        for number in range(5):
            await world.ask(zhang, f"第{number}次露营在哪？")
        end = world.clock[0]
    assert len(stored(tmp_path)) == 3
    async with living(tmp_path, clock=[end + 6.9 * DAY]) as world:
        assert asked(world) == [f"第{number}次露营在哪？" for number in (4, 3, 2)]
    async with living(tmp_path, clock=[end + 8 * DAY]) as world:
        assert asked(world) == []


async def test_they_are_written_while_nobody_asks(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(traces, "QUIET", 0.0)
    async with living(tmp_path) as world:
        await world.ask(zhang, "露营在哪？")
        await world.memory.recall._file._job.idle()
        assert len(stored(tmp_path)) == 1, "whoever kills us now loses nothing"


async def test_a_file_that_cannot_be_read_counts_as_empty(tmp_path: Path) -> None:
    for text in ("{", "[]", '{"version":1,"traces":[{}]}', '{"version":9,"traces":[1]}', "\x00"):
        (tmp_path / traces.FILE).write_text(text)
        async with living(tmp_path) as world:
            assert asked(world) == []


async def test_what_was_erased_while_nobody_looked_takes_all(tmp_path: Path) -> None:
    """A kill between an erasure and the file, another bot, or a backup that was restored."""
    async with living(tmp_path) as world:
        line = await world.say(li_in_club, "密道在书架后面")
        await world.ask(zhang_in_club, "密道在哪？")
    assert stored(tmp_path)
    with closing(sqlite3.connect(tmp_path / "journal.sqlite3")) as db, db:
        db.execute("DELETE FROM message WHERE id = ?", (line.id,))
    async with living(tmp_path) as world:
        assert asked(world) == []
        assert stored(tmp_path) == []


async def test_figures_stay_when_messages_are_thinned_out(world: World) -> None:
    old = await world.say(zhang, "露营地在莫干山")
    found, _ = await world.ask(zhang, "露营地在哪座山？")
    assert "莫干山" in found.trace.block
    await world.learn(answer(said("U1", "other", "露营", "张三去露营", 1)))
    event = traces.Erased((old.id,), is_aged=True)
    world.memory.recall._on_erased(event)
    await world.memory.settle()
    (trace,) = world.memory.recall.traces.recent()
    left = await world.memory.recall.retrace(trace)
    assert left.query == "露营地在哪座山？"
    assert "莫干山" not in left.block + "".join(each.text for each in left.candidates)
