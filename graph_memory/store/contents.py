"""Contents of a journal, piece by piece, in an order that depends on nothing else.

Exports and imports read it so; memory needed is that of one page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model import Message, Row, Session
from . import messages as mail
from .pauses import pauses as pauses
from .presence import presences as presences
from .rows import FIELDS, PAGE, Rows, read, readable


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


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """Rows by kind and id, without those that cannot be read."""
    query = "SELECT kind, id, data FROM row WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?"
    after = ("", "")
    while page := db.execute(query, (*after, PAGE)).fetchall():
        after = page[-1][:2]
        yield from readable(page)


def messages(db: sqlite3.Connection) -> Iterator[Message]:
    """Messages by id."""
    after = 0
    while page := mail.later(db, after, PAGE):
        after = page[-1].id
        yield from page


def messages_of(db: sqlite3.Connection, sessions: Iterable[str]) -> Iterator[Message]:
    """Messages of some Sessions."""
    query = f"SELECT {FIELDS} FROM message WHERE session = ? ORDER BY id"
    for session in sessions:
        for row in db.execute(query, (session,)):
            yield from read([row])


def claims(db: sqlite3.Connection) -> Iterator[Claim]:
    """Batches by id."""
    query = "SELECT id, session, state, created_at FROM batch WHERE id > ? ORDER BY id LIMIT ?"
    after = 0
    while page := db.execute(query, (after, PAGE)).fetchall():
        after = page[-1][0]
        yield from (Claim(*each) for each in page)


def claim(db: sqlite3.Connection, id: int) -> tuple[Claim, str]:
    """One batch that is there, and its error."""
    query = "SELECT id, session, state, created_at, error FROM batch WHERE id = ?"
    *fields, error = db.execute(query, (id,)).fetchone()
    return Claim(*fields), error


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


def sessions(db: sqlite3.Connection) -> dict[str, Session]:
    """All Sessions by id."""
    return {row.id: row for row in Rows(db).scan(Session)}


def size(db: sqlite3.Connection) -> int:
    """How many pieces there are, about."""
    (count,) = db.execute(
        "SELECT (SELECT count(*) FROM row) + (SELECT count(*) FROM message)"
        " + (SELECT count(*) FROM batch) + (SELECT count(*) FROM presence)"
    ).fetchone()
    return int(count)


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever remembered here."""
    query = "SELECT 1 FROM message UNION ALL SELECT 1 FROM batch UNION ALL SELECT 1 FROM row"
    return db.execute(f"{query} LIMIT 1").fetchone() is None


def reserve(db: sqlite3.Connection, message: int, batch: int) -> None:
    """Let what is heard meanwhile be numbered from above these ids."""
    for table, number in (("message", message), ("batch", batch)):
        query = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?"
        if not db.execute(query, (number, table)).rowcount:
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))
