"""Evidence of a correction: a message kept to be cited, and the change with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace

from ..errors import NotFoundError
from ..model import Change, Forgotten, Message, Presence, Session
from .messages import add, by_ids, open_batch
from .rows import Draft, Rows, write

Tell = Callable[[Change | Message | Presence], None]


def testify(
    db: sqlite3.Connection,
    message: Message,
    session: Session,
    resolve: Callable[[Rows, Message], Draft],
    at: float,
    tell: Tell,
) -> Change | None:
    """Write, inside the open transaction, a change that rests on what somebody said.

    A message that is not stored yet (its id is 0: the words of a command) is stored with
    it. It is there to be cited: nothing else is learned from it and it is not recalled by
    itself, so that undoing the change leaves nothing of it to be recalled.

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
    change = write(db, resolve(Rows(db), message), at)
    if change:
        tell(change)
    return change


def _keep(
    db: sqlite3.Connection, message: Message, session: Session, at: float, tell: Tell
) -> Message:
    stored, is_new, presence = add(db, message, session)
    if presence:
        tell(presence)
    if not is_new:
        return stored
    stored = replace(stored, batch=open_batch(db, [stored], at))
    quiet = Forgotten.of(stored.session, stored.id)
    change = write(db, Draft("chat", "evidence", [session, quiet], batch=stored.batch), at)
    if change:
        tell(change)
    tell(stored)
    return stored
