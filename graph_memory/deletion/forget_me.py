"""Forget me: deletion of a person at once, from closed files within a day.

::

    tombstone on disk → journal, change log included → (purge, daily) backups, graph, exports

Tombstones lie beside the journal, which a restore replaces; a *mark* in a journal says when
whom (a salted hash) was erased from it. What a kill leaves undone is
done when the memory is next opened (:func:`clean_journal`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from itertools import batched, chain
from pathlib import Path

from ..data_directory import writing
from ..errors import ClosedError, DamagedError, GraphMemoryError, JournalError, StorageError, brief
from ..model import BOT, Change, Data, Entity, Erased, Merge, Op, Session, kind_named, registered
from ..store import Journal, copies
from ..store.connection import failing, open_to_read
from ..store.journal import Slices, finished
from ..store.outbox import Heard
from ..store.rows import Tell, forget_texts, note, noted, notes, rewrite_log
from ..store.schema import APPLICATION_ID, migrate, require_known
from ..supervisor import Progress, Supervisor
from . import retraction
from .message_retention import delete_messages
from .plan import DeletionPlan, changes_about, orphans, plan_for_user

logger = logging.getLogger("graph_memory.deletion")

ACTOR = "erasure"
"""Actor of an erasure's change, and from then on of the user's own changes."""
REASON = "forget me"
MARK = "erased:"
_NOTE = "user:"
STEP = 50
"""Rows or messages in a piece."""
_BUSY, _PATIENT = 200, 10_000
"""Milliseconds to wait for readers."""
_PAUSE = 0.1
"""Seconds until they are waited for again."""
RETRY = 30.0
"""Seconds between attempts while the disk cannot be written."""
PAUSE = 3600.0
"""Seconds until the same person can be forgotten again: it reads the whole memory."""
FILE = "erased.json"
SALT = "erasure salt"
"""Note: by what all bots on a memory hash the ids of who is to stay forgotten."""
_VERSION = 2
_ROUNDS = 5_000
_COST = 2**12
"""Of scrypt (RFC 7914), 8 ms per user: to try all four billion accounts takes a year."""


# ------------------------------------------------------------------------ tombstones


@dataclass(frozen=True, slots=True)
class Tombstone:
    """That a user (``id``: salted hash) was erased; ``done``: from all files.

    ``salt`` is given if others are hashed with another one by now.
    """

    id: str
    at: float
    done: bool = False
    salt: str = ""


@dataclass(slots=True)
class Tombstones:
    """The tombstones of one data directory; several threads may use it."""

    path: Path
    salt: str
    stones: list[Tombstone] = field(default_factory=list)
    _known: dict[tuple[str, str], str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def read(cls, directory: Path) -> Tombstones:
        """The tombstones of a directory, none if there is no file; or a ``JournalError``."""
        path = directory / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = cls(path, str(data["salt"]), [Tombstone(**each) for each in data["stones"]])
            if data.get("version", 1) < _VERSION:  # only the first of the two hashes
                stones = found.stones
                found.stones = [
                    replace(s, id=_slow(bytes.fromhex(s.id), found.salt)) for s in stones
                ]
        except FileNotFoundError:
            return cls(path, secrets.token_hex(16))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise JournalError(
                f"{path} says who is to stay forgotten and cannot be read: {type(error).__name__}"
            ) from error
        return found

    def add(self, user: str, now: float) -> Tombstone:
        """Write to disk that a user is to be erased, or raise ``JournalError``."""
        with self._lock:
            before = self.find(user)
            # Later than before, whatever the clock says: what was marked then is due again.
            stone = Tombstone(self.hash(user), max(now, before.at + 1) if before else now)
            self._write([*(other for other in self.stones if other != before), stone])
        return stone

    def adopt(self, salt: str) -> None:
        """Hash as other bots do from now on."""
        with self._lock:
            if salt != self.salt:
                stones = [replace(stone, salt=stone.salt or self.salt) for stone in self.stones]
                self.salt = salt
                self._write(stones)

    def take(self, marks: Mapping[str, float]) -> bool:
        """Write down whom other bots erased (hash and time); whether any were new."""
        with self._lock:
            known = {stone.id: stone for stone in self.stones}
            told = [known.get(id, Tombstone(id, at - 1)) for id, at in marks.items()]
            new = [replace(s, at=marks[s.id], done=False) for s in told if s.at < marks[s.id]]
            if new:
                ids = {stone.id for stone in new}
                self._write([*(stone for stone in self.stones if stone.id not in ids), *new])
        return bool(new)

    def find(self, user: str) -> Tombstone | None:
        """The tombstone of a user, if there is one."""
        return next((each for each in self.stones if each.id == self.hash(user, each.salt)), None)

    def finish(self, stones: Iterable[Tombstone]) -> None:
        """Write down that no file holds these users any more, or raise ``JournalError``."""
        done = set(stones)
        with self._lock:
            self._write([replace(s, done=True) if s in done else s for s in self.stones])

    @property
    def unfinished(self) -> list[Tombstone]:
        """Those of users who may still be in a file."""
        return [stone for stone in self.stones if not stone.done]

    def hash(self, user: str, salt: str = "") -> str:
        """The hash of a user's id with a salt, by default that of new stones."""
        key = user, salt or self.salt
        if key not in self._known:
            first = hashlib.pbkdf2_hmac("sha256", user.encode(), key[1].encode(), _ROUNDS, 16)
            self._known[key] = _slow(first, key[1])
        return self._known[key]

    def match(self, users: Iterable[str]) -> dict[str, str]:
        """Those of ``users`` that have a tombstone, by its id."""
        wanted, salts = {stone.id for stone in self.stones}, {stone.salt for stone in self.stones}
        hashes = ((self.hash(user, salt), user) for user in users for salt in salts)
        return {id: user for id, user in hashes if id in wanted}

    def _write(self, stones: list[Tombstone]) -> None:
        body = {"version": _VERSION, "salt": self.salt, "stones": list(map(asdict, stones))}
        with failing(f"{self.path} could not be written"), writing(self.path) as file:
            json.dump(body, file)
        self.stones = stones


def _slow(first: bytes, salt: str) -> str:
    return hashlib.scrypt(first, salt=salt.encode(), n=_COST, r=8, p=1, dklen=16).hex()


# ----------------------------------------------------------- from a journal of any version


def erasures(db: sqlite3.Connection) -> dict[str, float]:
    """Whom (salted hashes) was erased from a journal, and when."""
    return {stone: float(at) for stone, at in notes(db, MARK).items()}


def bars(tombstones: Tombstones, db: sqlite3.Connection) -> Callable[[Heard, float], bool]:
    """Whether somebody asked to be forgotten after they said what waited in an outbox.

    Returns:
        What tells that, of a message and of when it was said by the clock of all bots.
    """
    marks = erasures(db) | DeletionPlan.times(db, _NOTE)
    if not marks:
        return lambda _heard, _at: False
    tombstones.adopt(noted(db, SALT) or tombstones.salt)

    def is_barred(heard: Heard, at: float) -> bool:
        people = {heard.message.sender, heard.session.owner} - {"", BOT}
        return any(marks.get(tombstones.hash(each), at - 1) >= at for each in people)

    return is_barred


def mark(db: sqlite3.Connection, stone: str, at: float) -> None:
    """Say that somebody was erased."""
    note(db, f"{MARK}{stone}", repr(at))


def users(db: sqlite3.Connection) -> set[str]:
    """Ids of all users a journal knows."""
    known = {id for told in _addressees(db, "").values() for id, *_ in told}
    found = db.execute(
        "SELECT sender FROM message UNION SELECT user FROM presence UNION SELECT user FROM gap"
        " UNION SELECT json_extract(r.data, n.value) FROM row r JOIN json_each(?) k"
        " ON k.key = r.kind JOIN json_each(k.value) n UNION SELECT actor FROM change"
        " UNION SELECT p.value FROM row, json_each(data, '$.participants') p WHERE kind = 'episode'"
        " UNION SELECT json_extract(value, '$.user') FROM meta WHERE key LIKE 'going:%'",
        (json.dumps({cls.kind: [f"$.{field}" for field in cls.nodes] for cls in registered()}),),
    )
    known |= {id for (id,) in found}
    return {id for id in known if id and ":" in id and not id.startswith("e:")}


def _addressees(db: sqlite3.Connection, user: str) -> dict[int, list[list[str]]]:
    """Whom messages turn to, of those that turn to a user, by message."""
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
    progress: Progress | None = None,
) -> Slices[None]:
    """Erase a user; what they say from the first slice on is another's.

    Args:
        key: By which it is noted until it is done, and the journal is marked then.
        known: What goes with the user, if that was looked up before.
        progress: Is told how far it is: rows, changes and messages looked through.
    """
    name = f"{_NOTE}{key}"
    gone = DeletionPlan.noted(db, name)
    if gone is None:
        gone = known if known and _holds(db, known) else plan_for_user(db, user)
        # A change without contents: what was erased is nobody's to read or to undo.
        query = "INSERT INTO change (at, actor, reason, ops) VALUES (?, ?, ?, '[]')"
        gone.at = at
        gone.newest = db.execute(query, (at, ACTOR, REASON)).lastrowid or 0
        gone.note(db, name)
    work = _Erasure(db, gone, at, tell, progress or Progress())
    work.begin()
    yield
    yield from work.rows()
    yield from work.log()
    yield from work.messages()
    work.end()
    gone.done(db, name)
    if key:
        mark(db, key, at)


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

    def __init__(
        self, db: sqlite3.Connection, gone: DeletionPlan, at: float, tell: Tell, steps: Progress
    ) -> None:
        self._db, self._gone, self._at, self._tell = db, gone, at, tell
        self._steps = steps
        self._ops: list[Op] = []
        self._texts: set[str] = set()
        self._touched: set[str] = set()

    def begin(self) -> None:
        """Let nothing more be learned of the user, or recalled of what they said."""
        open_messages = self._db.execute(
            "SELECT id FROM message WHERE batch IS NULL UNION ALL SELECT m.id FROM batch b"
            " JOIN message m ON m.batch = b.id WHERE b.state != 'learned'"
        ).fetchall()
        going = [id for (id,) in open_messages if id in self._gone.ids]
        delete_messages(self._db, going)
        self._db.execute("DELETE FROM presence WHERE user = ?", (self._gone.user,))
        # The bot's answers that were taken back leave one, too, in the user's private chats.
        self._db.execute(
            "DELETE FROM gap WHERE user = ? OR circle IN (SELECT json_extract(data, '$.circle')"
            " FROM row WHERE kind = 'session' AND id IN (SELECT value FROM json_each(?)))",
            (self._gone.user, json.dumps(sorted(self._gone.sessions))),
        )
        self._tell(Erased(tuple(sorted(self._gone.ids)), self._gone.user))

    def rows(self) -> Slices[None]:
        """Erase from rows, and delete entities that nothing names any more."""
        places = json.dumps(sorted(self._gone.places), ensure_ascii=False)
        found = self._db.execute(
            "SELECT kind, id FROM row WHERE instr(data, ?) OR session IN"
            " (SELECT value FROM json_each(?)) ORDER BY kind, id",
            (json.dumps(self._gone.user, ensure_ascii=False), places),
        ).fetchall()
        self._steps.take(0, len(found) + self._gone.newest + len(self._gone.ids))
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
            self._steps.take(len(keys))
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
        forget_texts(self._db, self._texts)
        if self._ops:
            self._tell(Change(self._gone.newest, self._at, ACTOR, REASON, tuple(self._ops)))
        self._ops, self._texts, self._touched = [], set(), set()

    def _left(self, kind: str, id: str, state: Data | None, _change: int = 0) -> Data | None:
        """What is left of a state of a row, taking note of what goes."""
        left = self._gone.left(kind, id, state)
        if state and left != state and (cls := kind_named(kind)):
            self._texts |= cls.embedded(state)
            self._touched |= {state.get(field, "") for field in cls.nodes}
        return left

    def log(self) -> Slices[None]:
        """Rewrite the log as if the user had never been."""
        last = 0
        for number, _ in changes_about(self._db, self._gone):
            rewrite_log(self._db, [number], self._left)
            self._flush()
            self._steps.take(number - last)
            last = number
            yield
        self._steps.take(max(0, self._gone.newest - last))
        query = "UPDATE change SET actor = ? WHERE actor = ?"
        self._db.execute(query, (ACTOR, self._gone.user))

    def messages(self) -> Slices[None]:
        """Delete messages, and whom messages turn to."""
        for ids in batched(sorted(self._gone.ids), STEP):
            delete_messages(self._db, ids)
            self._steps.take(len(ids))
            yield
        for id, told in _addressees(self._db, self._gone.user).items():
            others = [each for each in told if each[0] != self._gone.user]
            body = json.dumps(others, ensure_ascii=False)
            self._db.execute("UPDATE message SET addressees = ? WHERE id = ?", (body, id))
            yield

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


# ---------------------------------------------------------------- from the open journal


class Outcome(StrEnum):
    """How far a wish to be forgotten got."""

    DONE = "done"
    RECORDED = "recorded"
    """Nothing was deleted yet, but it will be, even after a restart."""
    NOTED = "noted"
    """Not even the wish could be written; it is tried again until the bot is stopped."""


class ForgetMe:
    """Forgets people in one open memory.

    Args:
        unlink: Takes a user's account from the others of the same person.
    """

    def __init__(
        self,
        journal: Journal,
        tombstones: Tombstones,
        unlink: Callable[[str], Awaitable[None]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._journal = journal
        self._tombstones = tombstones
        self._unlink = unlink
        self._now = now
        self._lock = asyncio.Lock()
        self._waiting: dict[str, Tombstone | None] = {}
        self._job = Supervisor(
            "gm-forget-me", self._retry, logger, "somebody is not forgotten yet", retry=(RETRY,)
        )

    async def due_in(self, user: str) -> float:
        """Seconds until a user may be forgotten again; 0 for now."""
        stone = await asyncio.to_thread(self._tombstones.find, user)
        ago = self._now() - stone.at if stone else PAUSE
        # One from further ahead is of a wrong clock, and says nothing.
        return 0.0 if user in self._waiting or ago < -PAUSE else max(0.0, PAUSE - ago)

    async def forget(self, user: str) -> Outcome:
        """Erase a user for good; messages wait meanwhile."""

        async def work(progress: Progress) -> Outcome:
            async with self._lock:
                self._waiting.setdefault(user, None)
                problem = await self._attempt(user, progress)
            if not problem:
                return Outcome.DONE
            logger.warning("somebody is not forgotten yet: %s", problem)
            self._job.start(after=RETRY)
            return Outcome.RECORDED if self._waiting.get(user) else Outcome.NOTED

        return await self._journal.works.run("forget", work)

    @property
    def waiting(self) -> int:
        """How many people wait to be forgotten because the disk cannot be written."""
        return len(self._waiting)

    async def close(self) -> None:
        """Stop; what was recorded is done when the memory is next opened."""
        await self._job.close()

    async def _retry(self) -> float | None:
        async with self._lock:
            for user in list(self._waiting):
                await self._attempt(user)
        return RETRY if self._waiting else None

    def _at(self, stone: Tombstone) -> float:
        return max(stone.at, self._journal.clock())

    async def _attempt(self, user: str, progress: Progress | None = None) -> str:
        """Do what is left to do for a user; returns what went wrong, if anything."""
        try:
            stone = self._waiting[user]
            if stone is None:
                stone = await asyncio.to_thread(self._tombstones.add, user, self._journal.clock())
                self._waiting[user] = stone
            await self._unlink(user)
            known = await self._journal.survey(lambda db: plan_for_user(db, user))
            await self._journal.in_slices(
                # The wish may be as old as the server was away, or be by a wrong clock.
                lambda db, tell: erase(db, user, self._at(stone), tell, stone.id, known, progress)
            )
        except GraphMemoryError as error:
            return brief(error)
        del self._waiting[user]
        logger.info("a user was forgotten")
        with suppress(StorageError):
            with self._journal.long_work():  # else done by the daily purge
                await self._journal.tidy(compact)
            await drain(self._journal)
            await self._journal.vacuum()
        return ""


# ------------------------------------------------------------------ from closed files


def clean_journal(path: Path, tombstones: Tombstones, now: float) -> bool:
    """Erase from a closed journal whom it is not marked with.

    From a restored one, retracted messages too. Returns whether anybody was erased; raises
    ``JournalError``.
    """
    if not path.exists() or not path.stat().st_size:
        return False
    marks: set[str] = set()
    left: list[str] = []
    with suppress(sqlite3.Error), closing(open_to_read(path)) as db:
        marks, left = retraction.carried(db), retraction.unfinished(db)
    if not (tombstones.stones or marks or left):
        return False
    with _altering(path) as db:
        due = _due(db, path, tombstones)
        if due or marks or left:
            _clean(db, path, due, marks, now)
        if marks or left or any(due.values()):
            compact(db)  # SQLite zeroes what it deletes, but not what it had moved
        # A kill may have left in the log what was erased from the file.
        empty_log(db)
    return any(due.values())


def purge(
    paths: Iterable[Path],
    tombstones: Tombstones,
    marks: Collection[str],
    now: float,
    stop: threading.Event,
) -> None:
    """Erase people and retracted messages (``marks``) from closed copies. Blocks.

    A copy is rewritten beside itself and replaced once that was verified. One that is damaged,
    or too old to be read, is deleted if somebody is to be forgotten.

    Raises:
        JournalError: Some could not be rewritten (no room, not writable); the others were.
        ClosedError: ``stop`` was set.
    """
    problems = []
    for path in paths:
        if stop.is_set():
            raise ClosedError("the memory is closed")
        try:
            _purge(path, tombstones, marks, now)
        except (JournalError, OSError) as error:
            if not isinstance(error, DamagedError) and getattr(error, "code", "") != "older":
                problems.append(f"{path.name}: {brief(error)}")
                continue
            logger.warning("nothing can be erased from %s: %s", path.name, error)
            if tombstones.unfinished:
                copies.remove(path)
                logger.warning("%s was deleted", path.name)
    if problems:
        raise JournalError("; ".join(problems))


def discard_others(directory: Path) -> None:
    """Delete exports and damaged journals: they may name anybody."""
    found = [path for path in (directory / "exports").glob("*") if path.is_file()]
    for path in (*found, *directory.glob("journal-damaged-*")):
        path.unlink(missing_ok=True)
        logger.warning("%s was deleted: nothing can be erased from it", path.name)


def _purge(path: Path, tombstones: Tombstones, marks: Collection[str], now: float) -> None:
    with failing(f"{path.name} cannot be read"), closing(open_to_read(path)) as db:
        due = _due(db, path, tombstones)
        held = bool(retraction.held(db, marks) or retraction.unfinished(db))
    if any(due.values()) or held:
        with copies.drafting(path, path.stat().st_size) as draft:
            shutil.copyfile(path, draft)
            with _altering(draft) as db:
                _clean(db, draft, due, marks if held else (), now)
                compact(db)
                empty_log(db)
            copies.verify(draft)
        logger.info("%s was cleaned of what is to be forgotten", path.name)
    elif due:
        with _altering(path) as db:
            _clean(db, path, due, (), now)  # a mark is all it needs


def _clean(
    db: sqlite3.Connection,
    path: Path,
    due: dict[Tombstone, str],
    marks: Collection[str],
    now: float,
) -> None:
    """Erase people and retracted messages from a file, and mark it with that."""
    if marks:
        migrate(db, path)
    db.execute("BEGIN IMMEDIATE")
    retraction.finish(db)
    for stone, user in due.items():
        if user:
            finished(erase(db, user, stone.at, key=stone.id))
        else:
            mark(db, stone.id, stone.at)
    if marks:
        retraction.retract_again(db, marks, now)
    db.execute("COMMIT")


def _due(db: sqlite3.Connection, path: Path, tombstones: Tombstones) -> dict[Tombstone, str]:
    """The tombstones that a journal is not marked with, with the user meant, if known."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise DamagedError(f"{path} is not a journal of this plugin")
    require_known(db, path)
    known = erasures(db)
    due = [stone for stone in tombstones.stones if known.get(stone.id, stone.at - 1) < stone.at]
    found = tombstones.match(users(db)) if due else {}
    return {stone: found.get(stone.id, "") for stone in due}


@contextmanager
def _altering(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that overwrites what it deletes; errors are ``JournalError``."""
    with (
        failing(f"{path.name} still holds what is to be erased"),
        closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db,
    ):
        db.execute("PRAGMA secure_delete = ON")
        db.execute("PRAGMA synchronous = FULL")
        yield db
