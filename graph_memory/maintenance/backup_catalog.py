"""Catalog of backups: listing, rotation, preview of a restore."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from ..errors import JournalError, NotFoundError
from ..store import copies
from ..store.copies import Contents

JOURNAL = "journal.sqlite3"
DAILY = 7
"""Days of which a backup is kept."""
WEEKLY = 4
"""Weeks of which a backup is kept."""
OTHERS = 3
"""Backups kept of those made by hand, before a restore, before a migration: each."""

_NAME = re.compile(r"journal-(\d{8}T\d{6}Z)(?:-([\w-]+))?\.sqlite3", re.ASCII)


@dataclass(frozen=True, slots=True)
class Backup:
    """A verified copy of the journal.

    Attributes:
        at: When it was made, by its name.
        kind: Empty for the daily ones; ``manual``, ``restore`` (what stood there before
            one) or ``migration-…``.
        size: Bytes.
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
    """What restoring a backup would do.

    Attributes:
        then: What the backup holds.
        now: What the journal holds; ``None`` if it cannot be read.
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
    """The backups of a data directory, newest first.

    Raises:
        JournalError: The folder cannot be read.
    """
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
    """The backup of this name.

    Raises:
        NotFoundError: There is none.
    """
    for backup in saved(directory):
        if backup.name in (name, f"{name}.sqlite3"):
            return backup
    raise NotFoundError(f"there is no backup {name}")


def newest_good(directory: Path) -> tuple[Backup, Contents] | None:
    """The newest backup in which nothing is wrong, and what it holds. Blocks."""
    for backup in saved(directory):
        try:
            held = copies.verify(backup.path)
        except JournalError:
            continue
        return backup, held
    return None


def preview(directory: Path, name: str) -> Preview:
    """What restoring a backup would do. Blocks; the journal may be open or closed.

    Raises:
        NotFoundError: There is no such backup.
        DamagedError: It is damaged.
        JournalError: It cannot be used.
    """
    backup = find(directory, name)
    then = copies.verify(backup.path)
    try:
        now = copies.read(directory / JOURNAL)
    except JournalError:
        now = None
    return Preview(backup, then, now)


def surplus(backups: Iterable[Backup], daily: int = DAILY, weekly: int = WEEKLY) -> list[Backup]:
    """Which backups are in excess, oldest first.

    Counts the days and weeks that have backups, not those on the calendar: a clock that
    was wrong for a while takes a place, and costs no other one.
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
    kept = {*list(days.values())[:daily], *list(weeks.values())[:weekly]}
    kept.update(backup for group in others.values() for backup in group[:OTHERS])
    return [backup for backup in reversed(ordered) if backup not in kept]
