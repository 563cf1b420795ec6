"""Messages that were taken back (撤回): gone, with all that rests on nothing else."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from ..model import (
    BOT,
    Addressee,
    Change,
    CoreFact,
    Episode,
    Erased,
    Fact,
    Name,
    Quote,
    decode,
)
from ..text import clean
from . import withdrawals
from .afterthoughts import Afterthoughts
from .messages import by_ids
from .rows import RETRACTED, Draft, write
from .scrub import Data, Doomed, retracted

Tell = Callable[[Change | Erased], None]

_WORDS = {
    Fact.kind: ("statement",),
    Episode.kind: ("summary",),
    Name.kind: ("text", "norm"),
    CoreFact.kind: ("text",),
}
"""What of a row is somebody's words."""
LOOKED_AT = 500
"""Of the bot's lines, so many newest ones are compared with what it took back."""

_HERE = (
    "FROM message m JOIN row s ON s.kind = 'session' AND s.id = m.session"
    " WHERE json_extract(s.data, '$.circle') = :circle"
)


def by_reference(db: sqlite3.Connection, circle: str, id: str) -> int | None:
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
        {"circle": circle, "bot": BOT, "most": LOOKED_AT},
    ).fetchall()
    same = (id for id, line in lines if line == text)
    return next(same, None) or next((id for id, line in lines if text and text in line), None)


def addressee(db: sqlite3.Connection, circle: str, quote: Quote) -> Addressee:
    """Whom a message quotes that is said in a chat window, and which words of theirs."""
    found = by_reference(db, circle, quote.ref) if quote.ref else None
    if found is None and quote.user == BOT and quote.text:
        found = by_words(db, circle, quote.text)
    user = quote.user
    if found is not None and not user:
        user = by_ids(db, [found])[0].sender
    return Addressee(user, quote.name, found or 0)


def retract(db: sqlite3.Connection, id: int, at: float, tell: Tell) -> Change | None:
    """Delete a message inside the open transaction, with what the bot answered to it.

    Facts that rest on it alone go in a change, and so do names that nobody else used;
    other facts lose it as evidence, summaries of the conversation it was in go, and the
    companion is as it was before (``afterthoughts.py``). The log keeps which rows were
    touched, for views to follow, and none of the words. Harmless if it is not there.
    Empty the write-ahead log afterwards (``erasure.py``).

    Returns:
        The change; ``None`` if nothing was learned from the message.
    """
    found = by_ids(db, [id])
    if not found:
        return None
    (message,) = found
    gone, after = retracted(db, message), Afterthoughts.of(db, message)
    draft = _draft(db, gone, message.session)
    after.enter(db, draft, at)
    change = write(db, draft, at)
    if change:
        tell(change)
        withdrawals.note_learned(db, change.id)
    _blank(db, gone, after, change)
    for each in by_ids(db, sorted(gone.ids)):
        db.execute("UPDATE batch SET error = '' WHERE id = ?", (each.batch,))
        db.execute("DELETE FROM message WHERE id = ?", (each.id,))
        withdrawals.note(db, each, at)
    tell(Erased(tuple(sorted(gone.ids))))
    return change


def retract_again(db: sqlite3.Connection, at: float, tell: Tell) -> int:
    """Delete what a restored backup brought back (``withdrawals.py``), inside the open
    transaction; how many messages."""
    found = withdrawals.returned(db)
    for id in found:
        retract(db, id, at, tell)
    withdrawals.settle(db)
    return len(found)


def _draft(db: sqlite3.Connection, gone: Doomed, session: str) -> Draft:
    draft = Draft("chat", RETRACTED)
    for kind, id, text in db.execute(
        "SELECT kind, id, data FROM row INDEXED BY row_session WHERE session = ?"
        " AND kind IN ('fact', 'episode', 'name', 'mention', 'forgotten', 'core_fact')",
        (session,),
    ):
        data = json.loads(text)
        left = gone.left(kind, id, data)
        if left is None:
            draft.drop.append((kind, id))
        elif left != data:
            draft.put.append(decode(kind, left))
    return draft


def _blank(
    db: sqlite3.Connection, gone: Doomed, after: Afterthoughts, change: Change | None
) -> None:
    """Take the words out of what the log says about rows that went with a message."""
    ops = change.ops if change else ()
    rows = {(op.kind, op.id) for op in ops if op.after is None or op.kind == Episode.kind}

    def left(kind: str, id: str, state: Data | None, number: int) -> Data | None:
        goes = (kind, id) in rows
        if kind == Fact.kind and gone.left(kind, id, state) is None and not goes:
            # One that stands was said by others, too.
            query = "SELECT 1 FROM row WHERE kind = ? AND id = ?"
            goes = db.execute(query, (kind, id)).fetchone() is None
        if kind == CoreFact.kind:
            goes = gone.left(kind, id, state) is None
        if state and goes and kind in _WORDS:
            return {**state, **dict.fromkeys(_WORDS[kind], "")}
        return after.left(kind, id, state, number)

    needle = json.dumps(after.message.session, ensure_ascii=False)
    found = db.execute("SELECT id FROM change WHERE instr(ops, ?) ORDER BY id", (needle,))
    for number in [number for (number,) in found]:
        (text,) = db.execute("SELECT ops FROM change WHERE id = ?", (number,)).fetchone()
        before = json.loads(text)
        now = [
            [kind, id, left(kind, id, a, number), left(kind, id, b, number)]
            for kind, id, a, b in before
        ]
        if now != before:
            body = json.dumps(now, ensure_ascii=False)
            db.execute("UPDATE change SET ops = ? WHERE id = ?", (body, number))
