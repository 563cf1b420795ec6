"""Erasure of a person from a journal of any version, the change log included.

A *mark* in the journal says when whom (a salted hash) was erased from it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable

from ..embedding import text_hash
from ..model import Change, Data, Entity, Episode, Erased, Fact, Merge, Op, registered
from ..store import Journal
from ..store.journal import forget_vectors
from ..store.schema import migrations_of
from .plan import DeletionPlan, changes_about, orphans, plan_for_user, rewrite_log

ACTOR = "erasure"
"""Actor of an erasure's change, and from then on of the user's own changes."""
REASON = "forget me"
_MARK = "erased:"
_BUSY, _PATIENT = 200, 10_000
"""Milliseconds to wait for readers."""
_PAUSE = 0.1
"""Seconds until they are waited for again."""

Tell = Callable[[Change | Erased], None]


def marks(db: sqlite3.Connection) -> dict[str, float]:
    """Whom (salted hashes) was erased from a journal, and when."""
    found = db.execute("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_MARK}%",))
    return {key.removeprefix(_MARK): float(value) for key, value in found}


def mark(db: sqlite3.Connection, stone: str, at: float) -> None:
    """Say that somebody was erased."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{_MARK}{stone}", repr(at)))


def users(db: sqlite3.Connection) -> set[str]:
    """Ids of all users a journal knows."""
    known = {id for told in _addressees(db).values() for id, *_ in told}
    found = db.execute(
        "SELECT sender FROM message UNION SELECT user FROM presence"
        " UNION SELECT json_extract(r.data, n.value) FROM row r JOIN json_each(?) k"
        " ON k.key = r.kind JOIN json_each(k.value) n UNION SELECT actor FROM change",
        (json.dumps({cls.kind: [f"$.{field}" for field in cls.nodes] for cls in registered()}),),
    )
    known |= {id for (id,) in found}
    return {id for id in known if id and ":" in id and not id.startswith("e:")}


def _addressees(db: sqlite3.Connection) -> dict[int, list[list[str]]]:
    """Whom messages turn to, by message; a journal of the first version does not know."""
    if "0003_addressees" not in migrations_of(db):
        return {}
    found = db.execute("SELECT id, addressees FROM message WHERE addressees != '[]'")
    return {id: json.loads(text) for id, text in found}


def erase(
    db: sqlite3.Connection, user: str, at: float, tell: Tell = lambda _event: None
) -> list[bytes]:
    """Erase a user inside the open transaction.

    Returns:
        Hashes of the texts that are gone; vectors being computed may still turn up under
        them (see ``journal.forget_vectors``).
    """
    work = _Erasure(db, plan_for_user(db, user))
    # A change without contents: what was erased is nobody's to read or to undo.
    number = db.execute(
        "INSERT INTO change (at, actor, reason, ops) VALUES (?, ?, ?, '[]')", (at, ACTOR, REASON)
    ).lastrowid
    work.rows()
    work.log()
    work.messages()
    hashes = [text_hash(text) for text in sorted(work.texts) if text]
    forget_vectors(db, hashes)
    tell(Change(number or 0, at, ACTOR, REASON, tuple(work.ops)))
    tell(Erased(tuple(sorted(work.gone.ids)), user))
    return hashes


class _Erasure:
    """One erasure under way, with ``ops`` for views (never for the log)."""

    def __init__(self, db: sqlite3.Connection, gone: DeletionPlan) -> None:
        self._db = db
        self.gone = gone
        self.ops: list[Op] = []
        self.texts: set[str] = set()
        self._touched: set[str] = set()

    def rows(self) -> None:
        """Erase from rows, and delete entities that nothing names any more."""
        places = json.dumps(sorted(self.gone.places), ensure_ascii=False)
        found = self._db.execute(
            "SELECT kind, id, data FROM row WHERE instr(data, ?) OR session IN"
            " (SELECT value FROM json_each(?)) ORDER BY kind, id",
            (json.dumps(self.gone.user, ensure_ascii=False), places),
        ).fetchall()
        for kind, id, text in found:
            before = json.loads(text)
            left = self._left(kind, id, before)
            after = self.gone.retold(self._db, kind, before, left) if left else None
            self._put(Op(kind, id, before, after))
        for node in orphans(self._db, self._touched):
            self._put(Op(Entity.kind, node, {"id": node}, None))
            merged = "SELECT id, data FROM row WHERE kind = 'merge' AND ? IN (a, b)"
            for id, text in self._db.execute(merged, (node,)).fetchall():
                self._put(Op(Merge.kind, id, json.loads(text), None))

    def _put(self, op: Op) -> None:
        if op.before == op.after:
            return
        self.ops.append(op)
        if op.after is None:
            self._db.execute("DELETE FROM row WHERE kind = ? AND id = ?", (op.kind, op.id))
            return
        # Keys stay as they are, and the row's change too: in the log it reads the same from
        # now on, so that what others did can still be undone.
        data = json.dumps(op.after, ensure_ascii=False)
        query = "UPDATE row SET data = ? WHERE kind = ? AND id = ?"
        self._db.execute(query, (data, op.kind, op.id))

    def _left(self, kind: str, id: str, state: Data | None, _change: int = 0) -> Data | None:
        """What is left of a state of a row, taking note of what goes."""
        left = self.gone.left(kind, id, state)
        if state is None or left == state:
            return left
        if kind == Fact.kind:
            self.texts.add(state["statement"])
            self._touched |= {state["subject"], state["object"]}
        elif kind == Episode.kind:
            self.texts.add(state["summary"])
        else:
            self._touched |= {state[key] for key in ("node", "entity") if key in state}
        return left

    def log(self) -> None:
        """Rewrite the log as if the user had never been."""
        numbers = [number for number, _ in changes_about(self._db, self.gone)]
        rewrite_log(self._db, numbers, self._left)
        query = "UPDATE change SET actor = ? WHERE actor = ?"
        self._db.execute(query, (ACTOR, self.gone.user))

    def messages(self) -> None:
        """Delete messages, presences and whom messages turn to."""
        db, gone = self._db, self.gone
        for id in gone.ids:
            name, text, batch = db.execute(
                "SELECT name, text, batch FROM message WHERE id = ?", (id,)
            ).fetchone()
            self.texts |= {text, f"{name}: {text}"}
            # What a model answered may be quoted there.
            db.execute("UPDATE batch SET error = '' WHERE id = ?", (batch,))
            db.execute("DELETE FROM message WHERE id = ?", (id,))
        for id, told in _addressees(db).items():
            others = [each for each in told if each[0] != gone.user]
            if others != told:
                body = json.dumps(others, ensure_ascii=False)
                db.execute("UPDATE message SET addressees = ? WHERE id = ?", (body, id))
        db.executemany("DELETE FROM batch WHERE session = ?", [(each,) for each in gone.sessions])
        db.execute("DELETE FROM presence WHERE user = ?", (gone.user,))
        db.execute("DELETE FROM gap WHERE user = ?", (gone.user,))


def compact(db: sqlite3.Connection) -> None:
    """Rewrite the file without what was deleted. Outside of a transaction."""
    db.execute("PRAGMA secure_delete = ON")
    db.execute("VACUUM")


def empty_log(db: sqlite3.Connection) -> bool:
    """Empty the write-ahead log into the file; false if somebody is still reading it."""
    db.execute(f"PRAGMA busy_timeout = {_BUSY}")
    try:
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        db.execute(f"PRAGMA busy_timeout = {_PATIENT}")
    return not busy


async def drain(journal: Journal, patience: float = 2.0) -> bool:
    """Empty the write-ahead log of an open journal of what was deleted.

    In the file itself deleted cells are zeroed (``secure_delete``).

    Returns:
        Whether its readers finished within ``patience`` seconds.
    """
    deadline = time.monotonic() + patience
    while not await journal.tidy(empty_log):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_PAUSE)
    return True
