"""Which messages were taken back, so that no restored backup brings them back.

A mark says it with a hash of who said it and when: none of the words, and nothing that
changes when a chat is moved. Backups themselves keep the message until they are rotated.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from ..model import Message

_MARK = "withdrawn:"
_DUE = "withdrawals due"


def note(db: sqlite3.Connection, message: Message, at: float) -> None:
    """Mark a message as taken back, inside the open transaction."""
    mark = _mark(message.sender, message.ref, message.at)
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (mark, repr(at)))


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
    marks = {key for (key,) in db.execute("SELECT key FROM meta WHERE key LIKE ?", (f"{_MARK}%",))}
    said = db.execute("SELECT id, sender, ref, at FROM message ORDER BY id")
    return [id for id, *about in said if _mark(*about) in marks]


def settle(db: sqlite3.Connection) -> None:
    """Say that nothing is due any more."""
    db.execute("DELETE FROM meta WHERE key = ?", (_DUE,))


def _mark(sender: str, ref: str, at: float) -> str:
    said = "\x1f".join((sender, ref, repr(at)))
    return f"{_MARK}{hashlib.blake2b(said.encode(), digest_size=16).hexdigest()}"
