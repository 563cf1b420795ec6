"""Putting a backup in the journal's place, and opening what is there.

A restore is prepared while the memory is open or closed, and takes effect when it is
next opened: nobody writes then, and graph and index are built from what was restored.
Every step leaves a state from which the next opening goes on by itself.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ..deletion import Tombstones, erasure, purge, retraction, retraction_marks
from ..errors import DamagedError, JournalError
from ..private import reserve
from ..store import Journal, copies, pauses
from ..store.connection import failure
from .backup_catalog import JOURNAL, Backup, find, newest_good, saved

logger = logging.getLogger("graph_memory.maintenance")

COMMAND = "/memory restore"
"""The chat command that prepares a restore and opens the memory anew."""
_STAGED = re.compile(r"restore-(\d{8}T\d{6}Z)\.sqlite3", re.ASCII)


def stage(directory: Path, name: str, now: float) -> Backup:
    """Have a backup take the journal's place at the next :func:`open_journal`. Blocks.

    Args:
        name: Of the backup.
        now: Seconds since the epoch.

    Raises:
        NotFoundError: There is no such backup.
        DamagedError: It is damaged.
        JournalError: It cannot be used, or there is no room for it.
    """
    backup = find(directory, name)
    copies.require_space(directory, backup.size)
    moment = datetime.fromtimestamp(now, UTC)
    target = directory / f"restore-{moment:%Y%m%dT%H%M%SZ}.sqlite3"
    draft = target.with_suffix(".tmp")
    try:
        reserve(draft)
        shutil.copyfile(backup.path, draft)
        copies.verify(draft)
        unstage(directory)
        copies.settle(draft, target)
    except OSError as error:
        raise JournalError(f"{backup.name} could not be prepared: {error}") from error
    finally:
        copies.remove(draft)
    return backup


def unstage(directory: Path) -> bool:
    """Take a prepared restore back; false if there was none."""
    found = _staged(directory)
    for path in found:
        copies.remove(path)
    return bool(found)


def staged(directory: Path) -> float | None:
    """When the restore was prepared that waits for the next start, if any."""
    found = [match for path in _staged(directory) if (match := _STAGED.fullmatch(path.name))]
    if not found:
        return None
    return datetime.strptime(found[-1][1], "%Y%m%dT%H%M%S%z").timestamp()


async def open_journal(
    directory: Path, now: Callable[[], float], tombstones: Tombstones
) -> Journal:
    """Carry out a prepared restore, purge what it brings back, open the journal.

    The caller holds the directory's lock.

    Raises:
        DamagedError: The journal is damaged, foreign or lost; says which backup is good.
        JournalError: It cannot be used for another reason.
    """
    try:
        await asyncio.to_thread(_prepare, directory, now())
        await asyncio.to_thread(purge.clean_journal, directory / JOURNAL, tombstones)
        journal = await Journal.open(directory / JOURNAL, now)
    except DamagedError as error:
        raise await asyncio.to_thread(advise, directory, error) from error
    try:
        if await journal.look(retraction_marks.are_due):
            await journal.alter(lambda db, tell: retraction.retract_again(db, now(), tell))
            await erasure.drain(journal)
    except BaseException:
        await journal.close()
        raise
    return journal


def _prepare(directory: Path, now: float) -> None:
    try:
        if staged := _staged(directory):
            _put_in_place(directory, staged[-1], now)
    except OSError as error:
        raise JournalError(f"the restore could not be carried out: {error}") from error
    journal = directory / JOURNAL
    if journal.exists() and journal.stat().st_size:
        return
    # SQLite would begin an empty journal and delete a log that is left of the old one.
    log = copies.companions(journal)[0]
    if saved(directory) or (log.exists() and log.stat().st_size):
        raise DamagedError(f"{journal} is missing or empty")


def _put_in_place(directory: Path, staged: Path, now: float) -> None:
    journal = directory / JOURNAL
    if journal.exists():
        try:
            held = copies.fold(journal)
        except DamagedError as error:
            _set_aside(directory, staged)
            logger.warning("%s; it was set aside", error)
        else:
            _carry(journal, staged)
            _keep(directory, journal, held, now)
    else:
        _set_aside(directory, staged)
    staged.replace(journal)
    copies.sync(directory)
    for older in _staged(directory):
        copies.remove(older)
    logger.info("the journal was restored (%s)", staged.name)


def _carry(journal: Path, staged: Path) -> None:
    """Let those who asked for a pause keep it, and what was taken back be taken back."""
    try:
        pauses.carry(journal, staged)
        retraction_marks.carry(journal, staged)
    except sqlite3.Error as error:
        what = "pauses and withdrawals could not be carried over"
        raise failure(what, error) from error


def _keep(directory: Path, journal: Path, held: copies.Contents, now: float) -> None:
    """Make what stood there until now a backup: a rename, which needs no room."""
    if held.is_empty:
        return
    folder = copies.folder_of(directory)
    folder.mkdir(parents=True, exist_ok=True)
    journal.replace(copies.path_for(folder, now, "restore"))
    copies.sync(folder)


def _set_aside(directory: Path, staged: Path) -> None:
    """Move a damaged journal away, with its log; nothing of it is deleted."""
    match = _STAGED.fullmatch(staged.name)
    # Named after the restore: a kill between two renames does not part the files.
    stem = directory / f"journal-damaged-{match[1] if match else ''}.sqlite3"
    parts = zip(copies.companions(directory / JOURNAL), copies.companions(stem), strict=True)
    for source, target in parts:
        if source.exists():
            source.replace(target)
    copies.sync(directory)


def _staged(directory: Path) -> list[Path]:
    """Restores that were prepared, oldest first."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if _STAGED.fullmatch(path.name))


def advise(directory: Path, error: DamagedError) -> DamagedError:
    """The same error, with what can be done about it."""
    good = newest_good(directory)
    if good is None:
        advice = "there is no good backup; move the file away to begin with an empty memory"
        return DamagedError(f"{error}; {advice}")
    backup, held = good
    made = datetime.fromtimestamp(backup.at, UTC)
    advice = (
        f"the newest good backup is of {made:%Y-%m-%d %H:%M} UTC ({held.messages} messages,"
        f" {held.facts} facts): {COMMAND} {backup.name} brings it back, the damaged file is kept"
    )
    return DamagedError(f"{error}; {advice}", backup.name)
