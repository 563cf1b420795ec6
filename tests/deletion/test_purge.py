"""What was taken back (撤回) is in no backup any more once the next daily one was made."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC
from pathlib import Path

import pytest
import pytest_asyncio

from graph_memory.deletion import erasure
from graph_memory.maintenance import stage
from graph_memory.maintenance.backup import saved
from graph_memory.retention import DAY
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import copies
from graph_memory.store.schema import MIGRATIONS, migrations_of
from tests.views import assert_views_follow

from ..learning.chat import Chat
from ..makers import T0, Clock, holding
from .test_retraction import CLUB, PLANTED, learned


@pytest.fixture
def clock() -> Clock:
    return Clock(T0 + 10_000)


@pytest_asyncio.fixture
async def memory(tmp_path: Path, clock: Clock) -> AsyncIterator[MemoryService]:
    memory = await MemoryService.open(tmp_path, Settings(), zone=UTC, now=clock)
    yield memory
    await memory.close()


def told(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [text for (text,) in db.execute("SELECT text FROM message ORDER BY id")]


async def taken_back(memory: MemoryService, wait: Callable[[], None] = lambda: None) -> None:
    """Learned, in three backups and a prepared restore, and, after a wait, taken back."""
    await learned(Chat(memory.journal, CLUB))
    await memory.settle()
    await memory.backups.tend()
    manual = await memory.backups.make()
    await memory.backups.restore(manual.name)
    await memory.backups.make("migration-0009_more")
    wait()
    assert await memory.library.retract(CLUB.circle, "1")
    assert await erasure.drain(memory.journal)
    await memory.settle()


async def test_the_next_daily_backup_clears_the_older_ones(
    memory: MemoryService, clock: Clock, tmp_path: Path
) -> None:
    await taken_back(memory)
    clock.now += DAY - 60
    assert await memory.backups.tend() is None
    files = {Path(name).name.partition("-")[0] for name in holding(tmp_path, PLANTED)}
    assert files >= {"journal", "restore"}, "not for each message that is taken back"
    clock.now += 60
    assert await memory.backups.tend()
    assert holding(tmp_path, PLANTED) == []
    assert memory.backups.problem == ""
    assert len(saved(tmp_path)) == 4
    for backup in saved(tmp_path):
        held = copies.verify(backup.path)
        assert (held.messages, held.facts) == (1, 1), backup.name
        assert told(backup.path) == ["我喜欢爬山"]


async def test_a_backup_that_was_cleared_can_be_restored(
    memory: MemoryService, clock: Clock, tmp_path: Path
) -> None:
    await taken_back(memory)
    clock.now += DAY
    await memory.backups.tend()
    await memory.close()
    stage(tmp_path, saved(tmp_path)[-1].name, clock.now)
    again = await MemoryService.open(tmp_path, Settings(), zone=UTC, now=clock)
    assert [m.text for m in await again.journal.newest_messages(9)] == ["我喜欢爬山"]
    await again.settle()
    await assert_views_follow(again)
    await again.close()
    assert holding(tmp_path, PLANTED) == []


async def test_backups_that_hold_nothing_of_it_are_not_touched(
    memory: MemoryService, clock: Clock, tmp_path: Path
) -> None:
    chat = Chat(memory.journal, CLUB)
    await chat.say("li", "我喜欢爬山", "李四", ref="2@6")
    await memory.backups.tend()
    await chat.say("zhang", PLANTED, "张三", ref="1@5")
    assert await memory.library.retract(CLUB.circle, "1")
    (first,) = saved(tmp_path)
    before = first.path.read_bytes(), first.path.stat().st_mtime_ns
    clock.now += DAY
    assert await memory.backups.tend()
    assert (first.path.read_bytes(), first.path.stat().st_mtime_ns) == before


async def test_one_look_is_enough(
    memory: MemoryService, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await taken_back(memory)
    clock.now += DAY
    await memory.backups.tend()
    monkeypatch.setattr("graph_memory.deletion.forget_me.purge", _never)
    clock.now += DAY
    assert await memory.backups.tend()
    assert memory.backups.problem == ""


def _never(*_: object) -> None:
    raise AssertionError("nothing was taken back since")


@pytest.mark.parametrize("waited", [0.0, DAY - 60], ids=["a day ago", "just now"])
async def test_what_fails_is_tried_again(
    waited: float,
    memory: MemoryService,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wait() -> None:
        clock.now += waited

    await taken_back(memory, wait)
    held = holding(tmp_path, PLANTED)
    clock.now += DAY - waited
    with monkeypatch.context() as patch:
        patch.setattr("graph_memory.deletion.erasure.compact", _full)
        assert await memory.backups.tend(), "the backup itself is made"
        assert "forgotten" in memory.backups.problem
    assert holding(tmp_path, PLANTED) == held
    assert not list(tmp_path.rglob("*.tmp*"))
    clock.now += 3_600
    assert await memory.backups.tend() is None, "no other backup is needed"
    assert holding(tmp_path, PLANTED) == []
    assert memory.backups.problem == ""


def _full(_: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


async def test_a_damaged_backup_stays_and_hinders_nothing(
    memory: MemoryService, clock: Clock, tmp_path: Path
) -> None:
    await taken_back(memory)
    broken = saved(tmp_path)[-1].path
    broken.write_bytes(broken.read_bytes()[:5_000])
    clock.now += DAY
    assert await memory.backups.tend()
    assert memory.backups.problem == ""
    assert {Path(name).name for name in holding(tmp_path, PLANTED)} <= {broken.name}
    assert broken.exists()


async def test_a_backup_of_an_older_version_is_brought_up_to_date(
    memory: MemoryService, clock: Clock, tmp_path: Path
) -> None:
    await taken_back(memory)
    old = saved(tmp_path)[-1].path
    with closing(sqlite3.connect(old)) as db:
        db.execute("DELETE FROM migration WHERE name = ?", ("0005_episodes",))
        db.execute("DROP INDEX row_episode")
        db.commit()
    clock.now += DAY
    await memory.backups.tend()
    assert holding(tmp_path, PLANTED) == []
    with closing(sqlite3.connect(old)) as db:
        assert migrations_of(db) == {name for name, _ in MIGRATIONS}
    assert [path.name for path in old.parent.iterdir() if path.is_dir()] == []
