"""Everything a journal holds, piece by piece, in an order that depends on nothing else.

For whoever takes all of it elsewhere; memory needed is that of one page.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Message, Presence, Row, Session, decode
from . import messages as mail
from .rows import PAGE, readable


@dataclass(frozen=True, slots=True)
class Claim:
    """A batch without its messages.

    Attributes:
        state: ``waiting``, ``learned`` or ``dead``.
    """

    id: int
    session: str
    state: str
    at: float


def rows(
    db: sqlite3.Connection, after: tuple[str, str] = ("", ""), limit: int | None = None
) -> Iterator[Row]:
    """Rows by kind and id, from the one that follows ``after``.

    One that cannot be read is left out, which is logged.
    """
    left = limit
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        page = db.execute(
            "SELECT kind, id, data FROM row WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?",
            (*after, size),
        ).fetchall()
        if not page:
            return
        after = page[-1][:2]
        left = None if left is None else left - len(page)
        yield from readable(page)


def messages(db: sqlite3.Connection, after: int = 0) -> Iterator[Message]:
    """Messages by id."""
    while page := mail.later(db, after, PAGE):
        after = page[-1].id
        yield from page


def claims(db: sqlite3.Connection, after: int = 0) -> Iterator[Claim]:
    """Batches by id."""
    query = "SELECT id, session, state, created_at FROM batch WHERE id > ? ORDER BY id LIMIT ?"
    while page := db.execute(query, (after, PAGE)).fetchall():
        after = page[-1][0]
        yield from (Claim(*each) for each in page)


def claim(db: sqlite3.Connection, id: int) -> Claim | None:
    """One batch."""
    found = db.execute(
        "SELECT id, session, state, created_at FROM batch WHERE id = ?", (id,)
    ).fetchone()
    return Claim(*found) if found else None


def presences(db: sqlite3.Connection) -> Iterator[Presence]:
    """Intervals of presence by circle, user and beginning."""
    found = db.execute(
        "SELECT circle, user, since, until FROM presence ORDER BY circle, user, since"
    )
    return (Presence(*each) for each in found.fetchall())


def pauses(db: sqlite3.Connection) -> Iterator[tuple[str, str, float]]:
    """Kind, id and time of everything that asked for a pause."""
    return iter(db.execute("SELECT kind, id, at FROM pause ORDER BY kind, id").fetchall())


def sessions(db: sqlite3.Connection) -> dict[str, Session]:
    """All Sessions by id."""
    found = db.execute("SELECT data FROM row WHERE kind = 'session' ORDER BY id")
    made = (decode("session", json.loads(data)) for (data,) in found)
    return {row.id: row for row in made if isinstance(row, Session)}


def size(db: sqlite3.Connection) -> int:
    """How many pieces there are, about."""
    (count,) = db.execute(
        "SELECT (SELECT count(*) FROM row) + (SELECT count(*) FROM message)"
        " + (SELECT count(*) FROM batch) + (SELECT count(*) FROM presence)"
    ).fetchone()
    return int(count)
