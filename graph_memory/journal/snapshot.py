"""The journal as of one change, for whoever reads all of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model import Message
from . import messages as mail
from .rows import Rows, last_change
from .worker import open_to_read


class Snapshot:
    """The rows as of one change, readable on any one thread while others write."""

    def __init__(self, connection: sqlite3.Connection, change: int) -> None:
        self.change = change
        self.rows = Rows(connection)
        self._db = connection

    def newest_messages(self, limit: int) -> Iterator[Message]:
        """The newest messages, newest first, without holding them all in memory."""
        return mail.backwards(self._db, limit)

    def messages(self, ids: set[int]) -> list[Message]:
        """Messages by id, in order of id; missing ones are left out."""
        return mail.by_ids(self._db, ids)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees a journal as it is now, whatever is written meanwhile.

    Raises:
        JournalError: The file cannot be read.
    """
    db = open_to_read(path)
    try:
        db.execute("BEGIN")
        yield db
    finally:
        db.close()


@contextmanager
def snapshot(path: Path) -> Iterator[Snapshot]:
    """A consistent view of all rows, for the calling thread, on a connection of its own.

    Raises:
        JournalError: The file cannot be read.
    """
    with reading(path) as db:
        yield Snapshot(db, last_change(db))
