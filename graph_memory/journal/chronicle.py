"""What was said and done, in the order of time. Reads only."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from ..model import Episode, Message, decode
from . import messages as mail
from .pages import Found, Place, by_id, turn

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which episodes and summaries are wanted; an empty field asks for nothing.

    Attributes:
        level: ``episode``, ``day`` … ``year``.
        since, until: Begun not before, and before; seconds since the epoch.
        is_told: Only those that have a summary.
        place: Where the page begins; ``None`` is the first page.
    """

    persona: str = ""
    circle: str = ""
    level: str = ""
    since: float | None = None
    until: float | None = None
    is_told: bool = False
    limit: int = 50
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the change log.

    Attributes:
        rows: How many rows of each kind it touched.
        undoes: Number of the change it takes back.
        undone_by: Number of the change that took it back.
    """

    id: int
    at: float
    actor: str
    reason: str
    rows: dict[str, int]
    undoes: int | None
    undone_by: int | None


def records(db: sqlite3.Connection, wanted: RecordFilter) -> Found[Episode]:
    """One page of episodes and summaries, newest first."""
    parts = ["e.kind = 'episode'"]
    values: dict[str, object] = {}
    for key, condition in (
        ("persona", "json_extract(w.data, '$.persona') = :persona"),
        ("circle", "json_extract(w.data, '$.circle') = :circle"),
        ("level", "json_extract(e.data, '$.level') = :level"),
        ("since", "json_extract(e.data, '$.started_at') >= :since"),
        ("until", "json_extract(e.data, '$.started_at') < :until"),
    ):
        if getattr(wanted, key) not in ("", None):
            parts.append(condition)
            values[key] = getattr(wanted, key)
    if wanted.is_told:
        parts.append("json_extract(e.data, '$.summary') != ''")
    source = (
        "SELECT json_extract(e.data, '$.started_at') AS key, e.id FROM row e"
        " JOIN row w ON w.kind = 'session' AND w.id = e.session WHERE " + " AND ".join(parts)
    )

    def read(rows: list[Place]) -> list[Episode]:
        return by_id(db, Episode.kind, (row.id for row in rows), _episode)

    return turn(db, source, values, wanted.place, 0.0, wanted.limit, read)


def levels(db: sqlite3.Connection) -> dict[str, int]:
    """How many episodes and summaries there are of each level."""
    rows = db.execute(
        "SELECT json_extract(data, '$.level') AS level, count(*) FROM row"
        " WHERE kind = 'episode' GROUP BY level"
    )
    return dict(rows.fetchall())


def around(db: sqlite3.Connection, id: int, before: int, after: int) -> list[Message]:
    """A message with what was said before and after it in its Session; empty if it is gone."""
    found = mail.by_ids(db, [id])
    if not found:
        return []
    earlier = db.execute(
        "SELECT id FROM message WHERE session = ? AND id < ? ORDER BY id DESC LIMIT ?",
        (found[0].session, id, before),
    ).fetchall()
    later = db.execute(
        "SELECT id FROM message WHERE session = ? AND id > ? ORDER BY id LIMIT ?",
        (found[0].session, id, after),
    ).fetchall()
    return mail.by_ids(db, [id, *(n for (n,) in (*earlier, *later))])


def between(
    db: sqlite3.Connection, session: str, first: int, last: int, limit: int
) -> list[Message]:
    """The first ``limit`` messages of a Session with ids from ``first`` to ``last``."""
    found = db.execute(
        "SELECT id FROM message WHERE session = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?",
        (session, first, last, limit),
    ).fetchall()
    return mail.by_ids(db, [id for (id,) in found])


def learned(db: sqlite3.Connection) -> dict[int, int]:
    """How many facts were learned, by hour since the epoch."""
    rows = db.execute(
        "SELECT CAST(json_extract(data, '$.recorded_at') / ? AS INTEGER) AS hour, count(*)"
        " FROM row WHERE kind = 'fact' GROUP BY hour",
        (HOUR,),
    )
    return dict(rows.fetchall())


def said(db: sqlite3.Connection, since: float) -> dict[int, int]:
    """How many messages were said, by hour since the epoch."""
    rows = db.execute(
        "SELECT CAST(at / ? AS INTEGER) AS hour, count(*) FROM message WHERE at >= ? GROUP BY hour",
        (HOUR, since),
    )
    return dict(rows.fetchall())


def log(
    db: sqlite3.Connection, actor: str, reason: str, place: Place | None, limit: int
) -> Found[Entry]:
    """One page of changes, newest first; those that only noted a chat window are left out."""
    parts = ["NOT (c.actor = 'chat' AND c.reason = 'session')"]
    values: dict[str, object] = {}
    if actor:
        parts.append("c.actor = :actor")
        values["actor"] = actor
    if reason:
        parts.append("c.reason = :reason")
        values["reason"] = reason
    source = "SELECT c.id AS key, '' AS id FROM change c WHERE " + " AND ".join(parts)

    def read(rows: list[Place]) -> list[Entry]:
        return [entry for row in rows if (entry := _entry(db, int(row.key)))]

    return turn(db, source, values, place, 0.0, limit, read)


def acts(db: sqlite3.Connection) -> tuple[list[str], list[str]]:
    """Actors and reasons that the change log names."""
    actors = db.execute("SELECT DISTINCT actor FROM change ORDER BY actor LIMIT 200").fetchall()
    reasons = db.execute("SELECT DISTINCT reason FROM change ORDER BY reason").fetchall()
    return [actor for (actor,) in actors], [reason for (reason,) in reasons]


def _entry(db: sqlite3.Connection, number: int) -> Entry | None:
    found = db.execute(
        "SELECT c.id, c.at, c.actor, c.reason, c.undoes,"
        " (SELECT u.id FROM change u WHERE u.undoes = c.id) FROM change c WHERE c.id = ?",
        (number,),
    ).fetchone()
    if found is None:
        return None
    kinds = db.execute(
        "SELECT json_extract(o.value, '$[0]'), count(*) FROM change c, json_each(c.ops) o"
        " WHERE c.id = ? GROUP BY 1 ORDER BY 2 DESC, 1",
        (number,),
    ).fetchall()
    number, at, actor, reason, undoes, undone_by = found
    return Entry(number, at, actor, reason, dict(kinds), undoes, undone_by)


def _episode(data: str) -> Episode:
    return decode("episode", json.loads(data))  # type: ignore[return-value]
