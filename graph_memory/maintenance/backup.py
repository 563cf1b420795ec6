"""Backups: verified copies of the journal, daily and on demand.

Copies are made in a thread and on a connection of their own, in small steps: messages go
on being stored meanwhile. With the daily one, closed files are purged of who is forgotten.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ..context import Context
from ..deletion import Tombstones, erasure, forget_me, message_retention, retraction
from ..errors import ClosedError, DamagedError, GraphMemoryError, JournalError, brief
from ..retention import DAY
from ..store import copies
from ..supervisor import Supervisor
from . import restore
from .restore import Backup, Preview

T = TypeVar("T")

logger = logging.getLogger("graph_memory.maintenance")

SETTLING = 60.0
"""Seconds after the start before the first look: starting is busy enough."""
LOOK = 3600.0
"""Seconds between two looks at whether a backup is due, and until a failed one is retried."""
PATIENCE = 60.0
"""Seconds to wait for readers of what the journal held before."""
MIN_KEPT = 2
"""Backups that are never deleted to make room for a new one."""


class Backups:
    """The backups of one open journal.

    Args:
        directory: The data directory; backups are in ``backups/`` inside it.
        tombstones: Whom the copies are purged of.
        rebuild: Builds the graph's file anew: what is deleted from it leaves its bytes there.
    """

    def __init__(
        self,
        context: Context,
        directory: Path,
        tombstones: Tombstones,
        rebuild: Callable[[], Awaitable[object]],
    ) -> None:
        self._directory = directory
        self._journal = context.journal
        self._now = context.now
        self._tombstones = tombstones
        self._rebuild = rebuild
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
        """Why there is no backup of today, or one holds what it should not, or empty."""
        failed = self._job.problem and f"no backup was made: {self._job.problem}"
        return failed or self._unpurged

    async def start(self) -> None:
        """Make one backup a day; a restart does not begin the wait anew."""
        if not self._stop.is_set():
            self._job.start(after=SETTLING)

    async def close(self) -> None:
        """Stop; a copy that is under way is given up and leaves nothing behind."""
        self._stop.set()
        await self._job.close()
        await asyncio.to_thread(self._thread.shutdown)

    async def alone(self, work: Callable[[], T]) -> T:
        """Run ``work`` while nothing else touches the backups, or ``ClosedError``."""
        if self._stop.is_set():
            raise ClosedError("the memory is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def list(self) -> list[Backup]:
        """The backups there are, newest first."""
        return await self.alone(lambda: restore.saved(self._directory))

    async def make(self, kind: str = "manual") -> Backup:
        """Make a backup now, and delete those in excess.

        Raises:
            JournalError: It could not be made: no room, not writable, a damaged journal.
            ClosedError: This was closed meanwhile.
        """
        return await self.alone(lambda: self._make(kind))

    async def preview(self, name: str) -> Preview:
        """What restoring a backup would do; see ``restore.preview``."""
        return await self.alone(lambda: restore.preview(self._directory, name))

    async def restore(self, name: str) -> Backup:
        """Have a backup take the journal's place at the next start; see ``restore.stage``."""
        return await self.alone(lambda: restore.stage(self._directory, name, self._now()))

    async def staged(self) -> float | None:
        """When the restore was asked for that waits for the next start, if any."""
        return await self.alone(lambda: restore.staged(self._directory))

    async def unstage(self) -> bool:
        """Take back a restore that waits; false if there was none."""
        return await self.alone(lambda: restore.unstage(self._directory))

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
        """Make the daily backup if it is due and there is something; purge and trim."""
        made = None
        if not await self.due_in() and not (await self._journal.look(copies.contents)).is_empty:
            made = await self.make("")
            logger.info("backup %s: %d KiB", made.name, made.size >> 10)
        failed, self._unpurged = bool(self.problem), ""
        await self.purge(due=made is not None or failed)
        await message_retention.trim_log(self._journal, self._now())
        return made

    async def purge(self, *, due: bool = True) -> None:
        """Let no file hold who is to be forgotten or what was retracted.

        Args:
            due: Do it now; otherwise only if the oldest wish is a day old.
        """
        stones = self._tombstones.unfinished
        retracted = await self._journal.look(retraction.open_marks)
        wishes = [stone.at for stone in stones] + list(retracted.values())
        if not (wishes or self._tombstones.stones):
            return
        if not due and min(wishes, default=self._now()) >= self._now() - DAY:
            return
        try:
            await self.alone(lambda: self._purge(retracted, others=bool(stones)))
            await self._rebuild()
            if stones:
                with self._journal.long_work():
                    await self._journal.tidy(erasure.compact)
                    if not await erasure.drain(self._journal, PATIENCE):
                        raise JournalError("the log could not be emptied: somebody is reading it")
                await asyncio.to_thread(self._tombstones.finish, stones)
        except ClosedError:
            raise
        except (GraphMemoryError, OSError) as error:
            self._unpurged = f"what is to be forgotten is still in some file: {brief(error)}"
            logger.warning("%s; trying again", self._unpurged)
            return
        await self._journal.alter(lambda db, _tell: retraction.close(db, retracted))

    # ---------------------------------------------------- in the backup thread

    def _purge(self, marks: Collection[str], *, others: bool) -> None:
        for draft in (
            *copies.folder_of(self._directory).glob("*.sqlite3.tmp*"),
            *self._directory.glob("restore-*.tmp*"),
        ):
            draft.unlink(missing_ok=True)
        paths = [backup.path for backup in restore.saved(self._directory)]
        paths += sorted(self._directory.glob("restore-*.sqlite3"))
        forget_me.purge(paths, self._tombstones, marks, self._now(), self._stop)
        if others:
            forget_me.discard_others(self._directory)

    def _make(self, kind: str) -> Backup:
        folder = copies.folder_of(self._directory)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for draft in folder.glob("*.sqlite3.tmp"):
                copies.remove(draft)  # left by a kill
            self._make_room(folder)
            target = copies.path_for(folder, self._now(), kind)
            copies.copy(self._journal.path, target, self._stop)
            for backup in restore.surplus(restore.saved(self._directory)):
                if backup.path != target:
                    backup.path.unlink(missing_ok=True)
        except DamagedError as error:
            raise restore.advise(self._directory, error) from error
        except OSError as error:
            raise JournalError(f"the backup failed: {error}") from error
        return restore.find(self._directory, target.name)

    def _make_room(self, folder: Path) -> None:
        wanted = copies.size(self._journal.path)
        for backup in reversed(restore.saved(self._directory)[MIN_KEPT:]):
            try:
                copies.require_space(folder, wanted)
            except JournalError:
                backup.path.unlink(missing_ok=True)
            else:
                return
