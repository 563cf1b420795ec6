"""Import runs: what was imported when, and the undo of one in one transaction.

Messages, batches and intervals of presence carry the id of their import, and its changes
are named after it; so an undo deletes exactly what carries it.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, fields

from ..deletion.plan import NOBODY, DeletionPlan
from ..errors import NotFoundError
from ..model import Entity, Episode, Erased, Session, User, decode, encode, registered
from ..store import Draft, Rows, presence
from ..store.rows import Tell, read_change, write

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
        state: ``running``, ``done``, ``undone``.
        keeps: Whether messages keep the numbers they had (the memory was empty).
        learns: Whether its batches are to be learned.
        count, rows: How many messages and rows it brought.
        is_old: Whether a version made it by which nothing carries the id.
    """

    id: str
    format: str
    at: float
    state: str = "running"
    keeps: bool = False
    learns: bool = False
    count: int = 0
    rows: int = 0
    is_old: bool = False

    @property
    def is_there(self) -> bool:
        """Whether it brought anything that was not taken back."""
        return self.state != "undone" and bool(self.count or self.rows)

    @property
    def reason(self) -> str:
        """Reason of its changes that write new rows; see :attr:`widening`."""
        return f"import {self.id}"

    @property
    def widening(self) -> str:
        """Reason of its changes that widen rows of the memory."""
        return f"import {self.id} widens"

    def save(self, db: sqlite3.Connection) -> None:
        """Write it down, in the transaction that is open."""
        values = f"{_PREFIX}{self.id}", json.dumps(asdict(self))
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)


def saved(db: sqlite3.Connection) -> list[Run]:
    """All imports, oldest first."""
    found = db.execute("SELECT value FROM meta WHERE key LIKE ?", (f"{_PREFIX}%",))
    return sorted((_read(value) for (value,) in found), key=lambda run: (run.at, run.id))


def _read(text: str) -> Run:
    data = json.loads(text)
    if "messages" in data:  # by which version 1.0 found what it had brought
        count = sum(last - first + 1 for first, last in data["messages"])
        data.update(count=count, is_old=True)
    known = {field.name for field in fields(Run)}
    return Run(**{key: value for key, value in data.items() if key in known})


# --------------------------------------------------------------------------- undo


def undo(db: sqlite3.Connection, tell: Tell, *, id: str, at: float) -> tuple[Run, int, int]:
    """Take an import back: what it brought goes, with what was learned from it alone.

    Args:
        id: Of the run; empty takes the newest.

    Returns:
        The run, how many messages went, and how many rows stay because they were altered.

    Raises:
        NotFoundError: There is none, or an older version made it.
    """
    found = [run for run in saved(db) if id in ("", run.id) and run.is_there]
    if not found:
        raise NotFoundError("there is no import to undo")
    run = found[-1]
    if run.is_old:
        raise NotFoundError("an older version made this import: restore a backup").told(
            "old_import"
        )
    found_messages = db.execute("SELECT id FROM message WHERE import = ? ORDER BY id", (run.id,))
    gone = [number for (number,) in found_messages]
    kept, episodes = _take_back_rows(db, run, at, tell)
    _forget_words(db, set(gone), episodes, at, tell)
    db.execute("DELETE FROM message WHERE import = ?", (run.id,))
    db.execute(
        "DELETE FROM batch WHERE import = ?"
        " AND NOT EXISTS (SELECT 1 FROM message WHERE batch = batch.id)",
        (run.id,),
    )
    # Sessions, users and entities stay as long as anything else rests on them.
    unused = [key for key in _carrying(db, run, nodes=True) if not _is_used(db, *key)]
    _write(db, Draft(OWNER, "undo import", drop=unused), at, tell)
    tell(Erased(tuple(gone)))
    presence.withdraw(db, run.id, tell)
    run.state, run.count, run.rows = "undone", 0, 0
    run.save(db)
    return run, len(gone), kept


def _take_back_rows(
    db: sqlite3.Connection, run: Run, at: float, tell: Tell
) -> tuple[int, set[str]]:
    """Undo what an import did to rows, nodes apart, that stand as it left them.

    Returns how many were altered since and stay, and the episodes that went.
    """
    kept = 0
    episodes: set[str] = set()
    reasons = run.reason, run.widening
    numbers = db.execute(
        "SELECT id FROM change WHERE reason IN (?, ?) ORDER BY id DESC", reasons
    ).fetchall()
    for (number,) in numbers:
        draft, altered = _inverse(db, number)
        kept += altered
        episodes |= {id for kind, id in draft.drop if kind == Episode.kind}
        _write(db, draft, at, tell)
    # Of old changes the log may have counts only; what carries them is still theirs.
    left = Draft(OWNER, "undo import", drop=_carrying(db, run, nodes=False))
    _write(db, left, at, tell)
    return kept, episodes


def _inverse(db: sqlite3.Connection, number: int) -> tuple[Draft, int]:
    draft, altered = Draft(OWNER, "undo import"), 0
    change = read_change(db, number)
    for op in change.ops if change else ():
        if op.kind in _NODES:
            continue
        query = "SELECT data FROM row WHERE kind = ? AND id = ?"
        found = db.execute(query, (op.kind, op.id)).fetchone()
        if found is None or json.loads(found[0]) != op.after:
            altered += found is not None
        elif op.before is None:
            draft.drop.append((op.kind, op.id))
        else:
            draft.put.append(decode(op.kind, op.before))
    return draft, altered


def _carrying(db: sqlite3.Connection, run: Run, *, nodes: bool) -> list[tuple[str, str]]:
    """Kind and id of the rows that an import wrote and nobody since."""
    marks = ", ".join("?" * len(_NODES))
    return db.execute(
        "SELECT kind, id FROM row WHERE change IN (SELECT id FROM change WHERE reason = ?)"
        f" AND kind {'' if nodes else 'NOT '}IN ({marks})",
        (run.reason, *_NODES),
    ).fetchall()


def _is_used(db: sqlite3.Connection, kind: str, id: str) -> bool:
    query = (
        "SELECT 1 FROM row WHERE a = :id UNION ALL SELECT 1 FROM row WHERE b = :id LIMIT 1"
        if kind != Session.kind
        else "SELECT 1 FROM message WHERE session = :id UNION ALL"
        " SELECT 1 FROM row WHERE kind != 'session' AND session = :id LIMIT 1"
    )
    return db.execute(query, {"id": id}).fetchone() is not None


def _forget_words(
    db: sqlite3.Connection, gone: set[int], episodes: set[str], at: float, tell: Tell
) -> None:
    """Take messages out of rows that rest on them; those without another basis go."""
    rows, draft, plan = Rows(db), Draft(OWNER, "undo import"), DeletionPlan(NOBODY, ids=gone)
    for row in (row for kind in registered() for row in rows.scan(kind)):
        if gone.isdisjoint(row.cited):
            continue
        left = plan.left(row.kind, row.id, encode(row))
        if left is None:
            draft.drop.append((row.kind, row.id))
        else:
            draft.put.append(decode(row.kind, left))
    # Records tell of what their parts told of, and last longer than each of them.
    for episode in sorted(
        rows.scan(Episode), key=lambda e: (e.is_record, e.ended_at - e.started_at)
    ):
        is_gone = episode.first_message in gone and episode.last_message in gone
        if is_gone or not episodes.isdisjoint(episode.parts):
            episodes.add(episode.id)
            draft.drop.append((Episode.kind, episode.id))
    _write(db, draft, at, tell)


def _write(db: sqlite3.Connection, draft: Draft, at: float, tell: Tell) -> None:
    change = write(db, draft, at)
    if change:
        tell(change)
