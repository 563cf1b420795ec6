"""Messages, the durable buffer they wait in, and batches."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import astuple, dataclass, replace

from ..errors import NotFoundError
from ..model import (
    BOT,
    GAP,
    Addressee,
    Basis,
    Batch,
    Change,
    Fact,
    Forgotten,
    Mention,
    Message,
    Name,
    Presence,
    Quote,
    Row,
    Session,
    encode,
    registered,
)
from ..privacy.confidence import reach
from ..privacy.redaction import redacted, secrets
from ..text import clean, normalise
from .presence import enter
from .rows import FIELDS, PAGE, Derived, Draft, Rows, Tell, retold, rows_of, select_messages, write

HEARD = 20
"""Messages whose secrets a line of the bot may repeat, and that are right before another."""
_TOKEN = re.compile("[!-~]{4,64}")
"""What may be a password, if a message is nothing else."""
BOT_LINES = 500
"""The newest lines of the bot that are compared with what it took back."""
SENT_AGAIN = "WHERE session = ? AND sender = ? AND ref = ? AND account IN ('', ?) AND ref != ''"
"""Messages of a reference; its last condition lets SQLite use the index of those that have one."""
LATE = 90.0
"""Seconds within which all bots in a group hear a line."""
LATEST = 5_000
"""Newest messages among which it is looked for: what waited for a server is not in order."""


@dataclass(frozen=True, slots=True)
class QueuedBatch:
    """A batch that is ``waiting`` or ``dead``; of ``author``, if they were asked for."""

    id: int
    session: str
    state: str
    attempts: int
    next_at: float
    error: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many batches are not learned.

    Attributes:
        waiting, dead: Those to be tried (again), and given up.
        held: Waiting ones of which somebody said most who was asked for.
        failed, error: The newest one that failed and is not learned, and why, if any.
    """

    waiting: int
    dead: int
    failed: int
    error: str
    held: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A batch without its messages; 0 as its id until it is stored.

    Attributes:
        state: ``waiting``, ``learned`` or ``dead``.
    """

    id: int
    session: str
    state: str
    at: float


# -------------------------------------------------------------------------- messages


def by_ids(db: sqlite3.Connection, ids: Iterable[int]) -> list[Message]:
    """Messages by id, in order of id; missing ones are left out."""
    wanted = sorted(set(ids))
    found: list[Message] = []
    # Not itertools.batched: the tests of sentence-transformers come here with an older Python.
    for start in range(0, len(wanted), PAGE):
        part = wanted[start : start + PAGE]
        found += select_messages(db, f"WHERE id IN ({','.join('?' * len(part))}) ORDER BY id", part)
    return found


def stored(db: sqlite3.Connection, message: Message) -> Message | None:
    """A message as it was stored before; ``None`` if it is gone."""
    query = "WHERE sender = ? AND at = ? AND ref = ? ORDER BY id DESC LIMIT 1"
    found = select_messages(db, query, (message.sender, message.at, message.ref))
    return found[0] if found else None


def pending(db: sqlite3.Connection, session: str = "") -> list[Message]:
    """The buffered messages of a Session, or of all, oldest first."""
    part, given = ("AND session = ?", (session,)) if session else ("", ())
    return select_messages(db, f"WHERE batch IS NULL {part} ORDER BY id", given)


def insert(
    db: sqlite3.Connection, message: Message, source: str = "", account: str = ""
) -> Message:
    """Store a message of an import, or of none; without an id it gets the next one."""
    to = json.dumps([astuple(each) for each in message.to], ensure_ascii=False)
    cursor = db.execute(
        f"INSERT INTO message ({FIELDS}, import, account)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(message.id or None, message.session, message.sender, message.name, message.text),
            *(message.at, message.ref, message.batch, to, message.confided, source, account),
        ),
    )
    return replace(message, id=int(cursor.lastrowid or 0))


def place(db: sqlite3.Connection, session: Session, at: float, tell: Tell) -> None:
    """Write the Session of a message if it is not as it stands.

    Some platforms tell a group's name now and then or never; an import may know it.
    """
    query = "SELECT 1 FROM row WHERE kind = ? AND id = ? AND data = ?"
    data = json.dumps(encode(session), ensure_ascii=False)
    if not db.execute(query, (session.kind, session.id, data)).fetchone():
        known = Rows(db).get(Session, session.id) or session
        named = replace(session, title=session.title or known.title)
        write(db, Draft("chat", "session", [named]), at, tell)


def add(
    db: sqlite3.Connection, message: Message, session: Session, tell: Tell, account: str = ""
) -> tuple[Message, bool]:
    """Store a message, and open its sender's presence in a group.

    Args:
        account: See :class:`Turn`.

    Returns:
        It as it is stored, and whether it was not there before.
    """
    if message.ref:
        values = (message.session, message.sender, message.ref, account)
        if found := select_messages(db, SENT_AGAIN, values):
            return found[0], False
    message = announced(db, message)
    if not message.is_human:
        message = replace(message, text=redacted(message.text, _told(db, message)))
    if session.is_group and message.is_human:
        enter(db, Presence(session.circle, message.sender, message.at), tell)
    return insert(db, message, account=account), True


def copied(db: sqlite3.Connection, message: Message, account: str) -> Message | None:
    """The line of a group that another account of ours heard before, if one did.

    It is the one with the same reference where those are common to all accounts. Elsewhere
    it has the same words, and the oldest that ``account`` has not heard yet: so two lines
    that say the same stay two. That it heard this one is noted.
    """
    query = "WHERE id = (SELECT message FROM copy WHERE account = ? AND ref = ?) AND sender = ?"
    values = (account, message.ref, message.sender)
    if account and message.ref and (again := select_messages(db, query, values)):
        return again[0]
    found, place, words = None, message.session.partition("#")[0], "".join(message.text.split())
    for id, session, text, ref, heard_by in db.execute(
        "SELECT id, session, text, ref, account FROM message WHERE import = '' AND sender = ?"
        " AND id > (SELECT max(id) FROM message) - ? AND at >= ? ORDER BY id DESC",
        (message.sender, LATEST, message.at - LATE),
    ):
        if session.partition("#")[0] != place:
            continue
        if not account and ref == message.ref:
            found = id
        elif heard_by not in ("", account) and "".join(text.split()) == words:
            query = "SELECT 1 FROM copy WHERE message = ? AND account = ?"
            found = found if db.execute(query, (id, account)).fetchone() else id
    if found and account:
        db.execute("INSERT INTO copy VALUES (?, ?, ?)", (account, message.ref, found))
    return by_ids(db, [found])[0] if found else None


def _told(db: sqlite3.Connection, line: Message) -> set[str]:
    """The secrets that were told before a line of the bot, which may repeat them."""
    query = "SELECT sender, text FROM message WHERE session = ? AND (? = 0 OR id < ?)"
    values = (line.session, line.id, line.id, HEARD)
    before = db.execute(f"{query} ORDER BY id DESC LIMIT ?", values)
    return {secret for sender, text in before if sender != BOT for secret in secrets(text)}


def announced(db: sqlite3.Connection, message: Message) -> Message:
    """A message that is not stored yet, as what its sender said right before makes it.

    Told in confidence, if that was announced; masked, if it is the password they were telling.
    """
    if (before := said_before(db, message)) is None:
        return message
    if reach(before.text) > 0:
        message = replace(message, confided=True)
    if not _TOKEN.fullmatch(message.text):
        return message
    joint = " " if before.text[-1:].isascii() else "\n"
    told = set(secrets(f"{before.text}{joint}{message.text}"))
    told -= {*secrets(before.text), *secrets(message.text)}  # which are masked as they are read
    return replace(message, text=redacted(message.text, told)) if told else message


def said_before(db: sqlite3.Connection, message: Message) -> Message | None:
    """What a person said right before a message, which may not be stored yet."""
    query = "WHERE id IN (SELECT id FROM message WHERE session = ? AND (? = 0 OR id < ?)"
    query += " ORDER BY id DESC LIMIT ?) AND sender = ? AND at > ? ORDER BY id DESC LIMIT 1"
    place = message.session, message.id, message.id, HEARD, message.sender, message.at - GAP
    found = select_messages(db, query, place) if message.is_human else []
    return found[0] if found else None


def confide(db: sqlite3.Connection, request: Message, at: float) -> list[Message | Change]:
    """Note that what somebody said right before a request was told in confidence.

    What was learned from it so far is kept as well; returns what was altered.
    """
    before = said_before(db, request) if reach(request.text) < 0 else None
    if before is None or before.confided:
        return []
    told, rows = replace(before, confided=True), Rows(db)
    db.execute("UPDATE message SET confided = 1 WHERE id = ?", (told.id,))
    session = rows.get(Session, told.session)
    # What is shown to a group was told by nobody in confidence.
    is_shown = session is not None and session.is_group
    learned = rows.resting(Fact, told)
    kept: list[Row] = [_kept(db, fact, told, is_shown=is_shown) for fact in learned]
    query = "SELECT data FROM row WHERE kind = ? AND session = ? AND NOT (a = ? AND b = ?)"
    query += " AND ? = json_extract(data, '$.first_at') AND ? = json_extract(data, '$.last_at')"
    card = told.sender, normalise(told.name)  # by which they spoke anyway
    kinds: tuple[type[Name | Mention], ...] = (Name, Mention)
    for kind in kinds:
        called = rows_of(
            kind, db.execute(query, (kind.kind, told.session, *card, told.at, told.at))
        )
        kept += [replace(row, confidential=True) for row in called]
    kept += [
        retold(rows, each, lambda said: said == told)
        if is_shown
        else replace(each, confidential=True)
        for each in rows.episodes_of(told.session, [told.id])
    ]
    shown = [cls for cls in registered() if is_shown and cls.basis is Basis.EACH]
    gone = [(row.kind, row.id) for cls in shown for row in rows.resting(cls, told)]
    draft = Draft("chat", "confided", kept, gone)
    derived = Derived.since(db, told.session, [told.batch] if is_shown and told.batch else ())
    derived.bring_back(db, draft, at)
    change = write(db, draft, at)
    derived.blank(db, told.session)
    return [told, change] if change else [told]


def _kept(db: sqlite3.Connection, fact: Fact, told: Message, *, is_shown: bool) -> Fact:
    """A fact that is confided now, but for what is another's word in a group."""
    left = [each for each in by_ids(db, fact.evidence) if each.id != told.id]
    is_others = fact.speaker != told.sender and fact.speaker in {each.sender for each in left}
    if not (is_shown and is_others):
        return replace(fact, confidential=True)
    ids = tuple(each.id for each in left)
    return replace(fact, evidence=ids, added=tuple(id for id in fact.added if id in ids))


def answers(db: sqlite3.Connection, message: Message) -> list[int]:
    """Ids of the bot's lines that answer what a person said; see ``Rows.answered``."""
    found: list[int] = []
    last = message.sender
    query = "SELECT id, sender, addressees FROM message WHERE session = ? AND id > ? AND at < ?"
    values = (message.session, message.id, message.at + GAP)
    for id, sender, addressees in db.execute(f"{query} ORDER BY id", values):
        if sender == message.sender or not message.is_human:
            break
        if sender != BOT:
            last = sender
        elif next((to for to, *_ in json.loads(addressees)), last) == message.sender:
            found.append(id)
    return found


def by_platform_id(db: sqlite3.Connection, circle: str, id: str, account: str = "") -> int | None:
    """The newest message of a chat window whose reference is ``id``, up to the ``@``.

    Args:
        account: Whose reference; see :class:`Turn`.
    """
    (found,) = db.execute(
        "SELECT max(id) FROM (SELECT m.id FROM message m CROSS JOIN row s"
        " ON s.kind = 'session' AND s.id = m.session"
        " WHERE json_extract(s.data, '$.circle') = :circle"
        " AND m.ref > :first AND m.ref < :last AND m.ref != ''"
        " AND (:account = '' OR m.account IN ('', :account))"
        " UNION ALL SELECT m.id FROM copy c CROSS JOIN message m ON m.id = c.message"
        " CROSS JOIN row s ON s.kind = 'session' AND s.id = m.session"
        " WHERE c.account = :account AND c.ref > :first AND c.ref < :last"
        " AND json_extract(s.data, '$.circle') = :circle)",
        {"circle": circle, "first": f"{id}@", "last": f"{id}A", "account": account},  # A follows @
    ).fetchone()
    return int(found) if found else None


def by_words(db: sqlite3.Connection, circle: str, text: str) -> int | None:
    """The newest line of the bot in a chat window that says ``text``, or has it in it."""
    text = clean(text)
    lines = db.execute(
        "SELECT m.id, m.text FROM message m JOIN row s ON s.kind = 'session' AND s.id = m.session"
        " WHERE json_extract(s.data, '$.circle') = :circle AND m.sender = :bot"
        " ORDER BY m.id DESC LIMIT :most",
        {"circle": circle, "bot": BOT, "most": BOT_LINES},
    ).fetchall()
    same = (id for id, line in lines if line == text)
    return next(same, None) or next((id for id, line in lines if text and text in line), None)


def addressee(db: sqlite3.Connection, circle: str, quote: Quote, account: str = "") -> Addressee:
    """Whom a message quotes that is said in a chat window, and which words of theirs."""
    found = by_platform_id(db, circle, quote.ref, account) if quote.ref else None
    if found is None and quote.user == BOT and quote.text:
        found = by_words(db, circle, quote.text)
    user = quote.user
    if found is not None and not user:
        user = by_ids(db, [found])[0].sender
    # A name alone stands for nobody, and nothing could ever take it out again.
    return Addressee(user, quote.name if user else "", found or 0)


# --------------------------------------------------------------------------- batches


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


def open_batch(
    db: sqlite3.Connection, said: list[Message], at: float, state: str = "waiting", error: str = ""
) -> int:
    """Claim messages (of one Session) for a new batch and return its id."""
    batch = put_claim(db, Claim(0, said[0].session, state, at), error)
    db.executemany("UPDATE message SET batch = ? WHERE id = ?", [(batch, m.id) for m in said])
    return batch


_AUTHOR = """(SELECT sender FROM message m WHERE m.batch = b.id AND sender != 'bot'
    GROUP BY sender ORDER BY sum(length(text)) DESC, sender LIMIT 1)"""
_WANTED = "(SELECT value FROM json_each(:authors))"
_THEIRS = f"""(:authors != '[]' AND b.id IN (SELECT batch FROM message WHERE sender IN {_WANTED})
    AND {_AUTHOR} IN {_WANTED})"""
_THERE = "(:sessions IS NULL OR session IN (SELECT value FROM json_each(:sessions)))"
QUEUE = f"""
    SELECT id, session, state, attempts, next_at, error, iif({_THEIRS}, {_AUTHOR}, '')
    FROM batch b WHERE state != 'learned' ORDER BY id
"""
# A bare column beside one max() is that of the same row.
BACKLOG = f"""
    SELECT total(state = 'waiting'), total(state = 'dead'), max(iif(error != '', id, 0)), error
    FROM batch WHERE state != 'learned' AND {_THERE}
"""
HELD = f"SELECT count(*) FROM batch b WHERE state = 'waiting' AND {_THERE} AND {_THEIRS}"


def queue(db: sqlite3.Connection, authors: Collection[str]) -> list[QueuedBatch]:
    """Batches that are not learned, oldest first; those of ``authors`` say so."""
    return [QueuedBatch(*row) for row in db.execute(QUEUE, {"authors": json.dumps([*authors])})]


def backlog(
    db: sqlite3.Connection, sessions: Iterable[str] | None, authors: Collection[str]
) -> Backlog:
    """Counts of the batches that are not learned, of some Sessions or all.

    Args:
        authors: Whose waiting batches are counted as held.
    """
    places = None if sessions is None else json.dumps([*sessions])
    values = {"authors": json.dumps([*authors]), "sessions": places}
    waiting, dead, failed, error = db.execute(BACKLOG, values).fetchone()
    (held,) = db.execute(HELD, values).fetchone() if authors else (0,)
    return Backlog(int(waiting), int(dead), failed or 0, error if failed else "", held)


def read_batch(db: sqlite3.Connection, id: int) -> Batch:
    """A batch with its messages; raises ``NotFoundError``."""
    row = db.execute("SELECT session FROM batch WHERE id = ?", (id,)).fetchone()
    session = Rows(db).get(Session, row[0]) if row else None
    if session is None:
        raise NotFoundError(f"there is no batch {id}")
    said = select_messages(db, "WHERE batch = ? ORDER BY id", (id,))
    return Batch(id, session, tuple(said))


# -------------------------------------------------------------------------- evidence


def testify(
    db: sqlite3.Connection,
    message: Message,
    session: Session,
    resolve: Callable[[Rows, Message], Draft],
    at: float,
    tell: Tell,
) -> Change | None:
    """Write, inside the open transaction, a change that rests on what somebody said.

    A message that is not stored yet (the words of a command, with id 0) is stored to be
    cited: nothing else is learned from it, and it is not recalled by itself.

    Raises:
        NotFoundError: The message is not there, or not its sender's.
    """
    if not message.id:
        message = _keep(db, message, session, at, tell)
    else:
        found = [said for said in by_ids(db, [message.id]) if said.sender == message.sender]
        if not found:
            raise NotFoundError(f"there is no message {message.id} to rest on")
        (message,) = found
    return write(db, resolve(Rows(db), message), at, tell)


def _keep(
    db: sqlite3.Connection, message: Message, session: Session, at: float, tell: Tell
) -> Message:
    place(db, session, at, tell)
    stored, is_new = add(db, message, session, tell)
    if not is_new:
        return stored
    stored = replace(stored, batch=open_batch(db, [stored], at))
    quiet = Forgotten.of(stored.session, stored.id)
    write(db, Draft("chat", "evidence", [quiet], batch=stored.batch), at, tell)
    tell(stored)
    return stored
