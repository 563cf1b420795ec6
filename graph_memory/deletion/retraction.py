"""Message retraction (撤回): a message goes, with all that rests on nothing else.

Some rows rest on messages without naming them: those that are written anew with what was
learned last, each on top of the one before, so whatever was written since a message was
learned may be told by it; and those made while an answer is given, so any that was made
since may be about it (``Basis.LEARNED``, ``Basis.MOMENT``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ..model import (
    Basis,
    Change,
    Data,
    Episode,
    Erased,
    Fact,
    Forgotten,
    Message,
    Presence,
    Row,
    decode,
    kind_named,
    registered,
)
from ..store.messages import by_ids
from ..store.rows import ASKED, RETRACTED, Draft, Rows, undoable, unsaid, write
from ..store.rows import undo as take_back
from . import retraction_marks
from .message_retention import trimmed
from .plan import DeletionPlan, Key, plan_for_message

Tell = Callable[[Change | Presence | Erased], None]


@dataclass(frozen=True, slots=True)
class DerivedState:
    """What may rest on a message that is taken back.

    Attributes:
        learned: The change from which on; 0 if nothing was learned from the message.
        before: What stood before that change and was written anew since; ``None`` for
            nothing.
    """

    message: Message
    learned: int = 0
    before: dict[Key, Data | None] = field(default_factory=dict)

    @classmethod
    def of(cls, db: sqlite3.Connection, message: Message) -> DerivedState:
        """Look up what may rest on a message."""
        found = db.execute("SELECT id FROM change WHERE batch = ?", (message.batch,)).fetchone()
        if found is None:
            return cls(message)
        (learned,) = found
        before: dict[Key, Data | None] = {}
        if learned <= trimmed(db):
            # What stood before is not known any more.
            derived = [kind for kind in registered() if kind.basis is Basis.LEARNED]
            rows = [row for kind in derived for row in Rows(db).find(kind, session=message.session)]
            return cls(message, learned, {(row.kind, row.id): None for row in rows})
        needle = json.dumps(message.session, ensure_ascii=False)
        for (text,) in db.execute(
            "SELECT ops FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id", (learned, needle)
        ):
            for kind, id, was, became in json.loads(text):
                if _basis(kind) is Basis.LEARNED and (was or became)["session"] == message.session:
                    before.setdefault((kind, id), was)
        return cls(message, learned, before)

    def enter(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Let what stood before stand again; what was meant since is meant no more."""
        draft.drop += [(row.kind, row.id) for row in self._made(db)]
        for (kind, id), data in self.before.items():
            if data is None:
                draft.drop.append((kind, id))
                continue
            row = decode(kind, data)
            draft.put.append(row.brought_back(Rows(db).get(type(row), id) or row, at))

    def _made(self, db: sqlite3.Connection) -> Iterator[Row]:
        for cls in [cls for cls in registered() if cls.basis is Basis.MOMENT]:
            for row in Rows(db).find(cls, session=self.message.session):
                if row.span[0] >= self.message.at:
                    yield row

    def left(self, kind: str, id: str, state: Data | None, change: int) -> Data | None:
        """What the log may keep of a state of a row that a change found or left."""
        cls = kind_named(kind)
        if state is None or cls is None or state.get("session") != self.message.session:
            return state
        goes = cls.basis is Basis.MOMENT and state[cls.times[0]] >= self.message.at
        if cls.basis is Basis.LEARNED and change >= self.learned and (kind, id) in self.before:
            stands = self.before[kind, id] or {}
            goes = any(state[field] != stands.get(field) for field in cls.words)
        return {**state, **dict.fromkeys(cls.words, "")} if goes else state


def _basis(kind: str) -> Basis:
    cls = kind_named(kind)
    return cls.basis if cls else Basis.NONE


def retract(db: sqlite3.Connection, id: int, at: float, tell: Tell) -> Change | None:
    """Delete a message inside the open transaction, with what the bot answered to it.

    Facts that rest on it alone go in a change, and so do names that nobody else used;
    other facts lose it as evidence, summaries of the conversation it was in go, and the
    companion is as it was before (:class:`DerivedState`). The log keeps which rows were
    touched, for views to follow, and none of the words. Harmless if it is not there.
    Empty the write-ahead log afterwards (``erasure.py``).

    Returns:
        The change; ``None`` if nothing was learned from the message.
    """
    found = by_ids(db, [id])
    if not found:
        return None
    (message,) = found
    gone, after = plan_for_message(db, message), DerivedState.of(db, message)
    draft = _enter(db, Draft("chat", RETRACTED), gone, message.session, _resting())
    after.enter(db, draft, at)
    change = write(db, draft, at)
    if change:
        tell(change)
        retraction_marks.note_learned(db, change.id)
    _blank(db, gone, after, change)
    for each in by_ids(db, sorted(gone.ids)):
        db.execute("UPDATE batch SET error = '' WHERE id = ?", (each.batch,))
        db.execute("DELETE FROM message WHERE id = ?", (each.id,))
        retraction_marks.note(db, each, at)
    tell(Erased(tuple(sorted(gone.ids))))
    return change


def retract_again(db: sqlite3.Connection, at: float, tell: Tell) -> int:
    """Delete retracted messages that a restored backup brought back.

    Inside the open transaction; returns how many messages (``retraction_marks.py``).
    """
    found = retraction_marks.returned(db)
    for id in found:
        retract(db, id, at, tell)
    retraction_marks.settle(db)
    return len(found)


def _resting(*but: str) -> list[str]:
    """Kinds of rows of a Session that messages take with them, some left out."""
    derived = (Basis.LEARNED, Basis.MOMENT)
    return [cls.kind for cls in registered() if cls.basis not in derived and cls.kind not in but]


def _enter(
    db: sqlite3.Connection,
    draft: Draft,
    gone: DeletionPlan,
    session: str,
    kinds: Iterable[str],
) -> Draft:
    """Enter into a draft what is left of the rows of a Session."""
    for kind in kinds:
        for id, text in db.execute(
            "SELECT id, data FROM row INDEXED BY row_session WHERE kind = ? AND session = ?",
            (kind, session),
        ).fetchall():
            data = json.loads(text)
            left = gone.left(kind, id, data)
            if left is None:
                draft.drop.append((kind, id))
            elif left != data:
                draft.put.append(decode(kind, left))
    return draft


def _blank(
    db: sqlite3.Connection, gone: DeletionPlan, after: DerivedState, change: Change | None
) -> None:
    """Take the words out of what the log says about rows that went with a message."""
    ops = change.ops if change else ()
    rows = {(op.kind, op.id) for op in ops if op.after is None or op.kind == Episode.kind}

    def left(kind: str, id: str, state: Data | None, number: int) -> Data | None:
        cls, goes = kind_named(kind), (kind, id) in rows
        if cls and cls.basis is Basis.ANY and gone.left(kind, id, state) is None and not goes:
            # One that stands was said by others, too.
            query = "SELECT 1 FROM row WHERE kind = ? AND id = ?"
            goes = db.execute(query, (kind, id)).fetchone() is None
        if cls and cls.basis is Basis.EACH:
            goes = gone.left(kind, id, state) is None
        if cls and state and goes and cls.basis not in (Basis.LEARNED, Basis.MOMENT):
            return {**state, **dict.fromkeys(cls.words, "")}
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


def undo(db: sqlite3.Connection, number: int, actor: str, at: float, tell: Tell) -> Change | None:
    """Take change ``number`` back by a change of its own, inside the open transaction.

    What somebody asked to be remembered goes with the message that said it: it is not
    recalled any more, and what was learned from it alone is dropped.

    Raises:
        NotFoundError, ConflictError: As :func:`..store.rows.inverse`.
    """
    change = undoable(db, number)
    if change.reason != ASKED:
        return take_back(db, number, actor, at, tell)
    undone = write(db, _unasked(db, change, actor), at)
    if undone:
        tell(undone)
    return undone


def _unasked(db: sqlite3.Connection, change: Change, actor: str) -> Draft:
    """The draft by which what somebody asked to be remembered is not."""
    draft, rows = Draft(actor, "undo", undoes=change.id), Rows(db)
    facts = [op.after for op in change.ops if op.kind == Fact.kind and op.after]
    cited = sorted({id for fact in facts for id in fact["evidence"]})
    own = [said for said in by_ids(db, cited) if said.sender == change.actor]
    if not own:
        return draft
    message = own[-1]  # what it rested on before was said earlier
    gone = plan_for_message(db, message)
    draft.put += unsaid(rows, message.session, [message.id])
    _enter(db, draft, gone, message.session, _resting(Episode.kind, Forgotten.kind))
    for op in change.ops:
        cls = kind_named(op.kind)
        if cls and cls.basis is Basis.EACH and op.before and not op.after:
            draft.put.append(cls.of_data(op.before))  # it had to make room
    return draft
