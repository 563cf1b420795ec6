"""Looking for what is wrong inside a journal, and mending what can be mended.

Nothing that was said is ever dropped here: what cannot be read stays where it is, and
can come back from a backup.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ..model import decode
from .connection import failure, open_to_read

EXAMPLES = 5
"""Cases that are named for each fault."""

_LOST_BATCHES = (
    "SELECT m.id FROM message m LEFT JOIN batch b ON b.id = m.batch"
    " WHERE m.batch IS NOT NULL AND b.id IS NULL"
)
_STRAY_MESSAGES = (
    "SELECT m.id FROM message m LEFT JOIN row s ON s.kind = 'session' AND s.id = m.session"
    " WHERE s.id IS NULL"
)
_STRAY_BATCHES = (
    "SELECT b.id FROM batch b LEFT JOIN row s ON s.kind = 'session' AND s.id = b.session"
    " WHERE b.state = 'waiting' AND s.id IS NULL"
)
_DONE_BATCHES = (
    "SELECT b.id FROM batch b JOIN change c ON c.batch = b.id WHERE b.state != 'learned'"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong.

    Attributes:
        code: ``damaged`` (SQLite finds the file damaged), ``unreadable`` (rows),
            ``misfiled`` (rows that their keys do not lead to), ``stray_messages`` and
            ``stray_batches`` (of no known Session), ``lost_batches`` (messages claimed by
            a batch that is not there), ``done_batches`` (learned, but still queued).
        count: How many cases.
        examples: Ids of the first of them, or SQLite's words.
    """

    code: str
    count: int
    examples: tuple[str, ...]

    @property
    def is_mendable(self) -> bool:
        """Whether :func:`mend` knows what to do."""
        return self.code in ("misfiled", "stray_batches", "lost_batches", "done_batches")


def examine(path: Path) -> list[Fault]:
    """Look through a whole journal on a connection of its own. Blocks.

    Raises:
        JournalError: It cannot be read.
    """
    db = open_to_read(path)
    try:
        db.execute("BEGIN")
        return [fault for fault in _faults(db) if fault.count]
    except sqlite3.Error as error:
        raise failure(f"{path.name} cannot be examined", error) from error
    finally:
        db.close()


def _faults(db: sqlite3.Connection) -> list[Fault]:
    words = [str(line) for (line,) in db.execute("PRAGMA integrity_check(20)") if line != "ok"]
    if words:
        # What else is found in a damaged file means little.
        return [Fault("damaged", len(words), tuple(words[:EXAMPLES]))]
    unreadable, misfiled = _rows(db)
    return [
        _fault("unreadable", unreadable),
        _fault("misfiled", [f"{kind} {id}" for kind, id, _ in misfiled]),
        _fault("stray_messages", _ids(db, _STRAY_MESSAGES)),
        _fault("stray_batches", _ids(db, _STRAY_BATCHES)),
        _fault("lost_batches", _ids(db, _LOST_BATCHES)),
        _fault("done_batches", _ids(db, _DONE_BATCHES)),
    ]


def _fault(code: str, cases: list[str]) -> Fault:
    return Fault(code, len(cases), tuple(cases[:EXAMPLES]))


def _ids(db: sqlite3.Connection, query: str) -> list[str]:
    return [str(id) for (id,) in db.execute(query)]


def _rows(
    db: sqlite3.Connection,
) -> tuple[list[str], list[tuple[str, str, tuple[str, str, str]]]]:
    """Rows that cannot be read, and rows with the keys that they should have."""
    unreadable: list[str] = []
    misfiled: list[tuple[str, str, tuple[str, str, str]]] = []
    for kind, id, session, a, b, data in db.execute(
        "SELECT kind, id, session, a, b, data FROM row"
    ):
        try:
            row = decode(kind, json.loads(data))
            keys = row.index_keys
        except (ValueError, TypeError, KeyError, AttributeError):
            unreadable.append(f"{kind} {id}")
            continue
        if row.id != id:
            unreadable.append(f"{kind} {id}")
        elif keys != (session, a, b):
            misfiled.append((kind, id, keys))
    return unreadable, misfiled


def mend(db: sqlite3.Connection) -> None:
    """Mend what can be mended, inside the open transaction; see ``Fault.is_mendable``.

    Messages of a lost batch wait in the buffer again, unless they were learned. A batch
    of no known Session is given up: nobody could be told what was learned from it.
    """
    for kind, id, keys in _rows(db)[1]:
        db.execute(
            "UPDATE row SET session = ?, a = ?, b = ? WHERE kind = ? AND id = ?", (*keys, kind, id)
        )
    db.execute(
        "INSERT INTO batch (id, session, state, created_at)"
        " SELECT c.batch, min(m.session), 'learned', c.at FROM change c"
        " JOIN message m ON m.batch = c.batch LEFT JOIN batch b ON b.id = c.batch"
        " WHERE b.id IS NULL GROUP BY c.batch"
    )
    db.execute(f"UPDATE message SET batch = NULL WHERE id IN ({_LOST_BATCHES})")
    db.execute(f"UPDATE batch SET state = 'learned', error = '' WHERE id IN ({_DONE_BATCHES})")
    db.execute(
        f"UPDATE batch SET state = 'dead', error = 'its chat is unknown'"
        f" WHERE id IN ({_STRAY_BATCHES})"
    )
