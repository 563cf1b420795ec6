"""Contents of a journal, piece by piece, in an order that depends on nothing else.

Exports and imports read it so; memory needed is that of one page.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
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


def messages_of(db: sqlite3.Connection, sessions: Iterable[str]) -> Iterator[Message]:
    """Messages of some Sessions, without whom they turn to."""
    for session in sessions:
        found = db.execute(
            "SELECT id, session, sender, name, text, at, ref, batch FROM message"
            " WHERE session = ? ORDER BY id",
            (session,),
        )
        yield from (Message(*each) for each in found)


def claims(db: sqlite3.Connection, after: int = 0) -> Iterator[Claim]:
    """Batches by id."""
    query = "SELECT id, session, state, created_at FROM batch WHERE id > ? ORDER BY id LIMIT ?"
    while page := db.execute(query, (after, PAGE)).fetchall():
        after = page[-1][0]
        yield from (Claim(*each) for each in page)


def claim(db: sqlite3.Connection, id: int) -> tuple[Claim, str]:
    """One batch that is there, and its error."""
    session, state, at, error = db.execute(
        "SELECT session, state, created_at, error FROM batch WHERE id = ?", (id,)
    ).fetchone()
    return Claim(id, session, state, at), error


def put_claim(db: sqlite3.Connection, batch: Claim, error: str = "", source: str = "") -> int:
    """Store a batch; without an id it gets the next one.

    Args:
        source: Id of the import it comes with.

    Raises:
        sqlite3.IntegrityError: There is one of this id.
    """
    cursor = db.execute(
        "INSERT INTO batch (id, session, state, created_at, error, import)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (batch.id or None, batch.session, batch.state, batch.at, error, source),
    )
    return int(cursor.lastrowid or 0)


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


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever remembered here."""
    found = db.execute(
        "SELECT 1 FROM message UNION ALL SELECT 1 FROM batch UNION ALL SELECT 1 FROM row LIMIT 1"
    )
    return found.fetchone() is None


def reserve(db: sqlite3.Connection, message: int, batch: int) -> None:
    """Let what is heard meanwhile be numbered from above these ids."""
    for table, number in (("message", message), ("batch", batch)):
        if not db.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table)
        ).rowcount:
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))
