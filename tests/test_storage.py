"""A disk that is full, read-only or stuck: the chat goes on, and so does the memory later."""

import asyncio
import errno
import logging
import os
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.deletion import forget_me
from graph_memory.errors import DamagedError, JournalError, StorageError
from graph_memory.model import Turn
from graph_memory.service import MemoryService
from graph_memory.store import Journal
from graph_memory.store.journal import SLICE, Slices

from .disks import Disk, small_disk
from .makers import HOME, ZHANG, message
from .scripted import ScriptedModel
from .world import opened

admin = Turn(HOME, ZHANG, "张三", is_admin=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as found:
        yield found


async def hear(service: MemoryService, text: str) -> None:
    assert await service.learning.hear(Turn(HOME, ZHANG, "张三", text))


async def fill_journal(service: MemoryService, disk: Disk) -> None:
    """Fill the disk and what the journal's files have left inside."""
    disk.fill()
    for _ in range(2000):
        try:
            await hear(service, "我今天又去爬山了，" * 20)
        except JournalError:
            return
    pytest.fail("a full disk takes everything")


async def test_a_full_disk_stops_nothing_and_heals_by_itself(disk, caplog):
    model = ScriptedModel()
    async with opened(disk.path, model=model) as service:
        await hear(service, "我家的猫叫豆包")
        with caplog.at_level(logging.INFO, "graph_memory.store"):
            await fill_journal(service, disk)
            for _ in range(5):
                with pytest.raises(JournalError, match="full"):
                    await hear(service, "我喜欢猫" * 200)
            (line,) = [r for r in caplog.records if "nothing is stored" in r.message]
            assert "free some space" in line.message
            await service.recall.settle()
            assert "豆包" in (await service.recall.remind(admin.asker, "猫叫什么名字")).block
            assert (await service.health()).journal.storage.kind == "full"
            status = await Commands(service).status(admin)
            assert "磁盘满了" in status
            assert "腾出空间" in status
            with pytest.raises(JournalError, match="full"):
                await service.learning.flush()
            assert not model.calls, "what cannot be stored is not paid for"
            disk.free()
            assert (await service.health()).journal.storage.kind == ""
            await hear(service, "我喜欢猫" * 200)
            told = [r.message for r in caplog.records if r.name == "graph_memory.store"]
            assert told == [line.message, "messages are stored again"]
    async with opened(disk.path) as again:
        assert (await again.journal.counts())["messages"] >= 2


async def test_closing_on_a_full_disk(disk: Disk):
    async with opened(disk.path) as service:
        await hear(service, "我家的猫叫豆包")
        await fill_journal(service, disk)
        stored = (await service.journal.counts())["messages"]
    disk.free()
    async with opened(disk.path) as again:
        assert (await again.journal.counts())["messages"] == stored


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize(
    ("is_full", "told"),
    [(True, r"full|space|I/O"), (False, r"(?i)read-only.*(free some space|make it writable)")],
)
async def test_starting_where_nothing_can_be_written(disk, used, is_full, told):
    if used:
        async with opened(disk.path) as service:
            await hear(service, "我家的猫叫豆包")
    before = asyncio.all_tasks()
    disk.fill() if is_full else disk.protect(read_only=True)
    with pytest.raises(StorageError, match=told):
        await opened(disk.path).__aenter__()
    assert asyncio.all_tasks() == before
    disk.free() if is_full else disk.protect(read_only=False)
    async with opened(disk.path) as service:
        await hear(service, "我喜欢猫")
        assert (await service.journal.counts())["messages"] == 1 + used


async def test_a_journal_that_becomes_read_only(journal: Journal):
    await journal.tidy(lambda db: db.execute("PRAGMA query_only = ON"))
    with pytest.raises(JournalError, match="readonly"):
        await journal.append(message(HOME, ZHANG, "我喜欢猫"), HOME)
    assert journal.storage.kind == "read_only"
    with pytest.raises(JournalError):
        await journal.probe()
    await journal.tidy(lambda db: db.execute("PRAGMA query_only = OFF"))
    await journal.probe()
    assert journal.storage.kind == ""


async def test_a_file_that_is_damaged_while_it_is_open(tmp_path: Path):
    path = tmp_path / "journal.sqlite3"
    journal = await Journal.open(path)
    for _ in range(50):
        await journal.append(message(HOME, ZHANG, "我喜欢猫" * 200), HOME)
    await journal.tidy(lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (path.stat().st_size - 8192))
    await journal.tidy(lambda db: db.execute("PRAGMA shrink_memory"))
    with pytest.raises(DamagedError):
        await journal.newest_messages(100)
    assert journal.storage.kind == "damaged"
    journal.storage.worked()
    assert journal.storage.kind == "damaged", "a write that works mends nothing"
    await journal.close()


async def test_a_stuck_disk_holds_no_chat_up(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("graph_memory.store.journal.PATIENCE", 0.1)
    goes_on = threading.Event()

    def get_stuck(db: sqlite3.Connection) -> None:
        assert goes_on.wait(30)

    stuck = asyncio.create_task(journal.tidy(get_stuck))
    await asyncio.sleep(0)
    with pytest.raises(JournalError, match=r"within 0\.1 s"):
        await journal.append(message(HOME, ZHANG, "第一句"), HOME)
    assert journal.storage.kind == "slow"
    started = time.monotonic()
    for _ in range(100):
        with pytest.raises(JournalError, match="does not keep up"):
            await journal.append(message(HOME, ZHANG, "后面的"), HOME)
    assert time.monotonic() - started < 5, "only the first one waits: together it would be 10 s"
    goes_on.set()
    await stuck
    await journal.append(message(HOME, ZHANG, "又好了"), HOME)
    assert journal.storage.kind == ""
    assert [m.text for m in await journal.newest_messages(9)] == ["又好了"]


async def test_a_disk_that_answered_late_is_not_stuck(journal, monkeypatch):
    """What somebody gave up on was done before the loop, which was blocked, noticed."""
    monkeypatch.setattr("graph_memory.store.journal.PATIENCE", 0.2)
    await journal.append(message(HOME, ZHANG, "第一句"), HOME)
    busy = asyncio.create_task(journal.tidy(lambda db: time.sleep(0.25)))
    await asyncio.sleep(0.01)
    late = asyncio.create_task(journal.append(message(HOME, ZHANG, "第二句"), HOME))
    await asyncio.sleep(0.01)
    time.sleep(0.5)  # somebody blocks the loop past the deadline
    await busy
    await asyncio.wait([late])
    await journal.append(message(HOME, ZHANG, "第三句"), HOME)
    assert journal.storage.kind == ""


async def test_what_is_said_in_a_flood_is_all_stored(journal: Journal, monkeypatch):
    monkeypatch.setattr("graph_memory.store.journal.PATIENCE", 0.1)
    monkeypatch.setattr(journal._watch, "check", lambda _db: time.sleep(0.005))
    told = [message(HOME, ZHANG, f"第{n}句") for n in range(60)]
    await asyncio.gather(*(journal.append(each, HOME) for each in told))
    assert {m.text for m in await journal.newest_messages(99)} == {each.text for each in told}
    assert journal.storage.kind == ""


async def long_work(journal: Journal, work: Callable[..., object]) -> None:
    with journal.long_work():
        await journal.alter(work)


async def test_messages_wait_for_long_work(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("graph_memory.store.journal.PATIENCE", 0.1)
    work = asyncio.create_task(long_work(journal, lambda _db, _tell: time.sleep(0.4)))
    await asyncio.sleep(0.01)
    await asyncio.gather(
        *(journal.append(message(HOME, ZHANG, f"第{n}句"), HOME) for n in range(5))
    )
    await work
    assert len(await journal.newest_messages(9)) == 5


async def test_messages_come_between_the_slices_of_long_work(journal: Journal):
    begun = threading.Event()

    def work(db: sqlite3.Connection, _tell: object) -> Slices[int]:
        for number in range(40):
            begun.set()
            time.sleep(SLICE / 4)
            db.execute("INSERT INTO meta VALUES (?, '')", (f"slice{number:02}",))
            yield
        raise ZeroDivisionError

    long = asyncio.create_task(journal.in_slices(work))
    await asyncio.to_thread(begun.wait)
    await journal.append(message(HOME, ZHANG, "早上好"), HOME)
    assert not long.done()
    assert await journal.note("slice39") is None
    with pytest.raises(ZeroDivisionError):
        await long
    assert await journal.note("slice30") == "", "what was committed before it failed stays"


async def test_long_work_leaves_the_interpreter_as_it_was(journal: Journal):
    """Whoever answers a question meanwhile gets a turn at once."""
    before = sys.getswitchinterval()

    def fail(_db: object, _tell: object) -> None:
        assert sys.getswitchinterval() < before / 10
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), journal.long_work():
        await long_work(journal, fail)
    assert sys.getswitchinterval() == before


async def test_nor_does_that_of_two_memories_of_which_one_closes(journal, tmp_path):
    before, other = sys.getswitchinterval(), await Journal.open(tmp_path / "other.sqlite3")
    with journal.long_work():
        closing = other.long_work()
        closing.__enter__()
    assert sys.getswitchinterval() < before / 10
    closing.__exit__(None, None, None)
    assert sys.getswitchinterval() == before
    await other.close()


def _delete(path: Path) -> None:
    path.rename(path.with_name("aside"))


def _replace(path: Path) -> None:
    _delete(path)
    shutil.copy(path.with_name("aside"), path)


def _cut(path: Path) -> None:
    shutil.copy2(path, path.with_name("aside"))
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("harm", [_delete, _replace, _cut])
async def test_a_journal_that_is_swapped_acknowledges_nothing(tmp_path, harm, caplog):
    async with opened(tmp_path) as service:
        await hear(service, "我家的猫叫豆包")
        journal, path = service.journal, service.journal.path
        await journal.tidy(lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
        await hear(service, "它三岁了")
        harm(path)
        for _ in range(3):
            with pytest.raises(JournalError) as raised:
                await hear(service, "这句存不下来")
            assert raised.value.kind in ("replaced", "damaged")
        assert service.journal.storage.kind
        if harm is not _cut:
            assert "被删除、替换或截断" in await Commands(service).status(admin)
            path.with_name("aside").replace(path)
            await hear(service, "放回去了")
            assert service.journal.storage.kind == ""
        assert sum("nothing is stored" in message for message in caplog.messages) == 1


async def test_a_drive_that_was_pulled_out_is_told(tmp_path: Path, monkeypatch) -> None:
    def stat(path: Path, **more: bool) -> os.stat_result:
        if path.name == "journal.sqlite3":
            raise OSError(errno.ESTALE, "Stale file handle")
        return os.stat(path, **more)

    async with opened(tmp_path) as service:
        await hear(service, "我家的猫叫豆包")
        with monkeypatch.context() as gone:
            gone.setattr(Path, "stat", stat)
            with pytest.raises(JournalError, match="Stale"):
                await hear(service, "这句存不下来")
            assert service.journal.storage.kind == "broken"
        await hear(service, "插回去了")
        assert service.journal.storage.kind == ""


async def test_a_journal_that_is_compacted_is_not_swapped(tmp_path: Path) -> None:
    async with opened(tmp_path) as service:
        for number in range(200):
            await hear(service, f"第{number}句" + "很长" * 500)
        await service.journal.alter(lambda db, _tell: db.execute("DELETE FROM message"))
        before = service.journal.path.stat().st_size
        for _ in range(2):
            await service.journal.tidy(forget_me.compact)
            await service.journal.tidy(forget_me.empty_log)
            await hear(service, "还在")
        assert service.journal.path.stat().st_size <= max(before, 1 << 20)
        assert service.journal.storage.kind == ""
