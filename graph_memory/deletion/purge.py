"""Purge of closed files of forgotten people and retracted messages.

Whom, is in ``tombstones.py``; which messages, in the journal (``retraction_marks.py``);
which files were cleaned of whom, is marked in the files. Nobody may have them open.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..embedding import text_hash
from ..errors import ClosedError, DamagedError, JournalError, brief
from ..private import reserve, settle
from ..store import copies
from ..store.connection import failure, open_to_read
from ..store.migration import migrate
from ..store.schema import APPLICATION_ID, MIGRATIONS, migrations_of
from . import erasure, retraction, retraction_marks
from .tombstones import Tombstone, Tombstones

logger = logging.getLogger("graph_memory.deletion")


def clean_journal(path: Path, tombstones: Tombstones) -> bool:
    """Erase from a closed journal all people it is not marked with. Blocks.

    Returns:
        Whether anything was erased.

    Raises:
        DamagedError: It is damaged or no journal.
        JournalError: It cannot be altered.
    """
    if not tombstones.stones or not path.exists() or not path.stat().st_size:
        return False
    with _altering(path) as db:
        due = _due(db, path, tombstones)
        users = _users(db, due, tombstones)
        if due:
            _erase(db, due, users)
        # A kill may have left in the log what was erased from the file.
        erasure.empty_log(db)
    if users:
        logger.info("who asked to be forgotten stays forgotten")
    return bool(users)


def purge(
    paths: Iterable[Path],
    tombstones: Tombstones,
    marks: Collection[str],
    now: float,
    stop: threading.Event,
) -> None:
    """Clean closed copies of the journal of all that is to be gone. Blocks.

    A copy is rewritten beside itself and takes its own place when it was verified; one
    that holds nothing of it is only read. Nothing can be erased from a damaged one: it is
    deleted if somebody is to be forgotten.

    Args:
        marks: What retracted messages are known by.

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
    """Delete what is no copy of the journal and may name whoever is to be forgotten.

    That is what was exported, what is about to be imported (``transfer/``) and damaged
    journals that were set aside. Blocks.
    """
    folders = (directory / "exports", directory / "moving")
    found = [path for folder in folders for path in folder.glob("*") if path.is_file()]
    for path in (*found, *directory.glob("journal-damaged-*")):
        path.unlink(missing_ok=True)
        logger.warning("%s was deleted: nothing can be erased from it", path.name)


def _purge(path: Path, tombstones: Tombstones, marks: Collection[str], now: float) -> None:
    try:
        with closing(open_to_read(path)) as db:
            due = _due(db, path, tombstones)
            users = _users(db, due, tombstones)
            held = bool(marks and retraction_marks.held(db, marks))
    except sqlite3.Error as error:
        raise failure(f"{path.name} cannot be read", error) from error
    if not users and not held:
        if due:
            with _altering(path) as db:
                _erase(db, due, {})  # a mark is all it needs
        return
    with _rewriting(path) as draft, _altering(draft) as db:
        _erase(db, due, users)
        if held:
            migrate(db, draft, None)
            db.execute("BEGIN IMMEDIATE")
            retraction_marks.add(db, marks, now)
            retraction.retract_again(db, now, lambda _event: None)
            db.execute("COMMIT")
        erasure.compact(db)
        erasure.empty_log(db)
    logger.info("%s was cleaned of what is to be forgotten", path.name)


def _erase(db: sqlite3.Connection, due: list[Tombstone], users: dict[str, str]) -> None:
    db.execute("BEGIN IMMEDIATE")
    for stone in due:
        if stone.id in users:
            erasure.erase(db, users[stone.id], stone.at, text_hash)
        erasure.mark(db, stone.id, stone.at)
    db.execute("COMMIT")


def _due(db: sqlite3.Connection, path: Path, tombstones: Tombstones) -> list[Tombstone]:
    """The tombstones that a journal is not marked with."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise DamagedError(f"{path} is not a journal of this plugin")
    if migrations_of(db) - {name for name, _ in MIGRATIONS}:
        raise JournalError(f"{path} is of a newer version; update the plugin")
    marks = erasure.marks(db)
    return [stone for stone in tombstones.stones if marks.get(stone.id, stone.at - 1) < stone.at]


def _users(db: sqlite3.Connection, due: list[Tombstone], tombstones: Tombstones) -> dict[str, str]:
    """Users of a journal who are to be erased, by the id of their tombstone."""
    if not due:
        return {}
    found = tombstones.match(erasure.users(db))
    return {stone.id: found[stone.id] for stone in due if stone.id in found}


@contextmanager
def _altering(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that leaves nothing of what it deletes.

    Raises:
        JournalError: SQLite failed (``DamagedError``: the file is damaged).
    """
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
