"""Connections to the journal, and a thread that owns one."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ..errors import ClosedError, DamagedError, JournalError
from ..private import reserve
from .storage import Storage, failure

T = TypeVar("T")

CHECK = 1.0
"""Seconds that looking for damage may take when a journal is opened (about 1 GB); a
daily copy is checked from end to end."""
MAX_WAITING = 10_000
"""Pieces of work that may wait for the thread; with more, new ones are refused."""


def open_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection.

    Raises:
        JournalError: The file cannot be read.
    """
    try:
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=10,
        )
    except sqlite3.Error as error:
        raise failure(f"{path} cannot be read", error) from error


def open_to_write(path: Path, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """The writing connection; makes the file if there is none.

    Args:
        prepare: Brings the tables up to date.

    Raises:
        DamagedError: The file is damaged or not a database.
        JournalError: It cannot be used for another reason.
    """
    db = None
    reserve(path)
    try:
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        # FULL: a message whose hook returned is on disk, power cut included.
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        _look_for_damage(db, path)
        prepare(db)
        db.execute("PRAGMA journal_mode = WAL")  # last: a foreign file stays as it is
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise failure(f"{path} cannot be used", error) from error
        raise
    return db


def _look_for_damage(db: sqlite3.Connection, path: Path) -> None:
    deadline = time.monotonic() + CHECK
    db.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        verdict = "ok"  # as far as there was time
    finally:
        db.set_progress_handler(None, 0)
    if verdict != "ok":
        raise DamagedError(f"{path} is damaged: {' '.join(verdict.split())[:200]}")


class Worker:
    """Runs work on its connection, in its thread, one piece after the other.

    Args:
        storage: Is told how writes end, and of damage.
        writes: Whether this is the connection that writes.
    """

    def __init__(self, name: str, storage: Storage, *, writes: bool) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._writes = writes
        self._storage = storage
        self._db: sqlite3.Connection | None = None
        self._waiting = 0
        self._is_stuck = False

    async def start(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Have the thread open its connection."""
        self._db = await asyncio.get_running_loop().run_in_executor(self._thread, connect)

    async def run(
        self, work: Callable[[sqlite3.Connection], T], patience: float | None = None
    ) -> T:
        """Run ``work`` in the thread.

        Args:
            patience: Seconds after which the caller goes on without a result; work that
                has not begun by then is not done, work that has may still succeed. While
                one such piece of work is stuck, others with patience fail at once.

        Raises:
            ClosedError: The worker was stopped.
            JournalError: SQLite failed, or it took too long, or too much is waiting.
        """
        database = self._db
        if database is None:
            raise ClosedError("the journal is closed")
        if self._waiting >= MAX_WAITING or (self._is_stuck and patience is not None):
            raise self._slow("the disk does not keep up")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(patience):
                return await loop.run_in_executor(self._thread, self._guarded, database, work)
        except TimeoutError:
            self._is_stuck = True
            raise self._slow(f"the disk did not answer within {patience:g} s") from None
        finally:
            self._waiting -= 1

    def _guarded(self, db: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
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
            self._is_stuck = False
        if db.total_changes != before:
            self._storage.worked()
        return result

    def _slow(self, what: str) -> JournalError:
        error = JournalError(what)
        error.kind = error.code = "slow"
        if self._writes:
            self._storage.failed(error)
        return error

    async def stop(self) -> None:
        """Finish what is under way and close the connection; harmless when stopped."""
        database, self._db = self._db, None
        if database is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, database.close)
        self._thread.shutdown(wait=False)
