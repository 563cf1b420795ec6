"""Rows and changes: what a draft is resolved against, and how it is written."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..identity import Identities
from ..model import (
    EPISODE,
    Batch,
    Change,
    Episode,
    Fact,
    Forgotten,
    Link,
    Merge,
    Message,
    Name,
    Op,
    Row,
    decode,
    encode,
)

logger = logging.getLogger("graph_memory.store")

PAGE = 500
R = TypeVar("R", bound=Row)
THINNED_COUNT = "thinned messages"
"""Note: how many messages were deleted because they were old."""
RETRACTED = "recalled"
"""Reason of a change that follows a message which was taken back; it cannot be undone."""


@dataclass(slots=True)
class Draft:
    """A change that is about to be written.

    Attributes:
        put: Rows to write; a row that is equal to what stands there is left out.
        drop: ``(kind, id)`` of rows to delete.
        prompt: Version of what a model was asked about the batch; 0 if none was.
    """

    actor: str
    reason: str
    put: list[Row] = field(default_factory=list)
    drop: list[tuple[str, str]] = field(default_factory=list)
    batch: int | None = None
    undoes: int | None = None
    prompt: int = 0


class Rows:
    """Rows as they stand now. Usable on the thread that was handed them only."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def get(self, cls: type[R], id: str) -> R | None:
        """The row of ``cls`` with this id."""
        found = self._db.execute(
            "SELECT data FROM row WHERE kind = ? AND id = ?", (cls.kind, id)
        ).fetchone()
        return cls.of_data(json.loads(found[0])) if found else None

    def find(
        self,
        cls: type[R],
        *,
        session: str | None = None,
        a: str | None = None,
        b: str | None = None,
        newest: int | None = None,
    ) -> list[R]:
        """Rows of ``cls`` by their keys (``Row.index_keys``), in order of id.

        Args:
            newest: How many at most, those that changed last, newest first.
        """
        keys = {"session": session, "a": a, "b": b}
        given = {key: value for key, value in keys.items() if value is not None}
        where = "".join(f" AND {key} = :{key}" for key in given)
        order = "id" if newest is None else "change DESC, id LIMIT :newest"
        rows = self._db.execute(
            f"SELECT data FROM row WHERE kind = :kind{where} ORDER BY {order}",
            {"kind": cls.kind, "newest": newest, **given},
        )
        return [cls.of_data(json.loads(data)) for (data,) in rows]

    def about(self, node: str) -> list[Fact]:
        """The facts of which a node is subject or object, in order of id."""
        found = {fact.id: fact for fact in self.find(Fact, a=node)}
        found.update((fact.id, fact) for fact in self.find(Fact, b=node))
        return [found[id] for id in sorted(found)]

    def history(self, subject: str, predicate: str = "") -> list[Fact]:
        """The facts about a node that replace others or have ``predicate``.

        Few of the thousands that there may be about somebody; the rest is not decoded.
        """
        rows = self._db.execute(
            "SELECT data FROM row WHERE kind = 'fact' AND a = ?"
            " AND (json_array_length(data, '$.supersedes') > 0"
            " OR json_extract(data, '$.predicate') = ?) ORDER BY id",
            (subject, predicate),
        )
        return [Fact.of_data(json.loads(data)) for (data,) in rows]

    def episode(self, session: str, message: int | None = None) -> Episode | None:
        """The episode of a Session that holds a message; ``None`` for its last one."""
        order = "" if message is not None else " DESC"
        found = self._db.execute(
            "SELECT data FROM row INDEXED BY row_episode WHERE kind = 'episode'"
            " AND session = :session AND json_extract(data, '$.last_message') >= :message"
            " AND (:message = -1 OR json_extract(data, '$.first_message') <= :message)"
            " AND json_extract(data, '$.level') = :level"
            f" ORDER BY json_extract(data, '$.last_message'){order} LIMIT 1",
            {
                "session": session,
                "message": -1 if message is None else message,
                "level": EPISODE,
            },
        ).fetchone()
        return Episode.of_data(json.loads(found[0])) if found else None

    def episodes_of(self, session: str, messages: Iterable[int]) -> list[Episode]:
        """Episodes of a Session that hold one of some messages, in order of id.

        What ended before the first of them is not looked at.
        """
        ids = sorted(messages)
        if not ids:
            return []
        rows = self._db.execute(
            "SELECT data FROM row INDEXED BY row_episode WHERE kind = 'episode'"
            " AND session = ? AND json_extract(data, '$.last_message') >= ?"
            " AND json_extract(data, '$.first_message') <= ? ORDER BY id",
            (session, ids[0], ids[-1]),
        )
        found = [Episode.of_data(json.loads(data)) for (data,) in rows]
        return [e for e in found if any(e.first_message <= id <= e.last_message for id in ids)]

    def identities(self) -> Identities:
        """Who and what is one with whom."""
        return Identities((*self.scan(Merge), *self.scan(Link)))

    def called(self, node: str) -> str:
        """What a node was called last, anywhere (owner's view); empty if it has no name."""
        names = self.find(Name, a=node)
        newest = max(names, key=lambda name: (name.last_at, name.id), default=None)
        return newest.text if newest else ""

    def has_messages(self, ids: Iterable[int]) -> bool:
        """Whether all of some messages are still there; one may have been taken back."""
        query = "SELECT 1 FROM message WHERE id = ?"
        return all(self._db.execute(query, (id,)).fetchone() for id in ids)

    def message(self, id: int) -> Message | None:
        """What was said in a message and by whom; whom it turns to is left out."""
        found = self._db.execute(
            "SELECT id, session, sender, name, text, at, ref, batch FROM message WHERE id = ?",
            (id,),
        ).fetchone()
        return Message(*found) if found else None

    def is_forgotten(self, message: Message) -> bool:
        """Whether a message is not to be recalled, and so not to be learned from."""
        return self.get(Forgotten, Forgotten.of(message.session, message.id).id) is not None

    def batches(self, until: Batch) -> int:
        """How many batches of its Session there were up to one."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM batch WHERE session = ? AND id <= ?",
            (until.session.id, until.id),
        ).fetchone()
        return int(count)

    def erasures(self) -> list[tuple[str, str]]:
        """The marks of people who were erased for good, see ``erasure.py``."""
        return self._db.execute(
            "SELECT key, value FROM meta WHERE key >= 'erased:' AND key < 'erased;' ORDER BY key"
        ).fetchall()

    def names_in(self, text: str) -> list[Name]:
        """The names whose normalised form occurs in ``text`` (normalised as well)."""
        names = self._db.execute("SELECT id, b FROM row WHERE kind = 'name' AND b != ''")
        found = (self.get(Name, id) for id, norm in names.fetchall() if norm in text)
        return [name for name in found if name is not None]

    def ids(self, cls: type[R], prefix: str, limit: int) -> list[str]:
        """Ids of rows of ``cls`` that begin with ``prefix``, in order, at most ``limit``."""
        found = self._db.execute(
            "SELECT id FROM row WHERE kind = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?",
            (cls.kind, prefix, f"{prefix}\U0010ffff", limit),
        )
        return [id for (id,) in found]

    def scan(self, cls: type[R]) -> Iterator[R]:
        """All rows of ``cls`` in order of id, a page of them in memory.

        Nothing is left open between the pages: a connection that is closed while a cursor
        is in use keeps its file until that is collected.
        """
        query = "SELECT kind, id, data FROM row WHERE kind = ? AND id > ? ORDER BY id LIMIT ?"
        last = ""
        while page := self._db.execute(query, (cls.kind, last, PAGE)).fetchall():
            last = page[-1][1]
            yield from readable(page)  # type: ignore[misc]


def readable(page: Iterable[tuple[str, str, str]]) -> Iterator[Row]:
    """Rows by kind, id and data, without those that cannot be read."""
    for kind, id, data in page:
        try:
            yield decode(kind, json.loads(data))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            logger.warning("the %s %s cannot be read and is left out: %s", kind, id, error)


def write(db: sqlite3.Connection, draft: Draft, at: float) -> Change | None:
    """Write ``draft`` inside the open transaction.

    Returns:
        The change, or ``None`` if there was nothing to do: the batch has been learned
        already, or every row stands there as wanted.
    """
    if draft.batch is not None:
        if db.execute("SELECT 1 FROM change WHERE batch = ?", (draft.batch,)).fetchone():
            return None
        db.execute(
            "UPDATE batch SET state = 'learned', error = '', prompt = ? WHERE id = ?",
            (draft.prompt, draft.batch),
        )
    ops = [op for op in _ops(db, draft) if op.before != op.after]
    if not ops and draft.batch is None:
        return None
    body = json.dumps([[op.kind, op.id, op.before, op.after] for op in ops], ensure_ascii=False)
    cursor = db.execute(
        "INSERT INTO change (at, actor, reason, batch, undoes, ops) VALUES (?, ?, ?, ?, ?, ?)",
        (at, draft.actor, draft.reason, draft.batch, draft.undoes, body),
    )
    number = int(cursor.lastrowid or 0)
    for op in ops:
        if op.row is None:
            db.execute("DELETE FROM row WHERE kind = ? AND id = ?", (op.kind, op.id))
            continue
        session, a, b = op.row.index_keys
        db.execute(
            "INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?, ?, ?)",
            (op.kind, op.id, session, a, b, json.dumps(op.after, ensure_ascii=False), number),
        )
    return Change(number, at, draft.actor, draft.reason, tuple(ops), draft.batch, draft.undoes)


def _ops(db: sqlite3.Connection, draft: Draft) -> Iterator[Op]:
    wanted: dict[tuple[str, str], dict[str, Any] | None] = {
        (row.kind, row.id): encode(row) for row in draft.put
    }
    wanted.update(dict.fromkeys(draft.drop))
    for (kind, id), after in wanted.items():
        found = db.execute("SELECT data FROM row WHERE kind = ? AND id = ?", (kind, id)).fetchone()
        yield Op(kind, id, json.loads(found[0]) if found else None, after)


def read_change(db: sqlite3.Connection, number: int) -> Change | None:
    """One change, or ``None``."""
    return next(iter(read_changes(db, number - 1, 1, number)), None)


def read_changes(
    db: sqlite3.Connection, after: int, limit: int, last: int = 1 << 62
) -> list[Change]:
    """Changes with ``after < id <= last``, oldest first, at most ``limit``."""
    found = db.execute(
        "SELECT id, at, actor, reason, ops, batch, undoes FROM change"
        " WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
        (after, last, limit),
    )
    return [
        Change(id, at, actor, reason, tuple(Op(*op) for op in json.loads(ops)), batch, undoes)
        for id, at, actor, reason, ops, batch, undoes in found
    ]


def noted(db: sqlite3.Connection, key: str) -> int:
    """A number that was noted; 0 if none was."""
    found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(found[0]) if found else 0


def last_change(db: sqlite3.Connection) -> int:
    """Number of the newest change; 0 if there is none."""
    (number,) = db.execute("SELECT coalesce(max(id), 0) FROM change").fetchone()
    return int(number)
