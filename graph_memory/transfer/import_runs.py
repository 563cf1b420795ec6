"""Import runs: what was imported when, and the undo of one, in slices.

Messages, batches and intervals of presence carry the id of their import, and its changes
are named after it; so an undo deletes exactly what carries it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from itertools import batched

from ..deletion.message_retention import delete_messages
from ..deletion.plan import NOBODY, DeletionPlan, Key, coined_in
from ..errors import NotFoundError
from ..model import (
    IMPORT,
    Basis,
    Entity,
    Episode,
    Erased,
    Row,
    Session,
    User,
    decode,
    encode,
    is_entity,
    registered,
)
from ..store import Draft, Rows, contents, presence
from ..store.journal import Slices
from ..store.rows import UNDO_IMPORT, Tell, is_used, note, notes, read_change, write
from ..supervisor import Progress

STEP = 200
"""Messages or rows of one transaction: a message that is heard meanwhile waits no longer
than one of them takes."""
OWNER = "owner"
"""Actor of the changes of an import."""
_PREFIX = "moving:"
_NODES = (Session.kind, User.kind, Entity.kind)


@dataclass(slots=True)
class Run:
    """One import.

    Attributes:
        id: Digest of what came in and how.
        format: Of the source.
        state: ``running``, ``done``, ``undoing``, ``undone``.
        keeps: Whether messages keep the numbers they had (the memory was empty).
        learns: Whether its batches are to be learned.
        count, rows: How many messages and rows it brought.
        since: The newest change before it: earlier ones of this id were taken back.
        name: Of the file; empty in runs of earlier versions.
    """

    id: str
    format: str
    at: float
    state: str = "running"
    keeps: bool = False
    learns: bool = False
    count: int = 0
    rows: int = 0
    since: int = 0
    name: str = ""

    @property
    def is_there(self) -> bool:
        """Whether it brought anything that was not taken back."""
        return self.state != "undone" and bool(self.count or self.rows)

    @property
    def reason(self) -> str:
        """Reason of its changes that write new rows; see :attr:`widening`."""
        return f"{IMPORT} {self.id}"

    @property
    def widening(self) -> str:
        """Reason of its changes that widen rows of the memory."""
        return f"{IMPORT} {self.id} widens"

    def save(self, db: sqlite3.Connection) -> None:
        """Write it down, in the transaction that is open."""
        note(db, f"{_PREFIX}{self.id}", json.dumps(asdict(self)))


def saved(db: sqlite3.Connection) -> list[Run]:
    """All imports, oldest first."""
    return sorted(map(_read, notes(db, _PREFIX).values()), key=lambda run: (run.at, run.id))


def _read(text: str) -> Run:
    data = json.loads(text)
    known = {field.name for field in fields(Run)}
    return Run(**{key: value for key, value in data.items() if key in known})


# --------------------------------------------------------------------------- undo


def plan_undo(db: sqlite3.Connection, id: str) -> tuple[Run, DeletionPlan]:
    """The run that an undo takes back, and what goes: its messages and its episodes.

    Args:
        id: Of the run; empty takes the newest.

    Raises:
        NotFoundError: There is none.
    """
    found = [run for run in saved(db) if id in ("", run.id) and run.is_there]
    if not found:
        raise NotFoundError("there is no import to undo")
    run = found[-1]
    if plan := DeletionPlan.noted(db, run.id):  # a kill ended an earlier attempt
        return run, plan
    carried = _carrying(db, run, nodes=False)
    ids = {n for (n,) in db.execute("SELECT id FROM message WHERE import = ?", (run.id,))}
    plan = DeletionPlan(NOBODY, ids=ids, newest=Rows(db).last_change())
    batches = [n for (n,) in db.execute("SELECT id FROM batch WHERE import = ?", (run.id,))]
    plan.rows = {key for key in carried if key[0] == Episode.kind} | coined_in(db, plan, batches)
    return run, plan


def undo(
    db: sqlite3.Connection,
    tell: Tell,
    *,
    run: Run,
    plan: DeletionPlan,
    at: float,
    steps: Progress,
) -> Slices[int]:
    """Take an import back: what it brought goes, with what was learned from it alone.

    Returns:
        How many rows stay because they were altered.
    """
    run.state = "undoing"
    run.save(db)
    plan.note(db, run.id)
    yield
    steps.take(0, len(_changes_of(db, run)) + len(plan.ids) + contents.count_rows(db))
    undoing = _Undoing(db, tell, run, plan, at, steps)
    altered = yield from undoing.take_back_rows()
    for ids in batched(sorted(plan.ids), STEP):
        delete_messages(db, ids)
        tell(Erased(ids))
        steps.take(len(ids))
        yield
    yield from undoing.forget_words()
    db.execute(
        "DELETE FROM batch WHERE import = ?"
        " AND NOT EXISTS (SELECT 1 FROM message WHERE batch = batch.id)",
        (run.id,),
    )
    yield from undoing.forget_nodes()
    presence.withdraw(db, run.id, tell)
    run.state, run.count, run.rows = "undone", 0, 0
    run.save(db)
    plan.done(db, run.id)
    query = "SELECT 1 FROM row WHERE kind = ? AND id = ?"
    return sum(db.execute(query, key).fetchone() is not None for key in altered)


@dataclass(frozen=True, slots=True)
class _Undoing:
    """The undo of an import, under way."""

    db: sqlite3.Connection
    tell: Tell
    run: Run
    plan: DeletionPlan
    at: float
    steps: Progress

    def write(self, drop: Iterable[Key], put: Iterable[Row] = ()) -> None:
        write(self.db, Draft(OWNER, UNDO_IMPORT, [*put], [*drop]), self.at, self.tell)

    def take_back_rows(self) -> Slices[set[Key]]:
        """Undo what the import did to rows, nodes apart, that stand as it left them.

        Returns those that were altered since; the plan has the episodes that went.
        """
        altered: set[Key] = set()
        for number in _changes_of(self.db, self.run):
            drop, put = _inverse(self.db, number, altered)
            self.plan.rows.update(key for key in drop if key[0] == Episode.kind)
            self.write(drop, put)
            self.steps.take(1)
            yield
        # Of old changes the log may have counts only; what carries them is still theirs.
        for keys in batched(_carrying(self.db, self.run, nodes=False), STEP):
            self.write(keys)
            yield
        return altered

    def forget_words(self) -> Slices[None]:
        """Take messages out of rows that rest on them; those without another basis go.

        They are deleted by now, so that nothing more is learned from them.
        """
        plan = self.plan
        episodes: list[Episode] = []
        self.steps.take(0, contents.count_rows(self.db))
        for rows in batched(contents.rows(self.db), STEP):
            episodes += [row for row in rows if isinstance(row, Episode)]
            cut = [row for row in rows if not plan.ids.isdisjoint(row.cited)]
            left = {(row.kind, row.id): plan.left(row.kind, row.id, encode(row)) for row in cut}
            put = [decode(key[0], data) for key, data in left.items() if data]
            self.write([key for key, data in left.items() if data is None], put)
            self.steps.take(len(rows))
            yield
        # Records tell of what their parts told of, and last longer than each of them.
        gone = plan.rows
        for each in sorted(episodes, key=lambda e: (e.is_record, e.ended_at - e.started_at)):
            is_gone = plan.is_message(each.first_message) and plan.is_message(each.last_message)
            if is_gone or any((each.kind, part) in gone for part in each.parts):
                gone.add((each.kind, each.id))
        for keys in batched(sorted(gone & {(each.kind, each.id) for each in episodes}), STEP):
            self.write(keys)
            yield

    def forget_nodes(self) -> Slices[None]:
        """Delete names and mentions that it alone told of, then nodes that nothing needs."""
        about = json.dumps([id for _, id in self.plan.rows]), self.run.since, self.plan.newest
        query = "SELECT kind, id, a FROM row WHERE kind IN ('name', 'mention') AND id IN"
        query += " (SELECT value FROM json_each(?)) AND change > ? AND change <= ?"
        found = self.db.execute(query, about).fetchall()
        for names in batched(found, STEP):
            self.write((kind, id) for kind, id, _ in names)
            yield
        nodes = {(Entity.kind, node) for _, _, node in found if is_entity(node)}
        for keys in batched(sorted(nodes.union(_carrying(self.db, self.run, nodes=True))), STEP):
            self.write(key for key in keys if not _is_used(self.db, *key))
            yield


def _changes_of(db: sqlite3.Connection, run: Run) -> list[int]:
    """The changes that an import made, or that learned from it, the newest first."""
    query = "SELECT id FROM change WHERE id > ? AND (reason IN (?, ?) OR batch IN"
    query += " (SELECT id FROM batch WHERE import = ? AND import != '')) ORDER BY id DESC"
    return [n for (n,) in db.execute(query, (run.since, run.reason, run.widening, run.id))]


def _inverse(db: sqlite3.Connection, number: int, kept: set[Key]) -> tuple[list[Key], list[Row]]:
    drop: list[Key] = []
    put: list[Row] = []
    change = read_change(db, number)
    learned = [kind.kind for kind in registered() if kind.basis is Basis.LEARNED]
    for op in change.ops if change else ():
        # What rests on messages that are named goes with these.
        if op.kind in _NODES or (change and change.batch and op.kind not in learned):
            continue
        query = "SELECT data FROM row WHERE kind = ? AND id = ?"
        found = db.execute(query, (op.kind, op.id)).fetchone()
        if found is None or json.loads(found[0]) != op.after:
            kept.add((op.kind, op.id))
        elif op.before is None:
            drop.append((op.kind, op.id))
        else:
            put.append(decode(op.kind, op.before))
    return drop, put


def _carrying(db: sqlite3.Connection, run: Run, *, nodes: bool) -> list[Key]:
    """Kind and id of the rows that an import wrote and nobody since."""
    marks = ", ".join("?" * len(_NODES))
    return db.execute(
        "SELECT kind, id FROM row WHERE change IN (SELECT id FROM change WHERE reason = ?)"
        f" AND kind {'' if nodes else 'NOT '}IN ({marks})",
        (run.reason, *_NODES),
    ).fetchall()


def _is_used(db: sqlite3.Connection, kind: str, id: str) -> bool:
    if kind == Session.kind:
        return is_used(db, id)
    query = "SELECT 1 FROM row WHERE a = :id UNION ALL SELECT 1 FROM row WHERE b = :id LIMIT 1"
    return db.execute(query, {"id": id}).fetchone() is not None
