"""Connections to the journal: opening, their threads, and their failures.

While the disk is full, read-only or stuck the chat goes on: messages are not
acknowledged, what is in memory is still recalled, and the first write that works ends it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from ..data_directory import reserve
from ..errors import ClosedError, DamagedError, JournalError

logger = logging.getLogger("graph_memory.store")

T = TypeVar("T")


_KINDS = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_IOERR: "broken",
    sqlite3.SQLITE_CANTOPEN: "broken",
    sqlite3.SQLITE_PERM: "broken",
}
_ADVICE = {
    "replaced": "put the file back or restore a backup, then reload the plugin",
    "full": "free some space",
    "read_only": "make the data directory writable",
    "busy": "close the other program that uses the file",
    "slow": "look after the disk",
    "away": "look after the server of the shared journal",
    "damaged": "restore a backup",
    "broken": "look after the disk",
}


def failure(what: str, error: sqlite3.Error) -> JournalError:
    """The error to raise for one of SQLite's.

    Its ``kind`` is ``full``, ``read_only``, ``busy``, ``damaged`` or ``broken`` (another
    trouble with the disk); empty if it is none of the file.
    """
    kind = _KINDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")
    if kind == "damaged":
        damaged = DamagedError(f"{what}: {error}")
        damaged.kind = damaged.code = kind
        return damaged
    return JournalError(f"{what}: {error}", kind)


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Raise errors of SQLite and the disk as a ``JournalError`` that says what failed."""
    try:
        yield
    except sqlite3.Error as error:
        raise failure(what, error) from error
    except OSError as error:
        raise JournalError(f"{what}: {error.strerror or error}") from error


class Watch:
    """Check that a journal's file is still the one that was opened.

    SQLite goes on writing to a file that was deleted or replaced, and all of it is lost
    with the next start. Opening and closing the file here would take SQLite's locks away.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, int] | None = None
        self._least = 0

    def check(self, db: sqlite3.Connection) -> None:
        """Look at the file, in a transaction; raises ``JournalError``."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            raise self._replaced("is gone") from None
        except OSError as error:  # a drive that was pulled out, a network that is down
            what = f"{self._path} cannot be reached: {error.strerror or error}"
            raise JournalError(what, "broken") from error
        identity = found.st_dev, found.st_ino
        if self._known not in (None, identity):
            raise self._replaced("is another file")
        if found.st_size < self._least:
            raise self._replaced("was cut off")
        query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        (size,) = db.execute(query).fetchone()
        self._known, self._least = identity, min(found.st_size, size)

    def shrunk(self) -> None:
        """Take note that the file may be smaller than it was, by our own doing."""
        self._least = 0

    def _replaced(self, how: str) -> JournalError:
        text = f"{self._path} {how}, and what is written would be lost"
        return JournalError(text, "replaced")


class Storage:
    """State of a journal's file, as its writes show it; safe to read on any thread.

    Its ``kind`` says why nothing can be written: as in :func:`failure`, ``slow`` if the disk
    does not answer in time, or ``replaced`` (:class:`Watch`); empty when ready. A ``damaged``
    file is to be replaced by a backup.
    """

    def __init__(self) -> None:
        self.kind = ""

    def failed(self, error: JournalError) -> None:
        """A write failed, or damage was found; says so once for each kind of trouble."""
        kind = error.kind
        if not kind or self.kind in ("damaged", kind):
            return
        what = "messages wait here" if kind == "away" else "nothing is stored"
        logger.error("%s, the chat goes on: %s; %s", what, error, _ADVICE[kind])
        self.kind = kind

    def reached(self) -> None:
        """The server of a shared journal answers."""
        if self.kind == "away":
            self.kind = ""
            logger.info("the server of the shared journal answers again")

    def worked(self) -> None:
        """Something was written, which mends no damage and brings no server back."""
        if self.kind and self.kind not in ("damaged", "away"):
            logger.info("messages are stored again")
            self.kind = ""


CHECK = 1.0
"""Seconds that looking for damage may take when a journal is opened (about 1 GB); a
daily copy is checked from end to end."""
_STEPS = 20_000
"""Instructions of SQLite between two looks at whether to stop."""
MAX_WAITING = 10_000
"""Pieces of work that may wait for the thread; with more, new ones are refused."""
CHECKPOINT = 1_000
"""Rows that change until what is in the write-ahead log is moved to the file."""


def open_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection; raises ``JournalError`` if the file cannot be read."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    with failing(f"{path} cannot be read"):
        return sqlite3.connect(address, uri=True, isolation_level=None, timeout=10)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The same, seeing a journal as it is now, whatever is written meanwhile."""
    with closing(open_to_read(path)) as db:
        db.execute("BEGIN")
        db.execute("SELECT 1 FROM sqlite_schema").fetchone()  # only now it holds still
        yield db


@contextmanager
def interruptible(db: sqlite3.Connection, stop: Callable[[], bool]) -> Iterator[None]:
    """Break off what is run on a connection, without an error, once ``stop`` says so."""
    db.set_progress_handler(stop, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    finally:
        db.set_progress_handler(None, 0)


def open_to_write(path: Path, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """The writing connection; makes the file if there is none.

    Raises:
        DamagedError: The file is damaged or not a database.
        JournalError: It cannot be used for another reason.
    """
    db = None
    reserve(path)
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=10)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        _look_for_damage(db, path)
        prepare(db)
        db.execute("PRAGMA journal_mode = WAL")  # last: a foreign file stays as it is
        # What is committed outlives the process at once, and a power cut once Worker synced it.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise failure(f"{path} cannot be used", error) from error
        raise
    return db


@contextmanager
def transacting(db: sqlite3.Connection) -> Iterator[None]:
    """A transaction that writes, committed unless something is raised."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _look_for_damage(db: sqlite3.Connection, path: Path) -> None:
    deadline, verdict = time.monotonic() + CHECK, "ok"
    with interruptible(db, lambda: time.monotonic() > deadline):
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise DamagedError(f"{path} is damaged: {' '.join(verdict.split())[:200]}")


class Worker:
    """Runs work on its connection, in its thread, one piece after the other.

    Args:
        writes: The file it writes, if it does (:func:`open_to_write`). That is synced between
            pieces, so that nobody waits for a disk that takes its time, as cards do.
    """

    def __init__(self, name: str, storage: Storage, *, writes: Path | None = None) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._writes = writes
        self._is_unsynced = False
        self._moved = 0
        self._storage = storage
        self._db: sqlite3.Connection | None = None
        self._waiting = 0
        self._pieces = 0
        self._is_busy = False
        self._late = 0

    async def start(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Have the thread open its connection."""
        self._db = await asyncio.get_running_loop().run_in_executor(self._thread, connect)

    async def run(
        self, work: Callable[[sqlite3.Connection], T], patience: float | None = None
    ) -> T:
        """Run ``work`` in the thread.

        Args:
            patience: Seconds in which nothing moves, after which the caller goes on without a
                result. Work that has begun by then may still succeed; while it is stuck, others
                fail at once. Much that waits is no reason: all of it is written in its turn.

        Raises:
            ClosedError: The worker was stopped.
            JournalError: SQLite failed, or it took too long, or too much is waiting.
        """
        database = self._db
        if database is None:
            raise ClosedError("the journal is closed")
        is_stuck = self._is_busy and self._late == self._pieces  # with what somebody gave up on
        if self._waiting >= MAX_WAITING or (is_stuck and patience is not None):
            raise self._slow("the disk does not keep up")
        self._waiting += 1
        piece = self._thread.submit(self._guarded, database, work)
        result = asyncio.wrap_future(piece)
        try:
            while not result.done():
                before = self._pieces
                await asyncio.wait([result], timeout=patience)
                if self._is_busy and self._pieces == before and not result.done():
                    self._late = self._pieces
                    raise self._slow(f"the disk did not answer within {patience:g} s")
            return result.result()
        finally:
            piece.cancel()  # if it has not begun
            result.cancel()
            self._waiting -= 1

    def _guarded(self, db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
        self._pieces += 1
        self._is_busy = True
        before = db.total_changes
        try:
            result = work(db)
        except JournalError as error:
            self._storage.failed(error)
            raise
        except sqlite3.Error as error:
            failed = failure("the journal failed", error)
            if self._writes or failed.kind == "damaged":
                self._storage.failed(failed)
            raise failed from error
        finally:
            self._is_busy = False
        if db.total_changes != before:
            if self._storage.kind:
                self._storage.worked()
            if self._writes and not self._is_unsynced:
                self._is_unsynced = True
                self._thread.submit(self._sync, db, self._writes)
        return result

    def _sync(self, db: sqlite3.Connection, path: Path) -> None:
        """Bring what was committed to the disk, from the log to the file now and then."""
        self._pieces += 1
        self._is_busy, self._is_unsynced = True, False
        try:
            if self._db is None:
                return  # closing does it
            with path.with_name(f"{path.name}-wal").open("rb+") as file:
                os.fsync(file.fileno())
            if db.total_changes - self._moved > CHECKPOINT:
                self._moved = db.total_changes
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except OSError as error:
            self._storage.failed(JournalError(f"the journal is not synced: {error}", "broken"))
        except sqlite3.Error as error:
            self._storage.failed(failure("the journal is not synced", error))
        finally:
            self._is_busy = False

    def _slow(self, what: str) -> JournalError:
        error = JournalError(what, "slow")
        if self._writes:
            self._storage.failed(error)
        return error

    async def stop(self) -> None:
        """Finish what is under way and close the connection."""
        database, self._db = self._db, None
        if database is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, database.close)
        self._thread.shutdown(wait=False)
