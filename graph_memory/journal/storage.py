"""Whether what is said can be stored, and if not, why.

While the disk is full, read-only or stuck the chat goes on: messages are not
acknowledged, what is in memory is still recalled, and the first write that works ends it.
"""

from __future__ import annotations

import logging
import sqlite3
from enum import StrEnum
from pathlib import Path

from ..errors import DamagedError, JournalError

logger = logging.getLogger("graph_memory.journal")


class StorageState(StrEnum):
    """What storage can do."""

    READY = "ready"
    DEGRADED = "degraded"
    """Nothing can be written at the moment; what is there can be read."""
    FAILED = "failed"
    """The file is damaged; a backup has to take its place."""


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
    "damaged": "restore a backup",
    "broken": "look after the disk",
}


def failure(what: str, error: sqlite3.Error) -> JournalError:
    """The error to raise for one of SQLite's."""
    kind = kind_of(error)
    made = (DamagedError if kind == "damaged" else JournalError)(f"{what}: {error}")
    made.kind = made.code = kind
    return made


def kind_of(error: sqlite3.Error) -> str:
    """``full``, ``read_only``, ``busy``, ``damaged`` or ``broken`` (another error of the
    disk); empty if it is no trouble of the file's."""
    return _KINDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")


class Watch:
    """Sees that a journal's file is still the one that was opened.

    SQLite goes on writing to a file that was deleted or replaced, and all of it is lost
    with the next start. The file is only looked at from outside: opening and closing it
    here would take SQLite's locks away.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, int] | None = None
        self._least = 0

    def check(self, db: sqlite3.Connection) -> None:
        """Look at the file; to be called inside of a transaction.

        Raises:
            JournalError: It was deleted, replaced or cut off.
        """
        try:
            found = self._path.stat()
        except FileNotFoundError:
            raise self._replaced("is gone") from None
        identity = found.st_dev, found.st_ino
        if self._known not in (None, identity):
            raise self._replaced("is another file")
        if found.st_size < self._least:
            raise self._replaced("was cut off")
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
        self._known, self._least = identity, min(found.st_size, pages * size)

    def shrunk(self) -> None:
        """Take note that the file may be smaller than it was, by our own doing."""
        self._least = 0

    def _replaced(self, how: str) -> JournalError:
        error = JournalError(f"{self._path} {how}, and what is written would be lost")
        error.kind = "replaced"
        return error


class Storage:
    """The state of a journal's file, as its writes tell it. Safe to read on any thread.

    Attributes:
        kind: Why nothing can be written: as :func:`kind_of`, ``slow`` if the disk does
            not answer in time, or ``replaced`` (:class:`Watch`); empty when ready.
        problem: The same for people; empty when ready.
    """

    def __init__(self) -> None:
        self.kind = ""
        self.problem = ""

    @property
    def state(self) -> StorageState:
        """What storage can do."""
        if not self.kind:
            return StorageState.READY
        return StorageState.FAILED if self.kind == "damaged" else StorageState.DEGRADED

    def failed(self, error: JournalError) -> None:
        """A write failed, or damage was found; says so once for each kind of trouble."""
        kind = error.kind
        if not kind or self.kind == "damaged":
            return
        if kind != self.kind:
            advice = _ADVICE[kind]
            logger.error("nothing is stored, the chat goes on: %s; %s", error, advice)
        self.kind, self.problem = kind, str(error)

    def worked(self) -> None:
        """Something was written, which mends no damage."""
        if self.kind == "damaged":
            return
        if self.kind:
            logger.info("messages are stored again")
        self.kind = self.problem = ""
