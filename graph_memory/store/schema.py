"""The journal's tables: migrations (``migrations/``), and how they are applied."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import DamagedError, JournalError
from ..model import Fact, registered
from ..privacy.confidence import asks_to_keep
from .connection import failure

SCALARS = (
    "predicate", "status", "speaker", "said_at", "recorded_at", "last_used", "half_life",
    "importance", "use_count", "pinned", "hearsay", "confidential", "archived_at",
)  # fmt: skip
"""Fields by which facts are listed."""

APPLICATION_ID = 0x474D454D  # "GMEM": tells our files from foreign ones

_FOLDER = Path(__file__).with_name("migrations")
MIGRATIONS = tuple((path.stem, path.read_text("utf-8")) for path in sorted(_FOLDER.glob("*.sql")))
"""Name and script of each, in order; one that was released is never altered."""
FOLDED = "0010_gaps"
"""The last migration that is part of the first one now; version 0.1 made them one by one."""

_VALUE = "json_extract(data, '$.{}')"
REPLACEMENT = """
    CREATE TEMP VIEW replacement AS
    SELECT s.value AS old, f.id AS new, f.session,
        json_extract(f.data, '$.recorded_at') AS recorded_at
    FROM row f, json_each(f.data, '$.supersedes') s
    WHERE f.kind = 'fact' AND json_array_length(f.data, '$.supersedes') > 0
"""
"""What was replaced by what. Archiving the newer fact does not bring the older one back."""


def open_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    """Give a connection a table for each kind of row, with its fields as columns.

    They are views of its own: a field that a class gains is a column at once. Facts, which
    are listed and counted most, have their scalar fields in a table that triggers keep.
    """
    whole = "(SELECT {} FROM row WHERE kind = 'fact' AND row.id = f.id)"
    listed = ("id", "session", "subject", "object", *SCALARS)
    fields = (
        f"f.{name}" if name in listed else f'{whole.format(_VALUE.format(name))} AS "{name}"'
        for name in (field.name for field in dataclasses.fields(Fact))
    )
    db.execute(
        f"CREATE TEMP VIEW fact AS SELECT {', '.join(fields)}, f.cited,"
        f" {whole.format('data')} AS data, f.change FROM fact_field f"
    )
    for cls in registered():
        if cls is Fact:
            continue
        keys = dict(zip(cls.keys, ("a", "b"), strict=False)) | {"id": "id", "session": "session"}
        columns = [
            f'{keys.get(field.name, _VALUE.format(field.name))} AS "{field.name}"'
            for field in dataclasses.fields(cls)
        ]
        db.execute(
            f"CREATE TEMP VIEW {cls.kind} AS SELECT {', '.join(columns)}, data, change"
            f" FROM row WHERE kind = '{cls.kind}'"
        )
    db.execute(REPLACEMENT)
    return db


def require_known(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that another version has to open.

    Raises:
        JournalError: It is of a newer version (``newer``), or of one too old (``older``).
    """
    applied = migrations_of(db)
    names = {name for name, _ in MIGRATIONS}
    if unknown := {name for name in applied - names if name > FOLDED}:
        raise JournalError(
            f"{path} was written by a newer version ({max(unknown)}); update the plugin"
        ).told("newer")
    if applied and FOLDED not in applied:
        text = f"{path} is older than version 0.2; update to 0.4 first, then go on"
        raise JournalError(text).told("older")


def migrations_of(db: sqlite3.Connection) -> set[str]:
    """Names of the migrations a file has behind it."""
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'migration'").fetchone()
    return {name for (name,) in db.execute("SELECT name FROM migration")} if known else set()


def migrate(
    db: sqlite3.Connection, path: Path, save: Callable[[str], None] = lambda _name: None
) -> None:
    """Apply what has not been applied yet, in one transaction.

    So the version that was used before can go on with the file if this one fails.

    Args:
        db: The writing connection, outside a transaction.
        save: Copies what is there before the first migration of a name.

    Raises:
        DamagedError: The file is a database of another program.
        JournalError: It is of a newer version, could not be copied, or a migration
            failed; it is as before.
    """
    pending = _pending(db, path)
    if pending and migrations_of(db):
        save(pending[0][0])
    if pending:
        _apply(db, path, pending)


def _pending(db: sqlite3.Connection, path: Path) -> list[tuple[str, str]]:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and tables:
        raise DamagedError(f"{path} is a database of another program")
    require_known(db, path)
    applied = migrations_of(db)
    return [(name, script) for name, script in MIGRATIONS if name not in applied]


def _apply(db: sqlite3.Connection, path: Path, pending: list[tuple[str, str]]) -> None:
    under_way = ""
    db.create_function("asks_to_keep", 1, asks_to_keep)
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(
            "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)"
        )
        for name, script in pending:
            under_way = name
            for statement in _statements(script):
                db.execute(statement)
            db.execute("INSERT INTO migration VALUES (?, datetime('now'))", (name,))
        db.execute("COMMIT")
    except BaseException as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            what = f"{path} could not be updated ({under_way}) and stands as before"
            raise failure(what, error) from error
        raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; ``executescript`` would commit what is open."""
    statement = ""
    for part in script.rstrip(" \n;").split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
