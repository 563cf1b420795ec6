"""What is typed wrong does nothing, and is answered with what was probably meant."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.commands.memory_commands import COMMANDS, Commands
from graph_memory.commands.offline_commands import BackupCommands
from graph_memory.commands.usage import misused, nearest, several
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from ..cases import each_of, rows
from ..makers import T0, group, last_change, private, user
from ..world import opened
from . import call

ME = Turn(private("1"), user("1"), "小红")
OWNER = Turn(private("7"), user("7"), "主人", is_admin=True)
ADMIN = replace(OWNER, session=group("9"))
CALLERS = {"me": ME, "owner": OWNER, "admin": ADMIN}


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    settings = replace(Settings(), companion=("records", "core_facts", "inner_state", "proactive"))
    async with opened(tmp_path, settings, now=lambda: T0) as memory:
        await memory.learning.hear(Turn(ME.session, ME.user, "小红", "我在学大提琴"), at=T0)
        yield memory


async def state(memory: MemoryService) -> tuple[Any, ...]:
    """All that a command could have changed."""
    exports = memory.directory / "exports"
    return (
        await last_change(memory.journal),
        await memory.journal.counts(),
        await memory.journal.read(lambda rows: rows.erasures()),
        memory.learning.pauses.covers(ME.session, ME.user),
        memory.learning.pauses.covers(ADMIN.session, user("2")),
        sorted(exports.iterdir()) if exports.exists() else [],
    )


@pytest.mark.parametrize(("who", "line", "meant"), rows(__file__, "test_what_is_typed_wrong"))
async def test_what_is_typed_wrong_does_nothing(memory, who, line, meant):
    (memory.directory / "imports").mkdir()
    waiting = memory.directory / "imports/a.jsonl"
    waiting.write_text('{"time": 1, "sender": "1", "text": "a"}', "utf-8")
    before = await state(memory)
    name, _, words = line.replace("9…", "9" * 5_000).partition(" ")
    assert meant in await call(Commands(memory), CALLERS[who], name, words)
    assert await state(memory) == before


@each_of(rows(__file__, "test_other_words_for_a_command"))
def test_other_words_for_a_command(typed: str, meant: str) -> None:
    known = {word for each in COMMANDS for word in (each.name, *each.aliases.split())}
    assert nearest(typed, known | {"恢复"}) == meant


@each_of(rows(__file__, "test_several_lines"))
def test_several_lines_are_typed_in_many_ways(typed: str, lines: str) -> None:
    assert several(typed) == lines.split()


@pytest.mark.parametrize("piece", ["1  ", "1 , ", "1 and ", "1 - 2 ", "第 1 条 和 "])
def test_a_list_without_end_takes_no_time(piece: str) -> None:
    began = time.process_time()
    assert several(piece * 12 + "x") == []
    assert several(piece * 2_000 + "x") == []
    assert time.process_time() - began < 1


async def test_a_restore_is_confirmed_in_as_many_words(memory: MemoryService) -> None:
    name = (await memory.backups.make()).name
    restores = BackupCommands(memory.directory, "zh", UTC)
    for words in (f"{name} 确任", f"{name} confirm it", f"{name} x"):
        told, is_prepared = await restores.answer(words)
        assert "/记忆 恢复" in told
        assert not is_prepared
    assert "确认请发送" in (await restores.answer(name))[0]


@given(st.text(min_size=1).filter(lambda text: text.strip()))
def test_whatever_is_typed_is_answered_in_few_words(text: str) -> None:
    for language in ("zh", "en"):
        told = misused(language, "pause", text, {"group", "群"})
        assert len(told) < 250
        assert told.count("\n") == 1
    assert nearest(text, {"group"}) in ("", "group")
