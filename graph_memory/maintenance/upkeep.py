"""Periodic upkeep: archiving, deleting and summing up, in small slices.

Every slice is one change, resolved against the newest state: a fact that was used since
it was looked up stays. So what is altered here can be undone, and a kill loses nothing.
Between slices it waits until nobody chats (``idle.py``). Only what is told elsewhere goes
without a change (``deletion/message_retention.py``).
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from ..breaker import Breaker
from ..context import Context
from ..deletion import message_retention
from ..library import FactLine, Library
from ..model import Entity, Fact, Mention, Merge, Message, Name, Status, is_entity
from ..ports import LanguageModel
from ..retention import DAY, fades_at, strength
from ..store import Draft, Event, Rows, queries
from ..supervisor import NEVER, Supervisor
from .summaries import ACTOR, SummaryWriter

logger = logging.getLogger("graph_memory.maintenance")

SLICE = 100
"""Facts in one change."""
FEW = 25
"""Facts, or entities, that are deleted in one change, with what is left of their nodes."""
SETTLING = 5.0
"""Seconds after the start before the first look."""
RETRY = 600.0
"""Seconds until a run that failed (the disk being full, say) is tried again."""
GRACE = 90 * DAY
"""How long archived facts can be restored, and superseded ones stay in use."""
QUIET = 3.0
"""Seconds without a message after which the chat counts as quiet."""
LONGEST = 60.0
"""Seconds after which a piece of work is done although people go on chatting."""
_LAST_RUN = "upkeep.last_run"


class IdleGate:
    """Waits until nobody has said anything for a while.

    Args:
        quiet, longest: See :data:`QUIET`, :data:`LONGEST`.
        clock: Monotonic seconds.
        sleep: Passes the time.
    """

    def __init__(
        self,
        quiet: float = QUIET,
        longest: float = LONGEST,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._quiet = quiet
        self._longest = longest
        self._clock = clock
        self._sleep = sleep
        self._heard = -quiet + clock()

    def on_event(self, event: Event) -> None:
        """Follow the journal."""
        if isinstance(event, Message):
            self._heard = self._clock()

    async def wait(self) -> None:
        """Return once nobody chats, after :data:`LONGEST` seconds at the latest."""
        latest = self._clock() + self._longest
        await self._sleep(0)
        while (now := self._clock()) < min(self._heard + self._quiet, latest):
            await self._sleep(min(self._heard + self._quiet, latest) - now)


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did.

    Attributes:
        archived, deleted: Facts.
        orphaned: Entities of which nothing was known any more and that went.
        records: Summaries of days, weeks, months and years that were written.
        thinned: Messages that were deleted because they were old.
    """

    archived: int
    deleted: int
    orphaned: int = 0
    records: int = 0
    thinned: int = 0


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would be forgotten within ``days``: a count, and the weakest facts."""

    days: int
    total: int
    lines: list[FactLine]


class Upkeep:
    """The periodic run and what it would do.

    Attributes:
        last: What the last run did; ``None`` before the first.

    Args:
        model, breaker: What writes summaries, and what leaves it alone when it fails;
            without a model they are picked from what is there.
        embedding: Name of the embedding model in use; empty for none.
        gate: When to work.
    """

    def __init__(
        self,
        context: Context,
        library: Library,
        *,
        model: LanguageModel | None,
        breaker: Breaker,
        embedding: Callable[[], str],
        gate: IdleGate,
    ) -> None:
        self.last: Report | None = None
        self._context = context
        self._journal = context.journal
        self._now = context.now
        self._library = library
        self._embedding = embedding
        self._gate = gate
        self._summaries = SummaryWriter(context, model, breaker, gate.wait)
        self._job = Supervisor(
            "gm-upkeep",
            self._step,
            logger,
            "upkeep failed and will be tried again",
            retry=(RETRY,),
        )

    async def start(self) -> None:
        """Run every ``prune_interval`` hours; a restart does not begin the wait anew."""
        self._journal.listen(self._gate.on_event)
        self._job.start(after=SETTLING)

    async def close(self) -> None:
        """Stop after the change under way."""
        await self._job.close()

    def look_again(self) -> None:
        """The settings have changed."""
        self._job.wake()

    async def last_run(self) -> float | None:
        """When the last run ended, seconds since the epoch."""
        noted = await self._journal.note(_LAST_RUN)
        return float(noted) if noted else None

    async def _step(self) -> float:
        interval = self._context.settings.prune_interval * 3600.0
        if not interval:
            return NEVER
        if left := await self._due_in(interval):
            return left
        await self.run()
        return interval

    async def _due_in(self, interval: float) -> float:
        """Seconds until the next run, which are never more than an interval."""
        last = await self.last_run()
        if last is None:  # a first run waits a whole interval too
            await self._journal.set_note(_LAST_RUN, str(self._now()))
            return interval
        # A clock that was set back does not make it wait longer.
        return max(0.0, min(interval, last + interval - self._now()))

    async def run(self) -> Report:
        """Do everything that is due: facts, then summaries, then what may go."""
        now = self._now()
        archived = await self._slices(self._faded, self._archive)
        archived += await self._slices(self._replaced, self._archive)
        deleted = await self._slices(self._expired, self._delete)
        orphaned = await self._orphaned()
        records = await self._summaries.write()
        thinned = 0
        if days := self._context.settings.keep_messages_days:
            thinned = await message_retention.thin(self._journal, now - days * DAY, self._gate.wait)
        await message_retention.prune(self._journal, self._embedding(), now, self._gate.wait)
        await self._journal.set_note(_LAST_RUN, str(self._now()))
        self.last = Report(archived, deleted, orphaned, records, thinned)
        if self.last != Report(0, 0):
            logger.info(
                "upkeep: %d facts archived, %d deleted, %d entities gone, %d records written,"
                " %d old messages deleted",
                *(archived, deleted, orphaned, records, thinned),
            )
        return self.last

    async def preview(
        self,
        days: Sequence[int] = (0, 30, 90, 365),
        limit: int = 20,
        *,
        rate: float | None = None,
        threshold: float | None = None,
    ) -> list[Forecast]:
        """What would be forgotten within so many days, if nothing is used meanwhile.

        Args:
            limit: Most facts to list for each.
            rate, threshold: The settings ``time_decay_rate`` and
                ``min_importance_threshold`` to try out; default: those in use.
        """
        rate = self._context.settings.time_decay_rate if rate is None else rate
        threshold = (
            self._context.settings.min_importance_threshold if threshold is None else threshold
        )
        now = self._now()
        times = [now + span * DAY for span in days]
        found = await self._journal.look(
            lambda db: queries.fading(db, times, threshold, rate, limit)
        )
        facts = {fact.id: fact for some, _ in found for fact in some}
        lines = {
            line.fact.id: replace(
                line,
                strength=strength(line.fact, now, rate),
                fades_at=fades_at(line.fact, threshold, rate),
            )
            for line in await self._library.lines(facts.values())
        }
        return [
            Forecast(span, total, [lines[fact.id] for fact in some])
            for span, (some, total) in zip(days, found, strict=True)
        ]

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
            await self._gate.wait()
        return done

    async def _orphaned(self) -> int:
        """Delete entities of which nothing is known and that did not come up for long."""
        before, done = self._now() - GRACE, 0
        while True:
            nodes = await self._journal.look(lambda db: _orphans(db, before, FEW))
            change = await self._journal.commit(lambda rows, nodes=nodes: _bare(rows, nodes))  # type: ignore[misc]
            gone = sum(1 for op in change.ops if op.kind == Entity.kind) if change else 0
            if not gone:
                return done
            done += gone
            await self._gate.wait()

    async def _faded(self) -> list[Fact]:
        ((facts, _),) = await self._journal.look(
            lambda db: queries.fading(
                db,
                [self._now()],
                self._context.settings.min_importance_threshold,
                self._context.settings.time_decay_rate,
                SLICE,
            )
        )
        return facts

    async def _replaced(self) -> list[Fact]:
        return await self._journal.look(
            lambda db: queries.superseded_before(db, self._now() - GRACE, SLICE)
        )

    async def _expired(self) -> list[Fact]:
        return await self._journal.look(lambda db: queries.archived(db, self._now() - GRACE, FEW))

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


def _bare(rows: Rows, nodes: Sequence[str]) -> Draft:
    """Delete those of some entities that still are in no fact and no merge."""
    draft = Draft(ACTOR, "prune")
    merged = {node for row in rows.scan(Merge) for node in (row.node, row.into)}
    for node in nodes:
        if rows.about(node) or node in merged:
            continue
        traces: list[Name | Mention] = [*rows.find(Name, a=node), *rows.find(Mention, a=node)]
        draft.drop += [(row.kind, row.id) for row in traces]
        draft.drop.append((Entity.kind, node))
    return draft


def _orphans(db: sqlite3.Connection, before: float, limit: int) -> list[str]:
    """Entities that nothing is known of and that did not come up since a time.

    Those that the owner merged stay, and so does the bot.
    """
    found = db.execute(
        "SELECT e.id FROM row e WHERE e.kind = 'entity'"
        " AND NOT EXISTS (SELECT 1 FROM row f INDEXED BY row_a"
        "  WHERE f.kind IN ('fact', 'merge') AND f.a = e.id AND f.a != '')"
        " AND NOT EXISTS (SELECT 1 FROM row f INDEXED BY row_b"
        "  WHERE f.kind IN ('fact', 'merge') AND f.b = e.id AND f.b != '')"
        " AND NOT EXISTS (SELECT 1 FROM row n INDEXED BY row_a"
        "  WHERE n.kind IN ('name', 'mention') AND n.a = e.id AND n.a != ''"
        "  AND (json_extract(n.data, '$.last_at') >= ? OR json_extract(n.data, '$.type') = 'bot'))"
        " ORDER BY e.id LIMIT ?",
        (before, limit),
    )
    return [id for (id,) in found]
