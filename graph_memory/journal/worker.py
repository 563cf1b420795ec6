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

T = TypeVar("T")

CHECK = 1.0
"""Seconds that looking for damage may take when a journal is opened (about 1 GB); a
daily copy is checked from end to end."""


def failure(what: str, error: sqlite3.Error) -> JournalError:
    """The error to raise for one of SQLite's."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    damaged = code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return (DamagedError if damaged else JournalError)(f"{what}: {error}")


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
    """Runs work on its connection, in its thread, one piece after the other."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._db: sqlite3.Connection | None = None

    async def start(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Have the thread open its connection."""
        self._db = await asyncio.get_running_loop().run_in_executor(self._thread, connect)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in the thread.

        Raises:
            ClosedError: The worker was stopped.
            JournalError: SQLite failed.
        """
        database = self._db
        if database is None:
            raise ClosedError("the journal is closed")

        def guarded() -> T:
            try:
                return work(database)
            except sqlite3.Error as error:
                raise failure("the journal failed", error) from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)

    async def stop(self) -> None:
        """Finish what is under way and close the connection; harmless when stopped."""
        database, self._db = self._db, None
        if database is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, database.close)
        self._thread.shutdown(wait=False)
