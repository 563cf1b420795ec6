"""Transfer service: exports, waiting files, imports and their undo."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import AsyncIterable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..context import Context, Part
from ..errors import ClosedError, JournalError
from ..learning import Learning
from ..model import Asker
from ..store import Rows
from ..store.connection import reading
from ..supervisor import NEVER, Progress, Supervisor
from . import files, import_runs
from .export import Exported, lines_for, write_export
from .files import Stop
from .import_runs import Run, saved
from .importer import Brought, Importer, Plan
from .sources import Options

logger = logging.getLogger("graph_memory.transfer")

MAX_OWN = 64 << 20
"""Bytes that one person may take out at a time."""
HANDED_OVER = 600.0
"""Seconds after which a file that was to be handed over has been, or never is."""
PAUSE = 5.0
"""Seconds between two looks at whether there is time to learn."""
_BEGUN = "importing"
"""Note of the file that is being imported, while it is."""
SHARE = 0.5
"""Of what may be spent in a day; the rest is for what is being said."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking an import back did.

    Attributes:
        messages: How many messages went.
        kept: How many rows stayed because they were altered since.
    """

    messages: int
    kept: int


class TransferService(Part):
    """Brings memories in and takes them out.

    Attributes:
        platforms: Platform type by id, as the host's settings have them; who opens a memory
            for a host puts that here.
    """

    def __init__(self, directory: Path, context: Context, learning: Learning) -> None:
        self._directory = directory
        super().__init__(context)
        self._learning = learning
        self.platforms: Callable[[], Mapping[str, str]] = dict
        self._began = time.time()
        self._stop = Stop()
        self._lock = asyncio.Lock()
        self._previews: dict[tuple[Path, str, str], asyncio.Task[Plan]] = {}
        text = "what a kill left could not be swept"
        self._sweeping = Supervisor("gm-transfer", self._sweep, logger, text)
        text = "what was imported is not learned at the moment"
        self._learner = Supervisor("gm-import-learning", self.learn, logger, text, retry=(PAUSE,))

    async def start(self) -> None:
        """Delete what a kill left half done, and say if an import was interrupted."""
        self._sweeping.start()
        self._learner.start()

    async def _sweep(self) -> None:
        await asyncio.to_thread(files.sweep, self._directory, self._began)
        running = {run.name or run.format for run in await self.runs() if run.state == "running"}
        for name in ({await self._journal.note(_BEGUN)} | running) - {None, ""}:
            interrupted = JournalError("it was interrupted").told("interrupted")
            self._journal.works.fail("import", str(name), interrupted)
        await self._journal.set_note(_BEGUN, "")
        async with self._lock:
            await self._finish_undoing()

    async def close(self) -> None:
        """Stop; an import that is under way is complete once it is done again."""
        self._stop.set()
        await self._learner.close()
        await self._sweeping.close()

    # --------------------------------------------------------------------- out

    async def export(self, person: str = "", facts: Collection[str] = ()) -> Exported:
        """Write everything, or one person or some facts (by id), into ``exports/``.

        Raises:
            JournalError: It could not be read or written; there is no file then.
        """
        about = self._directory, self._journal.path, person, self._now(), self._stop.look, facts
        return await asyncio.to_thread(write_export, *about)

    async def own(self, asker: Asker) -> tuple[Path, bool]:
        """Write what an asker may see into ``exports/``; and whether that is all of it.

        Raises:
            JournalError: It cannot be written.
        """
        context = self._context
        policy, attendance = context.settings.policy, context.attendance
        relations, now = context.settings.relations(context.settings.language), self._now()

        def work() -> tuple[Path, bool]:
            files.sweep(self._directory, time.time() - HANDED_OVER)
            path = files.target(self._directory, files.MINE, now)
            size = 0
            with reading(self._journal.path) as db, files.writing(path) as file:
                for text in lines_for(db, asker, policy, attendance, context.zone, now, relations):
                    self._stop.look()
                    size += len(text.encode())
                    if size > MAX_OWN:
                        break
                    file.write(text)
            return path, size <= MAX_OWN

        return await asyncio.to_thread(work)

    # ---------------------------------------------------------------------- in

    async def waiting(self) -> list[Path]:
        """The files that wait in ``imports/``."""
        return await asyncio.to_thread(files.waiting, self._directory)

    async def receive(self, name: str, pieces: AsyncIterable[bytes]) -> Path:
        """Put a file that comes in pieces into ``imports/``, whole or not at all.

        Raises:
            FormatError: ``name`` is none, the file is too large, or too many wait already.
            JournalError: It could not be written.
        """
        file = await asyncio.to_thread(files.Incoming, self._directory, name)
        try:
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
            self._previews.clear()  # of another file of this name
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
        kind = await asyncio.to_thread(files.detect, path, format)
        options = replace(options, platforms=self.platforms())
        about = (self._directory, self._journal, path, kind, options, self._now)
        return Importer(*about, self._context.settings.remembers, learns, self._stop)

    async def preview(self, importer: Importer, seconds: float) -> Plan | None:
        """What an import would bring, if that is known in some seconds; ask again if not.

        Raises:
            GraphMemoryError: As :meth:`Importer.preview`.
        """
        key, works = (importer.path, importer.format, importer.options.key), self._journal.works
        task = self._previews.get(key)
        if task is None:
            task = works.begin(works.run("preview", importer.preview))
            self._previews[key] = task
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            return None
        self._previews.pop(key, None)
        return task.result()

    async def bring(self, importer: Importer) -> Brought:
        """Run an import, after any other.

        Raises:
            GraphMemoryError: As :meth:`Importer.run`.
        """

        async def work(progress: Progress) -> Brought:
            async with self._lock:
                await self._finish_undoing()
                await self._journal.set_note(_BEGUN, importer.path.name)
                try:
                    brought = await importer.run(progress)
                except ClosedError:  # the next start tells of it, as after a kill
                    raise
                except Exception:
                    await self._journal.set_note(_BEGUN, "")
                    raise
                await self._journal.set_note(_BEGUN, "")
                return brought

        brought = await self._journal.works.run("import", work, importer.path.name)
        await self._learning.pauses.load()
        self._learning.look_again()
        self._learner.wake()
        return brought

    async def runs(self) -> list[Run]:
        """All imports, oldest first."""
        return await self._journal.look(saved)

    async def undo(self, id: str = "") -> Undone:
        """Take an import back, the newest without an id; what was altered since stays.

        Raises:
            NotFoundError: There is none.
        """
        async with self._lock:
            return await self._undo(id)

    async def _undo(self, id: str) -> Undone:
        async def work(progress: Progress) -> Undone:
            run, plan = await self._journal.survey(lambda db: import_runs.plan_undo(db, id))
            undo = partial(import_runs.undo, run=run, plan=plan, at=self._now(), steps=progress)
            kept = await self._journal.in_slices(undo)
            return Undone(len(plan.ids), kept)

        return await self._journal.works.run("undo", work)

    async def _finish_undoing(self) -> None:
        """Go on with what a kill, or a full disk, left half taken back."""
        for run in await self._journal.look(saved):
            if run.state == "undoing":
                await self._undo(run.id)

    # ------------------------------------------------------------------- learn

    async def learn(self) -> float:
        """Let one more imported batch be learned, if this is the time.

        Returns:
            Seconds until the next look; :data:`NEVER` if nothing is left.
        """
        batch = await self._journal.look(next_batch)
        if batch is None:
            return NEVER
        if any("going:" in key for key, _ in await self._journal.read(Rows.erasures)):
            return PAUSE  # somebody's words are not to be learned any more
        today = self._context.budget.today()
        is_dear = today.limit and today.tokens >= today.limit * SHARE
        if not is_dear and not (await self._learning.status()).waiting:
            query = "UPDATE batch SET state = 'waiting', attempts = 0, next_at = 0 WHERE id = ?"
            await self._journal.alter(lambda db, _tell: db.execute(query, (batch,)))
            self._learning.look_again()
        return PAUSE


def next_batch(db: sqlite3.Connection) -> int | None:
    """The first batch of an import that is to be learned and was not yet."""
    runs = [run.id for run in saved(db) if run.learns and run.state == "done"]
    found = db.execute(
        "SELECT min(id) FROM batch WHERE import IN (SELECT value FROM json_each(?))"
        " AND import != '' AND state = 'learned' AND error = ''"
        " AND NOT EXISTS (SELECT 1 FROM change WHERE batch = batch.id)"
        " AND EXISTS (SELECT 1 FROM message WHERE batch = batch.id)",
        (json.dumps(runs),),
    ).fetchone()
    return int(found[0]) if found[0] is not None else None
