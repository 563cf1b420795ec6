"""Leases: which of the bots on one memory does what only one of them should do.

They end by the server's clock. Losing one costs work done twice, never a wrong memory: what is
written is decided by what stands when it is written.
"""

from __future__ import annotations

import sqlite3

from ..model import stable_id


def take(db: sqlite3.Connection, name: str, holder: str, now: float, seconds: float) -> bool:
    """Take or prolong a lease, inside the open transaction; false if another has it."""
    query = "SELECT holder, until FROM lease WHERE name = ?"
    found = db.execute(query, (name,)).fetchone()
    if found and found[0] != holder and found[1] > now:
        return False
    db.execute("INSERT OR REPLACE INTO lease VALUES (?, ?, ?)", (name, holder, now + seconds))
    return True


def give(db: sqlite3.Connection, name: str, holder: str) -> None:
    """Give a lease back."""
    db.execute("DELETE FROM lease WHERE name = ? AND holder = ?", (name, holder))


def serve(db: sqlite3.Connection, circle: str, holder: str) -> None:
    """Note that a bot hears a chat window, and so is the one to speak there unasked."""
    if not serves(db, circle, holder):
        db.execute("INSERT OR REPLACE INTO lease VALUES (?, ?, 0)", (_chat(circle), holder))


def serves(db: sqlite3.Connection, circle: str, holder: str) -> bool:
    """Whether a bot was the last to hear a chat window."""
    query = "SELECT 1 FROM lease WHERE name = ? AND holder = ?"
    return db.execute(query, (_chat(circle), holder)).fetchone() is not None


def _chat(circle: str) -> str:
    """Name of the lease on a chat window, which tells nobody's account."""
    return stable_id("chat", circle)
