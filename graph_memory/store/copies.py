"""Verified copies of the journal: made while others write, never half there.

A copy gets its name only after SQLite found nothing wrong with it and it holds what the
journal held when copying began.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..data_directory import reserve, settle
from ..errors import ClosedError, DamagedError, JournalError
from .connection import failing, interruptible, open_to_read, reading
from .schema import APPLICATION_ID, require_known

logger = logging.getLogger("graph_memory.store")

MIN_FREE = 64 << 20
"""Bytes that stay free on the disk whatever is copied: the journal must go on."""
_STEP = 256
"""Pages copied at a time, about 1 MiB."""
_PAUSE = 0.002
"""Seconds between steps, for whoever else wants the disk."""
_TRIES, _AGAIN = 30, 0.1
"""How often, and after how many seconds, a file is asked for that another program has open."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a journal holds, and when its newest message and change were written."""

    messages: int
    facts: int
    changes: int
    message_at: float | None
    change_at: float | None

    @property
    def is_empty(self) -> bool:
        return not self.messages and not self.changes


def contents(db: sqlite3.Connection) -> Contents:
    """What the journal behind a connection holds, in any version since the first."""
    query = (
        "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM row WHERE kind = 'fact'),"
        " (SELECT count(*) FROM change), (SELECT at FROM message ORDER BY id DESC LIMIT 1),"
        " (SELECT at FROM change ORDER BY id DESC LIMIT 1)"
    )
    return Contents(*db.execute(query).fetchone())


def folder_of(directory: Path) -> Path:
    """Where copies of the journal in a data directory are kept."""
    return directory / "backups"


def path_for(folder: Path, at: float, kind: str = "") -> Path:
    """A free name for a copy made at a time, to the second; ``kind`` says what for."""
    moment = datetime.fromtimestamp(at, UTC)
    while True:
        stem = f"journal-{moment:%Y%m%dT%H%M%SZ}"
        path = folder / (f"{stem}-{kind}.sqlite3" if kind else f"{stem}.sqlite3")
        if not path.exists():
            return path
        moment += timedelta(seconds=1)


def size(path: Path) -> int:
    """Bytes a copy of the journal at ``path`` may need."""
    return sum(part.stat().st_size for part in companions(path) if part.exists())


def require_space(folder: Path, wanted: int) -> None:
    """Raise ``JournalError`` unless ``wanted`` bytes fit on the disk of ``folder``."""
    free = shutil.disk_usage(folder).free
    if free < wanted + MIN_FREE:
        needed, left = (wanted + MIN_FREE) >> 20, free >> 20
        error = JournalError(f"no room: {needed:,} MiB are needed, {left:,} MiB are free")
        raise error.told("room", needed=f"{needed:,}", left=f"{left:,}")


def copy(source: Path, target: Path, stop: threading.Event | None = None) -> Contents:
    """Copy a journal as it is now; whoever writes to it goes on meanwhile. Blocks.

    Replaces ``target`` once the copy is verified, and returns what it holds.

    Raises:
        DamagedError: The source is damaged or no journal.
        JournalError: The copy failed: no room, not readable, not writable.
        ClosedError: ``stop`` was set; nothing is left behind.
    """
    with failing(f"{source} could not be copied"), drafting(target, size(source)) as draft:
        return _copy_pages(source, draft, stop or threading.Event())


@contextmanager
def drafting(target: Path, wanted: int) -> Iterator[Path]:
    """A private file to fill, which takes the place of ``target`` at the end.

    Args:
        wanted: Bytes it may need.

    Raises:
        OSError: It could not be made.
        JournalError: There is no room. Nothing is left of it, whatever is raised inside either.
    """
    require_space(target.parent, wanted)
    draft = target.with_name(f"{target.name}.tmp")
    remove(draft)  # left by a kill
    try:
        reserve(draft)
        yield draft
        settle(draft, target)
    finally:
        remove(draft)


def _copy_pages(source: Path, draft: Path, stop: threading.Event) -> Contents:
    def between(_status: int, _remaining: int, _total: int) -> None:
        if stop.wait(_PAUSE):
            raise ClosedError("copying was stopped")

    # One transaction for all: SQLite starts a backup anew whenever another connection
    # writes between two steps, unless the source's view is held still.
    with reading(source) as reader:
        expected = contents(reader)
        with closing(sqlite3.connect(draft, isolation_level=None)) as sink:
            sink.execute("PRAGMA synchronous = OFF")  # settle() syncs the finished file once
            reader.backup(sink, pages=_STEP, progress=between)
            sink.execute("PRAGMA journal_mode = DELETE")
            found = _examine(sink, stop)
    if found != expected:
        raise JournalError(f"a copy of {source} does not hold what the journal holds")
    return found


def save(path: Path, migration: str, now: float) -> None:
    """Copy a journal before a migration, unless an earlier attempt at it did."""
    held, folder, kind = read(path), folder_of(path.parent), f"migration-{migration}"
    if held.is_empty:
        return
    for earlier in folder.glob(f"*-{kind}.sqlite3"):
        with suppress(JournalError):
            if verify(earlier) == held:
                return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = path_for(folder, now, kind)
    copy(path, target)
    logger.info("the journal was copied to %s before its update", target.name)


def verify(path: Path) -> Contents:
    """Check a copy from end to end. Blocks for as long as it takes.

    Raises:
        DamagedError: It is damaged or no journal.
        JournalError: It is of a newer version or of one too old, or cannot be read.
    """
    with failing(f"{path} cannot be used"), closing(open_to_read(path)) as db:
        held = _examine(db, threading.Event())
        require_known(db, path)
    return held


def read(path: Path) -> Contents:
    """What a journal holds, unchecked; raises ``JournalError``."""
    with failing(f"{path} cannot be read"), closing(open_to_read(path)) as db:
        return contents(db)


def fold(path: Path) -> Contents:
    """Make a journal that nobody has open one self-contained, verified file. Blocks.

    Raises:
        DamagedError, JournalError: As :func:`verify`.
    """
    what = f"{path} cannot be used"
    with failing(what), closing(sqlite3.connect(path, isolation_level=None)) as db:
        held = _examine(db, threading.Event())
        for left in reversed(range(_TRIES)):  # SQLite itself waits for nobody here
            try:
                db.execute("PRAGMA journal_mode = DELETE")
                break
            except sqlite3.OperationalError as error:
                if not left or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(_AGAIN)
    return held


def _examine(db: sqlite3.Connection, stop: threading.Event) -> Contents:
    with interruptible(db, stop.is_set):
        (application,) = db.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            raise DamagedError("the file is not a journal of this plugin")
        (verdict,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise DamagedError(f"the journal is damaged: {verdict}")
        return contents(db)
    raise ClosedError("checking was stopped")


def companions(path: Path) -> list[Path]:
    """A database file and what SQLite keeps beside it, whether there or not."""
    return [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm", "-journal", "")]


def remove(path: Path) -> None:
    """Delete a database file that nobody has open, with what is beside it."""
    for part in companions(path):
        part.unlink(missing_ok=True)
