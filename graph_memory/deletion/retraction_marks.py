"""Marks of retracted messages, by which no restored backup brings them back.

A mark says it with a hash of who said it and when: none of the words, and nothing that
changes when a chat is moved. Backups themselves keep the message until the next daily one
is made; a mark is *open* until then.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..model import Message

_MARK = "withdrawn:"
_DUE = "withdrawals due"
_LEARNED = "withdrawals learned"
"""Note: the newest change that took along what had been learned."""
_CLOSED = "closed"
"""Instead of when a message was taken back: no backup holds it any more."""


def note(db: sqlite3.Connection, message: Message, at: float) -> None:
    """Mark a message as taken back, inside the open transaction."""
    mark = _mark(message.sender, message.ref, message.at)
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (mark, repr(at)))


def note_learned(db: sqlite3.Connection, change: int) -> None:
    """Note that what was learned from a message went with it.

    The graph's file may keep its words until it is built anew.
    """
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LEARNED, str(change)))


def carry(source: Path, target: Path) -> None:
    """Put the marks of one journal into another, older one; both are closed.

    Raises:
        sqlite3.Error: One of them cannot be used.
    """
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        found = db.execute(
            "SELECT key, value FROM meta WHERE key LIKE ? ORDER BY key", (f"{_MARK}%",)
        ).fetchall()
    if found:
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", [*found, (_DUE, "1")])
            db.execute("COMMIT")


def are_due(db: sqlite3.Connection) -> bool:
    """Whether marks were carried here by which nobody has gone yet."""
    return bool(db.execute("SELECT 1 FROM meta WHERE key = ?", (_DUE,)).fetchone())


def returned(db: sqlite3.Connection) -> list[int]:
    """Ids of the messages that are there again though they were taken back."""
    return held(db, all_marks(db))


def all_marks(db: sqlite3.Connection) -> set[str]:
    """The marks of all messages that were ever taken back."""
    return {key for (key,) in db.execute("SELECT key FROM meta WHERE key LIKE ?", (f"{_MARK}%",))}


def held(db: sqlite3.Connection, marks: Collection[str]) -> list[int]:
    """Ids of the messages that marks stand for, in any version since the first."""
    said = db.execute("SELECT id, sender, ref, at FROM message ORDER BY id")
    return [id for id, *about in said if _mark(*about) in marks]


@dataclass(frozen=True, slots=True)
class Open:
    """What was taken back and may still be in files beside the journal.

    Attributes:
        marks: When each message was taken back that a backup may hold.
        learned: The newest change whose words the graph's file may hold; 0 for none.
    """

    marks: dict[str, float]
    learned: int


def still_open(db: sqlite3.Connection) -> Open:
    """What was taken back since the last :func:`close`."""
    found = db.execute(
        "SELECT key, value FROM meta WHERE key LIKE ? AND value != ?", (f"{_MARK}%", _CLOSED)
    )
    marks = {key: float(value) for key, value in found}
    learned = db.execute("SELECT value FROM meta WHERE key = ?", (_LEARNED,)).fetchone()
    return Open(marks, int(learned[0]) if learned else 0)


def add(db: sqlite3.Connection, marks: Collection[str], at: float) -> None:
    """Add marks to a journal, inside the open transaction."""
    rows = [(mark, repr(at)) for mark in sorted(marks)]
    db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", rows)


def close(db: sqlite3.Connection, done: Open) -> None:
    """Say that no other file holds this any more."""
    rows = [(_CLOSED, mark) for mark in done.marks]
    db.executemany("UPDATE meta SET value = ? WHERE key = ?", rows)
    db.execute("DELETE FROM meta WHERE key = ? AND value = ?", (_LEARNED, str(done.learned)))


def settle(db: sqlite3.Connection) -> None:
    """Say that nothing is due any more."""
    db.execute("DELETE FROM meta WHERE key = ?", (_DUE,))


def _mark(sender: str, ref: str, at: float) -> str:
    said = "\x1f".join((sender, ref, repr(at)))
    return f"{_MARK}{hashlib.blake2b(said.encode(), digest_size=16).hexdigest()}"
