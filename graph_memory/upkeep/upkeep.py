"""Archive what has faded, delete what stayed archived, in slices that delay nobody.

Every slice is one change, resolved against the newest state: a fact that was used since
it was looked up stays. So everything here can be undone, and a kill loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from ..errors import ClosedError, GraphMemoryError
from ..journal import Draft, Journal, Rows, catalogue
from ..library import FactLine, Library
from ..model import Entity, Fact, Mention, Name, Status, is_entity
from ..retention import DAY
from ..settings import Settings

logger = logging.getLogger("graph_memory.upkeep")

ACTOR = "upkeep"
SLICE = 200
"""Facts in one change."""
RETRY = 600.0
"""Seconds until a run that failed (the disk being full, say) is tried again."""
GRACE = 90 * DAY
"""How long archived facts can be restored, and superseded ones stay in use."""
_LAST_RUN = "upkeep.last_run"


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did, in facts."""

    archived: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would be forgotten within ``days``: how many facts, and the weakest of them."""

    days: int
    total: int
    lines: list[FactLine]


class Upkeep:
    """The periodic run and what it would do."""

    def __init__(
        self,
        journal: Journal,
        library: Library,
        settings: Settings,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._journal = journal
        self._library = library
        self._settings = settings
        self._now = now
        self._task: asyncio.Task[None] | None = None
        self.last: Report | None = None

    async def start(self) -> None:
        """Run every ``prune_interval`` hours; a restart does not begin the wait anew."""
        if self._settings.prune_interval and self._task is None:
            self._task = asyncio.create_task(self._repeat(), name="gm-upkeep")

    async def close(self) -> None:
        """Stop after the change under way."""
        task, self._task = self._task, None
        if task:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def last_run(self) -> float | None:
        """When the last run ended, seconds since the epoch."""
        noted = await self._journal.note(_LAST_RUN)
        return float(noted) if noted else None

    async def _repeat(self) -> None:
        is_well = True
        while True:
            try:
                await asyncio.sleep(await self._due_in())
                await self.run()
                is_well = True
            except ClosedError:
                return
            except GraphMemoryError as error:
                if is_well:
                    logger.warning("upkeep failed and will be tried again: %s", error)
                is_well = False
                await asyncio.sleep(RETRY)

    async def _due_in(self) -> float:
        """Seconds until the next run, which are never more than an interval."""
        interval = self._settings.prune_interval * 3600.0
        last = await self.last_run()
        if last is None:  # a first run waits a whole interval too
            await self._journal.set_note(_LAST_RUN, str(self._now()))
            return interval
        # A clock that was set back does not make it wait longer.
        return max(5.0, min(interval, last + interval - self._now()))

    async def run(self) -> Report:
        """Archive what has faded or was superseded long ago, delete what was archived long ago."""
        archived = await self._slices(self._faded, self._archive)
        archived += await self._slices(self._replaced, self._archive)
        deleted = await self._slices(self._expired, self._delete)
        await self._journal.set_note(_LAST_RUN, str(self._now()))
        self.last = Report(archived, deleted)
        if archived or deleted:
            logger.info("upkeep: %d facts archived, %d deleted", archived, deleted)
        return self.last

    async def preview(
        self, days: Sequence[int] = (0, 30, 90, 365), limit: int = 20
    ) -> list[Forecast]:
        """What the settings would forget within so many days, if nothing is used meanwhile."""
        forecasts = []
        for span in days:
            before = self._now() + span * DAY
            facts, total = await self._journal.look(
                lambda db, before=before: catalogue.fading(  # type: ignore[misc]
                    db,
                    before,
                    self._settings.min_importance_threshold,
                    self._settings.time_decay_rate,
                    limit,
                )
            )
            forecasts.append(Forecast(span, total, await self._library.lines(facts)))
        return forecasts

    # ------------------------------------------------------------------ slices

    async def _slices(
        self,
        find: Callable[[], Awaitable[list[Fact]]],
        resolve: Callable[[Rows, list[Fact]], Draft],
    ) -> int:
        done = 0
        while facts := await find():
            change = await self._journal.commit(lambda rows, facts=facts: resolve(rows, facts))  # type: ignore[misc]
            touched = sum(1 for op in change.ops if op.kind == Fact.kind) if change else 0
            if not touched:  # all of them were used or changed meanwhile
                break
            done += touched
            await asyncio.sleep(0)
        return done

    async def _faded(self) -> list[Fact]:
        facts, _ = await self._journal.look(
            lambda db: catalogue.fading(
                db,
                self._now(),
                self._settings.min_importance_threshold,
                self._settings.time_decay_rate,
                SLICE,
            )
        )
        return facts

    async def _replaced(self) -> list[Fact]:
        return await self._journal.look(
            lambda db: catalogue.superseded_before(db, self._now() - GRACE, SLICE)
        )

    async def _expired(self) -> list[Fact]:
        return await self._journal.look(
            lambda db: catalogue.archived(db, self._now() - GRACE, SLICE)
        )

    def _archive(self, rows: Rows, facts: list[Fact]) -> Draft:
        """Archive those of ``facts`` that stand as they did when they were looked up."""
        now = self._now()
        standing = [fact for fact in facts if rows.get(Fact, fact.id) == fact]
        return Draft(
            ACTOR,
            "archive",
            put=[replace(f, status=Status.ARCHIVED.value, archived_at=now) for f in standing],
        )

    def _delete(self, rows: Rows, facts: list[Fact]) -> Draft:
        """Delete ``facts`` and the entities that have no other row in any Session."""
        gone = {fact.id for fact in facts if rows.get(Fact, fact.id) == fact}
        draft = Draft(ACTOR, "prune", drop=[(Fact.kind, id) for id in sorted(gone)])
        nodes = {n for f in facts if f.id in gone for n in (f.subject, f.object) if is_entity(n)}
        for node in sorted(nodes):
            sessions = {fact.session for fact in rows.about(node) if fact.id not in gone}
            kept = 0
            traces: list[Name | Mention] = [*rows.find(Name, a=node), *rows.find(Mention, a=node)]
            for row in traces:
                if row.session in sessions:
                    kept += 1
                else:
                    draft.drop.append((row.kind, row.id))
            if not kept and not sessions:
                draft.drop.append((Entity.kind, node))
        return draft
