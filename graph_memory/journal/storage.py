"""Whether what is said can be stored, and if not, why.

While the disk is full, read-only or stuck the chat goes on: messages are not
acknowledged, what is in memory is still recalled, and the first write that works ends it.
"""

from __future__ import annotations

import logging
import sqlite3
from enum import StrEnum

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


class Storage:
    """The state of a journal's file, as its writes tell it. Safe to read on any thread.

    Attributes:
        kind: Why nothing can be written: as :func:`kind_of`, or ``slow`` if the disk
            does not answer in time; empty when ready.
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
