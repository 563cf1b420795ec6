"""The door of this room: what the service opens and closes."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from ..errors import ClosedError, GraphMemoryError, NotFoundError, brief
from ..journal import Journal, arrivals, copies
from ..journal.snapshot import reading
from ..learn import Learning
from ..model import Asker
from ..scope import Attendance, Policy
from ..token_budget import TokenBudget
from . import files, runs, visible
from .export import Exporter
from .importer import Brought, Importer, resume
from .merge import OWNER, Progress
from .runs import Run
from .sources import Options, detect
from .sources.base import Stop
from .stage import FOLDER, Stage
from .study import Study

logger = logging.getLogger("graph_memory.moving")

MAX_OWN = 64 << 20
"""Bytes that one person may take out at a time."""
HANDED_OVER = 600.0
"""Seconds after which a file that was to be handed over has been, or never is."""
KEPT = 86_400.0
"""Seconds for which what was looked at but not imported is kept."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking an import back did.

    Attributes:
        messages: How many messages went.
        kept: How many rows stayed because they were altered since.
    """

    run: Run
    messages: int
    kept: int


class Mover:
    """Brings memories in and takes them out.

    Attributes:
        study: Learns what was imported.
        problem: Why the last import stopped; empty if it did not.
        failure: The error that said so.

    Args:
        directory: The data directory.
    """

    def __init__(
        self,
        directory: Path,
        journal: Journal,
        learning: Learning,
        spending: TokenBudget,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.study = Study(journal, learning, spending)
        self._directory = directory
        self._journal = journal
        self._learning = learning
        self._now = now
        self._began = time.time()
        self._stop = Stop()
        self._lock = asyncio.Lock()
        self._resuming: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Brought]] = set()
        self._progress: tuple[int, int] | None = None
        self.problem = ""
        self.failure: Exception | None = None

    @property
    def progress(self) -> tuple[int, int] | None:
        """How many pieces of an import are done, of how many; ``None`` while none is under way
        or has been begun."""
        return self._progress or ((0, 0) if self._tasks else None)

    async def start(self) -> None:
        """Go on with what a kill interrupted."""
        self._resuming = asyncio.create_task(self._resume(), name="gm-moving")
        self.study.start()

    async def close(self) -> None:
        """Stop; an import goes on with the next start."""
        self._stop.set()
        await self.study.close()
        resuming, self._resuming = self._resuming, None
        tasks = [*self._tasks, *([resuming] if resuming else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --------------------------------------------------------------------- out

    def exporter(self, person: str = "") -> Exporter:
        """Takes everything out, or what there is of one person."""
        return Exporter(self._directory, self._journal, person, self._now, self._stop)

    async def own(self, asker: Asker, policy: Policy, attendance: Attendance, zone: tzinfo) -> Path:
        """Write what an asker may see into ``exports/``.

        Raises:
            JournalError: It cannot be written.
        """

        def work() -> Path:
            files.sweep(self._directory, time.time() - HANDED_OVER)
            path = files.target(self._directory, files.MINE, self._now())
            size = 0
            with reading(self._journal.path) as db, files.writing(path) as file:
                for text in visible.lines(db, asker, policy, attendance, zone):
                    self._stop.look()
                    size += len(text)
                    if size > MAX_OWN:
                        break
                    file.write(text)
            return path

        return await asyncio.to_thread(work)

    # ---------------------------------------------------------------------- in

    async def waiting(self) -> list[Path]:
        """The files that wait in ``imports/``."""
        return await asyncio.to_thread(files.waiting, self._directory)

    async def receive(self, name: str, pieces: AsyncIterable[bytes]) -> Path:
        """Put a file that comes in pieces into ``imports/``.

        Returns:
            Where it is; nothing is there if ``pieces`` broke off.

        Raises:
            FormatError: ``name`` is none, the file is too large, or too many wait already.
            JournalError: It could not be written.
        """
        file = await asyncio.to_thread(files.Incoming, self._directory, name)
        try:
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
            return await asyncio.to_thread(file.keep)
        finally:
            await asyncio.to_thread(file.drop)

    async def discard(self, name: str) -> None:
        """Delete a file that waits in ``imports/``; what was imported from it stays.

        Raises:
            NotFoundError: There is none of this name.
            JournalError: It cannot be deleted.
        """
        await asyncio.to_thread(files.discard, self._directory, name)

    async def importer(
        self, name: str, options: Options, *, format: str = "", learns: bool = False
    ) -> Importer:
        """Brings in the file that an owner names.

        Raises:
            FormatError: There is no such file, or nobody knows its kind.
        """
        path = await asyncio.to_thread(files.find, self._directory, name)
        source = await asyncio.to_thread(detect, path, format)
        await asyncio.to_thread(self._tidy)
        return Importer(
            self._directory,
            self._journal,
            source,
            options,
            now=self._now,
            learns=learns,
            stop=self._stop,
        )

    def begin(self, importer: Importer) -> asyncio.Task[Brought]:
        """Run an import in the background, after any other; see :attr:`progress`."""
        task = asyncio.create_task(self.bring(importer), name="gm-import")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def bring(self, importer: Importer, progress: Progress | None = None) -> Brought:
        """Run an import, after any other.

        Raises:
            GraphMemoryError: As :meth:`Importer.run`.
        """
        async with self._lock:
            with self._watched(progress) as told:
                brought = await importer.run(told)
        self._arrived()
        return brought

    @contextmanager
    def _watched(self, progress: Progress | None = None) -> Iterator[Progress]:
        """Keep account of an import under way, and of why it stopped."""

        def told(done: int, total: int) -> None:
            self._progress = done, total
            if progress:
                progress(done, total)

        self._progress, self.problem = (0, 0), ""
        try:
            yield told
        except Exception as error:
            self.problem = brief(error)
            self.failure = error
            raise
        finally:
            self._progress = None

    def _arrived(self) -> None:
        self._learning.look_again()
        self.study.look()

    async def runs(self) -> list[Run]:
        """All imports, oldest first."""
        return await self._journal.look(runs.saved)

    async def undo(self, id: str = "") -> Undone:
        """Take an import back: what it brought goes, with what was learned from it alone.

        What was altered since stays.

        Args:
            id: Of the run; empty takes the newest that there is.

        Raises:
            NotFoundError: There is none.
        """
        async with self._lock:
            done = await self._journal.alter(lambda db, tell: self._take_back(db, id, tell))
            await asyncio.to_thread(copies.remove, self._stage_of(done.run.id))
        return done

    def _take_back(self, db: sqlite3.Connection, id: str, tell: arrivals.Tell) -> Undone:
        found = [
            run
            for run in runs.saved(db)
            if id in ("", run.id) and (run.messages or run.changes or run.state == "running")
        ]
        if not found:
            raise NotFoundError("there is no import to undo")
        run, at = found[-1], self._now()
        numbers = [n for first, last in run.changes for n in range(first, last + 1)]
        untold: set[str] = set()
        kept = sum(arrivals.take_back(db, n, OWNER, at, tell, untold) for n in reversed(numbers))
        gone = arrivals.depart(
            db,
            [(first, last) for first, last in run.messages],
            [(first, last) for first, last in run.batches],
            untold,
            OWNER,
            at,
            tell,
            run.id,
        )
        run.state, run.unlearned = "undone", []
        run.messages, run.batches, run.changes = [], [], []
        run.save(db)
        return Undone(run, gone, kept)

    # ------------------------------------------------------------------ resume

    def _stage_of(self, id: str) -> Path:
        return self._directory / FOLDER / f"{id}.sqlite3"

    async def _resume(self) -> None:
        """Finish what was begun; what cannot be finished waits for the owner."""
        try:
            await asyncio.to_thread(files.sweep, self._directory, self._began)
            for run in await self.runs():
                if run.state != "running":
                    continue
                stage = await asyncio.to_thread(Stage.open, self._stage_of(run.id))
                if stage is None:
                    logger.warning("import %s was interrupted; import the file again", run.id)
                    continue
                async with self._lock:
                    with self._watched() as told:
                        await resume(stage, self._journal, run, self._now, told)
                self._arrived()
        except ClosedError:
            return
        except (GraphMemoryError, sqlite3.Error, OSError) as error:
            logger.warning("an import that was interrupted does not go on: %s", error)

    def _tidy(self) -> None:
        """Delete what was looked at long ago and never imported."""
        with reading(self._journal.path) as db:
            running = {run.id for run in runs.saved(db) if run.state == "running"}
        for path in (self._directory / FOLDER).glob("*.sqlite3"):
            if path.stem not in running and _is_old(path):
                copies.remove(path)


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > KEPT
