"""Message retraction (撤回): a message goes, with all that rests on nothing else.

A mark (a hash of who said it and when) stays, so that no restored backup brings it back.
It is *open* until the daily purge has taken the message out of the backups.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..model import (
    DERIVED,
    Basis,
    Change,
    Data,
    Episode,
    Erased,
    Fact,
    Forgotten,
    Message,
    Row,
    Session,
    decode,
    kind_named,
    registered,
)
from ..store.journal import Slices, finished
from ..store.messages import by_ids
from ..store.pauses import leave_gap
from ..store.rows import (
    ASKED,
    RETRACTED,
    Derived,
    Draft,
    Rows,
    Tell,
    blank_log,
    forget_texts,
    inverse,
    note,
    noted,
    notes,
    read_change,
    undoable,
    unnote,
    unsaid,
    write,
)
from .message_retention import delete_messages
from .plan import DeletionPlan, plan_for_messages, with_answers

MARK = "withdrawn:"
_DUE = "withdrawals due"
"""Note: marks were carried here by which nothing was deleted yet."""
CLOSED = "closed"
"""Value of a mark whose message no backup holds any more; otherwise when it was retracted."""
_WORDS = "message:"
"""Notes of this kind are about messages whose words are in the log yet."""


def mark_of(sender: str, ref: str, at: float) -> str:
    """The mark of what somebody said at a time."""
    said = "\x1f".join((sender, ref, repr(at)))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def put_marks(db: sqlite3.Connection, marks: Iterable[str], value: str) -> None:
    """Note when messages were retracted, or :data:`CLOSED`."""
    for mark in marks:
        note(db, f"{MARK}{mark}", value)


def all_marks(db: sqlite3.Connection) -> set[str]:
    """The marks of all messages that were ever retracted."""
    return set(notes(db, MARK))


def open_marks(db: sqlite3.Connection) -> dict[str, float]:
    """Marks of messages that a backup may hold, and when each was retracted."""
    return {mark: float(at) for mark, at in notes(db, MARK).items() if at != CLOSED}


def held(db: sqlite3.Connection, marks: Collection[str]) -> list[int]:
    """Ids of the messages that marks stand for, in a journal of any version."""
    said = db.execute("SELECT id, sender, ref, at FROM message ORDER BY id") if marks else ()
    return [id for id, *about in said if mark_of(*about) in marks]


def carry(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Put the marks of a journal into an older one."""
    if found := notes(old, MARK):
        for mark in found.keys() - all_marks(new):
            put_marks(new, [mark], found[mark])
        note(new, _DUE, "1")


def carried(db: sqlite3.Connection) -> set[str]:
    """The marks that were carried here and by which nothing was deleted yet."""
    return all_marks(db) if noted(db, _DUE) else set()


def retract_again(db: sqlite3.Connection, marks: Collection[str], at: float) -> None:
    """Delete the messages that marks stand for, inside the open transaction."""
    put_marks(db, set(marks) - all_marks(db), repr(at))
    retract_all(db, lambda _event: None, held(db, marks), at)
    unnote(db, _DUE)


@dataclass(frozen=True, slots=True)
class Retraction:
    """What goes with messages of one Session, as it stood when it was looked up.

    Some rows may rest on them without naming them (``Basis``): those rewritten by learning
    (``LEARNED``) since the first of them was learned, and those made while an answer was given
    (``MOMENT``) since it was said.

    Attributes:
        messages: None if it is made good after a kill.
        rows: Ids of the rows that something goes of.
        derived: What the rows of the first kind were before.
    """

    gone: DeletionPlan
    messages: Sequence[Message] = ()
    rows: tuple[str, ...] = ()
    derived: Derived = field(default_factory=Derived)

    @classmethod
    def of(cls, db: sqlite3.Connection, ids: Iterable[int]) -> Retraction | None:
        """Look through the rows and the log of the messages' Session, if any are there."""
        messages = by_ids(db, ids)
        if not messages:
            return None
        gone = plan_for_messages(db, messages)
        draft = _enter(db, Draft("chat", RETRACTED), gone)
        rows = *(row.id for row in draft.put), *(id for _, id in draft.drop)
        session, _, batches = gone.origin
        return cls(gone, messages, rows, Derived.since(db, session, batches))

    def holds(self, db: sqlite3.Connection) -> bool:
        """Whether it is so still, but for rows that came or changed since."""
        now = by_ids(db, [each.id for each in self.messages])
        if [replace(m, batch=None) for m in now] != [replace(m, batch=None) for m in self.messages]:
            return False
        learned = db.execute(
            "SELECT 1 FROM change WHERE id > ?"
            " AND (batch IN (SELECT value FROM json_each(?)) OR EXISTS"
            " (SELECT 1 FROM json_each(?) WHERE instr(ops, '[\"' || value || '\", ')))",
            (
                self.gone.newest,
                json.dumps([each.batch for each in now]),
                json.dumps([kind.kind for kind in registered() if kind.basis in DERIVED]),
            ),
        ).fetchone()
        return not learned and self.gone.ids == with_answers(db, now)

    def enter(self, db: sqlite3.Connection, draft: Draft, at: float) -> None:
        """Enter what is left; bring back what was before, drop what was made since."""
        _enter(db, draft, self.gone, since=self.gone.newest, ids=self.rows)
        rows, origin = Rows(db), self.gone.origin
        for cls in [cls for cls in registered() if cls.basis is Basis.MOMENT]:
            made = rows.find(cls, session=origin.session)
            draft.drop += [(r.kind, r.id) for r in made if r.span[0] >= origin.at]
        self.derived.bring_back(db, draft, at)

    def blank(self, db: sqlite3.Connection, change: Change | None) -> Slices[None]:
        """Take the words out of what the log says about rows that went with the messages."""
        ops = change.ops if change else ()
        rows = {(op.kind, op.id) for op in ops if op.after is None or op.kind == Episode.kind}

        def goes(cls: type[Row], id: str, state: Data, number: int) -> bool:
            if cls.basis in DERIVED:
                return self._tells(cls, id, state, number)
            if cls.basis is Basis.EACH:
                return self.gone.left(cls.kind, id, state) is None
            is_theirs = cls.basis is Basis.ANY and not self.gone.left(cls.kind, id, state)
            if (is_theirs or (cls.kind, id) in self.gone.rows) and (cls.kind, id) not in rows:
                # One that stands was said by others, too.
                query = "SELECT 1 FROM row WHERE kind = ? AND id = ?"
                return db.execute(query, (cls.kind, id)).fetchone() is None
            return (cls.kind, id) in rows

        needle = json.dumps(self.gone.origin.session, ensure_ascii=False)
        found = db.execute("SELECT id FROM change WHERE instr(ops, ?) ORDER BY id", (needle,))
        for numbers in found.fetchall():
            blank_log(db, numbers, goes)
            yield

    def _tells(self, cls: type[Row], id: str, state: Data, change: int) -> bool:
        """Whether a state that a change found or left may tell of the messages."""
        if state.get("session") != self.gone.origin.session:
            return False
        if cls.basis is Basis.MOMENT:
            return bool(state[cls.times[0]] >= self.gone.origin.at)
        return self.derived.differs(cls, id, state, change)


def retract_all(db: sqlite3.Connection, tell: Tell, ids: Iterable[int], at: float) -> None:
    """Delete messages of any Session at once, inside the open transaction."""
    places: dict[str, list[int]] = defaultdict(list)
    for message in by_ids(db, ids):
        places[message.session].append(message.id)
    for some in places.values():
        finished(retract(db, tell, ids=some, at=at))


def retract(
    db: sqlite3.Connection,
    tell: Tell,
    *,
    ids: Sequence[int],
    at: float,
    known: Retraction | None = None,
) -> Slices[Change | None]:
    """Delete messages of one Session, the answers, then their words in the log.

    Facts and names that rest on them alone go, summaries of the conversation too; other facts
    lose them as evidence, derived rows are as they were before. The log keeps which rows were
    touched, but no words. Empty the write-ahead log afterwards (``forget_me.drain``).

    Args:
        known: What goes with them, if that was looked up before.

    Returns:
        The change; ``None`` if nothing was learned from the messages.
    """
    found = known if known and known.holds(db) else Retraction.of(db, ids)
    if found is None:
        return None
    gone, draft = found.gone, Draft("chat", RETRACTED)
    found.enter(db, draft, at)
    change = write(db, draft, at, tell)
    for each in by_ids(db, gone.ids):
        put_marks(db, [mark_of(each.sender, each.ref, each.at)], repr(at))
        if session := Rows(db).get(Session, each.session):
            leave_gap(db, session.circle, each.sender, each.at, each.at)
    delete_messages(db, gone.ids)
    forget_texts(db, _lost_words(change))
    tell(Erased(tuple(sorted(gone.ids))))
    gone.newest = change.id if change else 0
    gone.note(db, key := f"{_WORDS}{found.messages[0].id}")
    yield
    yield from found.blank(db, change)
    gone.done(db, key)
    return change


def _lost_words(change: Change | None) -> Iterator[str]:
    """What rows said before a change that do not say it any more."""
    for op in change.ops if change else ():
        if cls := kind_named(op.kind):
            yield from cls.embedded(op.before or {}) - cls.embedded(op.after or {})


def unfinished(db: sqlite3.Connection) -> list[str]:
    """What a kill left of words in the log, by what was noted about it."""
    return [f"{_WORDS}{key}" for key in DeletionPlan.times(db, _WORDS)]


def finish(db: sqlite3.Connection) -> None:
    """Do what a kill left undone, inside the open transaction."""
    for key in unfinished(db):
        if gone := DeletionPlan.noted(db, key):
            session, _, batches = gone.origin
            found = Retraction(gone, derived=Derived.since(db, session, batches))
            finished(found.blank(db, read_change(db, gone.newest)))
        DeletionPlan.done(db, key)


def _enter(
    db: sqlite3.Connection,
    draft: Draft,
    gone: DeletionPlan,
    *but: str,
    since: int = -1,
    ids: Collection[str] = (),
) -> Draft:
    """Enter into a draft what is left of rows, except for some kinds.

    Of those that did not change after a change, only ``ids`` are looked at.
    """
    kinds = [each.kind for each in registered() if each.basis not in DERIVED]
    for kind, id, text in db.execute(
        "SELECT kind, id, data FROM row"
        " WHERE kind IN (SELECT value FROM json_each(?)) AND session = ?"
        " AND (change > ? OR id IN (SELECT value FROM json_each(?))) ORDER BY kind, id",
        (
            json.dumps([kind for kind in kinds if kind not in but]),
            *(gone.origin.session, since, json.dumps([*ids])),
        ),
    ):
        data = json.loads(text)
        left = gone.left(kind, id, data)
        if left is None:
            draft.drop.append((kind, id))
        elif left != data:
            draft.put.append(decode(kind, gone.retold(db, kind, data, left)))
    draft.put += _heirs(Rows(db), draft)
    return draft


def _heirs(rows: Rows, draft: Draft) -> list[Fact]:
    """Facts that replace some that go, now instead of what these replaced as well.

    Otherwise that would be true again, beside what it is by now.
    """
    gone = {id for kind, id in draft.drop if kind == Fact.kind}
    found = {row.id: row for row in draft.put if isinstance(row, Fact)}
    for fact in rows.some(Fact, gone):
        for heir in rows.history(fact.subject) if fact.supersedes else ():
            if fact.id in heir.supersedes and heir.id not in gone:
                now = found.get(heir.id, heir)
                found[heir.id] = replace(now, supersedes=(*now.supersedes, *fact.supersedes))
    return [*found.values()]


def undo(
    db: sqlite3.Connection,
    number: int,
    actor: str,
    at: float,
    tell: Tell,
    known: Retraction | None = None,
) -> Change | None:
    """Undo change ``number`` by another change, inside the open transaction.

    With what somebody asked to be remembered, all that was learned from that message goes.

    Args:
        known: That, if it was looked up before (:func:`asked`).

    Raises:
        NotFoundError, ConflictError: As :func:`..store.rows.inverse`.
    """
    change = undoable(db, number)
    if change.reason != ASKED:
        return write(db, inverse(db, number, actor), at, tell)
    found = known if known and known.holds(db) else asked(db, number)
    draft = Draft(actor, "undo", undoes=number)
    if found:
        _unask(db, draft, change, found)
    return write(db, draft, at, tell)


def asked(db: sqlite3.Connection, number: int) -> Retraction | None:
    """What was learned from the message by which somebody asked to remember something."""
    change = read_change(db, number)
    if change is None or change.reason != ASKED:
        return None
    facts, own = _kept(db, change)
    last = {fact["evidence"][-1] for fact in facts}
    message = next((said for said in own if said.id in last), own[-1] if own else None)
    return Retraction.of(db, [message.id]) if message else None


def _kept(db: sqlite3.Connection, change: Change) -> tuple[list[Data], list[Message]]:
    """Facts as a change left them, and the messages of its actor that they rest on."""
    facts = [op.after for op in change.ops if op.kind == Fact.kind and op.after]
    cited = by_ids(db, {id for fact in facts for id in fact["evidence"]})
    return facts, [said for said in cited if said.sender == change.actor]


def _unask(db: sqlite3.Connection, draft: Draft, change: Change, found: Retraction) -> None:
    """Enter what undoes that somebody asked to remember a message."""
    rows, (message,) = Rows(db), found.messages
    facts, own = _kept(db, change)
    at_once = {said.id for said in own if said.batch == message.batch}
    made = rows.some(Fact, [fact["id"] for fact in facts])
    draft.drop += [(Fact.kind, fact.id) for fact in made if at_once.issuperset(fact.evidence)]
    draft.put += unsaid(rows, message.session, [message.id])
    gone, but = found.gone, (Episode.kind, Forgotten.kind)
    _enter(db, draft, gone, *but, since=gone.newest, ids=found.rows)
    for op in change.ops:
        cls = kind_named(op.kind)
        if cls and cls.basis is Basis.EACH and op.before and not op.after:
            draft.put.append(cls.of_data(op.before))  # it had to make room
