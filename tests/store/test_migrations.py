"""An update of the journal works as a whole or leaves it as it was, with a copy beside it."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph_memory.errors import DamagedError, JournalError
from graph_memory.store import Journal, copies, schema

from ..cases import tabled
from ..makers import HOME, T0, ZHANG, message

GOOD = ("0900_good", "CREATE TABLE later (x); INSERT INTO later VALUES ('a;b'); ")
TRIGGER = (
    "0901_trigger",
    "CREATE TRIGGER t AFTER INSERT ON later BEGIN DELETE FROM message; SELECT 1; END;",
)
WRONG = ("0902_wrong", "UPDATE message SET text = '改'; INSERT INTO nowhere VALUES (1);")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


async def fill(path: Path, *texts: str) -> None:
    journal = await Journal.open(path, lambda: T0)
    for text in texts:
        await journal.append(message(HOME, ZHANG, text), HOME)
    await journal.close()


def add(monkeypatch: pytest.MonkeyPatch, *more: tuple[str, str]) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:BASE], *more))


BASE = len(schema.MIGRATIONS)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [*db.iterdump(), *map(str, db.execute("PRAGMA application_id"))]


@pytest.mark.alone
async def test_a_new_journal_of_a_test_is_as_all_migrations_make_it(path: Path):
    await fill(path)
    migrated = path.with_name("migrated.sqlite3")
    with closing(sqlite3.connect(migrated)) as db:
        schema.migrate(db, migrated)
    copied, made = (re.sub(r"\d\d:\d\d:\d\d", "", "\n".join(dump(p))) for p in (path, migrated))
    assert copied == made


async def test_updating_keeps_a_verified_copy_of_what_was_there(path: Path, monkeypatch):
    await fill(path, "我叫张三", "喜欢爬山😀")
    before = dump(path)
    add(monkeypatch, GOOD, TRIGGER)
    await (await Journal.open(path, lambda: T0)).close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT x FROM later").fetchall() == [("a;b",)]
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 't'").fetchone() == (1,)
    (saved,) = (path.parent / "backups").iterdir()
    assert saved.name.endswith("-migration-0900_good.sqlite3")
    assert dump(saved) == before
    assert copies.verify(saved).messages == 2


@tabled
async def test_what_models_cost_is_carried_over(path: Path, monkeypatch, note: str, kept: object):
    before = [name for name, _ in schema.MIGRATIONS].index("0015_spending")
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:before])
        journal = await Journal.open(path, lambda: T0)
        await journal.set_note("usage", note)
        await journal.close()
    journal = await Journal.open(path, lambda: T0)
    query = "SELECT calls, tokens_in, tokens_out FROM spending WHERE purpose = 'learn'"
    found = await journal.look(lambda db: db.execute(query).fetchall())
    assert found == ([tuple(kept)] if isinstance(kept, list) else [])
    assert await journal.note("usage") is None
    await journal.close()


async def test_a_failed_update_leaves_the_journal_to_the_version_before(path: Path, monkeypatch):
    await fill(path, "我叫张三")
    before = dump(path)
    add(monkeypatch, GOOD, WRONG)
    for _ in range(3):
        with pytest.raises(JournalError, match=r"0902_wrong.*stands as before.*nowhere"):
            await Journal.open(path)
    assert dump(path) == before, "the good one of the two is taken back as well"
    assert len(list((path.parent / "backups").iterdir())) == 1, (
        "one copy, however often it is tried"
    )
    add(monkeypatch)
    journal = await Journal.open(path)
    assert [m.text for m in await journal.pending(HOME.id)] == ["我叫张三"]
    await journal.close()


async def test_an_attempt_is_copied_anew_if_the_journal_went_on(path: Path, monkeypatch):
    await fill(path, "一")
    for number in (1, 2):
        add(monkeypatch, WRONG)
        with pytest.raises(JournalError):
            await Journal.open(path, lambda: T0)
        assert len(list((path.parent / "backups").iterdir())) == number
        add(monkeypatch)
        await fill(path, "又一句")


async def test_no_room_for_the_copy_means_no_update(path: Path, monkeypatch):
    await fill(path, "一")
    before = dump(path)
    add(monkeypatch, GOOD)
    monkeypatch.setattr(copies, "MIN_FREE", 1 << 62)
    with pytest.raises(JournalError, match="no room"):
        await Journal.open(path)
    assert dump(path) == before


async def test_a_new_journal_is_not_copied(path: Path, monkeypatch):
    add(monkeypatch, GOOD)
    await (await Journal.open(path)).close()
    assert not (path.parent / "backups").exists()


async def test_a_newer_journal_is_left_alone(path: Path, monkeypatch):
    add(monkeypatch, GOOD)
    await fill(path, "一")
    before = dump(path)
    add(monkeypatch)
    with pytest.raises(JournalError, match=r"newer version \(0900_good\)") as caught:
        await Journal.open(path)
    assert not isinstance(caught.value, DamagedError), "no backup is needed for that"
    assert dump(path) == before


async def test_a_journal_older_than_the_first_release_is_left_alone(path: Path) -> None:
    await fill(path, "一")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM migration WHERE name >= ?", (schema.FOLDED,))
        db.commit()
    before = dump(path)
    with pytest.raises(JournalError, match=r"update to 0\.4 first"):
        await Journal.open(path)
    assert dump(path) == before


async def test_facts_are_listed_by_the_fields_that_triggers_keep(journal: Journal) -> None:
    query = "SELECT name FROM pragma_table_info('fact_field')"
    columns = [name for (name,) in await journal.look(lambda db: db.execute(query).fetchall())]
    assert columns == ["id", "session", "subject", "object", "change", *schema.SCALARS, "cited"]
