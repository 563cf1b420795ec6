"""Records over time: what was talked about in a day, a week, a month, a year.

What a model says of a period is a call within the daily limit; without a model, or where
one failed for days, the record is what was most telling in it, as it stands. Either way it
is written as a change against the newest state: what was forgotten while the model was
thinking is not in it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo

from ..breaker import Breaker, RefusedError
from ..errors import ExtractionError, Failure, HeldBackError
from ..journal import Draft, Journal, Rows
from ..model import Episode, Forgotten, Session
from ..ports import LanguageModel
from ..text import terms
from ..token_budget import TokenBudget
from . import period_queries
from .condense import Piece, answered, compose, picked
from .lull import Lull
from .periods import Calendar, Due, Level, bounds, recent

logger = logging.getLogger("graph_memory.upkeep")

ACTOR = "upkeep"
REASON = "records"
PURPOSE = "records"
"""What the calls are counted under."""
PER_CHANGE = 50
"""Records in one change."""
PATIENCE = timedelta(3)
"""For so long after a period a model that cannot be asked is waited for."""
SWEEP = timedelta(30)
"""How often all there ever was is looked through."""
ASK_TIMEOUT = 120.0
"""Seconds after which a model that does not answer has failed."""
MOST_ASKED = 100
"""Calls in one run: a history that was brought in takes some nights."""
MOST_LINES = 400
"""Messages that are looked through where there are no summaries."""
FEW = 4
"""Search terms that a line of chat has to have to be telling."""


class Records:
    """Writes the records that are due.

    Args:
        model: ``None``: records are picked from what is there.
        breaker: Around every call of the model.
        zone: Whose midnight ends a day.
    """

    def __init__(
        self,
        journal: Journal,
        model: LanguageModel | None,
        spending: TokenBudget | None,
        breaker: Breaker,
        zone: tzinfo,
        now: Callable[[], float],
        lull: Lull,
    ) -> None:
        self._journal = journal
        self._model = spending.metered(model, PURPOSE) if spending and model else model
        self._spending = spending
        self._breaker = breaker
        self._zone = zone
        self._now = now
        self._lull = lull
        self._asked = 0
        self._seen = 0
        self._swept = date.min

    async def write(self) -> int:
        """Write what is due, in all Sessions; returns how many records were written.

        What is long over is looked through after the start, every month, and when something
        of that time was altered: a history was brought in, say.
        """
        today = self._today()
        if today - self._swept >= SWEEP:
            self._seen, self._swept = 0, today
        sessions = await self._journal.read(lambda rows: list(rows.scan(Session)))
        newest = await self._journal.last_change()
        self._asked = written = 0
        for session in sessions:
            for level in Level:  # the greater ones sum up what the smaller ones wrote
                await self._lull.wait()
                written += await self._level(session, level)
        if self._asked < MOST_ASKED:
            self._seen = newest
        return written

    def _today(self) -> date:
        return datetime.fromtimestamp(self._now(), self._zone).date()

    async def _level(self, session: Session, level: Level) -> int:
        due = await self._journal.look(lambda db: self._due(db, session.id, level))
        written = 0
        for start in range(0, len(due), PER_CHANGE):
            written += await self._some(session, level, due[start : start + PER_CHANGE])
            await self._lull.wait()
        return written

    def _due(self, db: sqlite3.Connection, session: str, level: Level) -> list[Due]:
        now, today = self._now(), self._today()
        since = recent(today)
        start = datetime.combine(since, time.min, self._zone).timestamp()
        if period_queries.has_news(db, session, start, self._seen):
            since, start = date.min, -math.inf
        episodes = period_queries.episodes(db, session, start)
        calendar = Calendar(
            episodes, self._zone, today, period_queries.unlearned(db, session), since
        )
        return calendar.due(level, period_queries.faded(db, session), now)

    async def _some(self, session: Session, level: Level, due: list[Due]) -> int:
        erasures = await self._journal.read(Rows.erasures)
        ready: list[tuple[Due, list[Piece]]] = []
        for one in due:
            pieces = await self._pieces(one)
            text = one.record.summary or await self._text(session, level, one, pieces)
            if text is not None:
                record = replace(one.record, summary=text)
                ready.append((replace(one, record=record), pieces))

        def draft(rows: Rows) -> Draft:
            stands = rows.erasures() == erasures
            put = [one.record for one, pieces in ready if stands and _stands(rows, one, pieces)]
            return Draft(ACTOR, REASON, [*put])

        change = await self._journal.commit(draft)
        return len(change.ops) if change else 0

    # ---------------------------------------------------------------- material

    async def _pieces(self, due: Due) -> list[Piece]:
        """Summaries of the parts, or lines of what was said if they have none."""
        summed = [Piece(p.started_at, p.summary) for p in due.parts if p.summary]
        return summed or await self._journal.look(lambda db: self._lines(db, due))

    def _lines(self, db: sqlite3.Connection, due: Due) -> list[Piece]:
        """What people said at length, in the parts themselves."""
        rows = Rows(db)
        found: list[Piece] = []
        for part in due.parts:
            for said in period_queries.said(db, part, MOST_LINES - len(found)):
                if len(set(terms(said.text))) >= FEW and not rows.is_forgotten(said):
                    text = f"{said.name}：{said.text}" if said.name else said.text
                    found.append(Piece(said.at, text, said.id))
        return found

    # ------------------------------------------------------------------- words

    async def _text(
        self, session: Session, level: Level, due: Due, pieces: list[Piece]
    ) -> str | None:
        """The words of a record; ``None`` if a model is waited for.

        Lines of chat are not shown to the model, which found nothing worth a summary in
        them or was not there.
        """
        if self._model is None or not pieces or pieces[0].message:
            return picked(level, pieces)
        if self._asked >= MOST_ASKED:
            return None
        try:
            return await self._ask(self._model, session, level, pieces) or picked(level, pieces)
        except (HeldBackError, ExtractionError, RefusedError) as error:
            logger.debug("a record of %s was not written by the model: %s", session.id, error)
        first = datetime.fromtimestamp(due.record.started_at, self._zone).date()
        is_late = self._today() - bounds(level, first)[1] >= PATIENCE
        return picked(level, pieces) if is_late else None

    async def _ask(
        self, model: LanguageModel, session: Session, level: Level, pieces: list[Piece]
    ) -> str:
        if self._spending and self._spending.blocked_for:
            raise HeldBackError("what models may cost today is spent")
        request = compose(level, pieces, self._zone)
        self._asked += 1
        try:
            with self._breaker.call():
                async with asyncio.timeout(ASK_TIMEOUT):
                    answer = await model.ask(request.system, request.prompt, where=session.umo)
        except TimeoutError as error:
            reason = f"no answer within {ASK_TIMEOUT:g} s"
            raise ExtractionError(reason, Failure.TIMEOUT) from error
        return answered(answer.text, level, pieces, self._zone)


def _stands(rows: Rows, due: Due, pieces: list[Piece]) -> bool:
    """Whether what a record was made of is still there, and told as it was."""
    lines = [piece.message for piece in pieces if piece.message]
    session = due.record.session
    return (
        all(rows.get(Episode, part.id) == part for part in due.parts)
        and rows.has_messages(lines)
        and not any(rows.get(Forgotten, Forgotten.of(session, id).id) for id in lines)
    )
