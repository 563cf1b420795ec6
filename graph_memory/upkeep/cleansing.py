"""Files without those who asked to be forgotten: the closed journal, backups, restores.

Whom, is in the book of ``stones.py``; which files were cleaned of whom, is marked in the
files. Backups lose what was taken back (撤回), too. Nobody may have the files open.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..embedding import text_hash
from ..errors import ClosedError, DamagedError, GraphMemoryError, JournalError, brief
from ..graph import seal
from ..journal import copies, erasure, retraction, withdrawals
from ..journal.migration import update
from ..journal.schema import APPLICATION_ID, MIGRATIONS, migrations_of
from ..journal.storage import failure
from ..journal.worker import open_to_read
from .shelf import JOURNAL, saved
from .stones import Book, Stone

logger = logging.getLogger("graph_memory.upkeep")


def complete(directory: Path) -> None:
    """Do what was begun, and erase what a restored journal still holds. Blocks.

    Nobody has the directory's files open.

    Raises:
        JournalError: It could not be done (``DamagedError``: the journal is damaged).
    """
    book = Book.read(directory)
    if not book.stones:
        return
    journal = directory / JOURNAL
    altered = False
    if journal.exists() and journal.stat().st_size:
        altered = _clean(journal, book, anew=not book.is_finished)
    clean_copies(directory, book)
    if altered or not book.is_finished:
        seal.clean(directory / "graph")
        logger.info("who asked to be forgotten stays forgotten")
    book.finish()


def _clean(path: Path, book: Book, *, anew: bool = False) -> bool:
    """Erase from a closed journal whom the book names.

    Args:
        anew: Even if it is marked: the file may not have been compacted.

    Returns:
        Whether it was altered, but for marks.

    Raises:
        DamagedError: It is damaged or no journal.
        JournalError: It cannot be altered.
    """
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db:
            due = _due(db, path, book, anew=anew)
            if not due:
                return False
            db.execute("PRAGMA secure_delete = ON")
            db.execute("PRAGMA synchronous = FULL")
            found = book.match(erasure.users(db))
            wanted = [(stone, found[stone.id]) for stone in due if stone.id in found]
            if wanted or anew:
                db.execute("BEGIN IMMEDIATE")
                for stone, user in wanted:
                    erasure.erase(db, user, stone.at, text_hash)
                db.execute("COMMIT")
                erasure.compact(db)
            for stone in due:  # last: a kill before this, and it is done again
                erasure.mark(db, stone.id, stone.at)
            erasure.empty_log(db)
            return bool(wanted or anew)
    except sqlite3.Error as error:
        raise failure(f"{path.name} still holds what is to be erased", error) from error


def _due(db: sqlite3.Connection, path: Path, book: Book, *, anew: bool) -> list[Stone]:
    """The stones that a journal is not marked with."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise DamagedError(f"{path} is not a journal of this plugin")
    if migrations_of(db) - {name for name, _ in MIGRATIONS}:
        raise JournalError(f"{path} is of a newer version; update the plugin")
    marks = erasure.marks(db)
    return [
        stone
        for stone in book.stones
        if marks.get(stone.id, stone.at - 1) < stone.at or (anew and not stone.done)
    ]


def clean_copies(directory: Path, book: Book) -> None:
    """Erase from all backups and prepared restores; what cannot be cleaned is deleted.

    A copy is rewritten beside itself and takes its own place when it was verified.
    """
    folder = copies.folder_of(directory)
    for draft in (*folder.glob("*.sqlite3.tmp*"), *directory.glob("restore-*.tmp*")):
        draft.unlink(missing_ok=True)
    if not book.is_finished:
        found = [*directory.glob("journal-damaged-*"), *_taken_out(directory)]
        for path in found:
            logger.warning("%s was deleted: nothing can be erased from it", path.name)
            path.unlink(missing_ok=True)
    for path in _copies(directory):
        try:
            _clean_copy(path, book)
        except ClosedError:
            raise
        except (GraphMemoryError, OSError) as error:
            logger.warning("%s was deleted: nothing can be erased from it: %s", path.name, error)
            copies.remove(path)


def _copies(directory: Path) -> list[Path]:
    """The backups and prepared restores."""
    staged = sorted(directory.glob("restore-*.sqlite3"))
    return [*(backup.path for backup in saved(directory)), *staged]


def _taken_out(directory: Path) -> list[Path]:
    """What was exported, and what is about to be imported, see ``moving/``."""
    folders = (directory / "exports", directory / "moving")
    return [path for folder in folders for path in folder.glob("*") if path.is_file()]


def _clean_copy(path: Path, book: Book) -> None:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            due = _due(db, path, book, anew=False)
            if not due:
                return
            found = book.match(erasure.users(db))
        if not any(stone.id in found for stone in due):
            _clean(path, book)  # a mark is all it needs
            return
        with _rewriting(path) as draft:
            _clean(draft, book)
    except sqlite3.Error as error:
        raise failure(str(path), error) from error


@contextmanager
def _rewriting(path: Path) -> Iterator[Path]:
    """A copy to alter, which takes the file's place once it was verified."""
    draft = path.with_name(f"{path.name}.tmp")
    try:
        copies.require_space(path.parent, path.stat().st_size)
        shutil.copyfile(path, draft)
        yield draft
        copies.verify(draft)
        copies.settle(draft, path)
    finally:
        copies.remove(draft)


def withdraw(directory: Path, marks: Collection[str], now: float, stop: threading.Event) -> None:
    """Delete from all backups and prepared restores what marks of ``withdrawals.py`` stand
    for, with what rests on it alone. Blocks.

    Copies that hold nothing of it are only read. One that is damaged stays as it is: nothing
    can be restored from it either.

    Raises:
        JournalError: Some could not be rewritten (no room, not writable); the others were.
        ClosedError: ``stop`` was set.
    """
    problems = []
    for path in _copies(directory):
        if stop.is_set():
            raise ClosedError("the memory is closed")
        try:
            if _holds(path, marks):
                with _rewriting(path) as draft:
                    _withdraw(draft, marks, now)
                logger.info("what was taken back was deleted from %s", path.name)
        except DamagedError as error:
            logger.warning("%s may hold what was taken back: %s", path.name, error)
        except (JournalError, OSError) as error:
            problems.append(f"{path.name}: {brief(error)}")
    if problems:
        raise JournalError("; ".join(problems))


def _holds(path: Path, marks: Collection[str]) -> bool:
    try:
        with closing(open_to_read(path)) as db:
            return bool(withdrawals.held(db, marks))
    except sqlite3.Error as error:
        raise failure(f"{path.name} cannot be read", error) from error


def _withdraw(path: Path, marks: Collection[str], now: float) -> None:
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db:
            update(db, path)
            db.execute("PRAGMA secure_delete = ON")
            db.execute("BEGIN IMMEDIATE")
            withdrawals.add(db, marks, now)
            retraction.retract_again(db, now, lambda _event: None)
            db.execute("COMMIT")
            erasure.compact(db)
            erasure.empty_log(db)
    except sqlite3.Error as error:
        raise failure(f"{path.name} could not be rewritten", error) from error
