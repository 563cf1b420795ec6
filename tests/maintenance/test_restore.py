"""Restoring: what stood there is kept, a kill at any step is survived, damage is named."""

import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from threading import Timer

import pytest

from graph_memory.deletion import Tombstones
from graph_memory.errors import DamagedError, JournalError
from graph_memory.locales import explain
from graph_memory.maintenance import Backups, backup, open_journal
from graph_memory.maintenance.backup import JOURNAL, saved
from graph_memory.store import Journal, copies
from graph_memory.store.pauses import Gaps, Pauses, pauses

from ..makers import HOME, LI, T0, ZHANG, message
from .test_backup import damage, make

MANY = tuple(f"第{number}句" + "长" * 2000 for number in range(40))


def now() -> float:
    return T0


@asynccontextmanager
async def opened(directory: Path) -> AsyncIterator[tuple[Journal, Backups]]:
    journal = await open_journal(directory, now, Tombstones.read(directory))
    backups = make(directory, journal, now)
    yield journal, backups
    await backups.close()
    await journal.close()


async def write(directory: Path, *said: str) -> None:
    """Say something and close."""
    async with opened(directory) as (journal, _):
        for text in said:
            await journal.append(message(HOME, ZHANG, text), HOME)


async def save(directory: Path) -> str:
    """Make a backup; returns its name."""
    async with opened(directory) as (_, backups):
        return (await backups.make("")).name


async def heard(directory: Path) -> list[str]:
    async with opened(directory) as (journal, _):
        return [m.text for m in await journal.newest_messages(1000)]


WAYS = ("truncated", "flipped", "zeroed", "foreign", "empty", "missing", "other")


async def test_a_restore_takes_effect_at_the_next_opening(tmp_path: Path):
    await write(tmp_path, "一", "二")
    name = await save(tmp_path)
    async with opened(tmp_path) as (journal, backups):
        await journal.append(message(HOME, ZHANG, "三"), HOME)
        await backups.restore(name)
        await journal.append(message(HOME, ZHANG, "四"), HOME)
    assert await heard(tmp_path) == ["一", "二"]
    (kept,) = [backup for backup in saved(tmp_path) if backup.kind == "restore"]
    assert copies.verify(kept.path).messages == 4, "nothing of what stood there is lost"
    assert await heard(tmp_path) == ["一", "二"], "once"

    backup.stage(tmp_path, kept.name, T0)
    assert await heard(tmp_path) == ["一", "二", "三", "四"], "a restore can be taken back"


async def test_who_asked_for_a_pause_keeps_it_and_who_ended_theirs_is_heard(tmp_path: Path):
    async with opened(tmp_path) as (journal, backups):
        await journal.append(message(HOME, ZHANG, "一"), HOME)
        await Pauses(journal, now).pause("user", ZHANG)
        await backups.restore((await backups.make()).name)
        await Pauses(journal, now).resume("user", ZHANG)
        await Pauses(journal, now).pause("user", LI)
    async with opened(tmp_path) as (journal, _):
        assert await journal.look(pauses) == [("user", LI, T0)]
        assert await journal.look(lambda db: Gaps(db).hold("", [ZHANG], T0, T0)), "it was one"


async def test_what_a_kill_left_in_the_log_is_kept_too(tmp_path: Path):
    await write(tmp_path, "一")
    name = await save(tmp_path)
    await write(tmp_path, "二")
    with closing(sqlite3.connect(tmp_path / JOURNAL)) as db:
        db.execute("INSERT INTO meta VALUES ('x', 'y')")
        db.commit()
        # A copy of the open files is what a kill leaves.
        left = {
            part: part.read_bytes()
            for part in copies.companions(tmp_path / JOURNAL)
            if part.exists()
        }
    for part, content in left.items():
        part.write_bytes(content)
    assert len(left) == 3
    backup.stage(tmp_path, name, T0)
    assert await heard(tmp_path) == ["一"]
    (kept,) = [backup for backup in saved(tmp_path) if backup.kind == "restore"]
    with closing(sqlite3.connect(kept.path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'x'").fetchone() == ("y",)


@pytest.mark.parametrize("way", WAYS)
async def test_damage_is_named_with_the_way_out(tmp_path: Path, way: str):
    await write(tmp_path, *MANY)
    name = await save(tmp_path)
    await write(tmp_path, "后来")
    damage(tmp_path / JOURNAL, way)
    wrong = (tmp_path / JOURNAL).read_bytes() if way != "missing" else b""
    for _ in range(2):
        with pytest.raises(DamagedError) as caught:
            await heard(tmp_path)
    assert f"/memory restore {name}" in str(caught.value)
    assert caught.value.backup == name
    assert (tmp_path / JOURNAL).exists() == (way != "missing"), "no new one is begun"

    backup.stage(tmp_path, caught.value.backup, T0)
    assert await heard(tmp_path) == list(MANY)
    kept = list(tmp_path.glob("journal-damaged-*.sqlite3"))
    assert [path.read_bytes() for path in kept] == ([wrong] if way != "missing" else [])


async def test_damage_without_a_good_backup(tmp_path: Path):
    await write(tmp_path, *MANY)
    name = await save(tmp_path)
    damage(tmp_path / "backups" / name, "zeroed")
    damage(tmp_path / JOURNAL, "zeroed")
    with pytest.raises(DamagedError, match="no good backup") as caught:
        await heard(tmp_path)
    assert caught.value.backup == ""
    with pytest.raises(DamagedError):
        backup.stage(tmp_path, name, T0)
    assert not list(tmp_path.glob("restore-*")), "nothing half is left behind"
    assert "备份目录一起移走" in explain("zh", caught.value)
    for path in (*copies.companions(tmp_path / JOURNAL), tmp_path / "backups"):
        if path.exists():
            path.rename(tmp_path.parent / f"{tmp_path.name}-{path.name}")
    assert await heard(tmp_path) == []


async def test_the_log_of_a_lost_journal_is_not_thrown_away(tmp_path: Path):
    (tmp_path / f"{JOURNAL}-wal").write_bytes(b"what was said")
    with pytest.raises(DamagedError, match="missing"):
        await heard(tmp_path)
    assert (tmp_path / f"{JOURNAL}-wal").read_bytes() == b"what was said"


async def test_a_restore_waits_for_a_program_that_is_about_to_let_go(tmp_path: Path):
    await write(tmp_path, "一")
    name = await save(tmp_path)
    await write(tmp_path, "二")
    backup.stage(tmp_path, name, T0)
    other = sqlite3.connect(tmp_path / JOURNAL, isolation_level=None, check_same_thread=False)
    other.execute("SELECT count(*) FROM message").fetchone()
    letting_go = Timer(0.5, other.close)
    letting_go.start()
    try:
        assert await heard(tmp_path) == ["一"]
    finally:
        letting_go.join()


async def test_a_program_that_does_not_let_go_is_named(tmp_path: Path, monkeypatch):
    await write(tmp_path, "一")
    name = await save(tmp_path)
    backup.stage(tmp_path, name, T0)
    monkeypatch.setattr(copies, "_AGAIN", 0)
    with closing(sqlite3.connect(tmp_path / JOURNAL, isolation_level=None)) as other:
        other.execute("SELECT count(*) FROM message").fetchone()
        with pytest.raises(JournalError) as caught:
            await heard(tmp_path)
    assert "请关掉它" in explain("zh", caught.value)


class Killed(BaseException):
    """The process ends here."""


class Fuse:
    """Lets so many file operations through, and none after them."""

    def __init__(self, patch: pytest.MonkeyPatch, left: int) -> None:
        self._left = left
        for call in ("rename", "replace", "unlink", "fsync"):
            patch.setattr(os, call, partial(self._step, getattr(os, call)))

    def _step(self, call: Callable[..., object], *args: object, **more: object) -> object:
        self._left -= 1
        if self._left < 0:
            raise Killed
        return call(*args, **more)


@pytest.mark.parametrize("way", ["good", "zeroed", "missing"])
async def test_a_kill_at_any_step_is_survived(tmp_path: Path, monkeypatch, way: str):
    done, steps = False, 0
    while not done:
        home = tmp_path / str(steps)
        home.mkdir()
        await write(home, *MANY)
        name = await save(home)
        await write(home, "后来")
        if way != "good":
            damage(home / JOURNAL, way)
        if way == "missing":
            (home / f"{JOURNAL}-wal").write_bytes(b"log")
        backup.stage(home, name, T0)
        with monkeypatch.context() as patch:
            Fuse(patch, steps)
            try:
                backup._prepare(home, T0)
                done = True
            except Killed:
                steps += 1
        assert await heard(home) == list(MANY), steps
        aside = [path.name for path in home.glob("journal-damaged-*")]
        if way == "good":
            (kept,) = [backup for backup in saved(home) if backup.kind == "restore"]
            assert copies.verify(kept.path).messages == len(MANY) + 1
        else:
            end = ".sqlite3" if way == "zeroed" else ".sqlite3-wal"
            assert aside == [f"journal-damaged-20260921T141320Z{end}"]
    assert steps >= 3, "the steps were counted"


async def test_a_journal_that_is_only_unreadable_is_not_called_damaged(tmp_path: Path):
    (tmp_path / JOURNAL).mkdir()
    with pytest.raises(JournalError) as caught:
        await heard(tmp_path)
    assert not isinstance(caught.value, DamagedError)
