"""Periodic upkeep: archiving, deleting and summing up, in small slices.

Every slice is one change, resolved against the newest state, which can be undone.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import TypeVar

from ..context import Context, Part
from ..dates import midnight
from ..deletion import message_retention
from ..inference import LanguageModel
from ..inference.breaker import Breaker
from ..library import FactLine, Library, forgetting, handling, with_earlier
from ..model import BOT, Entity, Fact, Mention, Merge, Name, Row, Session, asker_of
from ..process_memory import trim_heap
from ..retention import DAY, fades_at, strength
from ..store import Draft, Rows, queries
from ..store.rows import EXPIRED
from ..supervisor import Supervisor
from .summaries import ACTOR, SummaryWriter

R = TypeVar("R", bound=Row)

logger = logging.getLogger("graph_memory.maintenance")

SLICE = 100
"""Facts in one change."""
FEW = 25
"""Entities that are deleted in one change, with their names and mentions."""
SETTLING = 5.0
"""Seconds after the start before the first look."""
RETRY = 600.0
"""Seconds until a run that failed (the disk being full, say) is tried again."""
HOUR = 3_600.0
GRACE = 90 * DAY
"""How long archived facts can be restored, and superseded ones stay in use."""
QUIET = 3.0
"""Seconds without a message after which the chat counts as quiet."""
LONGEST = 60.0
"""Seconds after which a piece of work is done although people go on chatting."""
_LAST_RUN = "upkeep.last_run"


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did: facts archived and deleted, summaries (``records``) written.

    ``orphaned`` are deleted entities of which nothing was known, ``thinned`` old messages.
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


class Upkeep(Part):
    """The periodic run, and what it would do.

    Args:
        model: What writes summaries, if anything.
        embedding: Name of the embedding model in use; empty for none.
    """

    def __init__(
        self,
        context: Context,
        library: Library,
        *,
        model: LanguageModel | None,
        breaker: Breaker,
        embedding: Callable[[], str],
    ) -> None:
        super().__init__(context)
        self._library = library
        self._embedding = embedding
        self._summaries = SummaryWriter(context, model, breaker, self._quiet)
        self._job = Supervisor(
            "gm-upkeep", self._step, logger, "upkeep failed and will be tried again", retry=(RETRY,)
        )

    async def start(self) -> None:
        """Begin hourly, and run every ``prune_interval`` hours, whatever restarts."""
        self._job.start(after=SETTLING)

    async def close(self) -> None:
        """Stop after the change under way."""
        await self._job.close()

    async def _quiet(self) -> None:
        """Return once nobody chats, after :data:`LONGEST` seconds at the latest."""
        latest, left = time.monotonic() + LONGEST, 0.0
        while True:
            await asyncio.sleep(left)
            left = min(self._journal.heard_at + QUIET, latest) - time.monotonic()
            if left <= 0:
                return

    def look_again(self) -> None:
        """The settings have changed."""
        self._job.wake()

    async def last_run(self) -> float | None:
        """When the last run ended, seconds since the epoch."""
        noted = await self._journal.note(_LAST_RUN)
        return float(noted) if noted else None

    async def _step(self) -> float:
        if not await self._journal.lease("upkeep", 3 * HOUR):
            return HOUR
        await self.begin()
        await self._slices(lambda db: queries.expired(db, self._now(), SLICE), self._expire)
        settings = self._context.settings
        interval = (settings.prune_interval or 24 * bool(settings.keep_messages_days)) * HOUR
        now, zone = self._now(), self._context.zone
        today = midnight(now, zone, 1) - now + 1.0  # when facts are to go
        if not interval:
            return min(today, HOUR)
        last = await self.last_run()
        # A first run waits a whole interval too, and so does one after a clock was set back.
        if last is None or last > now:
            await self._journal.set_note(_LAST_RUN, str(now))
            return min(today, HOUR)
        left = last + interval - now
        if left <= 0:
            await self.run()
            left = interval
        return min(left, today, HOUR)

    async def begin(self) -> int:
        """Let facts whose day has come replace what was so until then; returns how many."""
        return await self._slices(lambda db: queries.begun(db, self._now(), SLICE), _begin)

    async def run(self) -> Report:
        """Do everything that is due: facts, then summaries, then what may go."""
        now, settings = self._now(), self._context.settings
        done = await self._tend(now) if settings.prune_interval else Report(0, 0)
        await self._quiet()
        if days := settings.keep_messages_days:
            before = now - days * DAY
            thinned = await self._journal.in_slices(partial(message_retention.thin, before=before))
            done = replace(done, thinned=thinned)
        await message_retention.prune(self._journal, self._embedding(), now)
        await self._journal.set_note(_LAST_RUN, str(self._now()))
        await asyncio.to_thread(trim_heap)  # what a day of messages left behind
        if done != Report(0, 0):
            logger.info(
                "upkeep: %d facts archived, %d deleted, %d entities gone, %d records written,"
                " %d old messages deleted",
                *astuple(done),
            )
        return done

    async def _tend(self, now: float) -> Report:
        rate, floor = self._context.settings.time_decay_rate, self._context.settings.floor
        archived = await self._slices(
            lambda db: queries.fading(db, [now], floor, rate, SLICE)[0][0], self._archive
        )
        archived += await self._slices(
            lambda db: queries.superseded_before(db, now - GRACE, SLICE), self._archive
        )
        deleted = await self._slices(lambda db: queries.deletable(db, now - GRACE, SLICE), _delete)
        orphaned = await self._slices(lambda db: _orphans(db, now - GRACE, FEW), _delete_orphans)
        return Report(archived, deleted, orphaned, await self._summaries.write())

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
            rate, threshold: Settings to try out instead of those in use.
        """
        now, settings = self._now(), self._context.settings
        rate = settings.time_decay_rate if rate is None else rate
        threshold = settings.floor if threshold is None else threshold
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

    async def _slices(
        self,
        find: Callable[[sqlite3.Connection], list[R]],
        resolve: Callable[[list[R], Rows], Draft],
    ) -> int:
        """Resolve what is found, a slice at a time; returns how many rows."""
        done = 0
        while found := await self._journal.look(find):
            change = await self._journal.commit(partial(_resolved, found, resolve))
            kind = found[0].kind
            touched = sum(op.kind == kind for op in change.ops) if change else 0
            if not touched:  # all of them were used or changed meanwhile
                break
            done += touched
            await self._quiet()
        return done

    def _expire(self, facts: list[Fact], rows: Rows) -> Draft:
        """Forget one as an act of who named the day, or of who said it."""
        fact, asker = facts[0], None
        person = rows.dated_by(fact.id)
        accounts = self._context.identities.accounts(person) - {""}
        if accounts & {fact.subject, fact.speaker}:
            there = rows.require(Session, fact.session)
            asker = self._context.visible(rows, asker_of(there, person, accounts))
        draft = Draft(person or (ACTOR if fact.speaker in ("", BOT) else fact.speaker), EXPIRED)
        # What is over gives way to what was so before.
        gone = [fact] if fact.valid_to == fact.expires else with_earlier(rows, [fact], asker)
        return forgetting(rows, gone, draft, asker)

    def _archive(self, facts: list[Fact], rows: Rows) -> Draft:
        return handling(rows, "archive", [fact.id for fact in facts], ACTOR, self._now())


def _resolved(
    found: list[R], resolve: Callable[[list[R], Rows], Draft], rows: Rows
) -> Draft | None:
    """The change to those of some rows that were neither used nor changed meanwhile."""
    standing = [row for row in found if rows.get(type(row), row.id) == row]
    return resolve(standing, rows) if standing else None


def _begin(facts: list[Fact], rows: Rows) -> Draft:
    put: list[Row] = [
        replace(fact, supersedes=_ended(rows, fact, {*fact.supersedes, *fact.awaits}), awaits=())
        for fact in facts
    ]
    return Draft(ACTOR, "begin", put=put)


def _ended(rows: Rows, new: Fact, ids: set[str]) -> tuple[str, ...]:
    """Facts that end as ``new`` begins, with what replaced them meanwhile."""
    about, begin = (new.session, new.predicate, None), new.valid_from or 0.0
    newer = [each for id in ids for each in rows.replacing(id) if (each.valid_from or 0.0) < begin]
    more = {f.id for f in newer if (f.session, f.predicate, f.valid_to) == about} - ids
    return _ended(rows, new, ids | more) if more else tuple(sorted(ids))


def _delete(facts: list[Fact], rows: Rows) -> Draft:
    return Draft(ACTOR, "prune", drop=[(Fact.kind, id) for id in sorted(f.id for f in facts)])


def _delete_orphans(entities: list[Entity], rows: Rows) -> Draft:
    """Delete those of some entities that still are in no fact and no merge."""
    draft = Draft(ACTOR, "prune")
    merged = {node for row in rows.scan(Merge) for node in (row.node, row.into)}
    for entity in entities:
        node = entity.id
        if rows.about(node) or node in merged:
            continue
        traces: list[Row] = [*rows.find(Name, a=node), *rows.find(Mention, a=node), entity]
        draft.drop += [(row.kind, row.id) for row in traces]
    return draft


def _orphans(db: sqlite3.Connection, before: float, limit: int) -> list[Entity]:
    """Entities, not the bot, in no fact or merge that did not come up since a time."""
    found = db.execute(
        "SELECT e.id FROM row e WHERE e.kind = 'entity'"
        " AND NOT EXISTS (SELECT 1 FROM row f"
        "  WHERE f.kind IN ('fact', 'merge') AND f.a = e.id AND f.a != '')"
        " AND NOT EXISTS (SELECT 1 FROM row f"
        "  WHERE f.kind IN ('fact', 'merge') AND f.b = e.id AND f.b != '')"
        " AND NOT EXISTS (SELECT 1 FROM row n"
        "  WHERE n.kind IN ('name', 'mention') AND n.a = e.id AND n.a != ''"
        "  AND (json_extract(n.data, '$.last_at') >= ? OR json_extract(n.data, '$.type') = 'bot'))"
        " ORDER BY e.id LIMIT ?",
        (before, limit),
    )
    return [Entity(id) for (id,) in found]
