"""Queries for the summaries of periods: episodes, what is due, what was said. Reads only."""

from __future__ import annotations

import json
import sqlite3

from ..journal.messages import by_ids
from ..model import EPISODE, Episode, Message


def unlearned(db: sqlite3.Connection, session: str) -> int | None:
    """The first message of a Session from which is still to be learned."""
    (first,) = db.execute(
        "SELECT min(first) FROM ("
        " SELECT min(id) first FROM message INDEXED BY message_pending"
        " WHERE session = :session AND batch IS NULL UNION ALL"
        " SELECT min(m.id) FROM batch b INDEXED BY batch_open CROSS JOIN message m"
        " ON m.batch = b.id WHERE b.state = 'waiting' AND b.state != 'learned'"
        " AND b.session = :session)",
        {"session": session},
    ).fetchone()
    return None if first is None else int(first)


def episodes(db: sqlite3.Connection, session: str, since: float) -> list[Episode]:
    """The episodes and records of a Session that began at a time or later."""
    found = db.execute(
        "SELECT data FROM row INDEXED BY row_session WHERE kind = 'episode' AND session = ?"
        " AND json_extract(data, '$.started_at') >= ? ORDER BY id",
        (session, since),
    )
    return [Episode.of_data(json.loads(text)) for (text,) in found]


def has_news(db: sqlite3.Connection, session: str, before: float, seen: int) -> bool:
    """Whether an episode or record of a Session that began before a time was written later
    than change number ``seen``."""
    found = db.execute(
        "SELECT 1 FROM row INDEXED BY row_session WHERE kind = 'episode' AND session = ?"
        " AND change > ? AND json_extract(data, '$.started_at') < ? LIMIT 1",
        (session, seen, before),
    )
    return found.fetchone() is not None


def faded(db: sqlite3.Connection, session: str) -> dict[str, float]:
    """When records of a Session that have no words got that way, by id."""
    return dict(
        db.execute(
            "SELECT r.id, c.at FROM row r INDEXED BY row_session JOIN change c ON c.id = r.change"
            " WHERE r.kind = 'episode' AND r.session = ?"
            " AND json_extract(r.data, '$.level') != ? AND json_extract(r.data, '$.summary') = ''",
            (session, EPISODE),
        ).fetchall()
    )


def said(db: sqlite3.Connection, episode: Episode, limit: int) -> list[Message]:
    """What people said in an episode, from its beginning, at most ``limit`` messages."""
    found = db.execute(
        "SELECT id FROM message WHERE session = ? AND id BETWEEN ? AND ? AND at BETWEEN ? AND ?"
        " AND sender != 'bot' ORDER BY id LIMIT ?",
        (
            *(episode.session, episode.first_message, episode.last_message),
            *(episode.started_at, episode.ended_at, max(0, limit)),
        ),
    )
    return by_ids(db, [id for (id,) in found])
