"""A thread with a SQLite connection of its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ..errors import ClosedError, JournalError

T = TypeVar("T")


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
        raise JournalError(f"{path} cannot be read: {error}") from error


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
                raise JournalError(f"the journal failed: {error}") from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)

    async def stop(self) -> None:
        """Finish what is under way and close the connection; harmless when stopped."""
        database, self._db = self._db, None
        if database is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, database.close)
        self._thread.shutdown(wait=False)
