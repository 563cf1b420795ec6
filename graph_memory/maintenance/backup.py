"""Backups of the journal: made daily, rotated, restored and purged.

A restore is prepared and takes effect when the journal is opened next, mostly at once; after a
kill at any step the next opening goes on by itself.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..context import Context, Part
from ..data_directory import sync
from ..dates import moment
from ..deletion import Tombstones, forget_me, message_retention, retraction
from ..errors import ClosedError, DamagedError, GraphMemoryError, JournalError, NotFoundError, brief
from ..retention import DAY
from ..store import Journal, copies, pauses
from ..store.connection import failing
from ..store.copies import Contents
from ..supervisor import Supervisor

T = TypeVar("T")

logger = logging.getLogger("graph_memory.maintenance")

JOURNAL = "journal.sqlite3"
DAILY = 7
"""Days of which a backup is kept."""
WEEKLY = 4
"""Weeks of which a backup is kept."""
OTHERS = 3
"""Backups kept of those made by hand, before a restore or migration, in the future: each."""
COMMAND = "/memory restore"
"""The chat command that prepares a restore and opens the memory anew."""
_NAME = re.compile(r"journal-(\d{8}T\d{6}Z)(?:-([\w-]+))?\.sqlite3", re.ASCII)
_STAGED = re.compile(r"restore-(\d{8}T\d{6}Z)\.sqlite3", re.ASCII)
SHARED = 60 * DAY
"""Seconds after which no other bot's backups hold a message that was taken back."""
SETTLING = 60.0
"""Seconds after the start before the first look: starting is busy enough."""
LOOK = 3600.0
"""Seconds between two looks at whether a backup is due, and until a failed one is retried."""
PATIENCE = 60.0
"""Seconds to wait for readers of what the journal held before."""
MIN_KEPT = 2
"""Backups that are never deleted to make room for a new one."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A verified copy: daily (``kind`` empty), manual, before restore or migration."""

    path: Path
    at: float
    kind: str
    size: int

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Preview:
    """What a backup holds, and the journal (``None`` if that cannot be read)."""

    backup: Backup
    then: Contents
    now: Contents | None

    @property
    def difference(self) -> dict[str, int]:
        """How many messages, facts and changes a restore would add, negative if it loses."""
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
    """What restoring a backup would do. Blocks.

    Raises:
        NotFoundError: There is no such backup.
        JournalError: It cannot be used (``DamagedError`` if it is damaged).
    """
    backup = find(directory, name)
    then = _verified(backup.path)
    try:
        now = copies.read(directory / JOURNAL)
    except JournalError:
        now = None
    return Preview(backup, then, now)


def _verified(path: Path) -> copies.Contents:
    """What a backup holds, checked; that it is damaged says nothing of the journal."""
    try:
        return copies.verify(path)
    except DamagedError as error:
        raise error.told("bad_backup") from error


def surplus(backups: Iterable[Backup], now: float) -> list[Backup]:
    """Backups in excess, oldest first; only days and weeks that have one count."""
    days: dict[date, Backup] = {}
    weeks: dict[tuple[int, int], Backup] = {}
    others: dict[str, list[Backup]] = {}
    ordered = sorted(backups, key=lambda backup: (backup.at, backup.name), reverse=True)
    for backup in ordered:
        if backup.kind or backup.at > now + DAY:  # or the clock was wrong
            others.setdefault(backup.kind.partition("-")[0], []).append(backup)
        else:
            day = datetime.fromtimestamp(backup.at, UTC).date()
            days.setdefault(day, backup)
            weeks.setdefault(day.isocalendar()[:2], backup)
    kept = {*list(days.values())[:DAILY], *list(weeks.values())[:WEEKLY]}
    kept.update(backup for group in others.values() for backup in group[:OTHERS])
    return [backup for backup in reversed(ordered) if backup not in kept]


class Backups(Part):
    """The backups of one open journal, in ``backups/`` inside the data directory.

    Args:
        discard: Deletes the graph's file, which holds the bytes of what is deleted.
    """

    def __init__(
        self,
        context: Context,
        directory: Path,
        tombstones: Tombstones,
        discard: Callable[[], Awaitable[object]],
    ) -> None:
        self._directory = directory
        super().__init__(context)
        self._tombstones = tombstones
        self._discard = discard
        self._unpurged = ""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gm-backup")
        self._stop = threading.Event()
        self._job = Supervisor(
            "gm-backup",
            self._step,
            logger,
            "no backup was made, trying again every hour",
            retry=(LOOK,),
        )

    @property
    def problem(self) -> str:
        """Why there is no backup of today, or one holds what it should not; or empty."""
        failed = self._job.problem and f"no backup was made: {self._job.problem}"
        return failed or self._unpurged

    async def start(self) -> None:
        """Make one backup a day."""
        if not self._stop.is_set():
            self._job.start(after=SETTLING)

    async def close(self) -> None:
        """Stop; a copy under way is given up and deleted."""
        self._stop.set()
        await self._job.close()
        await asyncio.to_thread(self._thread.shutdown)

    async def alone(self, work: Callable[[], T]) -> T:
        """Run ``work`` while nothing else touches the backups, or ``ClosedError``."""
        if self._stop.is_set():
            raise ClosedError("the memory is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def list(self) -> list[Backup]:
        """The backups, newest first."""
        return await self.alone(lambda: saved(self._directory))

    async def make(self, kind: str = "manual") -> Backup:
        """Make a backup now and delete those in excess, or raise ``JournalError``."""
        return await self.alone(lambda: self._make(kind))

    async def preview(self, name: str) -> Preview:
        """What restoring a backup would do; see :func:`preview`."""
        self._require_own()
        return await self.alone(lambda: preview(self._directory, name))

    async def restore(self, name: str) -> Backup:
        """Have a backup replace the journal when it is opened next; see :func:`stage`."""
        self._require_own()
        return await self.alone(lambda: stage(self._directory, name, self._now()))

    def _require_own(self) -> None:
        if self._journal.replica:
            raise JournalError("what bots share is restored on its server").told("shared_restore")

    async def due_in(self) -> float:
        """Seconds until the daily backup is due; 0 if it is."""
        now = self._now()
        ages = [now - backup.at for backup in await self.list() if not backup.kind]
        # One from the future, made while the clock was wrong, says nothing.
        youngest = min((age for age in ages if age > -DAY), default=DAY)
        return min(DAY, max(0.0, DAY - youngest))

    async def _step(self) -> float:
        await self.tend()
        return LOOK

    async def tend(self) -> Backup | None:
        """Make the daily backup if it is due; purge closed files and trim the log."""
        made = problem = None
        try:
            made = await self._make_daily()
        except JournalError as error:  # no room for it, say: the rest may need none
            problem = error
        failed, self._unpurged = bool(self.problem), ""
        await self.purge(due=made is not None or failed)
        trim_log = partial(message_retention.trim_log, now=self._now())
        await self._journal.in_slices(trim_log)
        if problem:
            raise problem
        return made

    async def _make_daily(self) -> Backup | None:
        if await self.due_in() or (await self._journal.look(copies.contents)).is_empty:
            return None
        made = await self.make("")
        logger.info("backup %s: %d KiB", made.name, made.size >> 10)
        return made

    async def purge(self, *, due: bool = True) -> None:
        """Take the forgotten and retracted out of all files, if due or a day old."""
        stones = self._tombstones.unfinished
        retracted = await self._journal.look(retraction.open_marks)
        wishes = [stone.at for stone in stones] + list(retracted.values())
        if not (wishes or self._tombstones.stones):
            return
        if not due and min(wishes, default=self._now()) >= self._now() - DAY:
            return
        try:
            await self.alone(lambda: self._purge(retracted, others=bool(stones)))
            await self._discard()
            # What a full disk kept from being done.
            await self._journal.alter(lambda db, _tell: retraction.finish(db))
            with self._journal.long_work():
                if stones:
                    await self._journal.tidy(forget_me.compact)
                if not await forget_me.drain(self._journal, PATIENCE):
                    raise JournalError("the log could not be emptied: somebody is reading it")
            if stones:
                await self._journal.vacuum()
                await asyncio.to_thread(self._tombstones.finish, stones)
        except ClosedError:
            raise
        except (GraphMemoryError, OSError) as error:
            self._unpurged = f"what is to be forgotten is still in some file: {brief(error)}"
            logger.warning("%s; trying again", self._unpurged)
            return
        if self._journal.replica:  # other bots have backups as well
            retracted = {m: at for m, at in retracted.items() if at < self._now() - SHARED}
        closed = retraction.CLOSED
        await self._journal.alter(lambda db, _: retraction.put_marks(db, retracted, closed))

    # ---------------------------------------------------- in the backup thread

    def _purge(self, marks: Collection[str], *, others: bool) -> None:
        for draft in (
            *copies.folder_of(self._directory).glob("*.sqlite3.tmp*"),
            *self._directory.glob("restore-*.tmp*"),
        ):
            draft.unlink(missing_ok=True)
        paths = [backup.path for backup in saved(self._directory)]
        paths += sorted(self._directory.glob("restore-*.sqlite3"))
        forget_me.purge(paths, self._tombstones, marks, self._now(), self._stop)
        if others:
            forget_me.discard_others(self._directory)

    def _make(self, kind: str) -> Backup:
        folder = copies.folder_of(self._directory)
        with failing("the backup failed"):
            folder.mkdir(parents=True, exist_ok=True)
            for draft in folder.glob("*.sqlite3.tmp"):
                copies.remove(draft)  # left by a kill
            self._make_room(folder)
            target = copies.path_for(folder, self._now(), kind)
            try:
                copies.copy(self._journal.path, target, self._stop)
            except DamagedError as error:
                raise advise(self._directory, error) from error
            for backup in surplus(saved(self._directory), self._now()):
                if backup.path != target:
                    backup.path.unlink(missing_ok=True)
        return find(self._directory, target.name)

    def _make_room(self, folder: Path) -> None:
        wanted, spare = copies.size(self._journal.path), saved(self._directory)[MIN_KEPT:]
        copies.require_space(folder, wanted - sum(each.size for each in spare))  # or all in vain
        for backup in reversed(spare):
            try:
                copies.require_space(folder, wanted)
            except JournalError:
                backup.path.unlink(missing_ok=True)
            else:
                return


# --------------------------------------------------------------------- restoring


def stage(directory: Path, name: str, now: float) -> Backup:
    """Have a backup replace the journal at the next :func:`open_journal`. Blocks.

    Raises:
        NotFoundError: There is no such backup.
        JournalError: It cannot be used (``DamagedError``), or there is no room for it.
    """
    backup = find(directory, name)
    target = directory / f"restore-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}.sqlite3"
    what = f"{backup.name} could not be prepared"
    with failing(what), copies.drafting(target, backup.size) as draft:
        shutil.copyfile(backup.path, draft)
        _verified(draft)
        for older in _staged(directory):
            copies.remove(older)
    return backup


async def open_journal(
    directory: Path, now: Callable[[], float], tombstones: Tombstones, server: str = ""
) -> Journal:
    """Carry out a prepared restore, purge what it brings back, open the journal.

    With a ``server`` all that is for the bots together to do: see ``coordination.py``.

    Raises:
        DamagedError: The journal is damaged, foreign or lost; names the newest good backup.
        JournalError: It cannot be used for another reason.
    """
    try:
        await asyncio.to_thread(_prepare, directory, now())
        journal = directory / JOURNAL
        if not server:
            await asyncio.to_thread(forget_me.clean_journal, journal, tombstones, now())
        return await Journal.open(journal, now, server, partial(forget_me.bars, tombstones))
    except DamagedError as error:
        raise await asyncio.to_thread(advise, directory, error) from error


def _prepare(directory: Path, now: float) -> None:
    with failing("the restore could not be carried out"):
        if staged := _staged(directory):
            _put_in_place(directory, staged[-1], now)
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
            _carry_over(journal, staged)
            if not held.is_empty:  # it becomes a backup: a rename, which needs no room
                folder = copies.folder_of(directory)
                folder.mkdir(parents=True, exist_ok=True)
                journal.replace(copies.path_for(folder, now, "restore"))
                sync(folder)
    else:
        _set_aside(directory, staged)
    staged.replace(journal)
    sync(directory)
    for older in _staged(directory):
        copies.remove(older)
    logger.info("the journal was restored (%s)", staged.name)


def _carry_over(journal: Path, staged: Path) -> None:
    """Let who asked for a pause keep it, and what was retracted stay so."""
    with (
        failing("pauses and withdrawals could not be carried over"),
        closing(sqlite3.connect(journal, isolation_level=None)) as old,
        closing(sqlite3.connect(staged, isolation_level=None)) as new,
    ):
        new.execute("BEGIN IMMEDIATE")
        pauses.carry(old, new)
        retraction.carry(old, new)
        new.execute("COMMIT")


def _set_aside(directory: Path, staged: Path) -> None:
    """Move a damaged journal away, with its log."""
    match = _STAGED.fullmatch(staged.name)
    # Named after the restore: a kill between two renames does not part the files.
    stem = directory / f"journal-damaged-{match[1] if match else ''}.sqlite3"
    parts = zip(copies.companions(directory / JOURNAL), copies.companions(stem), strict=True)
    for source, target in parts:
        if source.exists():
            source.replace(target)
    sync(directory)


def _staged(directory: Path) -> list[Path]:
    """Restores that were prepared, oldest first."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if _STAGED.fullmatch(path.name))


def advise(directory: Path, error: DamagedError) -> DamagedError:
    """The error with what can be done about it. Blocks."""
    for backup in saved(directory):
        try:
            held = copies.verify(backup.path)
        except JournalError:
            continue
        advice = (
            f"the newest good backup is of {moment(backup.at, UTC)} UTC ({held.messages} messages,"
            f" {held.facts} facts): {COMMAND} {backup.name} brings it back, the damaged file is"
            " kept"
        )
        return DamagedError(f"{error}; {advice}", backup.name)
    advice = "there is no good backup; move it, its -wal and backups/ away to begin anew"
    return DamagedError(f"{error}; {advice}")
