"""What is typed wrong does nothing, and is answered with what was probably meant."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.offline_commands import BackupCommands
from graph_memory.commands.transfers import ImportEnvironment
from graph_memory.commands.usage import misused, nearest
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from ..makers import T0, group, last_change, private, user
from ..world import opened
from . import call

ME = Turn(private("1"), user("1"), "小红")
OWNER = Turn(private("7"), user("7"), "主人", is_admin=True)
ADMIN = replace(OWNER, session=group("9"))
NOWHERE = ImportEnvironment()
Act = Callable[[Commands], Awaitable[Any]]


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


ACTS: dict[str, tuple[Act, str]] = {
    "pause qun": (lambda c: c.privacy.pause(ME, "qun"), "/记忆 暂停 [群]"),
    "pause grup": (lambda c: c.privacy.pause(ADMIN, "grup"), "是不是“group”"),
    "pause group now": (lambda c: c.privacy.pause(ADMIN, "group now"), "/记忆 暂停 [群]"),
    "resume foo": (lambda c: c.privacy.resume(ME, "foo"), "/记忆 继续 [群]"),
    "flush xyz": (lambda c: c.flush(OWNER, "xyz"), "/记忆 学习 [全部]"),
    "flush al": (lambda c: c.flush(OWNER, "al"), "是不是“all”"),
    "status now": (lambda c: call(c, ME, "status", "now"), "/记忆 状态"),
    "undo 3": (lambda c: call(c, ME, "undo", "3"), "/记忆 撤销"),
    "backup x": (lambda c: call(c, OWNER, "backup", "x"), "/记忆 备份"),
    "forgetme comfirm": (lambda c: c.privacy.forget_me(OWNER, "comfirm"), "是不是“confirm”"),
    "forgetme 确任": (lambda c: c.privacy.forget_me(ME, "确任"), "/记忆 忘记我"),
    "forgetme 99999": (lambda c: c.privacy.forget_me(OWNER, "99999"), "没有见过账号"),
    "export 99999": (lambda c: c.transfers.export(OWNER, "99999"), "没有见过账号"),
    "export al": (lambda c: c.transfers.export(OWNER, "al"), "是不是“all”"),
    "import confirm it": (
        lambda c: c.transfers.import_(OWNER, "confirm it", NOWHERE),
        "/记忆 导入",
    ),
    "import undo it": (lambda c: c.transfers.import_(OWNER, "undo it", NOWHERE), "/记忆 导入"),
    "import to=foo": (lambda c: c.transfers.import_(OWNER, "a.jsonl to=foo", NOWHERE), "foo"),
    "import too=foo": (lambda c: c.transfers.import_(OWNER, "a.jsonl too=foo", NOWHERE), "“to=”"),
    "import nofile": (lambda c: c.transfers.import_(OWNER, "nofile.json", NOWHERE), "nofile.json"),
    "records 1 x": (lambda c: c.companion.records(ME, "1 x"), "/记忆 记录"),
    "core pin 1 x": (lambda c: c.companion.core(ME, "pin 1 x"), "用法"),
    "inner history x": (lambda c: c.companion.inner(ME, "history x"), "用法"),
    "forget 1 2": (lambda c: c.forget(ME, "1 2"), "没有编号 1 2"),
    "forget a number without end": (lambda c: c.forget(ME, "9" * 5_000), "没有编号"),
}


@pytest.mark.parametrize("what", ACTS)
async def test_what_is_typed_wrong_does_nothing(memory: MemoryService, what: str) -> None:
    act, meant = ACTS[what]
    if what.startswith("import") and "a.jsonl" in what:
        folder = memory.directory / "imports"
        folder.mkdir()
        (folder / "a.jsonl").write_text('{"time": 1, "sender": "1", "text": "a"}', "utf-8")
    before = await state(memory)
    told = await act(Commands(memory))
    assert meant in (told if isinstance(told, str) else told.text)
    assert await state(memory) == before


async def test_the_right_words_still_act(memory: MemoryService) -> None:
    commands = Commands(memory)
    assert "⏸" in await commands.privacy.pause(ADMIN, "全群")
    assert "▶️" in await commands.privacy.resume(ADMIN, "group")
    assert "已学习" in await commands.flush(OWNER, "全部")
    assert "确认" in await commands.privacy.forget_me(OWNER, "1")
    assert "1 条消息" in (await commands.transfers.export(OWNER, "1")).text
    assert "记忆正常" in await call(commands, ME, "status", "")


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
