"""Messages that were taken back (撤回): gone, with all that rests on nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace

from ..model import BOT, Change, Episode, Erased, Fact, Forgotten
from ..text import clean
from .messages import by_ids
from .rows import Draft, Rows, write

Tell = Callable[[Change | Erased], None]

REASON = "recalled"
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
    escaped = id.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    found = db.execute(
        f"SELECT m.id {_HERE} AND m.ref LIKE :ref ESCAPE '\\' ORDER BY m.id DESC LIMIT 1",
        {"circle": circle, "ref": f"{escaped}@%"},
    ).fetchone()
    return int(found[0]) if found else None


def by_words(db: sqlite3.Connection, circle: str, text: str) -> int | None:
    """The newest line of the bot in a chat window that says ``text``, or has it in it."""
    text = clean(text)
    lines = db.execute(
        f"SELECT m.id, m.text {_HERE} AND m.sender = :bot ORDER BY m.id DESC LIMIT :most",
        {"circle": circle, "bot": BOT, "most": LOOKED_AT},
    ).fetchall()
    same = (id for id, line in lines if line == text)
    return next(same, None) or next((id for id, line in lines if text and text in line), None)


def retract(db: sqlite3.Connection, id: int, at: float, tell: Tell) -> Change | None:
    """Delete a message inside the open transaction.

    Facts that rest on it alone go in a change, others lose it as evidence; summaries of
    the conversation it was in go, too. Harmless if it is not there.

    Returns:
        The change; ``None`` if nothing was learned from the message.
    """
    found = by_ids(db, [id])
    if not found:
        return None
    (message,) = found
    rows = Rows(db)
    draft = Draft("chat", REASON)
    for fact in rows.find(Fact, session=message.session):
        if id in fact.evidence:
            others = tuple(other for other in fact.evidence if other != id)
            if others:
                draft.put.append(replace(fact, evidence=others))
            else:
                draft.drop.append((Fact.kind, fact.id))
    for episode in rows.find(Episode, session=message.session):
        if episode.summary and episode.first_message <= id <= episode.last_message:
            draft.put.append(replace(episode, summary=""))
    for forgotten in rows.find(Forgotten, session=message.session):
        if forgotten.message == id:
            draft.drop.append((Forgotten.kind, forgotten.id))
    change = write(db, draft, at)
    if change:
        tell(change)
    db.execute("UPDATE batch SET error = '' WHERE id = ?", (message.batch,))
    db.execute("DELETE FROM message WHERE id = ?", (id,))
    tell(Erased((id,)))
    return change
