"""What the bot does while its memory cannot be opened: it goes on, says why, tries again."""

import asyncio
import logging
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from graph_memory.astrbot import Runtime, runtime
from tests.disks import small_disk
from tests.makers import message, private
from tests.sources import ROOT
from tests.waiting import until

SETTINGS = {
    "webui_port": 0,
    "local_embedding_model": "none",
    "enable_function_calling": False,
    "language": "zh",
}
OWNER = """
import asyncio, sys
from datetime import UTC
from pathlib import Path
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

async def main():
    await MemoryService.open(Path(sys.argv[1]), Settings(), zone=UTC)
    print("open", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
CONTEXT = SimpleNamespace(
    get_all_providers=lambda: ["p"], get_all_embedding_providers=list,
    register_web_api=lambda *_: None,
    get_config=lambda umo=None: {"timezone": "Asia/Shanghai"},
)  # fmt: skip
"""AstrBot's, as far as a memory that is opened needs it."""
LOG = logging.getLogger("astrbot-of-a-test")
admin = SimpleNamespace(is_admin=lambda: True, is_private_chat=lambda: True)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "RETRY", (0.05,))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


async def no_page(*_: Any) -> Any:
    raise AssertionError("there is no page")


@asynccontextmanager
async def started(
    directory: Path,
    settings: Mapping[str, Any] = SETTINGS,
    serve: Any = no_page,
    context: Any = CONTEXT,
) -> AsyncIterator[Runtime]:
    """A plugin that AstrBot has loaded, until it is unloaded."""
    one = Runtime(context, settings, lambda: directory, serve)
    await one.start(LOG)
    try:
        yield one
    finally:
        await one.stop()


async def why_not(one: Runtime) -> str:
    return await one.ask(admin, lambda commands, caller: commands.help(caller))


async def opened(one: Runtime) -> None:
    assert one._opening.is_running
    await until(lambda: one.memory)


@pytest.fixture
def owner(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the directory."""
    command = [sys.executable, "-c", OWNER, str(directory)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "open\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


async def test_a_second_bot_on_one_directory(directory, owner, caplog):
    async with started(directory) as second:
        assert second.memory is None
        assert "另一个 AstrBot 正在使用" in await why_not(second)
        await asyncio.sleep(0.5)
        assert second._opening.is_running
        assert second.memory is None
        told = [r for r in caplog.records if "in use" in r.getMessage()]
        assert len(told) == 1, "one line, however often it tried"
        owner.kill()
        await opened(second)


@pytest.mark.parametrize("is_full", [False, True])
async def test_a_disk_that_is_full_or_read_only_at_first(tmp_path: Path, is_full: bool):
    with small_disk(tmp_path / "disk") as disk:
        disk.fill() if is_full else disk.protect(read_only=True)
        async with started(disk.path / "memory") as one:
            assert one.memory is None
            told = await why_not(one)
            assert is_full or ("用不了" in told and "可写" in told)
            disk.free() if is_full else disk.protect(read_only=False)
            await opened(one)


async def test_a_damaged_journal_is_not_tried_again(directory: Path):
    directory.mkdir()
    (directory / "journal.sqlite3").write_bytes("不是数据库".encode() * 1000)
    async with started(directory) as one:
        assert one.memory is None
        assert not one._opening.is_running
        assert "一起移走，可以从头开始" in await why_not(one)


async def test_a_reload_does_not_wait_for_a_stuck_disk(directory, monkeypatch, caplog):
    monkeypatch.setattr(runtime, "CLOSING", 0.1)
    stuck, freed = threading.Event(), threading.Event()

    def hang(_db: sqlite3.Connection, _tell: Any) -> None:
        stuck.set()
        freed.wait(30)

    async with started(directory) as old:
        writing = asyncio.create_task(old.memory.journal.alter(hang))
        await asyncio.to_thread(stuck.wait, 30)
        await asyncio.wait_for(old.stop(), 10)
    assert "does not close" in caplog.text
    monkeypatch.undo()
    monkeypatch.setattr(runtime, "RETRY", (0.05,))
    async with started(directory) as new:
        assert new.memory is None
        assert "正在使用" in await why_not(new)
        freed.set()
        await writing
        await opened(new)
        assert not runtime._unfinished, "it was opened once the old one had closed"


async def test_a_key_that_no_page_can_show_is_told_once(directory, caplog):
    elsewhere = SETTINGS | {"webui_port": 6190}  # where something else listens
    with caplog.at_level(logging.WARNING):
        async with started(directory, elsewhere) as one:
            told = [r.getMessage() for r in caplog.records if "shown only now" in r.getMessage()]
            assert len(told) == 1
            assert (await one.memory.access()).matches(told[0].rsplit(" ", 1)[1])


async def test_a_memory_that_is_opened_anew_is_what_a_backup_held(directory, monkeypatch):
    monkeypatch.setattr(runtime, "ANSWERING", 0.01)
    async with started(directory) as one:
        before, home = one.memory, private("zhang")
        await before.journal.append(message(home, "qq:zhang", "我喜欢猫"), home)
        backup = await before.backups.make()
        await before.journal.append(message(home, "qq:zhang", "我也喜欢狗"), home)
        await before.backups.restore(backup.name)
        one.reopen()
        one.reopen()  # pressed twice
        assert one._reopening
        await one._reopening
        assert one.memory is not before
        assert (await one.memory.health()).counts["messages"] == 1
        one.reopen()
        await one.stop()  # which waits for that
        assert one.memory is None


async def test_a_reload_while_a_backup_is_restored_leaves_no_memory_open(directory, monkeypatch):
    async def answer(*_: Any) -> tuple[str, bool]:
        return "restored", True

    monkeypatch.setattr(runtime.BackupCommands, "answer", answer)
    async with started(directory) as one:
        restoring = asyncio.create_task(one.restore(admin, "backup yes"))
        await until(lambda: one.memory is None)
        await one.stop()
        await restoring
        assert one.memory is None


async def test_a_memory_that_does_not_close_cleanly_is_opened_anew(directory, monkeypatch):
    monkeypatch.setattr(runtime, "ANSWERING", 0.0)
    async with started(directory) as one:
        before = one.memory
        close = before.close

        async def fail() -> None:
            await close()
            raise PermissionError("a file of the graph is in use")

        monkeypatch.setattr(before, "close", fail)
        one.reopen()
        await until(lambda: one.memory not in (None, before))
