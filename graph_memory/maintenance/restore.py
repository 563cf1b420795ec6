"""Backup files: listing, rotation, and putting one in the journal's place.

A restore is prepared while the memory is open or closed and takes effect at the next
opening. Every step leaves a state from which the next opening goes on by itself.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from ..deletion import Tombstones, forget_me, retraction
from ..errors import DamagedError, JournalError, NotFoundError
from ..private import reserve
from ..store import Journal, copies, pauses
from ..store.connection import failure
from ..store.copies import Contents

logger = logging.getLogger("graph_memory.maintenance")

JOURNAL = "journal.sqlite3"
DAILY = 7
"""Days of which a backup is kept."""
WEEKLY = 4
"""Weeks of which a backup is kept."""
OTHERS = 3
"""Backups kept of those made by hand, before a restore, before a migration: each."""
COMMAND = "/memory restore"
"""The chat command that prepares a restore and opens the memory anew."""
_NAME = re.compile(r"journal-(\d{8}T\d{6}Z)(?:-([\w-]+))?\.sqlite3", re.ASCII)
_STAGED = re.compile(r"restore-(\d{8}T\d{6}Z)\.sqlite3", re.ASCII)


@dataclass(frozen=True, slots=True)
class Backup:
    """A verified copy of the journal, of ``size`` bytes.

    Attributes:
        at: When it was made, by its name.
        kind: Empty for the daily ones; ``manual``, ``restore`` (what stood there before
            one) or ``migration-…``.
    """

    path: Path
    at: float
    kind: str
    size: int

    @property
    def name(self) -> str:
        """What a person calls it by."""
        return self.path.name

    @property
    def day(self) -> date:
        return datetime.fromtimestamp(self.at, UTC).date()


@dataclass(frozen=True, slots=True)
class Preview:
    """What restoring a backup would do: what it holds, and what the journal holds.

    ``now`` is ``None`` if the journal cannot be read.
    """

    backup: Backup
    then: Contents
    now: Contents | None

    @property
    def difference(self) -> dict[str, int]:
        """How many messages, facts and changes there would be more (or less, if negative)."""
        if self.now is None:
            return {}
        return {
            key: getattr(self.then, key) - getattr(self.now, key)
            for key in ("messages", "facts", "changes")
        }


def saved(directory: Path) -> list[Backup]:
    """The backups of a data directory, newest first, or a ``JournalError``."""
    folder = copies.folder_of(directory)
    found = []
    try:
        for path in folder.iterdir() if folder.is_dir() else ():
            match = _NAME.fullmatch(path.name)
            if match and path.is_file():
                at = datetime.strptime(match[1], "%Y%m%dT%H%M%S%z").timestamp()
                found.append(Backup(path, at, match[2] or "", path.stat().st_size))
    except (OSError, ValueError) as error:
        raise JournalError(f"{folder} cannot be read: {error}") from error
    return sorted(found, key=lambda backup: (backup.at, backup.name), reverse=True)


def find(directory: Path, name: str) -> Backup:
    """The backup of this name, or a ``NotFoundError``."""
    for backup in saved(directory):
        if backup.name in (name, f"{name}.sqlite3"):
            return backup
    raise NotFoundError(f"there is no backup {name}")


def preview(directory: Path, name: str) -> Preview:
    """What restoring a backup would do. Blocks; the journal may be open or closed.

    Raises:
        NotFoundError: There is no such backup.
        JournalError: It cannot be used (``DamagedError`` if it is damaged).
    """
    backup = find(directory, name)
    then = copies.verify(backup.path)
    try:
        now = copies.read(directory / JOURNAL)
    except JournalError:
        now = None
    return Preview(backup, then, now)


def surplus(backups: Iterable[Backup]) -> list[Backup]:
    """Which backups are in excess, oldest first.

    Days and weeks that have backups count, whatever the calendar says: a clock that was
    wrong for a while costs no other backup.
    """
    days: dict[date, Backup] = {}
    weeks: dict[tuple[int, int], Backup] = {}
    others: dict[str, list[Backup]] = {}
    ordered = sorted(backups, key=lambda backup: (backup.at, backup.name), reverse=True)
    for backup in ordered:
        if backup.kind:
            others.setdefault(backup.kind.partition("-")[0], []).append(backup)
        else:
            days.setdefault(backup.day, backup)
            weeks.setdefault(backup.day.isocalendar()[:2], backup)
    kept = {*list(days.values())[:DAILY], *list(weeks.values())[:WEEKLY]}
    kept.update(backup for group in others.values() for backup in group[:OTHERS])
    return [backup for backup in reversed(ordered) if backup not in kept]


# --------------------------------------------------------------------- restoring


def stage(directory: Path, name: str, now: float) -> Backup:
    """Have a backup take the journal's place at the next :func:`open_journal`. Blocks.

    What the journal holds by then becomes a backup itself.

    Raises:
        NotFoundError: There is no such backup.
        JournalError: It cannot be used (``DamagedError``), or there is no room for it.
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

    Raises:
        DamagedError: The journal is damaged, foreign or lost; says which backup is good.
        JournalError: It cannot be used for another reason.
    """
    try:
        await asyncio.to_thread(_prepare, directory, now())
        await asyncio.to_thread(forget_me.clean_journal, directory / JOURNAL, tombstones, now())
        return await Journal.open(directory / JOURNAL, now)
    except DamagedError as error:
        raise await asyncio.to_thread(advise, directory, error) from error


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
            try:  # who asked for a pause keeps it, and what was retracted stays so
                pauses.carry(journal, staged)
                retraction.carry(journal, staged)
            except sqlite3.Error as error:
                what = "pauses and withdrawals could not be carried over"
                raise failure(what, error) from error
            if not held.is_empty:  # it becomes a backup: a rename, which needs no room
                folder = copies.folder_of(directory)
                folder.mkdir(parents=True, exist_ok=True)
                journal.replace(copies.path_for(folder, now, "restore"))
                copies.sync(folder)
    else:
        _set_aside(directory, staged)
    staged.replace(journal)
    copies.sync(directory)
    for older in _staged(directory):
        copies.remove(older)
    logger.info("the journal was restored (%s)", staged.name)


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
    """The same error, with what can be done about it. Blocks."""
    for backup in saved(directory):
        try:
            held = copies.verify(backup.path)
        except JournalError:
            continue
        made = datetime.fromtimestamp(backup.at, UTC)
        advice = (
            f"the newest good backup is of {made:%Y-%m-%d %H:%M} UTC ({held.messages} messages,"
            f" {held.facts} facts): {COMMAND} {backup.name} brings it back, the damaged file is"
            " kept"
        )
        return DamagedError(f"{error}; {advice}", backup.name)
    advice = "there is no good backup; move the file away to begin with an empty memory"
    return DamagedError(f"{error}; {advice}")
