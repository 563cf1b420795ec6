"""What was said elsewhere or long ago comes in, with its own times, and can go again.

Pieces of one transaction each; whoever drives them (``moving/``) may be killed between
any two.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..model import (
    Basis,
    Change,
    Episode,
    Erased,
    Fact,
    Forgotten,
    Message,
    Presence,
    Row,
    Session,
    decode,
    registered,
)
from . import attendance
from . import messages as mail
from .contents import Claim
from .rows import Draft, Rows, read_change, write

Tell = Callable[[Change | Message | Presence | Erased], None]
Ranges = Iterable[tuple[int, int]]
"""Ids from the first to the last of each pair, both inclusive."""


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever remembered here."""
    found = db.execute(
        "SELECT 1 FROM message UNION ALL SELECT 1 FROM batch UNION ALL SELECT 1 FROM row LIMIT 1"
    )
    return found.fetchone() is None


def reserve(db: sqlite3.Connection, message: int, batch: int) -> None:
    """Let what is said meanwhile be numbered from above these ids."""
    for table, number in (("message", message), ("batch", batch)):
        if not db.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table)
        ).rowcount:
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))


def note(db: sqlite3.Connection, key: str, value: str) -> None:
    """Keep a small value in the transaction that is open."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def notes(db: sqlite3.Connection, prefix: str) -> dict[str, str]:
    """Small values by what follows ``prefix`` in their keys."""
    found = db.execute(
        "SELECT key, value FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key",
        (len(prefix), prefix),
    )
    return {key.removeprefix(prefix): value for key, value in found}


def said_in(db: sqlite3.Connection, session: str) -> Iterable[tuple[int, str, str, float, str]]:
    """Id, sender, text, time and reference of what was said in a Session, by id."""
    return db.execute(
        "SELECT id, sender, text, at, ref FROM message WHERE session = ? ORDER BY id", (session,)
    )


def said_around(db: sqlite3.Connection, circle: str) -> Iterable[tuple[str, str, float, str]]:
    """Sender, text, time and reference of what was said in a circle, to whichever persona."""
    return db.execute(
        "SELECT m.sender, m.text, m.at, m.ref FROM row s JOIN message m ON m.session = s.id"
        " WHERE s.kind = 'session' AND json_extract(s.data, '$.circle') = ?",
        (circle,),
    )


def extent(db: sqlite3.Connection) -> list[int]:
    """Changes with every message that comes or goes."""
    return list(db.execute("SELECT coalesce(max(id), 0), count(*) FROM message").fetchone())


def by_reference(db: sqlite3.Connection, message: Message) -> int | None:
    """Id of the message that its platform calls the same."""
    if not message.ref:
        return None
    found = db.execute(
        "SELECT id FROM message WHERE session = ? AND sender = ? AND ref = ? AND ref != ''",
        (message.session, message.sender, message.ref),
    ).fetchone()
    return int(found[0]) if found else None


def is_there(db: sqlite3.Connection, id: int) -> bool:
    """Whether there is a message of this id."""
    return db.execute("SELECT 1 FROM message WHERE id = ?", (id,)).fetchone() is not None


def arrive(
    db: sqlite3.Connection, message: Message, session: Session | None, act: str, tell: Tell
) -> Message:
    """Store a message.

    Args:
        act: The import it comes with.
        session: Where it was said; whoever speaks in a group was there then. ``None`` if
            that is known otherwise.
    """
    stored = mail.insert(db, message)
    if session and session.is_group and message.is_human:
        attendance.was_there(db, act, session.circle, message.sender, message.at, tell)
    tell(stored)
    return stored


def claim(db: sqlite3.Connection, batch: Claim) -> int:
    """Store a batch; without an id it gets the next one. Harmless if it is there."""
    cursor = db.execute(
        "INSERT OR IGNORE INTO batch (id, session, state, created_at) VALUES (?, ?, ?, ?)",
        (batch.id or None, batch.session, batch.state, batch.at),
    )
    return batch.id or int(cursor.lastrowid or 0)


def ask(db: sqlite3.Connection, batch: int) -> bool:
    """Let a batch that was only recorded be learned; false if it was learned, or is gone."""
    return (
        db.execute(
            "UPDATE batch SET state = 'waiting', attempts = 0, next_at = 0 WHERE id = ?"
            " AND state = 'learned' AND NOT EXISTS (SELECT 1 FROM change WHERE batch = batch.id)"
            " AND EXISTS (SELECT 1 FROM message WHERE batch = batch.id)",
            (batch,),
        ).rowcount
        > 0
    )


def put(
    db: sqlite3.Connection, rows: Iterable[Row], actor: str, reason: str, at: float, tell: Tell
) -> Change | None:
    """Write rows as they are to stand."""
    change = write(db, Draft(actor, reason, list(rows)), at)
    if change:
        tell(change)
    return change


# -------------------------------------------------------------------- going again


def take_back(
    db: sqlite3.Connection, number: int, actor: str, at: float, tell: Tell, untold: set[str]
) -> int:
    """Undo what one change did to rows that stand as it left them.

    Args:
        untold: Gets the ids of episodes that go.

    Returns:
        How many rows stay because they were altered since.
    """
    change = read_change(db, number)
    if change is None:
        return 0
    draft = Draft(actor, "undo import")
    kept = 0
    for op in change.ops:
        found = db.execute(
            "SELECT data FROM row WHERE kind = ? AND id = ?", (op.kind, op.id)
        ).fetchone()
        if (json.loads(found[0]) if found else None) != op.after:
            kept += 1
        elif op.before is None:
            draft.drop.append((op.kind, op.id))
            untold |= {op.id} if op.kind == Episode.kind else set()
        else:
            draft.put.append(decode(op.kind, op.before))
    change = write(db, draft, at)
    if change:
        tell(change)
    return kept


def depart(
    db: sqlite3.Connection,
    messages: Ranges,
    batches: Ranges,
    untold: set[str],
    actor: str,
    at: float,
    tell: Tell,
    act: str,
) -> int:
    """Delete messages, batches and what rests on them alone; returns how many messages.

    So do records that sum up an episode of ``untold``, which is gone, and what the import
    ``act`` says of who was where.
    """
    db.execute("CREATE TEMP TABLE going (id INTEGER PRIMARY KEY)")
    try:
        for first, last in messages:
            db.execute(
                "INSERT OR IGNORE INTO going SELECT id FROM message WHERE id BETWEEN ? AND ?",
                (first, last),
            )
        ids = [id for (id,) in db.execute("SELECT id FROM going ORDER BY id")]
        _untell(db, set(ids), untold, actor, at, tell)
        begun = _begun(db)
        db.execute("DELETE FROM message WHERE id IN (SELECT id FROM going)")
    finally:
        db.execute("DROP TABLE going")
    for first, last in batches:
        db.execute(
            "DELETE FROM batch WHERE id BETWEEN ? AND ?"
            " AND NOT EXISTS (SELECT 1 FROM message WHERE batch = batch.id)",
            (first, last),
        )
    tell(Erased(tuple(ids)))
    attendance.recede(db, act, tell, begun)
    return len(ids)


def _begun(db: sqlite3.Connection) -> set[attendance.Place]:
    """Intervals of presence that begin with a message that goes."""
    return set(
        db.execute(
            "SELECT p.circle, p.user, p.since FROM going g"
            " JOIN message m ON m.id = g.id"
            " JOIN row s ON s.kind = 'session' AND s.id = m.session"
            " JOIN presence p ON p.circle = json_extract(s.data, '$.circle')"
            " AND p.user = m.sender AND p.since = m.at"
        )
    )


def _untell(
    db: sqlite3.Connection, gone: set[int], untold: set[str], actor: str, at: float, tell: Tell
) -> None:
    """Take messages out of what rests on them."""
    rows = Rows(db)
    draft = Draft(actor, "undo import")
    for fact in rows.scan(Fact):
        if gone.isdisjoint(fact.evidence):
            continue
        others = tuple(id for id in fact.evidence if id not in gone)
        if others:
            draft.put.append(replace(fact, evidence=others))
        else:
            draft.drop.append((Fact.kind, fact.id))
    for kind in [kind for kind in registered() if kind.basis is Basis.EACH]:
        for row in rows.scan(kind):
            if not gone.isdisjoint(row.cited):
                draft.drop.append((row.kind, row.id))
    for forgotten in rows.scan(Forgotten):
        if forgotten.message in gone:
            draft.drop.append((Forgotten.kind, forgotten.id))
    # Records tell of what their parts told of, and last longer than each of them.
    episodes = sorted(rows.scan(Episode), key=lambda e: (e.is_record, e.ended_at - e.started_at))
    for episode in episodes:
        is_gone = episode.first_message in gone and episode.last_message in gone
        if is_gone or not untold.isdisjoint(episode.parts):
            untold.add(episode.id)
            draft.drop.append((Episode.kind, episode.id))
    change = write(db, draft, at)
    if change:
        tell(change)
