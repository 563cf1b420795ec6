"""Message retraction (撤回): a message goes, with all that rests on nothing else.

A mark (a hash of who said it and when) stays, so that no restored backup brings it back.
It is *open* until the daily purge has taken the message out of the backups.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..model import (
    Basis,
    Change,
    Data,
    Episode,
    Erased,
    Fact,
    Forgotten,
    Message,
    Session,
    decode,
    kind_named,
    registered,
)
from ..store.journal import Slices, finished
from ..store.messages import answers, by_ids
from ..store.pauses import leave_gap
from ..store.rows import ASKED, RETRACTED, Draft, Rows, Tell, read_change, undoable, unsaid, write
from ..store.rows import undo as take_back
from .message_retention import trimmed
from .plan import DeletionPlan, Key, plan_for_message, rewrite_log

_MARK = "withdrawn:"
_DUE = "withdrawals due"
"""Note: marks were carried here by which nothing was deleted yet."""
_CLOSED = "closed"
"""Value of a mark whose message no backup holds any more; otherwise when it was retracted."""
_WORDS = "message:"
"""Notes of this kind are about messages whose words are in the log yet."""
_DERIVED = (Basis.LEARNED, Basis.MOMENT)


def _mark(sender: str, ref: str, at: float) -> str:
    said = "\x1f".join((sender, ref, repr(at)))
    return f"{_MARK}{hashlib.blake2b(said.encode(), digest_size=16).hexdigest()}"


def note(db: sqlite3.Connection, message: Message, at: float) -> None:
    """Mark a message as retracted, inside the open transaction."""
    mark = _mark(message.sender, message.ref, message.at)
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (mark, repr(at)))


def all_marks(db: sqlite3.Connection) -> set[str]:
    """The marks of all messages that were ever retracted."""
    return {key for (key,) in db.execute("SELECT key FROM meta WHERE key LIKE ?", (f"{_MARK}%",))}


def open_marks(db: sqlite3.Connection) -> dict[str, float]:
    """Marks of messages that a backup may hold, and when each was retracted."""
    found = db.execute(
        "SELECT key, value FROM meta WHERE key LIKE ? AND value != ?", (f"{_MARK}%", _CLOSED)
    )
    return {key: float(value) for key, value in found}


def close(db: sqlite3.Connection, marks: Collection[str]) -> None:
    """Note that no other file holds these messages any more."""
    rows = [(_CLOSED, mark) for mark in marks]
    db.executemany("UPDATE meta SET value = ? WHERE key = ?", rows)


def held(db: sqlite3.Connection, marks: Collection[str]) -> list[int]:
    """Ids of the messages that marks stand for, in a journal of any version."""
    said = db.execute("SELECT id, sender, ref, at FROM message ORDER BY id") if marks else ()
    return [id for id, *about in said if _mark(*about) in marks]


def carry(source: Path, target: Path) -> None:
    """Put the marks of a closed journal into an older one, or raise ``sqlite3.Error``."""
    with closing(sqlite3.connect(source, isolation_level=None)) as db:
        query = "SELECT key, value FROM meta WHERE key LIKE ? ORDER BY key"
        found = db.execute(query, (f"{_MARK}%",)).fetchall()
    if found:
        with closing(sqlite3.connect(target, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", [*found, (_DUE, "1")])
            db.execute("COMMIT")


def carried(db: sqlite3.Connection) -> set[str]:
    """The marks that were carried here and by which nothing was deleted yet."""
    is_due = db.execute("SELECT 1 FROM meta WHERE key = ?", (_DUE,)).fetchone()
    return all_marks(db) if is_due else set()


def retract_again(db: sqlite3.Connection, marks: Collection[str], at: float) -> None:
    """Delete the messages that marks stand for, inside the open transaction."""
    rows = [(mark, repr(at)) for mark in sorted(marks)]
    db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", rows)
    for id in held(db, marks):
        finished(retract(db, lambda _event: None, id=id, at=at))
    db.execute("DELETE FROM meta WHERE key = ?", (_DUE,))


@dataclass(frozen=True, slots=True)
class DerivedState:
    """Rows that may rest on a retracted message without naming it (``Basis``).

    Those rewritten by learning (``LEARNED``) since the message was learned, and those made
    while an answer was given (``MOMENT``) since it was said.

    Attributes:
        learned: The change that learned the message; 0 if there is none.
        before: The states before it of rows rewritten since.
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
        before: dict[Key, Data | None] = {}
        kinds = [kind for kind in registered() if kind.basis is Basis.LEARNED]
        if found[0] <= trimmed(db):  # what stood before is not known any more
            for kind in kinds:
                rows = Rows(db).find(kind, session=message.session)
                before |= {(row.kind, row.id): None for row in rows}
            return cls(message, found[0], before)
        needle, names = json.dumps(message.session, ensure_ascii=False), {k.kind for k in kinds}
        for (text,) in db.execute(
            "SELECT ops FROM change WHERE id >= ? AND instr(ops, ?) ORDER BY id",
            (found[0], needle),
        ):
            for kind, id, was, became in json.loads(text):
                if kind in names and (was or became)["session"] == message.session:
                    before.setdefault((kind, id), was)
        return cls(message, found[0], before)

    def enter(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Bring back the states before the message; drop what was made since."""
        rows = Rows(db)
        for cls in [cls for cls in registered() if cls.basis is Basis.MOMENT]:
            made = rows.find(cls, session=self.message.session)
            draft.drop += [(r.kind, r.id) for r in made if r.span[0] >= self.message.at]
        for (kind, id), data in self.before.items():
            if data is None:
                draft.drop.append((kind, id))
                continue
            row = decode(kind, data)
            draft.put.append(row.brought_back(rows.get(type(row), id) or row, at))

    def is_gone(self, kind: str, id: str, state: Data, change: int) -> bool:
        """Whether a state that a change found or left may tell of the message."""
        cls = kind_named(kind)
        if cls is None or state.get("session") != self.message.session:
            return False
        if cls.basis is Basis.MOMENT:
            return bool(state[cls.times[0]] >= self.message.at)
        if change < self.learned or (kind, id) not in self.before:
            return False
        stands = self.before[kind, id] or {}
        return any(state[field] != stands.get(field) for field in cls.words)


@dataclass(frozen=True, slots=True)
class Retraction:
    """What goes with a message, as it stood when it was looked up.

    Attributes:
        rows: Ids of the rows that something goes of.
    """

    gone: DeletionPlan
    derived: DerivedState
    rows: tuple[str, ...]

    @classmethod
    def of(cls, db: sqlite3.Connection, id: int) -> Retraction | None:
        """Look through the rows and the log of the message's Session, if it is there."""
        message = Rows(db).message(id)
        if message is None:
            return None
        gone, derived = plan_for_message(db, message), DerivedState.of(db, message)
        draft = _enter(db, Draft("chat", RETRACTED), gone, message.session)
        ids = *(row.id for row in draft.put), *(id for _, id in draft.drop)
        return cls(gone, derived, ids)

    def holds(self, db: sqlite3.Connection) -> bool:
        """Whether it is so still, but for rows that came or changed since."""
        message, gone = self.derived.message, self.gone
        now = Rows(db).message(message.id)
        if now is None or replace(now, batch=message.batch) != message:
            return False
        learned = db.execute(
            "SELECT 1 FROM change WHERE id > ? AND (batch = ? OR EXISTS"
            " (SELECT 1 FROM json_each(?) WHERE instr(ops, '[\"' || value || '\", ')))",
            (
                *(gone.newest, now.batch),
                json.dumps([kind.kind for kind in registered() if kind.basis in _DERIVED]),
            ),
        ).fetchone()
        return not learned and gone.ids == {message.id, *answers(db, message)}


def retract(
    db: sqlite3.Connection, tell: Tell, *, id: int, at: float, known: Retraction | None = None
) -> Slices[Change | None]:
    """Delete a message and the answer to it, then their words in the log.

    Facts and names that rest on it alone go, summaries of its conversation too; other facts
    lose it as evidence, derived rows are as they were before. The log keeps which rows were
    touched, but no words. Empty the write-ahead log afterwards (``erasure.drain``).

    Args:
        known: What goes with it, if that was looked up before.

    Returns:
        The change; ``None`` if nothing was learned from the message.
    """
    found = known if known and known.holds(db) else Retraction.of(db, id)
    if found is None:
        return None
    gone, message, draft = found.gone, found.derived.message, Draft("chat", RETRACTED)
    _enter(db, draft, gone, message.session, since=gone.newest, ids=found.rows)
    found.derived.enter(db, draft, at)
    change = write(db, draft, at)
    if change:
        tell(change)
    for each in by_ids(db, sorted(gone.ids)):
        db.execute("UPDATE batch SET error = '' WHERE id = ?", (each.batch,))
        db.execute("DELETE FROM message WHERE id = ?", (each.id,))
        note(db, each, at)
        if session := Rows(db).get(Session, each.session):
            leave_gap(db, session.circle, each.sender, each.at, each.at)
    tell(Erased(tuple(sorted(gone.ids))))
    gone.message, gone.newest = message, change.id if change else 0
    gone.note(db, f"{_WORDS}{id}")
    yield
    yield from _blank(db, gone, found.derived, change)
    gone.done(db, f"{_WORDS}{id}")
    return change


def unfinished(db: sqlite3.Connection) -> list[str]:
    """What a kill left of words in the log, by what was noted about it."""
    return DeletionPlan.all_noted(db, _WORDS)


def finish(db: sqlite3.Connection) -> None:
    """Do what a kill left undone, inside the open transaction."""
    for key in unfinished(db):
        gone = DeletionPlan.noted(db, key)
        if gone and gone.message:
            change = read_change(db, gone.newest)
            finished(_blank(db, gone, DerivedState.of(db, gone.message), change))
        DeletionPlan.done(db, key)


def _enter(
    db: sqlite3.Connection,
    draft: Draft,
    gone: DeletionPlan,
    session: str,
    *but: str,
    since: int = -1,
    ids: Collection[str] = (),
) -> Draft:
    """Enter into a draft what is left of the rows of a Session, except for some kinds.

    Of those that did not change after a change, only ``ids`` are looked at.
    """
    kinds = [each.kind for each in registered() if each.basis not in _DERIVED]
    for kind, id, text in db.execute(
        "SELECT kind, id, data FROM row"
        " WHERE kind IN (SELECT value FROM json_each(?)) AND session = ?"
        " AND (change > ? OR id IN (SELECT value FROM json_each(?))) ORDER BY kind, id",
        (json.dumps([k for k in kinds if k not in but]), session, since, json.dumps([*ids])),
    ):
        data = json.loads(text)
        left = gone.left(kind, id, data)
        if left is None:
            draft.drop.append((kind, id))
        elif left != data:
            draft.put.append(decode(kind, gone.retold(db, kind, data, left)))
    return draft


def _blank(
    db: sqlite3.Connection, gone: DeletionPlan, derived: DerivedState, change: Change | None
) -> Slices[None]:
    """Take the words out of what the log says about rows that went with a message."""
    ops = change.ops if change else ()
    rows = {(op.kind, op.id) for op in ops if op.after is None or op.kind == Episode.kind}

    def goes(kind: str, id: str, state: Data, number: int) -> bool:
        basis = cls.basis if (cls := kind_named(kind)) else Basis.NONE
        if basis in _DERIVED:
            return derived.is_gone(kind, id, state, number)
        if basis is Basis.EACH:
            return gone.left(kind, id, state) is None
        if basis is Basis.ANY and (kind, id) not in rows and not gone.left(kind, id, state):
            # One that stands was said by others, too.
            query = "SELECT 1 FROM row WHERE kind = ? AND id = ?"
            return db.execute(query, (kind, id)).fetchone() is None
        return (kind, id) in rows

    def left(kind: str, id: str, state: Data | None, number: int) -> Data | None:
        cls = kind_named(kind)
        if state is None or cls is None or not goes(kind, id, state, number):
            return state
        return {**state, **dict.fromkeys(cls.words, "")}

    needle = json.dumps(derived.message.session, ensure_ascii=False)
    found = db.execute("SELECT id FROM change WHERE instr(ops, ?) ORDER BY id", (needle,))
    for numbers in found.fetchall():
        rewrite_log(db, numbers, left)
        yield


def undo(db: sqlite3.Connection, number: int, actor: str, at: float, tell: Tell) -> Change | None:
    """Undo change ``number`` by another change, inside the open transaction.

    With what somebody asked to be remembered, all that was learned from that message goes.

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
    """The draft that undoes what somebody asked to be remembered."""
    draft, rows = Draft(actor, "undo", undoes=change.id), Rows(db)
    facts = [op.after for op in change.ops if op.kind == Fact.kind and op.after]
    cited = sorted({id for fact in facts for id in fact["evidence"]})
    own = [said for said in by_ids(db, cited) if said.sender == change.actor]
    if not own:
        return draft
    message = own[-1]  # earlier ones were its evidence before
    gone = plan_for_message(db, message)
    draft.put += unsaid(rows, message.session, [message.id])
    _enter(db, draft, gone, message.session, Episode.kind, Forgotten.kind)
    for op in change.ops:
        cls = kind_named(op.kind)
        if cls and cls.basis is Basis.EACH and op.before and not op.after:
            draft.put.append(cls.of_data(op.before))  # it had to make room
    return draft
