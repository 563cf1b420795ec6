"""Forget me: deletion of a person at once, from closed files within a day.

::

    tombstone on disk → journal, change log included → (purge, daily) backups, graph, exports

Tombstones lie beside the journal, which a restore replaces. What a kill leaves undone is
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
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from ..data_directory import reserve, settle, writing
from ..errors import (
    ClosedError,
    DamagedError,
    GraphMemoryError,
    JournalError,
    StorageError,
    brief,
)
from ..store import Journal, copies
from ..store.connection import failure, open_to_read
from ..store.journal import Slices, finished, forget_vectors
from ..store.schema import APPLICATION_ID, MIGRATIONS, migrate, migrations_of
from ..supervisor import Supervisor
from . import erasure, retraction
from .plan import DeletionPlan, plan_for_user

logger = logging.getLogger("graph_memory.deletion")

RETRY = 30.0
"""Seconds between attempts while the disk cannot be written."""
PAUSE = 3600.0
"""Seconds until the same person can be forgotten again: it reads the whole memory."""
FILE = "erased.json"
_VERSION = 2
_ROUNDS = 5_000
_COST = 2**12
"""Of scrypt (RFC 7914), 8 ms per user: to try all four billion accounts takes a year."""


# ------------------------------------------------------------------------ tombstones


@dataclass(frozen=True, slots=True)
class Tombstone:
    """That a user (``id``: salted hash) was erased; ``done``: from all files."""

    id: str
    at: float
    done: bool = False


@dataclass(slots=True)
class Tombstones:
    """The tombstones of one data directory; several threads may use it."""

    path: Path
    salt: str
    stones: list[Tombstone] = field(default_factory=list)
    _known: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def read(cls, directory: Path) -> Tombstones:
        """The tombstones of a directory, none if there is no file; or a ``JournalError``."""
        path = directory / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = cls(path, str(data["salt"]), [Tombstone(**each) for each in data["stones"]])
            if data.get("version", 1) < _VERSION:  # only the first of the two hashes
                found.stones = [replace(s, id=found._slow(s.id)) for s in found.stones]
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
            self._write([*(other for other in self.stones if other.id != stone.id), stone])
        return stone

    def find(self, user: str) -> Tombstone | None:
        """The tombstone of a user, if there is one."""
        id = self.hash(user) if self.stones else ""
        return next((stone for stone in self.stones if stone.id == id), None)

    def finish(self, stones: Iterable[Tombstone]) -> None:
        """Write down that no file holds these users any more, or raise ``JournalError``."""
        done = set(stones)
        with self._lock:
            self._write([replace(s, done=True) if s in done else s for s in self.stones])

    @property
    def unfinished(self) -> list[Tombstone]:
        """Those of users who may still be in a file."""
        return [stone for stone in self.stones if not stone.done]

    def hash(self, user: str) -> str:
        """The salted hash of a user's id."""
        if user not in self._known:
            salt = self.salt.encode()
            first = hashlib.pbkdf2_hmac("sha256", user.encode(), salt, _ROUNDS, 16)
            self._known[user] = self._slow(first.hex())
        return self._known[user]

    def match(self, users: Iterable[str]) -> dict[str, str]:
        """Those of ``users`` that have a tombstone, by its id."""
        wanted = {stone.id for stone in self.stones}
        return {id: user for user in users if (id := self.hash(user)) in wanted} if wanted else {}

    def _slow(self, digest: str) -> str:
        first, salt = bytes.fromhex(digest), self.salt.encode()
        return hashlib.scrypt(first, salt=salt, n=_COST, r=8, p=1, dklen=16).hex()

    def _write(self, stones: list[Tombstone]) -> None:
        body = {"version": _VERSION, "salt": self.salt, "stones": list(map(asdict, stones))}
        try:
            with writing(self.path) as file:
                json.dump(body, file)
        except OSError as error:
            raise JournalError(f"{self.path} could not be written: {error.strerror}") from error
        self.stones = stones


# -------------------------------------------------------------------- from the journal


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
        if stone is None or user in self._waiting:
            return 0.0
        return min(PAUSE, max(0.0, stone.at + PAUSE - self._now()))

    async def forget(self, user: str) -> Outcome:
        """Erase a user for good; messages wait meanwhile."""
        async with self._lock:
            self._waiting.setdefault(user, None)
            problem = await self._attempt(user)
        if not problem:
            return Outcome.DONE
        logger.warning("somebody is not forgotten yet: %s", problem)
        self._job.start(after=RETRY)
        return Outcome.RECORDED if self._waiting.get(user) else Outcome.NOTED

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

    async def _attempt(self, user: str) -> str:
        """Do what is left to do for a user; returns what went wrong, if anything."""
        try:
            stone = self._waiting[user]
            if stone is None:
                stone = await asyncio.to_thread(self._tombstones.add, user, self._now())
                self._waiting[user] = stone
            await self._unlink(user)
            known = await self._journal.survey(lambda db: plan_for_user(db, user))
            hashes = await self._journal.in_slices(partial(_erase, user, stone, known=known))
        except GraphMemoryError as error:
            return brief(error)
        del self._waiting[user]
        logger.info("a user was forgotten")
        with suppress(StorageError):
            # Those that were being computed meanwhile; no word can be read from them.
            await self._journal.alter(lambda db, _tell: forget_vectors(db, hashes))
            with self._journal.long_work():  # else done by the daily purge
                await self._journal.tidy(erasure.compact)
            await erasure.drain(self._journal)
        return ""


def _erase(
    user: str,
    stone: Tombstone,
    db: sqlite3.Connection,
    tell: erasure.Tell = lambda _event: None,
    known: DeletionPlan | None = None,
) -> Slices[list[bytes]]:
    hashes = yield from erasure.erase(db, user, stone.at, tell, stone.id, known)
    erasure.mark(db, stone.id, stone.at)
    return hashes


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
            erasure.compact(db)  # SQLite zeroes what it deletes, but not what it had moved
        # A kill may have left in the log what was erased from the file.
        erasure.empty_log(db)
    return any(due.values())


def purge(
    paths: Iterable[Path],
    tombstones: Tombstones,
    marks: Collection[str],
    now: float,
    stop: threading.Event,
) -> None:
    """Erase people and retracted messages (``marks``) from closed copies. Blocks.

    A copy is rewritten beside itself and replaced once that was verified. A damaged one is
    deleted if somebody is to be forgotten.

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
        except DamagedError as error:
            logger.warning("nothing can be erased from %s: %s", path.name, error)
            if tombstones.unfinished:
                copies.remove(path)
                logger.warning("%s was deleted", path.name)
        except (JournalError, OSError) as error:
            problems.append(f"{path.name}: {brief(error)}")
    if problems:
        raise JournalError("; ".join(problems))


def discard_others(directory: Path) -> None:
    """Delete exports, waiting imports and damaged journals: they may name anybody."""
    folders = (directory / "exports", directory / "moving")
    found = [path for folder in folders for path in folder.glob("*") if path.is_file()]
    for path in (*found, *directory.glob("journal-damaged-*")):
        path.unlink(missing_ok=True)
        logger.warning("%s was deleted: nothing can be erased from it", path.name)


def _purge(path: Path, tombstones: Tombstones, marks: Collection[str], now: float) -> None:
    try:
        with closing(open_to_read(path)) as db:
            due = _due(db, path, tombstones)
            held = bool(retraction.held(db, marks) or retraction.unfinished(db))
    except sqlite3.Error as error:
        raise failure(f"{path.name} cannot be read", error) from error
    if any(due.values()) or held:
        with _rewriting(path) as draft, _altering(draft) as db:
            _clean(db, draft, due, marks if held else (), now)
            erasure.compact(db)
            erasure.empty_log(db)
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
            finished(_erase(user, stone, db))
        else:
            erasure.mark(db, stone.id, stone.at)
    if marks:
        retraction.retract_again(db, marks, now)
    db.execute("COMMIT")


def _due(db: sqlite3.Connection, path: Path, tombstones: Tombstones) -> dict[Tombstone, str]:
    """The tombstones that a journal is not marked with, with the user meant, if known."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise DamagedError(f"{path} is not a journal of this plugin")
    if migrations_of(db) - {name for name, _ in MIGRATIONS}:
        raise JournalError(f"{path} is of a newer version; update the plugin")
    marks = erasure.marks(db)
    due = [stone for stone in tombstones.stones if marks.get(stone.id, stone.at - 1) < stone.at]
    found = tombstones.match(erasure.users(db)) if due else {}
    return {stone: found.get(stone.id, "") for stone in due}


@contextmanager
def _altering(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that overwrites what it deletes; errors are ``JournalError``."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("PRAGMA synchronous = FULL")
            yield db
    except sqlite3.Error as error:
        raise failure(f"{path.name} still holds what is to be erased", error) from error


@contextmanager
def _rewriting(path: Path) -> Iterator[Path]:
    """A copy to alter, which takes the file's place once it was verified."""
    draft = path.with_name(f"{path.name}.tmp")
    try:
        copies.require_space(path.parent, path.stat().st_size)
        reserve(draft)
        shutil.copyfile(path, draft)
        yield draft
        copies.verify(draft)
        settle(draft, path)
    finally:
        copies.remove(draft)
