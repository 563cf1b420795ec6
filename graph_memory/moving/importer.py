"""Bringing something in: look first, then do it; a kill in between costs nothing.

::

    preview: source → stage (checked, without the forgotten) → what it would bring
    run:     stage → memory, step by step → learning, if wanted
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..deletion import erasure
from ..errors import FormatError, JournalError
from ..journal import Journal, arrivals, contents
from ..journal.snapshot import reading
from . import files
from .deduplication import Held
from .history import History
from .merge import Merge, Progress, match
from .runs import Run, saved
from .sources.base import Options, Source, Stop, digest_of
from .stage import FOLDER, Stage

logger = logging.getLogger("graph_memory.moving")

EXAMPLES = 5
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would bring.

    Attributes:
        run: Its id.
        format: What the source is.
        messages, new: How many messages the source holds, and how many are not here yet.
        rows: How many rows of each kind.
        chats: Title or circle, persona, and how many messages, of each Session.
        since, until: First and last message; ``None`` if there is none.
        examples: Name and text of a few messages.
        skipped: How much was left out, by reason: ``origin`` (nobody knows which chat),
            ``empty``, ``double``, ``system``, ``recalled``, ``time``.
        forgotten: How many people are left out because they asked to be forgotten.
        batches, tokens: What learning all of it would take of the model, about.
        state: ``new``, or ``running`` or ``done`` if it was begun or brought in before.
    """

    run: str
    format: str
    messages: int
    new: int
    rows: dict[str, int]
    chats: list[tuple[str, str, int]]
    since: float | None
    until: float | None
    examples: list[tuple[str, str]]
    skipped: dict[str, int] = field(default_factory=dict)
    forgotten: int = 0
    batches: int = 0
    tokens: int = 0
    state: str = "new"


@dataclass(frozen=True, slots=True)
class Brought:
    """What an import brought that was not here.

    Attributes:
        run: The import, with what earlier attempts at it brought.
    """

    run: Run
    messages: int
    rows: int


class Importer:
    """One import of one source.

    Args:
        directory: The data directory.
        source: What to import.
        options: What the owner says about it.
        learns: Whether it is to be learned from, in the background.
        now: Clock.
        stop: Set it to have either end soon.
    """

    def __init__(
        self,
        directory: Path,
        journal: Journal,
        source: Source,
        options: Options,
        *,
        now: Callable[[], float],
        learns: bool = False,
        stop: Stop | None = None,
    ) -> None:
        self._directory = directory
        self._journal = journal
        self._source = source
        self._options = options
        self._now = now
        self._learns = learns
        self._stop = stop or Stop()

    async def preview(self) -> Plan:
        """Read and check all of the source; nothing is written to the memory.

        Raises:
            FormatError: It is not what it should be: what is wrong, and where.
            JournalError: There is no room, or it cannot be read.
        """
        marks = await self._journal.look(erasure.marks)
        stage = await asyncio.to_thread(self._staged, marks)
        try:
            if stage.about["marks"] != marks:
                raise JournalError("somebody was forgotten meanwhile; look again")
            await match(stage, self._journal)
            plan = await self._journal.look(lambda db: _plan(db, stage))
            return replace(plan, state=await self._state(plan.run))
        finally:
            await asyncio.to_thread(stage.close)

    async def run(self, progress: Progress | None = None) -> Brought:
        """Bring everything in that is not here yet. Harmless a second time.

        Raises:
            FormatError: As :meth:`preview`; nothing has changed.
            JournalError: The journal cannot be written; what came in so far stays, and
                the next attempt goes on from there.
        """
        marks = await self._journal.look(erasure.marks)
        stage = await asyncio.to_thread(self._staged, marks)
        id = str(stage.about["run"])
        found = next((run for run in await self._journal.look(saved) if run.id == id), None)
        run = found if found and found.state == "running" else _begun(found, stage, self._now())
        run.learns = run.learns or self._learns
        done = found and found.state == "done"
        before = (run.count, run.rows) if done else (0, 0)
        await resume(stage, self._journal, run, self._now, progress)
        return Brought(run, run.count - before[0], run.rows - before[1])

    async def _state(self, id: str) -> str:
        runs = await self._journal.look(saved)
        return next((run.state for run in runs if run.id == id), "new")

    # ----------------------------------------------------------------- staging

    def _staged(self, marks: dict[str, float]) -> Stage:
        """The stage of this source: made before, or now. Blocks."""
        key = f"{self._source.format}:{self._options.key}"
        try:
            id = digest_of(self._source.path, key, self._stop)
            path = self._directory / FOLDER / f"{id}.sqlite3"
            with reading(self._journal.path) as db:
                extent = arrivals.extent(db)
                stage = Stage.open(path)
                if stage is not None and stage.is_current(marks, extent):
                    return stage
                if stage is not None:
                    stage.discard()
                files.require_room(self._directory, self._source.path)
                return self._stage(path, id, {"marks": marks, "extent": extent}, db)
        except OSError as error:
            raise FormatError(f"the file cannot be read: {error}") from error
        except UnicodeEncodeError:
            raise FormatError("half of a character (a lone surrogate) is no text") from None

    def _stage(self, path: Path, id: str, known: dict[str, Any], db: sqlite3.Connection) -> Stage:
        stage = Stage.make(path)

        def held(circle: str) -> Iterator[Held]:
            return map(Held._make, arrivals.said_around(db, circle))

        try:
            history = History(stage, self._source.format, self._options.zone, held)
            self._source.fill(stage, history, self._options, self._stop)
            about: dict[str, Any] = {
                "run": id,
                "format": self._source.format,
                "skipped": dict(history.skipped),
                "batches": history.batches,
                "tokens": history.tokens,
                "forgotten": stage.clean(self._directory),
                **known,
            }
            stage.about |= about
            stage.seal()
        except BaseException:
            stage.discard()
            raise
        return stage


def _begun(found: Run | None, stage: Stage, at: float) -> Run:
    """A run that begins; of one that was done before it keeps what there is to undo."""
    fresh = Run(str(stage.about["run"]), str(stage.about["format"]), at)
    if found is None or found.state == "undone":
        return fresh
    return replace(found, state="running", cursor=fresh.cursor, keeps=False)


async def resume(
    stage: Stage,
    journal: Journal,
    run: Run,
    now: Callable[[], float],
    progress: Progress | None = None,
) -> None:
    """Go on with an import until all is in; its stage is deleted then."""
    try:
        await Merge(stage, journal, run, now).run(progress)
    except BaseException:
        stage.close()
        raise
    await asyncio.to_thread(stage.discard)
    logger.info("import %s: %d messages, %d rows came in", run.id, run.count, run.rows)


def _plan(db: sqlite3.Connection, stage: Stage) -> Plan:
    sessions = contents.sessions(stage.db)
    counts = dict(
        stage.db.execute("SELECT session, count(*) FROM message GROUP BY session").fetchall()
    )
    since, until, messages = stage.db.execute(
        "SELECT min(at), max(at), count(*) FROM message"
    ).fetchone()
    rows = dict(stage.db.execute("SELECT kind, count(*) FROM row GROUP BY kind").fetchall())
    about = stage.about
    return Plan(
        run=str(about["run"]),
        format=str(about["format"]),
        messages=messages,
        new=_new(db, stage),
        rows=rows,
        chats=[
            (each.title or each.circle, each.persona, counts.get(id, 0))
            for id, each in sorted(sessions.items(), key=lambda item: -counts.get(item[0], 0))
        ],
        since=since,
        until=until,
        examples=[(each.name, each.text) for each in stage.examples(EXAMPLES)],
        skipped=about["skipped"],
        forgotten=about["forgotten"],
        batches=about["batches"],
        tokens=about["tokens"],
    )


def _new(db: sqlite3.Connection, stage: Stage) -> int:
    """How many messages are not here yet, about: twins of one another count once."""
    new = after = 0
    while some := stage.unmoved(after, _PAGE):
        after = some[-1].id
        for message in some:
            new += arrivals.by_reference(db, message) is None and not stage.twins(message)
    return new
