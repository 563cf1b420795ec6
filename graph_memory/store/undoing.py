"""Undo of a change: the inverse of what it did, unless something came after it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from ..errors import ConflictError, NotFoundError
from ..model import Change, Forgotten, Op, Row, decode
from . import presence
from .rows import RETRACTED, Draft, Rows, read_change, write

ASKED = "remember"
"""Reason of a change by which somebody had a message remembered."""


def unsaid(rows: Rows, session: str, messages: Iterable[int]) -> list[Row]:
    """The rows by which messages, and summaries that tell of them, are not recalled.

    Other facts that rest on the same messages speak for themselves.
    """
    ids = list(messages)
    muted = [Forgotten.of(session, id) for id in ids]
    # A summary tells what it sums up; what else it tells is in the other rows.
    untold = [replace(episode, summary="") for episode in rows.episodes_of(session, ids)]
    return [*muted, *untold]


def undo(
    db: sqlite3.Connection, number: int, actor: str, at: float, tell: presence.Tell
) -> Change | None:
    """Take change ``number`` back by a change of its own, inside the open transaction.

    Raises:
        NotFoundError, ConflictError: As :func:`inverse`.
    """
    change = write(db, inverse(db, number, actor), at)
    if change:
        tell(change)
        presence.follow(db, change, tell)
    return change


def undoable(db: sqlite3.Connection, number: int) -> Change:
    """A change that can be taken back.

    Raises:
        NotFoundError: No such change, it has been undone, or it is too old (``undo_old``).
    """
    change = read_change(db, number)
    if change is None:
        raise NotFoundError(f"there is no change {number}")
    if change.reason == RETRACTED:
        raise NotFoundError(f"change {number} is what somebody took back themselves")
    if change.is_trimmed:
        text = f"change {number} is too old: what was there before is not known any more"
        raise NotFoundError(text).told("undo_old")
    if db.execute("SELECT 1 FROM change WHERE undoes = ?", (number,)).fetchone():
        raise NotFoundError(f"change {number} has been undone already")
    return change


def inverse(db: sqlite3.Connection, number: int, actor: str) -> Draft:
    """The draft that takes change ``number`` back.

    Raises:
        NotFoundError: No such change, or it has been undone.
        ConflictError: A later change touched one of its rows, and stands.
    """
    change = undoable(db, number)
    draft = Draft(actor, "undo", undoes=number)
    for op in change.ops:
        found = db.execute(
            "SELECT change, data FROM row WHERE kind = ? AND id = ?", (op.kind, op.id)
        ).fetchone()
        standing = json.loads(found[1]) if found else None
        if standing != op.after or (found and not _stands_since(db, found[0], number)):
            raise ConflictError(number, found[0] if found else _deleted_by(db, op, number))
        if op.before is None and not (op.kind == "session" and _is_used(db, op.id, number)):
            draft.drop.append((op.kind, op.id))
        elif op.before is not None:
            draft.put.append(decode(op.kind, op.before))
    return draft


def _stands_since(db: sqlite3.Connection, writer: int, number: int) -> bool:
    """Whether a row is as change ``number`` left it: others that wrote it were undone."""
    if writer == number:
        return True
    query = "SELECT undoes IS NOT NULL FROM change WHERE id = ?"
    return bool(db.execute(query, (writer,)).fetchone()[0])


def _is_used(db: sqlite3.Connection, session: str, number: int) -> bool:
    """Whether a Session holds more than change ``number``, and so stays."""
    query = "SELECT 1 FROM message WHERE session = :session UNION ALL SELECT 1 FROM row WHERE"
    query += " session = :session AND kind != 'session' AND change != :change LIMIT 1"
    return bool(db.execute(query, {"session": session, "change": number}).fetchone())


def _deleted_by(db: sqlite3.Connection, op: Op, number: int) -> int:
    for later, body in db.execute(
        "SELECT id, ops FROM change WHERE id > ? ORDER BY id DESC", (number,)
    ):
        if any(kind == op.kind and id == op.id for kind, id, _, _ in json.loads(body)):
            return int(later)
    return number
