"""Erasure of a person from a journal of any version, the change log included.

A *mark* in the journal says when whom (a salted hash) was erased from it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Collection
from itertools import batched, chain

from ..embedding import text_hash
from ..model import Change, Data, Entity, Episode, Erased, Fact, Merge, Op, Session, registered
from ..store import Journal
from ..store.journal import Slices, forget_vectors
from ..store.messages import by_ids
from ..store.schema import migrations_of
from .plan import DeletionPlan, changes_about, orphans, plan_for_user, rewrite_log

ACTOR = "erasure"
"""Actor of an erasure's change, and from then on of the user's own changes."""
REASON = "forget me"
_MARK = "erased:"
_NOTE = "user:"
STEP = 50
"""Rows or messages in a piece."""
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
    known = {id for told in _addressees(db, "").values() for id, *_ in told}
    found = db.execute(
        "SELECT sender FROM message UNION SELECT user FROM presence"
        " UNION SELECT json_extract(r.data, n.value) FROM row r JOIN json_each(?) k"
        " ON k.key = r.kind JOIN json_each(k.value) n UNION SELECT actor FROM change"
        " UNION SELECT json_extract(value, '$.user') FROM meta WHERE key LIKE 'going:%'",
        (json.dumps({cls.kind: [f"$.{field}" for field in cls.nodes] for cls in registered()}),),
    )
    known |= {id for (id,) in found}
    return {id for id in known if id and ":" in id and not id.startswith("e:")}


def _addressees(db: sqlite3.Connection, user: str) -> dict[int, list[list[str]]]:
    """Whom messages turn to, of those that turn to a user, by message.

    A journal of the first version does not know.
    """
    if "0003_addressees" not in migrations_of(db):
        return {}
    query = "SELECT id, addressees FROM message WHERE addressees != '[]' AND instr(addressees, ?)"
    found = db.execute(query, (json.dumps(user, ensure_ascii=False)[1:-1],))
    return {id: json.loads(text) for id, text in found}


def erase(
    db: sqlite3.Connection,
    user: str,
    at: float,
    tell: Tell = lambda _event: None,
    key: str = "",
    known: DeletionPlan | None = None,
) -> Slices[list[bytes]]:
    """Erase a user; what they say from the first slice on is another's.

    Args:
        key: By which it is noted until it is done.
        known: What goes with the user, if that was looked up before.

    Returns:
        Hashes of the texts that are gone; vectors being computed may still turn up under
        them (see ``journal.forget_vectors``).
    """
    key = f"{_NOTE}{key}"
    gone = DeletionPlan.noted(db, key)
    if gone is None:
        gone = known if known and _holds(db, known) else plan_for_user(db, user)
        # A change without contents: what was erased is nobody's to read or to undo.
        query = "INSERT INTO change (at, actor, reason, ops) VALUES (?, ?, ?, '[]')"
        gone.newest = db.execute(query, (at, ACTOR, REASON)).lastrowid or 0
        gone.note(db, key)
    work = _Erasure(db, gone, at, tell)
    work.begin()
    yield
    yield from work.rows()
    yield from work.log()
    yield from work.messages()
    work.end()
    gone.done(db, key)
    return work.hashes


def _holds(db: sqlite3.Connection, known: DeletionPlan) -> bool:
    """Whether nothing was said or learned since that goes with the user, too."""
    said = db.execute(
        "SELECT 1 FROM message WHERE id > :last AND (sender = :user OR instr(addressees, :user)"
        " OR session IN (SELECT value FROM json_each(:sessions)))",
        {
            "last": max(known.ids, default=0),
            "user": known.user,
            "sessions": json.dumps(sorted(known.sessions)),
        },
    ).fetchone()
    return not said and not next(changes_about(db, known, since=known.newest), None)


class _Erasure:
    """One erasure under way; its changes are for views, never for the log."""

    def __init__(self, db: sqlite3.Connection, gone: DeletionPlan, at: float, tell: Tell) -> None:
        self._db, self._gone, self._at, self._tell = db, gone, at, tell
        self.hashes: list[bytes] = []
        self._ops: list[Op] = []
        self._texts: set[str] = set()
        self._touched: set[str] = set()

    def begin(self) -> None:
        """Let nothing more be learned of the user, or recalled of what they said."""
        open_messages = self._db.execute(
            "SELECT id FROM message WHERE batch IS NULL UNION ALL SELECT m.id FROM batch b"
            " JOIN message m ON m.batch = b.id WHERE b.state != 'learned'"
        ).fetchall()
        self._delete([id for (id,) in open_messages if id in self._gone.ids])
        self._db.execute("DELETE FROM presence WHERE user = ?", (self._gone.user,))
        self._db.execute("DELETE FROM gap WHERE user = ?", (self._gone.user,))
        self._tell(Erased(tuple(sorted(self._gone.ids)), self._gone.user))

    def rows(self) -> Slices[None]:
        """Erase from rows, and delete entities that nothing names any more."""
        places = json.dumps(sorted(self._gone.places), ensure_ascii=False)
        found = self._db.execute(
            "SELECT kind, id FROM row WHERE instr(data, ?) OR session IN"
            " (SELECT value FROM json_each(?)) ORDER BY kind, id",
            (json.dumps(self._gone.user, ensure_ascii=False), places),
        ).fetchall()
        query = "SELECT kind, id, data FROM row WHERE kind = ? AND id = ?"
        for keys in batched(found, STEP):
            for kind, id, text in chain.from_iterable(self._db.execute(query, k) for k in keys):
                before = json.loads(text)
                left = self._left(kind, id, before)
                after = self._gone.retold(self._db, kind, before, left) if left else None
                if kind != Session.kind or after:  # those that go are last
                    self._put(Op(kind, id, before, after))
            for node in orphans(self._db, self._touched):
                self._put(Op(Entity.kind, node, {"id": node}, None))
                merged = "SELECT id, data FROM row WHERE kind = 'merge' AND ? IN (a, b)"
                for id, text in self._db.execute(merged, (node,)).fetchall():
                    self._put(Op(Merge.kind, id, json.loads(text), None))
            self._flush()
            yield

    def _put(self, op: Op) -> None:
        if op.before == op.after:
            return
        self._ops.append(op)
        if op.after is None:
            self._db.execute("DELETE FROM row WHERE kind = ? AND id = ?", (op.kind, op.id))
            return
        # Keys stay as they are, and the row's change too: in the log it reads the same from
        # now on, so that what others did can still be undone.
        data = json.dumps(op.after, ensure_ascii=False)
        query = "UPDATE row SET data = ? WHERE kind = ? AND id = ?"
        self._db.execute(query, (data, op.kind, op.id))

    def _flush(self) -> None:
        """End a piece of the work."""
        hashes = [text_hash(text) for text in sorted(self._texts) if text]
        forget_vectors(self._db, hashes)
        self.hashes += hashes
        if self._ops:
            self._tell(Change(self._gone.newest, self._at, ACTOR, REASON, tuple(self._ops)))
        self._ops, self._texts, self._touched = [], set(), set()

    def _left(self, kind: str, id: str, state: Data | None, _change: int = 0) -> Data | None:
        """What is left of a state of a row, taking note of what goes."""
        left = self._gone.left(kind, id, state)
        if state is None or left == state:
            return left
        if kind == Fact.kind:
            self._texts.add(state["statement"])
            self._touched |= {state["subject"], state["object"]}
        elif kind == Episode.kind:
            self._texts.add(state["summary"])
        else:
            self._touched |= {state[key] for key in ("node", "entity") if key in state}
        return left

    def log(self) -> Slices[None]:
        """Rewrite the log as if the user had never been."""
        for number, _ in changes_about(self._db, self._gone):
            rewrite_log(self._db, [number], self._left)
            self._flush()
            yield
        query = "UPDATE change SET actor = ? WHERE actor = ?"
        self._db.execute(query, (ACTOR, self._gone.user))

    def messages(self) -> Slices[None]:
        """Delete messages, and whom messages turn to."""
        for ids in batched(sorted(self._gone.ids), STEP):
            self._delete(ids)
            yield
        for id, told in _addressees(self._db, self._gone.user).items():
            others = [each for each in told if each[0] != self._gone.user]
            body = json.dumps(others, ensure_ascii=False)
            self._db.execute("UPDATE message SET addressees = ? WHERE id = ?", (body, id))
            yield

    def _delete(self, ids: Collection[int]) -> None:
        said = by_ids(self._db, ids)
        self._texts |= {text for m in said for text in (m.text, f"{m.name}: {m.text}")}
        # What a model answered may be quoted there.
        batches = {(message.batch,) for message in said}
        self._db.executemany("UPDATE batch SET error = '' WHERE id = ?", batches)
        self._db.executemany("DELETE FROM message WHERE id = ?", [(m.id,) for m in said])
        self._flush()

    def end(self) -> None:
        """Delete the user's private chats, unless they were begun anew."""
        for id, text in self._db.execute(
            "SELECT id, data FROM row WHERE kind = 'session'"
            " AND id IN (SELECT value FROM json_each(?))"
            " AND NOT EXISTS (SELECT 1 FROM message WHERE session = row.id)",
            (json.dumps(sorted(self._gone.sessions), ensure_ascii=False),),
        ).fetchall():
            self._put(Op(Session.kind, id, json.loads(text), None))
            self._db.execute("DELETE FROM batch WHERE session = ?", (id,))
        self._flush()


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
