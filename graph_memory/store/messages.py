"""Messages, the durable buffer they wait in, batches, and who was present."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any

from ..errors import NotFoundError
from ..model import BOT, Addressee, Batch, Change, Message, Presence, Quote, Session
from ..text import clean
from .rows import Rows

_FIELDS = "id, session, sender, name, text, at, ref, batch, addressees"


@dataclass(frozen=True, slots=True)
class Appended:
    """What storing a message did.

    Attributes:
        message: With its id; the one stored earlier if the platform sent it twice.
        is_new: Whether it was stored now.
        presence: The interval of presence it opened.
        change: The change that wrote its Session, if that was new or had changed.
    """

    message: Message
    is_new: bool
    presence: Presence | None
    change: Change | None


@dataclass(frozen=True, slots=True)
class Buffered:
    """The messages of one Session that no batch has claimed yet."""

    session: str
    count: int
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True)
class QueuedBatch:
    """A batch that is not learned yet.

    Attributes:
        state: ``waiting`` or ``dead``.
        next_at: When it may be tried (again).
        author: User id of who said most of it.
    """

    id: int
    session: str
    state: str
    attempts: int
    next_at: float
    error: str
    created_at: float
    author: str = ""


def add(
    db: sqlite3.Connection, message: Message, session: Session
) -> tuple[Message, bool, Presence | None]:
    """Store a message and open its sender's presence in a group."""
    if message.ref:
        found = db.execute(
            f"SELECT {_FIELDS} FROM message WHERE session = ? AND sender = ? AND ref = ?",
            (message.session, message.sender, message.ref),
        ).fetchone()
        if found:
            return _message(found), False, None
    cursor = db.execute(
        "INSERT INTO message (session, sender, name, text, at, ref, addressees)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(message.session, message.sender, message.name, message.text, message.at),
            *(message.ref, _addressees(message)),
        ),
    )
    stored = replace(message, id=int(cursor.lastrowid or 0))
    presence = None
    if session.is_group and message.is_human:
        presence = _open_presence(db, Presence(session.circle, message.sender, message.at))
    return stored, True, presence


def _addressees(message: Message) -> str:
    return json.dumps([astuple(each) for each in message.to], ensure_ascii=False)


def _message(row: tuple[Any, ...]) -> Message:
    to = () if row[-1] == "[]" else tuple(Addressee(*each) for each in json.loads(row[-1]))
    fields = (*row[:-1], to)
    return Message(*fields)


def _open_presence(db: sqlite3.Connection, presence: Presence) -> Presence | None:
    where = (presence.circle, presence.user)
    if db.execute(
        "SELECT 1 FROM presence WHERE circle = ? AND user = ? AND until IS NULL AND import = ''",
        where,
    ).fetchone():
        return None
    db.execute(
        "INSERT OR REPLACE INTO presence (circle, user, since) VALUES (?, ?, ?)",
        (*where, presence.since),
    )
    return presence


def close_presence(db: sqlite3.Connection, circle: str, user: str, at: float) -> list[Presence]:
    """Record that a user left a group; returns the intervals that ended."""
    open_ones = db.execute(
        "SELECT since FROM presence WHERE circle = ? AND user = ? AND until IS NULL", (circle, user)
    ).fetchall()
    db.execute(
        "UPDATE presence SET until = max(since, ?) WHERE circle = ? AND user = ? AND until IS NULL",
        (at, circle, user),
    )
    # A clock that was set back does not turn an interval around.
    return [Presence(circle, user, since, max(since, at)) for (since,) in open_ones]


def presences(db: sqlite3.Connection) -> list[Presence]:
    """All intervals of presence."""
    return [Presence(*row) for row in db.execute("SELECT circle, user, since, until FROM presence")]


def by_ids(db: sqlite3.Connection, ids: Iterable[int]) -> list[Message]:
    """Messages by id, in order of id; missing ones are left out."""
    wanted = sorted(set(ids))
    found: list[Message] = []
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ",".join("?" * len(part))
        rows = db.execute(f"SELECT {_FIELDS} FROM message WHERE id IN ({marks}) ORDER BY id", part)
        found += [_message(row) for row in rows]
    return found


def later(db: sqlite3.Connection, than: int, limit: int) -> list[Message]:
    """Messages with an id above ``than``, oldest first, at most ``limit``."""
    rows = db.execute(
        f"SELECT {_FIELDS} FROM message WHERE id > ? ORDER BY id LIMIT ?", (than, limit)
    )
    return [_message(row) for row in rows]


def insert(db: sqlite3.Connection, message: Message, source: str = "") -> Message:
    """Store a message with all it has; without an id it gets the next one.

    Args:
        source: Id of the import it comes with.
    """
    cursor = db.execute(
        f"INSERT INTO message ({_FIELDS}, import) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(message.id or None, message.session, message.sender, message.name, message.text),
            *(message.at, message.ref, message.batch, _addressees(message), source),
        ),
    )
    return replace(message, id=int(cursor.lastrowid or 0))


def newest(db: sqlite3.Connection, limit: int) -> list[Message]:
    """The newest ``limit`` messages, oldest first."""
    rows = db.execute(
        f"SELECT {_FIELDS} FROM message ORDER BY id DESC LIMIT ?", (limit,)
    ).fetchall()
    return [_message(row) for row in reversed(rows)]


def backwards(db: sqlite3.Connection, limit: int) -> Iterator[Message]:
    """The newest ``limit`` messages, newest first, read one by one."""
    rows = db.execute(f"SELECT {_FIELDS} FROM message ORDER BY id DESC LIMIT ?", (limit,))
    return (_message(row) for row in rows)


def pending(db: sqlite3.Connection, session: str) -> list[Message]:
    """The buffered messages of a Session, oldest first."""
    rows = db.execute(
        f"SELECT {_FIELDS} FROM message WHERE session = ? AND batch IS NULL ORDER BY id", (session,)
    )
    return [_message(row) for row in rows]


def buffers(db: sqlite3.Connection) -> list[Buffered]:
    """All Sessions that have buffered messages."""
    rows = db.execute(
        "SELECT session, count(*), min(at), max(at) FROM message"
        " WHERE batch IS NULL GROUP BY session"
    )
    return [Buffered(*row) for row in rows]


def open_batch(db: sqlite3.Connection, messages: list[Message], at: float) -> int:
    """Claim ``messages`` (of one Session) for a new batch and return its id."""
    cursor = db.execute(
        "INSERT INTO batch (session, state, created_at) VALUES (?, 'waiting', ?)",
        (messages[0].session, at),
    )
    batch = int(cursor.lastrowid or 0)
    db.executemany("UPDATE message SET batch = ? WHERE id = ?", [(batch, m.id) for m in messages])
    return batch


def read_batch(db: sqlite3.Connection, id: int) -> Batch:
    """A batch with its messages.

    Raises:
        NotFoundError: No such batch.
    """
    row = db.execute("SELECT session, attempts, error FROM batch WHERE id = ?", (id,)).fetchone()
    session = Rows(db).get(Session, row[0]) if row else None
    if session is None:
        raise NotFoundError(f"there is no batch {id}")
    found = db.execute(f"SELECT {_FIELDS} FROM message WHERE batch = ? ORDER BY id", (id,))
    return Batch(id, session, tuple(_message(m) for m in found), row[1], row[2])


def queued(db: sqlite3.Connection) -> list[QueuedBatch]:
    """Batches that are waiting or dead, oldest first."""
    rows = db.execute(
        "SELECT id, session, state, attempts, next_at, error, created_at,"
        " coalesce((SELECT sender FROM message m WHERE m.batch = b.id AND sender != 'bot'"
        " GROUP BY sender ORDER BY sum(length(text)) DESC, sender LIMIT 1), '')"
        " FROM batch b WHERE state != 'learned' ORDER BY id"
    )
    return [QueuedBatch(*row) for row in rows]


def fail_batch(db: sqlite3.Connection, id: int, error: str, next_at: float | None) -> None:
    """Record a failed attempt, unless it was learned; without ``next_at`` it is dead."""
    db.execute(
        "UPDATE batch SET attempts = attempts + 1, error = ?, state = ?, next_at = ?"
        " WHERE id = ? AND state != 'learned'",
        (error, "dead" if next_at is None else "waiting", next_at or 0.0, id),
    )


def revive_batches(db: sqlite3.Connection, ids: Iterable[int] | None) -> int:
    """Let dead batches be tried again (all, or those given); returns how many."""
    query = "UPDATE batch SET state = 'waiting', attempts = 0, next_at = 0 WHERE state = 'dead'"
    if ids is None:
        return db.execute(query).rowcount
    return sum(db.execute(f"{query} AND id = ?", (id,)).rowcount for id in ids)


def retag(db: sqlite3.Connection, id: int, session: str) -> bool:
    """Move a buffered message to another Session; false if it was claimed already."""
    return (
        db.execute(
            "UPDATE OR IGNORE message SET session = ? WHERE id = ? AND batch IS NULL", (session, id)
        ).rowcount
        > 0
    )


def answers(db: sqlite3.Connection, message: Message) -> list[int]:
    """Ids of the bot's lines between what a person said and what the next one did."""
    if not message.is_human:
        return []
    found: list[int] = []
    for id, sender in db.execute(
        "SELECT id, sender FROM message WHERE session = ? AND id > ? ORDER BY id",
        (message.session, message.id),
    ):
        if sender != BOT:
            break
        found.append(id)
    return found


BOT_LINES = 500
"""The newest lines of the bot that are compared with what it took back."""

_HERE = (
    "FROM message m JOIN row s ON s.kind = 'session' AND s.id = m.session"
    " WHERE json_extract(s.data, '$.circle') = :circle"
)


def by_platform_id(db: sqlite3.Connection, circle: str, id: str) -> int | None:
    """The newest message of a chat window that its platform calls ``id``.

    The rest of a reference, behind ``@``, tells apart messages of the same name.
    """
    (found,) = db.execute(
        "SELECT max(m.id) FROM row s CROSS JOIN message m INDEXED BY message_ref"
        " ON m.session = s.id WHERE s.kind = 'session'"
        " AND json_extract(s.data, '$.circle') = :circle"
        " AND m.ref > :first AND m.ref < :last AND m.ref != ''",
        {"circle": circle, "first": f"{id}@", "last": f"{id}A"},  # A follows @
    ).fetchone()
    return int(found) if found else None


def by_words(db: sqlite3.Connection, circle: str, text: str) -> int | None:
    """The newest line of the bot in a chat window that says ``text``, or has it in it."""
    text = clean(text)
    lines = db.execute(
        f"SELECT m.id, m.text {_HERE} AND m.sender = :bot ORDER BY m.id DESC LIMIT :most",
        {"circle": circle, "bot": BOT, "most": BOT_LINES},
    ).fetchall()
    same = (id for id, line in lines if line == text)
    return next(same, None) or next((id for id, line in lines if text and text in line), None)


def addressee(db: sqlite3.Connection, circle: str, quote: Quote) -> Addressee:
    """Whom a message quotes that is said in a chat window, and which words of theirs."""
    found = by_platform_id(db, circle, quote.ref) if quote.ref else None
    if found is None and quote.user == BOT and quote.text:
        found = by_words(db, circle, quote.text)
    user = quote.user
    if found is not None and not user:
        user = by_ids(db, [found])[0].sender
    return Addressee(user, quote.name, found or 0)
