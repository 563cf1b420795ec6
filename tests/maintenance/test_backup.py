"""Backups are whole, in time, few enough, and delay nobody."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from graph_memory.deletion import Tombstones
from graph_memory.errors import ClosedError, DamagedError, JournalError, NotFoundError
from graph_memory.maintenance import Backup, Backups, backup
from graph_memory.maintenance.backup import JOURNAL, surplus
from graph_memory.retention import DAY
from graph_memory.store import Journal, copies

from ..makers import HOME, T0, ZHANG, Clock, context, entity, fact, message, put
from ..waiting import until


def make(directory: Path, journal: Journal, clock: Callable[[], float]) -> Backups:
    tombstones = Tombstones.read(directory)
    return Backups(context(journal, now=clock), directory, tombstones, nothing)


async def nothing() -> None:
    """There is no graph."""


@pytest.fixture
async def backups(tmp_path: Path, journal: Journal, clock: Clock) -> AsyncIterator[Backups]:
    made = make(tmp_path, journal, clock)
    yield made
    await made.close()


async def say(journal: Journal, *texts: str) -> None:
    for text in texts:
        await journal.append(message(HOME, ZHANG, text), HOME)


async def know(journal: Journal, *statements: str) -> None:
    await put(journal, HOME, *[fact(HOME, ZHANG, entity(text), text) for text in statements])


def texts(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [text for (text,) in db.execute("SELECT text FROM message ORDER BY id")]


def damage(path: Path, way: str = "flipped") -> None:
    content = bytearray(path.read_bytes())
    match way:
        case "truncated":
            content = content[: len(content) // 2]
        case "flipped":
            for at in range(0, len(content), 4096):
                content[at + 1] ^= 0xFF
        case "zeroed":
            content[4096:] = bytes(len(content) - 4096)
        case "foreign":
            content = bytearray("不是数据库".encode() * 2000)
        case "empty":
            content = bytearray()
    path.write_bytes(content)
    if way == "missing":
        path.unlink()
    if way == "other":
        path.unlink()
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE cookies (x)")


async def test_a_backup_is_one_whole_file(journal, backups, tmp_path: Path):
    await say(journal, "我叫张三", "喜欢爬山😀")
    await know(journal, "张三喜欢爬山")
    made = await backups.make()
    assert made.name == "journal-20260921T141320Z-manual.sqlite3"
    assert [path.name for path in made.path.parent.iterdir()] == [made.name]
    assert texts(made.path) == ["我叫张三", "喜欢爬山😀"]
    held = copies.verify(made.path)
    assert (held.messages, held.facts, held.message_at, held.change_at) == (2, 1, T0, T0)
    assert await backups.list() == [made]
    assert (await backups.make()).name > made.name, "two in one second are two files"


async def test_writers_go_on_while_a_backup_is_made(journal, backups, monkeypatch):
    await say(journal, *("长" * 3000 for _ in range(200)))
    monkeypatch.setattr(copies, "_STEP", 1)
    monkeypatch.setattr(copies, "_PAUSE", 0.001)
    making = asyncio.create_task(backups.make())
    said = 0
    while not making.done():
        await say(journal, f"第{said}句")
        said += 1
    held = copies.verify((await making).path)
    assert said > 20, "writing does not wait for the copy"
    assert 200 <= held.messages < 200 + said, "the copy is of one moment"


async def test_a_backup_that_is_due_is_made_once_a_day(journal, backups, clock, tmp_path: Path):
    assert await backups.tend() is None, "nothing to save yet"
    await say(journal, "你好")
    await backups.make()
    assert await backups.due_in() == 0, "one by hand is not the daily one"
    first = await backups.tend()
    assert first.kind == ""
    clock.now += DAY - 60
    again = make(tmp_path, journal, clock)  # after a restart
    assert await again.tend() is None
    await again.close()
    assert await backups.due_in() == 60
    clock.now += 60
    assert await backups.tend() is not None
    assert len(await backups.list()) == 3


async def test_a_clock_that_was_wrong_stops_nothing(journal, backups, clock):
    await say(journal, "你好")
    clock.now = T0 + 3650 * DAY
    await backups.tend()
    for _ in range(backup.DAILY):
        clock.now += DAY
        await backups.tend()
    for day in range(backup.DAILY):
        clock.now = T0 + day * DAY
        assert await backups.tend() is not None, "one from the future is not today's"
    kept = [each.at <= clock.now for each in await backups.list()]
    assert (kept.count(True), kept.count(False)) == (backup.DAILY, backup.OTHERS)
    clock.now = T0 - 3650 * DAY
    for _ in range(backup.DAILY + 5):
        assert (await backups.make("")).path.exists(), "what was just made is there"


async def test_the_task_makes_it_and_goes_on_after_a_failure(journal, clock, monkeypatch, tmp_path):
    await say(journal, "你好")
    monkeypatch.setattr(backup, "SETTLING", 0.0)
    monkeypatch.setattr(backup, "LOOK", 0.01)
    monkeypatch.setattr(copies, "MIN_FREE", 1 << 62)
    backups = make(tmp_path, journal, clock)
    await backups.start()
    await until(lambda: "no room" in backups.problem)
    monkeypatch.setattr(copies, "MIN_FREE", 0)
    await until(lambda: not backups.problem)
    assert len(await backups.list()) == 1
    await backups.close()


def on(day: int, kind: str = "", hour: int = 3) -> Backup:
    at = datetime(2026, 9, 1, hour, tzinfo=UTC).timestamp() + day * DAY
    return Backup(Path(f"{day}-{hour}-{kind}"), at, kind, 1)


def test_days_and_weeks_are_kept():
    made: list[Backup] = []
    for day in range(120):
        made.append(on(day))
        made = [one for one in made if one not in surplus(made, on(day).at)]
    assert [(one.at - on(0).at) // DAY for one in made if one.kind == ""] == [
        # Three Sundays before the last seven days; 28 December 2026 is day 118, a Monday.
        103, 110, 113, 114, 115, 116, 117, 118, 119,
    ]  # fmt: skip


def test_the_last_of_a_day_is_kept():
    assert surplus([on(1, hour=3), on(1, hour=9)], on(1).at) == [on(1, hour=3)]


def test_others_do_not_push_daily_ones_out():
    daily = [on(day) for day in range(3)]
    others = [on(10 + n, kind) for n in range(5) for kind in ("manual", "migration-0002_x")]
    assert surplus([*daily, *others], on(14).at) == [
        one for one in sorted(others, key=lambda one: (one.at, one.name)) if one.at < on(12).at
    ]


async def test_a_damaged_journal_costs_no_good_backup(journal, backups, clock, tmp_path: Path):
    await say(journal, *("长" * 3000 for _ in range(100)))
    good = await backups.make("")
    await journal.close()
    damage(tmp_path / JOURNAL)
    for _ in range(backup.DAILY + 1):
        clock.now += DAY
        with pytest.raises(DamagedError, match=good.name):
            await backups.make("")
    assert await backups.list() == [good]
    assert [path.name for path in good.path.parent.iterdir()] == [good.name]


@pytest.mark.parametrize(("lacking", "left"), [(0, 6), (2, 4), (3, 3), (4, 5)])
async def test_old_backups_make_room_but_not_all_and_none_in_vain(
    journal, backups, clock, monkeypatch, lacking, left
):
    """With room for so many backups less than it takes, of five of which two always stay."""
    await say(journal, "你好")
    for _ in range(5):
        await backups.make("")
        clock.now += DAY
    size = (await backups.list())[0].size
    room = copies.MIN_FREE + copies.size(journal.path) + (5 - lacking) * size

    def usage(folder: Path):
        return SimpleNamespace(free=room - sum(p.stat().st_size for p in folder.glob("*.sqlite3")))

    monkeypatch.setattr(copies.shutil, "disk_usage", usage)
    with nullcontext() if lacking < 4 else pytest.raises(JournalError, match="no room"):
        await backups.make("")
    assert len(await backups.list()) == left


async def test_what_a_kill_left_is_tidied(journal, backups, tmp_path: Path):
    await say(journal, "你好")
    folder = tmp_path / "backups"
    folder.mkdir()
    for end in ("", "-journal"):
        (folder / f"journal-20250101T000000Z.sqlite3.tmp{end}").write_bytes(b"half")
    (folder / "notes.txt").write_text("谁的")
    made = await backups.make()
    assert {path.name for path in folder.iterdir()} == {"notes.txt", made.name}
    assert await backups.list() == [made]


async def test_closing_gives_a_copy_up(journal, backups, tmp_path: Path, monkeypatch):
    await say(journal, *("长" * 3000 for _ in range(100)))
    monkeypatch.setattr(copies, "_STEP", 1)
    monkeypatch.setattr(copies, "_PAUSE", 60.0)
    making = asyncio.create_task(backups.make())
    await until(lambda: [*tmp_path.glob("backups/*.tmp")])
    await asyncio.wait_for(backups.close(), 10)
    with pytest.raises(ClosedError):
        await making
    assert list((tmp_path / "backups").iterdir()) == []
    with pytest.raises(ClosedError):
        await backups.make()


async def test_a_preview_says_what_would_be_lost(journal, backups, clock):
    await say(journal, "一", "二")
    await know(journal, "张三喜欢爬山")
    made = await backups.make()
    clock.now += 60
    await say(journal, "三")
    await know(journal, "张三喜欢游泳", "张三喜欢下棋")
    seen = await backups.preview(made.name)
    assert (seen.backup, seen.then.messages, seen.now.messages) == (made, 2, 3)
    assert seen.difference == {"messages": -1, "facts": -2, "changes": -1}
    assert (seen.then.change_at, seen.now.change_at) == (T0, T0 + 60)
    with pytest.raises(NotFoundError):
        await backups.preview("../journal.sqlite3")
    damage(made.path)
    with pytest.raises(DamagedError):
        await backups.preview(made.name)
    assert "no good backup" in str(backup.advise(made.path.parents[1], DamagedError("damaged")))
