"""Who does not want to be remembered any further: people, and whole chat windows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from .schema import PAUSES

Kind = Literal["user", "circle"]
Pause = tuple[str, str]
"""Kind and id."""


def pauses(db: sqlite3.Connection) -> set[Pause]:
    """All that are in force; none in a journal of a version that knew none."""
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'pause'").fetchone()
    return set(db.execute("SELECT kind, id FROM pause")) if known else set()


def pause(db: sqlite3.Connection, kind: Kind, id: str, at: float) -> None:
    """Store nothing new of a user, or in a chat window."""
    db.execute("INSERT OR IGNORE INTO pause VALUES (?, ?, ?)", (kind, id, at))


def resume(db: sqlite3.Connection, kind: Kind, id: str) -> None:
    """Store what is said again."""
    db.execute("DELETE FROM pause WHERE kind = ? AND id = ?", (kind, id))


def carry(source: Path, target: Path) -> None:
    """Put the pauses of one journal into another; both are closed.

    Raises:
        sqlite3.Error: One of them cannot be used.
    """
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        found = pauses(db)
        rows = list(db.execute("SELECT kind, id, at FROM pause")) if found else []
    if rows:
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(PAUSES)
            db.executemany("INSERT OR IGNORE INTO pause VALUES (?, ?, ?)", rows)
            db.execute("COMMIT")
