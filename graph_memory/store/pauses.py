"""Pauses of remembering, asked for by people or for whole chat windows.

A pause of a person holds everywhere they speak. What was remembered before stays and can
be recalled; what others say about them is others' own word.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

from ..model import Session
from .journal import Journal
from .schema import PAUSES

Kind = Literal["user", "circle"]


def pauses(db: sqlite3.Connection) -> list[tuple[str, str, float]]:
    """Kind, id and time of all that are in force; none in a journal of old."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'pause'").fetchone():
        return []
    return db.execute("SELECT kind, id, at FROM pause ORDER BY kind, id").fetchall()


def pause(db: sqlite3.Connection, kind: Kind, id: str, at: float) -> None:
    """Store nothing new of a user, or in a chat window."""
    db.execute("INSERT OR IGNORE INTO pause VALUES (?, ?, ?)", (kind, id, at))


def carry(source: Path, target: Path) -> None:
    """Put the pauses of one journal into another; both are closed."""
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        found = pauses(db)
    if found:
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(PAUSES)
            db.executemany("INSERT OR IGNORE INTO pause VALUES (?, ?, ?)", found)
            db.execute("COMMIT")


class Pauses:
    """The pauses of one journal."""

    def __init__(self, journal: Journal, now: Callable[[], float]) -> None:
        self._journal = journal
        self._now = now
        self._known: set[tuple[str, str]] = set()

    async def load(self) -> None:
        """Read what is in force."""
        self._known = {(kind, id) for kind, id, _ in await self._journal.look(pauses)}

    def holds(self, kind: Kind, id: str) -> bool:
        """Whether a user or a chat window asked for a pause."""
        return (kind, id) in self._known

    def covers(self, session: Session, user: str) -> bool:
        """Whether nothing that ``user`` says in ``session`` may be stored."""
        return self.holds("circle", session.circle) or self.holds("user", user)

    async def pause(self, kind: Kind, id: str) -> None:
        """Store nothing new; when this returns it is on disk."""
        self._known.add((kind, id))  # first: what is said meanwhile is not stored either
        await self._journal.alter(lambda db, _tell: pause(db, kind, id, self._now()))

    async def resume(self, kind: Kind, id: str) -> None:
        """Store what is said again."""
        query = "DELETE FROM pause WHERE kind = ? AND id = ?"
        await self._journal.alter(lambda db, _tell: db.execute(query, (kind, id)))
        self._known.discard((kind, id))
