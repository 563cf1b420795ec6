"""Migration of a journal: a verified copy first, then all or nothing."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ..errors import DamagedError, JournalError
from . import copies
from .connection import failure
from .schema import APPLICATION_ID, MIGRATIONS, migrations_of

logger = logging.getLogger("graph_memory.store")


def migrate(db: sqlite3.Connection, path: Path, now: float | None) -> None:
    """Apply what has not been applied yet, in one transaction.

    So the version that was used before can go on with the file if this one fails. A
    journal that holds anything is copied to the folder of backups first.

    Args:
        db: The writing connection, outside a transaction.
        now: ``None`` for a file that is a copy itself.

    Raises:
        DamagedError: The file is a database of another program.
        JournalError: It is of a newer version, could not be copied, or a migration
            failed; it is as before.
    """
    pending = _pending(db, path)
    if pending and now is not None and migrations_of(db):
        _save(db, path, pending[0][0], now)
    if pending:
        _apply(db, path, pending)


def _pending(db: sqlite3.Connection, path: Path) -> list[tuple[str, str]]:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and tables:
        raise DamagedError(f"{path} is a database of another program")
    applied = migrations_of(db)
    unknown = applied - {name for name, _ in MIGRATIONS}
    if unknown:
        raise JournalError(
            f"{path} was written by a newer version ({max(unknown)}); update the plugin"
        ).told("newer")
    return [(name, script) for name, script in MIGRATIONS if name not in applied]


def _save(db: sqlite3.Connection, path: Path, name: str, now: float) -> None:
    """Copy the journal, unless an earlier attempt at the same migration did."""
    held = copies.contents(db)
    if held.is_empty:
        return
    folder = copies.folder_of(path.parent)
    kind = f"migration-{name}"
    for earlier in folder.glob(f"*-{kind}.sqlite3"):
        try:
            if copies.verify(earlier) == held:
                return
        except JournalError:
            continue
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = copies.path_for(folder, now, kind)
    copies.copy(path, target)
    logger.info("the journal was copied to %s before its update", target.name)


def _apply(db: sqlite3.Connection, path: Path, pending: list[tuple[str, str]]) -> None:
    under_way = ""
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
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \n;"):
                yield statement
            statement = ""
