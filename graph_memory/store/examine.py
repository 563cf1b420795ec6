"""Faults inside a journal, and what mends them without dropping what was said."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..model import decode

EXAMPLES = 5
"""Cases that are named for each fault."""
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


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong.

    Attributes:
        code: ``damaged`` (SQLite finds the file damaged), ``unreadable`` (rows),
            ``stray_messages`` and ``stray_batches`` (of no known Session), ``lost_batches``
            (messages claimed by a batch that is not there), ``done_batches`` (learned, but
            still queued).
        count: How many cases.
        examples: Ids of the first of them, or SQLite's words.
    """

    code: str
    count: int
    examples: tuple[str, ...]

    @property
    def is_mendable(self) -> bool:
        """Whether :func:`mend` knows what to do."""
        return self.code in ("stray_batches", "lost_batches", "done_batches")


def examine(db: sqlite3.Connection) -> list[Fault]:
    """Look through a whole journal."""
    return [Fault(code, len(c), tuple(c[:EXAMPLES])) for code, c in _faults(db) if c]


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
    """Mend what can be mended, inside the open transaction; see ``Fault.is_mendable``.

    Messages of a lost batch wait in the buffer again, unless they were learned. A batch
    of no known Session is given up: nobody could be told what was learned from it.
    """
    for remedy in _REMEDIES:
        db.execute(remedy)
