"""Erasure of a person from one journal, the change log included.

Works on any journal since the first version, open or in a backup. A *mark* in the
journal says when whom (a salted hash) was erased from it, so that every copy can be
asked whether it still has to be.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..model import Change, Data, Entity, Episode, Erased, Fact, Merge, Op, registered
from ..store import Journal
from ..store.journal import forget_vectors
from ..store.schema import migrations_of
from .plan import DeletionPlan, changes_about, orphans, plan_for_user

ACTOR = "erasure"
"""Actor of the change that stands for an erasure, and of what the user did otherwise."""
REASON = "forget me"
_MARK = "erased:"
_BUSY, _PATIENT = 200, 10_000
"""Milliseconds to wait for readers."""
_PAUSE = 0.1
"""Seconds until they are waited for again."""

Tell = Callable[[Change | Erased], None]


@dataclass(slots=True)
class _Erasing:
    """What one erasure has done so far.

    Attributes:
        ops: Rows as they were and are; for views, never for the log.
        texts: What was searched and embedded and is gone.
    """

    gone: DeletionPlan
    ops: list[Op] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)

    def lose(self, kind: str, before: Data | None) -> None:
        """Take note of a state of a row that goes or is rewritten."""
        if before is None:
            return
        if kind == Fact.kind:
            self.texts.add(before["statement"])
            self.touched |= {before["subject"], before["object"]}
        elif kind == Episode.kind:
            self.texts.add(before["summary"])
        else:
            self.touched |= {before[key] for key in ("node", "entity") if key in before}


def marks(db: sqlite3.Connection) -> dict[str, float]:
    """Whom (salted hashes) was erased from a journal, and when."""
    found = db.execute("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_MARK}%",))
    return {key.removeprefix(_MARK): float(value) for key, value in found}


def mark(db: sqlite3.Connection, stone: str, at: float) -> None:
    """Say that somebody was erased."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{_MARK}{stone}", repr(at)))


def users(db: sqlite3.Connection) -> set[str]:
    """Ids of all users a journal knows."""
    known = {id for ids in _turned_to(db).values() for id in ids}
    found = db.execute(
        "SELECT sender FROM message UNION SELECT user FROM presence"
        " UNION SELECT json_extract(r.data, n.value) FROM row r JOIN json_each(?) k"
        " ON k.key = r.kind JOIN json_each(k.value) n UNION SELECT actor FROM change",
        (json.dumps({cls.kind: [f"$.{field}" for field in cls.nodes] for cls in registered()}),),
    )
    known |= {id for (id,) in found}
    return {id for id in known if id and ":" in id and not id.startswith("e:")}


def _turned_to(db: sqlite3.Connection) -> dict[int, list[str]]:
    """Whom messages turn to, by message; a journal of the first version does not know."""
    if "0003_addressees" not in migrations_of(db):
        return {}
    found = db.execute("SELECT id, addressees FROM message WHERE addressees != '[]'")
    return {id: [user for user, *_ in json.loads(text)] for id, text in found}


def erase(
    db: sqlite3.Connection,
    user: str,
    at: float,
    digest: Callable[[str], bytes],
    tell: Tell = lambda _event: None,
) -> list[bytes]:
    """Erase a user inside the open transaction. Harmless if nothing is there.

    Args:
        digest: Hash of a text in the cache of vectors.
        tell: Called with what views have to follow.

    Returns:
        Hashes of the texts that are gone; vectors that are computed at the moment may
        still turn up under them (see ``vectors.forget``).
    """
    work = _Erasing(plan_for_user(db, user))
    number = _log(db, at)
    _rows(db, work)
    _changes(db, work)
    _messages(db, work)
    hashes = [digest(text) for text in sorted(work.texts) if text]
    forget_vectors(db, hashes)
    tell(Change(number, at, ACTOR, REASON, tuple(work.ops)))
    tell(Erased(tuple(sorted(work.gone.ids)), user))
    return hashes


def _log(db: sqlite3.Connection, at: float) -> int:
    """A change without contents: what was erased is nobody's to read or to undo."""
    cursor = db.execute(
        "INSERT INTO change (at, actor, reason, ops) VALUES (?, ?, ?, '[]')", (at, ACTOR, REASON)
    )
    return int(cursor.lastrowid or 0)


def _rows(db: sqlite3.Connection, work: _Erasing) -> None:
    places = json.dumps(sorted(work.gone.places), ensure_ascii=False)
    user = json.dumps(work.gone.user, ensure_ascii=False)
    found = db.execute(
        "SELECT kind, id FROM row WHERE instr(data, ?) OR session IN"
        " (SELECT value FROM json_each(?)) ORDER BY kind, id",
        (user, places),
    ).fetchall()
    for kind, id in found:
        query = "SELECT data FROM row WHERE kind = ? AND id = ?"
        before = json.loads(db.execute(query, (kind, id)).fetchone()[0])
        _put(db, work, Op(kind, id, before, work.gone.left(kind, id, before)))
    for id in orphans(db, work.touched):
        _put(db, work, Op(Entity.kind, id, {"id": id}, None))
        merges = db.execute(
            "SELECT id, data FROM row WHERE kind = 'merge' AND ? IN (a, b)", (id,)
        ).fetchall()
        for merge, text in merges:
            _put(db, work, Op(Merge.kind, merge, json.loads(text), None))


def _put(db: sqlite3.Connection, work: _Erasing, op: Op) -> None:
    if op.before == op.after:
        return
    work.ops.append(op)
    work.lose(op.kind, op.before)
    if op.after is None:
        db.execute("DELETE FROM row WHERE kind = ? AND id = ?", (op.kind, op.id))
        return
    # Keys stay as they are, and the row's change too: in the log it reads the same from now
    # on, so that what others did can still be undone.
    data = json.dumps(op.after, ensure_ascii=False)
    db.execute("UPDATE row SET data = ? WHERE kind = ? AND id = ?", (data, op.kind, op.id))


def _changes(db: sqlite3.Connection, work: _Erasing) -> None:
    """Rewrite the log as if the user had never been."""
    left = work.gone.left
    for number in [number for number, _ in changes_about(db, work.gone)]:
        (text,) = db.execute("SELECT ops FROM change WHERE id = ?", (number,)).fetchone()
        before = json.loads(text)
        after = []
        for kind, id, was, became in before:
            op = [kind, id, left(kind, id, was), left(kind, id, became)]
            for old, new in ((was, op[2]), (became, op[3])):
                if old != new:
                    work.lose(kind, old)
            if op[2] is not None or op[3] is not None:
                after.append(op)
        if after != before:
            body = json.dumps(after, ensure_ascii=False)
            db.execute("UPDATE change SET ops = ? WHERE id = ?", (body, number))
    db.execute("UPDATE change SET actor = ? WHERE actor = ?", (ACTOR, work.gone.user))


def _messages(db: sqlite3.Connection, work: _Erasing) -> None:
    gone = work.gone
    for id in gone.ids:
        name, text, batch = db.execute(
            "SELECT name, text, batch FROM message WHERE id = ?", (id,)
        ).fetchone()
        work.texts |= {text, f"{name}: {text}"}
        # What a model answered may be quoted there.
        db.execute("UPDATE batch SET error = '' WHERE id = ?", (batch,))
        db.execute("DELETE FROM message WHERE id = ?", (id,))
    for id, users in _turned_to(db).items():
        if gone.user in users:
            (text,) = db.execute("SELECT addressees FROM message WHERE id = ?", (id,)).fetchone()
            others = [each for each in json.loads(text) if each[0] != gone.user]
            body = json.dumps(others, ensure_ascii=False)
            db.execute("UPDATE message SET addressees = ? WHERE id = ?", (body, id))
    for session in gone.sessions:
        db.execute("DELETE FROM batch WHERE session = ?", (session,))
    db.execute("DELETE FROM presence WHERE user = ?", (gone.user,))


def compact(db: sqlite3.Connection) -> None:
    """Rewrite the file without what was deleted. Outside of a transaction."""
    db.execute("PRAGMA secure_delete = ON")
    db.execute("VACUUM")


def empty_log(db: sqlite3.Connection) -> bool:
    """Move everything from the write-ahead log into the file and empty the log.

    Returns:
        False if somebody is reading what was there before; see :func:`drain`.
    """
    db.execute(f"PRAGMA busy_timeout = {_BUSY}")
    try:
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        db.execute(f"PRAGMA busy_timeout = {_PATIENT}")
    return not busy


async def drain(journal: Journal, patience: float = 2.0) -> bool:
    """Let no byte of what was deleted stay in the write-ahead log of an open journal.

    In the file itself deleted cells are zeroed (``secure_delete``).

    Args:
        patience: Seconds to wait for those who read what was there before.

    Returns:
        Whether they finished in time.
    """
    deadline = time.monotonic() + patience
    while not await journal.tidy(empty_log):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_PAUSE)
    return True
