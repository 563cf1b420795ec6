"""Replica: a journal's file that follows, and is followed by, those of other bots.

What a transaction does to the file's rows is noted by triggers that live as long as the
connection, and published to the server before it is committed here. Of what was published
elsewhere the rows are taken over as they stand; listeners are told what became of them.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from ..errors import JournalError
from ..model import Change, Elsewhere, Erased, Op, kind_named, stable_id
from . import presence
from .connection import transacting
from .messages import by_ids
from .postgres import Item, Step, Upstream
from .rows import Tell, embedded_texts, forget_texts, note, noted, noted_number, reserve

T = TypeVar("T")

LOCAL = "replica."
"""What the keys of notes begin with that are about this file alone."""
AGAIN = "again:"
"""What the keys of notes begin with that name a promise which a server had lost."""
DELIVERED = "delivered:"
"""What the key of the note begins with that says what came of one bot's outbox."""
SKIPPED = 10_000
"""Numbers that are left out once a server lost some: who still learns from a batch, or cites a
message, that is gone must not mean another one."""
_KEPT = {"vector", "migration", "fact_field"}
"""Tables of which each file has its own: older bots do not write what triggers make of rows."""
_NUMBERED = ("message", "batch", "change")
_PROMISES = ('["withdrawn:', '["erased:')
_ACTOR, _REASON = "elsewhere", "followed"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table whose rows are shared."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]

    def where(self) -> str:
        return " AND ".join(f'"{key}" IS ?' for key in self.keys)

    def read(self, db: sqlite3.Connection, key: Iterable[object]) -> dict[str, Any] | None:
        """The row of a key as it stands."""
        found = db.execute(f'SELECT * FROM main."{self.name}" WHERE {self.where()}', (*key,))
        row = found.fetchone()
        return dict(zip(self.columns, row, strict=True)) if row else None

    def delete(self, db: sqlite3.Connection, key: Iterable[object]) -> None:
        db.execute(f'DELETE FROM main."{self.name}" WHERE {self.where()}', (*key,))

    def put(self, db: sqlite3.Connection, body: dict[str, Any]) -> None:
        """Write a row; columns that only another version has are left out."""
        columns = [column for column in self.columns if column in body]
        names, marks = ", ".join(f'"{each}"' for each in columns), ", ".join("?" * len(columns))
        query = f'INSERT OR REPLACE INTO main."{self.name}" ({names}) VALUES ({marks})'
        db.execute(query, [body[column] for column in columns])


@dataclass(slots=True)
class _Followed:
    """What became of rows that were written elsewhere."""

    said: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    users: set[str] = field(default_factory=set)
    ops: list[Op] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    change: int = 0


class Replica:
    """The replica of one file; used on the thread of its writing connection.

    Attributes:
        server: What all of them are published to.
        instance: Id of the bot whose file it is.
        ahead: Seconds by which the server's clock is ahead of this machine's.
    """

    def __init__(self, dsn: str, now: Callable[[], float]) -> None:
        self.server, self._now = Upstream(dsn), now
        self._tables: dict[str, _Table] = {}
        self.instance = ""
        self._process = uuid.uuid4().hex
        self._own: set[str | None] = set()
        self.ahead = 0.0

    def attach(self, db: sqlite3.Connection) -> None:
        """Note from now on what a connection writes."""
        known = noted(db, f"{LOCAL}instance")
        self.instance = known or uuid.uuid4().hex
        if not known:
            note(db, f"{LOCAL}instance", self.instance)
        lately = [*(noted(db, f"{LOCAL}processes") or "").split()[-9:], self._process]
        self._own = {noted(db, self._by), *lately}
        note(db, f"{LOCAL}processes", " ".join(lately))
        self._tables = {table.name: table for table in _tables(db)}
        db.execute(
            # Not unique: how a conflict is met is for the statement to say that set a trigger off.
            "CREATE TEMP TABLE touched (place TEXT, a, b, c)"
        )
        for table in self._tables.values():
            for event, sides in _SIDES.items():
                db.execute(_trigger(table, event, sides))

    @property
    def delivery(self) -> str:
        """Key of the note that says up to where the file's outbox was delivered."""
        return f"{DELIVERED}{self.instance}"

    @property
    def _by(self) -> str:
        """Key of the note that says which process delivered last."""
        return f"{self.delivery} by"

    def delivering(self, db: sqlite3.Connection, since: int) -> int:
        """Up to which number the file's outbox was delivered, inside the open transaction.

        Who finds that another process delivers under its id has a copy of that one's folder, and
        takes an id of its own. What it knows to be delivered, up to ``since``, stays so.
        """
        self.instance = noted(db, f"{LOCAL}instance") or self.instance  # one may be rolled back
        if (by := noted(db, self._by)) and by not in self._own:
            self.instance = uuid.uuid4().hex
            note(db, f"{LOCAL}instance", self.instance)
            note(db, self.delivery, str(since))
        if by != self._process:
            note(db, self._by, self._process)
        return noted_number(db, self.delivery)

    def write(
        self, db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], tell: Tell
    ) -> T:
        """Run ``work`` in a transaction of both, on the newest state.

        Raises:
            JournalError: The server is away; or it and the file both hold something.
        """
        step, stamp = _followed(db)
        with self.server.writing(step, stamp) as turn, transacting(db):
            self._catch_up(db, turn, step, stamp, tell)
            result = work(db)
            items = self._touched(db)  # of who joins with much there are more than fit in memory
            if first := next(items, None):
                _note(db, *turn.publish(chain([first], items), _numbers(db), self.instance))
            turn.commit()
        return result

    def follow(self, db: sqlite3.Connection, tell: Tell) -> bool:
        """Take over what was published elsewhere; whether there was anything."""
        step, stamp = _followed(db)
        with self.server.reading(step, stamp) as turn:
            if turn.head.is_followed and turn.head.step == step:
                return False
            if turn.head.is_followed:
                with transacting(db):
                    self._catch_up(db, turn, step, stamp, tell)
                return True
        # Whoever joins, or finds another server, may have something to give: under the lock.
        self.write(db, lambda _db: None, tell)
        return True

    # ------------------------------------------------------------------ leases

    def lease(self, db: sqlite3.Connection, name: str, now: float, seconds: float) -> bool:
        """Take or prolong a lease, inside the open transaction; false if another has it.

        It ends by the server's clock. Losing one costs work done twice, never a wrong memory:
        what is written is decided by what stands when it is written.
        """
        query = "SELECT 1 FROM lease WHERE name = ? AND holder != ? AND until > ?"
        if db.execute(query, (name, self.instance, now)).fetchone():
            return False
        query = "INSERT OR REPLACE INTO lease VALUES (?, ?, ?)"
        db.execute(query, (name, self.instance, now + seconds))
        return True

    def give(self, db: sqlite3.Connection, name: str) -> None:
        """Give a lease back."""
        query = "DELETE FROM lease WHERE name = ? AND holder = ?"
        db.execute(query, (name, self.instance))

    def serve(self, db: sqlite3.Connection, circle: str) -> None:
        """Note that this bot hears a chat, and so is the one to speak there unasked."""
        if not self.serves(db, circle):
            query = "INSERT OR REPLACE INTO lease VALUES (?, ?, 0)"
            db.execute(query, (_chat(circle), self.instance))

    def serves(self, db: sqlite3.Connection, circle: str) -> bool:
        """Whether this bot was the last to hear a chat window."""
        query = "SELECT 1 FROM lease WHERE name = ? AND holder = ?"
        return db.execute(query, (_chat(circle), self.instance)).fetchone() is not None

    # --------------------------------------------------------------- following

    def _catch_up(
        self, db: sqlite3.Connection, turn: Step, step: int, stamp: str, tell: Tell
    ) -> None:
        """Bring the file to the newest step."""
        head = turn.head
        self.ahead = head.clock - self._now()
        if head.is_followed and head.step == step:
            return
        is_whole = not head.is_followed
        if is_whole:
            turn.take_time()
            if not step:
                _join(db, turn)
        followed = _Followed()
        here = {(place, _key(keys)) for place, keys in self._all(db)} if is_whole else set()
        known = here if head.step else set[tuple[str, str]]()
        for place, key, body in turn.items(-1 if is_whole else step):
            known.discard((place, key))
            self._enter(db, followed, place, key, body)
        kept = {each for each in known if _is_promise(*each)}
        for place, key in known - kept:
            self._enter(db, followed, place, key, None)
        is_other = is_whole and step and head.step
        reserve(db, head.numbers, SKIPPED if is_other else 0)
        db.execute("DELETE FROM touched")
        for place, key in kept if head.step else here:  # the first bot gives what it has
            row = (place, *json.loads(key), "", "")[:4]
            db.execute("INSERT INTO touched VALUES (?, ?, ?, ?)", row)
        for place, key in kept if head.step else ():
            if place == "meta":
                note(db, f"{AGAIN}{json.loads(key)[0]}", "1")
        _note(db, head.step, head.stamp)
        _tell(db, followed, tell, Elsewhere(frozenset(followed.places), is_whole))

    def _enter(
        self,
        db: sqlite3.Connection,
        followed: _Followed,
        place: str,
        key: str,
        body: dict[str, Any] | None,
    ) -> None:
        table = self._tables.get(place)
        if table is None:
            return  # of a newer version
        keys = json.loads(key)
        before = table.read(db, keys) if place in ("row", "message") else None
        if body is None:
            table.delete(db, keys)
        else:
            table.put(db, body)
        if place != "meta" or not keys[0].startswith(DELIVERED):  # that is each bot's own
            followed.places.add(place)
        match place:
            case "message":
                _follow_message(followed, keys[0], before, body)
            case "row":
                _follow_row(followed, keys, before, body)
            case "presence":
                followed.users.add(keys[1])
            case "change":
                followed.change = max(followed.change, keys[0])

    def _touched(self, db: sqlite3.Connection) -> Iterator[Item]:
        for place, *keys in db.execute("SELECT DISTINCT * FROM touched").fetchall():
            table = self._tables[place]
            key = keys[: len(table.keys)]
            yield place, _key(key), table.read(db, key)
        db.execute("DELETE FROM touched")

    def _all(self, db: sqlite3.Connection) -> Iterator[tuple[str, list[object]]]:
        """Table and key of every shared row."""
        for table in self._tables.values():
            columns = ", ".join(f'"{key}"' for key in table.keys)
            where = f" WHERE key NOT LIKE '{LOCAL}%'" if table.name == "meta" else ""
            for row in db.execute(f'SELECT {columns} FROM main."{table.name}"{where}'):
                yield table.name, list(row)


def leave(db: sqlite3.Connection) -> None:
    """Have a file that goes on alone follow no server: none knows what it writes."""
    if any(_followed(db)):
        _note(db, 0, "")


def _join(db: sqlite3.Connection, turn: Step) -> None:
    """Refuse to give up what a file holds for what a server holds."""
    query = "SELECT 1 FROM message UNION ALL SELECT 1 FROM row LIMIT 1"
    if turn.head.step and db.execute(query).fetchone():
        error = JournalError("this memory and the shared one both hold something")
        raise error.told("shared_apart")


def _chat(circle: str) -> str:
    """Name of the lease on a chat window, which tells nobody's account."""
    return stable_id("chat", circle)


def _key(keys: Iterable[object]) -> str:
    return json.dumps(list(keys), ensure_ascii=False)


def _is_promise(place: str, key: str) -> bool:
    """Whether a row says what is not to be kept; no older server undoes that."""
    return place in ("pause", "gap") or (place == "meta" and key.startswith(_PROMISES))


_SIDES = {"INSERT": ("new",), "UPDATE": ("old", "new"), "DELETE": ("old",)}


def _tables(db: sqlite3.Connection) -> Iterator[_Table]:
    query = "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name"
    for (name,) in db.execute(query).fetchall():
        if name in _KEPT or name.startswith("sqlite_"):
            continue
        about = db.execute(f'PRAGMA main.table_info("{name}")').fetchall()
        keys = sorted((place, column) for _, column, _, _, _, place in about if place)
        if keys:
            yield _Table(name, tuple(e[1] for e in about), tuple(column for _, column in keys))


def _trigger(table: _Table, event: str, sides: tuple[str, ...]) -> str:
    """A trigger that notes which row was written."""
    when = f"WHEN {sides[0]}.key NOT LIKE '{LOCAL}%'" if table.name == "meta" else ""
    padding = ["''"] * (3 - len(table.keys))
    rows = (", ".join([*(f'{side}."{key}"' for key in table.keys), *padding]) for side in sides)
    values = ", ".join(f"('{table.name}', {row})" for row in rows)
    return (
        f"CREATE TEMP TRIGGER touch_{table.name}_{event.lower()} AFTER {event}"
        f' ON main."{table.name}" {when} BEGIN'
        f" INSERT INTO touched VALUES {values}; END"
    )


def _follow_message(
    followed: _Followed, id: int, before: dict[str, Any] | None, body: dict[str, Any] | None
) -> None:
    if body is not None:
        followed.said.append(id)
    elif before is not None:
        followed.gone.append(id)
        followed.texts |= embedded_texts(before["name"], before["text"])


def _follow_row(
    followed: _Followed,
    keys: list[str],
    before: dict[str, Any] | None,
    body: dict[str, Any] | None,
) -> None:
    kind, id = keys
    was = json.loads(before["data"]) if before else None
    became = json.loads(body["data"]) if body else None
    if was == became:
        return
    followed.ops.append(Op(kind, id, was, became))
    cls, old, new = kind_named(kind), was or {}, became or {}
    if cls:
        followed.texts |= cls.embedded(old) - cls.embedded(new)


def _tell(db: sqlite3.Connection, followed: _Followed, tell: Tell, event: Elsewhere) -> None:
    """Tell listeners what became of what."""
    if event.tables or event.is_whole:  # first: what a server lost was not erased
        tell(event)
    forget_texts(db, followed.texts)
    if followed.gone:
        tell(Erased(tuple(followed.gone)))
    if followed.ops:
        # Sessions first: what follows belongs to one.
        ops = sorted(followed.ops, key=lambda op: op.kind != "session")
        tell(Change(followed.change, 0.0, _ACTOR, _REASON, tuple(ops)))
    if followed.users:
        presence.tell_again(db, followed.users, tell)
    for message in by_ids(db, followed.said):
        tell(message)


def _numbers(db: sqlite3.Connection) -> dict[str, int]:
    found = dict(db.execute("SELECT name, seq FROM main.sqlite_sequence").fetchall())
    return {name: found.get(name, 0) for name in _NUMBERED}


def _followed(db: sqlite3.Connection) -> tuple[int, str]:
    step, _, stamp = (noted(db, f"{LOCAL}step") or "0 ").partition(" ")
    return int(step), stamp


def _note(db: sqlite3.Connection, step: int, stamp: str) -> None:
    note(db, f"{LOCAL}step", f"{step} {stamp}")
