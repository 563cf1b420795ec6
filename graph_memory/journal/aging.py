"""What upkeep asks of the journal, and what only it takes out of it: old messages, nodes
that nothing is known of any more, vectors of models that are not in use.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator

from ..model import EPISODE, Basis, Episode, Erased, Message, registered
from . import vectors
from .messages import by_ids

Tell = Callable[[Erased], None]
THINNED = "thinned"
"""Note: the newest batch of which messages were deleted because they were old."""
COUNT = "thinned messages"
"""Note: how many messages were deleted because they were old."""


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


def thin(
    db: sqlite3.Connection,
    session: str,
    before: float,
    after: int,
    limit: int,
    digest: Callable[[str], bytes],
    tell: Tell,
) -> tuple[int, int]:
    """Delete old messages of a Session inside the open transaction, at most ``limit``.

    Only what was learned from, is cited by no fact (one that is archived or superseded
    may come back) and is told by a summary of its conversation, or of its day, week …

    Args:
        before: Time before which a message is old.
        after: Id of the message after which to look.
        digest: Hash of a text in the cache of vectors.

    Returns:
        How many were deleted, and the id up to which was looked; 0 at the end.
    """
    old = db.execute(
        "SELECT m.id, m.at, b.id, b.state FROM message m JOIN batch b ON b.id = m.batch"
        " WHERE m.session = ? AND m.id > ? AND m.at < ? ORDER BY m.id LIMIT ?",
        (session, after, before, limit),
    ).fetchall()
    if not old:
        return 0, 0
    first, last = old[0][0], old[-1][0]
    citing = [cls.kind for cls in registered() if cls.basis in (Basis.ANY, Basis.EACH)]
    cited = {
        id
        for (id,) in db.execute(
            "SELECT e.value FROM row f INDEXED BY row_session, json_each(f.data, '$.evidence') e"
            " WHERE f.kind IN (SELECT value FROM json_each(?)) AND f.session = ?"
            " AND e.value BETWEEN ? AND ?",
            (json.dumps(citing), session, first, last),
        )
    }
    told = list(_told(db, session, first, last))
    going = {
        id: batch
        for id, at, batch, state in old
        if state == "learned"
        and id not in cited
        and any(a <= id <= b and since <= at <= until for a, b, since, until in told)
    }
    _delete(db, going, digest, tell)
    return len(going), last if len(old) == limit else 0


def _told(
    db: sqlite3.Connection, session: str, first: int, last: int
) -> Iterator[tuple[int, int, float, float]]:
    """What summaries of a Session tell of, as first and last message and time."""
    for (text,) in db.execute(
        "SELECT data FROM row INDEXED BY row_session WHERE kind = 'episode' AND session = ?"
        " AND json_extract(data, '$.summary') != ''"
        " AND json_extract(data, '$.last_message') >= ?"
        " AND json_extract(data, '$.first_message') <= ?",
        (session, first, last),
    ):
        row = json.loads(text)
        yield row["first_message"], row["last_message"], row["started_at"], row["ended_at"]


def _delete(
    db: sqlite3.Connection, going: dict[int, int], digest: Callable[[str], bytes], tell: Tell
) -> None:
    if not going:
        return
    texts: set[str] = set()
    for message in by_ids(db, going):
        texts |= {message.text, f"{message.name}: {message.text}"}
    vectors.forget(db, [digest(text) for text in sorted(texts)])
    db.executemany("DELETE FROM message WHERE id = ?", [(id,) for id in going])
    newest = max(thinned(db), *going.values())
    counted = [(THINNED, str(newest)), (COUNT, str(count(db) + len(going)))]
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", counted)
    tell(Erased(tuple(going)))


def thinned(db: sqlite3.Connection) -> int:
    """The newest batch of which messages were deleted because they were old; 0 if none is."""
    return _number(db, THINNED)


def count(db: sqlite3.Connection) -> int:
    """How many messages were deleted so far because they were old."""
    return _number(db, COUNT)


def _number(db: sqlite3.Connection, key: str) -> int:
    found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(found[0]) if found else 0


def orphans(db: sqlite3.Connection, before: float, limit: int) -> list[str]:
    """Entities of which nothing is known in any Session and that did not come up since a time.

    Those that the owner merged stay, and so does the bot.
    """
    found = db.execute(
        "SELECT e.id FROM row e WHERE e.kind = 'entity'"
        " AND NOT EXISTS (SELECT 1 FROM row f INDEXED BY row_a"
        "  WHERE f.kind IN ('fact', 'merge') AND f.a = e.id AND f.a != '')"
        " AND NOT EXISTS (SELECT 1 FROM row f INDEXED BY row_b"
        "  WHERE f.kind IN ('fact', 'merge') AND f.b = e.id AND f.b != '')"
        " AND NOT EXISTS (SELECT 1 FROM row n INDEXED BY row_a"
        "  WHERE n.kind IN ('name', 'mention') AND n.a = e.id AND n.a != ''"
        "  AND (json_extract(n.data, '$.last_at') >= ? OR json_extract(n.data, '$.type') = 'bot'))"
        " ORDER BY e.id LIMIT ?",
        (before, limit),
    )
    return [id for (id,) in found]


def models(db: sqlite3.Connection) -> list[str]:
    """The embedding models of which vectors are kept."""
    found: list[str] = []
    while True:  # from one to the next; DISTINCT would read them all
        (model,) = db.execute(
            "SELECT min(model) FROM vector WHERE model > ?", (found[-1] if found else "",)
        ).fetchone()
        if model is None:
            return found
        found.append(model)


def prune(db: sqlite3.Connection, model: str, limit: int) -> int:
    """Delete some vectors of a model; returns how many."""
    return db.execute(
        "DELETE FROM vector WHERE model = :model AND text_hash IN"
        " (SELECT text_hash FROM vector WHERE model = :model LIMIT :limit)",
        {"model": model, "limit": limit},
    ).rowcount
