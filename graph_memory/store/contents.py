"""Contents of a journal piece by piece, and the faults among them.

Exports and imports read it in an order that depends on nothing else; memory needed is that of
one page.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Final

from ..model import Message, Row, Session, decode, registered
from .messages import Claim
from .pauses import every_pause as every_pause
from .presence import presences as presences
from .rows import PAGE, Rows, paged, select_messages


def rows(db: sqlite3.Connection) -> Iterator[Row]:
    """Rows by kind and id, without those that cannot be read."""
    kinds = sorted(registered(), key=attrgetter("kind"))
    return chain.from_iterable(map(Rows(db).scan, kinds))


def messages(db: sqlite3.Connection, session: str = "") -> Iterator[Message]:
    """Messages of a Session, or of all, by id."""
    part, given = ("AND session = ?", (session,)) if session else ("", ())
    query = f"WHERE id > ? {part} ORDER BY id LIMIT ?"
    return paged(
        lambda after: select_messages(db, query, (after, *given, PAGE)), 0, attrgetter("id")
    )


def claims(db: sqlite3.Connection) -> Iterator[Claim]:
    """Batches by id."""
    query = "SELECT id, session, state, created_at FROM batch WHERE id > ? ORDER BY id LIMIT ?"
    found = paged(lambda after: db.execute(query, (after, PAGE)).fetchall(), 0, itemgetter(0))
    return (Claim(*each) for each in found)


def claim(db: sqlite3.Connection, id: int) -> tuple[Claim, str]:
    """One batch that is there, and its error."""
    query = "SELECT id, session, state, created_at, error FROM batch WHERE id = ?"
    *fields, error = db.execute(query, (id,)).fetchone()
    return Claim(*fields), error


def sessions(db: sqlite3.Connection) -> dict[str, Session]:
    """All Sessions by id."""
    return {row.id: row for row in Rows(db).scan(Session)}


def count_rows(db: sqlite3.Connection) -> int:
    """How many rows there are."""
    (count,) = db.execute("SELECT count(*) FROM row").fetchone()
    return int(count)


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


# ---------------------------------------------------------------------------- faults

MENDABLE = frozenset({"stray_batches", "lost_batches", "done_batches"})
"""Faults of which :func:`mend` knows what to do."""
_LOST: Final = (
    "SELECT m.id FROM message m LEFT JOIN batch b ON b.id = m.batch"
    " WHERE m.batch IS NOT NULL AND b.id IS NULL"
)
_STRAY: Final = (
    "SELECT b.id FROM batch b LEFT JOIN row s ON s.kind = 'session' AND s.id = b.session"
    " WHERE b.state = 'waiting' AND s.id IS NULL"
)
_DONE: Final = "SELECT b.id FROM batch b JOIN change c ON c.batch = b.id WHERE b.state != 'learned'"
_QUERIES: Final = {
    "stray_messages": (
        "SELECT m.id FROM message m LEFT JOIN row s ON s.kind = 'session' AND s.id = m.session"
        " WHERE s.id IS NULL"
    ),
    "stray_batches": _STRAY,
    "lost_batches": _LOST,
    "done_batches": _DONE,
}
_REMEDIES: Final = (
    "INSERT INTO batch (id, session, state, created_at)"
    " SELECT c.batch, min(m.session), 'learned', c.at FROM change c"
    " JOIN message m ON m.batch = c.batch LEFT JOIN batch b ON b.id = c.batch"
    " WHERE b.id IS NULL GROUP BY c.batch",
    f"UPDATE message SET batch = NULL WHERE id IN ({_LOST})",
    f"UPDATE batch SET state = 'learned', error = '' WHERE id IN ({_DONE})",
    f"UPDATE batch SET state = 'dead', error = 'its chat is unknown' WHERE id IN ({_STRAY})",
)


def examine(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Faults of a whole journal: ids of what is wrong, or SQLite's words.

    They are ``damaged`` (SQLite finds the file damaged), ``unreadable`` (rows),
    ``stray_messages`` and ``stray_batches`` (of no known Session), ``lost_batches`` (messages
    claimed by a batch that is not there), ``done_batches`` (learned, but still queued).
    """
    return {code: cases for code, cases in _faults(db) if cases}


def _faults(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    words = [str(line) for (line,) in db.execute("PRAGMA integrity_check(20)") if line != "ok"]
    yield "damaged", words
    if words:
        return  # what else is found in a damaged file means little
    rows = db.execute("SELECT kind, id, data FROM row")
    yield "unreadable", [f"{kind} {id}" for kind, id, data in rows if not _is_row(kind, id, data)]
    for code, query in _QUERIES.items():
        yield code, [str(id) for (id,) in db.execute(query)]


def _is_row(kind: str, id: str, data: str) -> bool:
    try:
        row = decode(kind, json.loads(data))
        return row.id == id and bool(row.index_keys)
    except (ValueError, TypeError, KeyError, AttributeError):
        return False


def mend(db: sqlite3.Connection) -> None:
    """Mend what can be mended (:data:`MENDABLE`), inside the open transaction.

    Messages of a lost batch wait in the buffer again, unless they were learned. A batch
    of no known Session is given up: nobody could be told what was learned from it.
    """
    for remedy in _REMEDIES:
        db.execute(remedy)
