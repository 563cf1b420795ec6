"""Period summaries: what was talked about in a day, a week, a month, a year.

A summary sums up at least two parts; a single one stands for the period itself. Weeks sum
up days, as months do.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from functools import partial
from itertools import batched

from ..context import Context, Part
from ..dates import day_of, period
from ..errors import ExtractionError
from ..inference import LanguageModel
from ..inference.breaker import Breaker
from ..locales import say
from ..model import EPISODE, Episode, Level, Session, stable_id
from ..store import Draft, Rows
from ..text import digest, fenced, is_chinese, telling, terms

logger = logging.getLogger("graph_memory.maintenance")

ACTOR = "upkeep"
PURPOSE = "records"
"""Purpose of the calls and reason of the changes."""
PER_CHANGE = 50
"""Records in one change."""
PATIENCE = timedelta(3)
"""How long after a period a model that cannot be asked is waited for."""
MOST_ASKED = 100
"""Calls in one run: a history that was brought in takes some nights."""
REVIEW = 30 * 86_400.0
"""Seconds until a summary that lost its words by a forgetting, which can be undone, is
written anew."""
ENGLISH = 2
"""How much longer the same is in English."""
MAX_PIECE = 240
"""Characters of a part's summary that a model is shown."""
MOST_PIECES = 40
"""Parts that a model is shown; of more, the most telling ones."""
GROUNDED = 1 / 3
"""Share of an answer's words that have been said; other words for the same are allowed."""

_NUMBERS = re.compile(r"\d+")
_MONTHS = frozenset(map(str, range(1, 13)))
"""What is said in words may be answered in numbers: in May, 5月."""


PARTS: Mapping[Level, str] = {
    Level.DAY: EPISODE,
    Level.WEEK: Level.DAY,
    Level.MONTH: Level.DAY,
    Level.YEAR: Level.MONTH,
}
"""Of which level the parts of a record are."""
LENGTHS = {Level.DAY: 120, Level.WEEK: 180, Level.MONTH: 240, Level.YEAR: 320}
"""Characters of a record; of an English one :data:`ENGLISH` times as many."""


class SummaryWriter(Part):
    """Writes the summaries that are due.

    Args:
        model: ``None``: summaries are picked from those of their parts.
        pause: Waits until nobody chats.
    """

    def __init__(
        self,
        context: Context,
        model: LanguageModel | None,
        breaker: Breaker,
        pause: Callable[[], Awaitable[object]],
    ) -> None:
        super().__init__(context)
        self._model = context.budget.metered(model, PURPOSE, breaker) if model else None
        self._pause = pause
        self._asked = 0

    async def write(self) -> int:
        """Write what is due in all Sessions; returns how many summaries."""
        self._asked = written = 0
        for session in await self._journal.read(lambda rows: list(rows.scan(Session))):
            await self._pause()
            past = await self._journal.look(partial(history, session=session.id))
            for level in Level:  # the greater ones sum up what the smaller ones wrote
                due = await asyncio.to_thread(past.due, level, self._zone, self._now())
                for some in batched(due, PER_CHANGE):
                    records = await self._some(session, level, some)
                    past.records.update((record.id, record) for record in records)
                    past.changed.update((record.id, self._now()) for record in records)
                    written += len(records)
                    await self._pause()
        return written

    async def _some(self, session: Session, level: Level, some: Sequence[Due]) -> list[Episode]:
        ready: list[Due] = []
        for due in some:
            text = due.record.summary or await self._text(session, level, due)
            if text is not None:
                ready.append(replace(due, record=replace(due.record, summary=text)))
        written: list[Episode] = []

        def draft(rows: Rows) -> Draft:
            written[:] = [due.record for due in ready if due.stands(rows)]
            return Draft(ACTOR, PURPOSE, [*written])

        await self._journal.commit(draft)
        return written

    async def _text(self, session: Session, level: Level, due: Due) -> str | None:
        """The words of a record; ``None`` if a model is waited for."""
        told = [part for part in due.parts if part.summary and not part.confidential]
        if self._model is None or not told:
            return picked(level, told)
        if self._asked >= MOST_ASKED:
            return None
        try:
            answer = await self._model.ask(*compose(level, told, self._zone), where=session.umo)
            self._asked += 1
            return answered(answer.text, level, told, self._zone) or picked(level, told)
        except ExtractionError as error:
            logger.debug("a record of %s was not written by the model: %r", session.id, error)
        today = day_of(self._now(), self._zone)
        first = day_of(due.record.started_at, self._zone)
        return picked(level, told) if today - bounds(level, first)[1] >= PATIENCE else None


# ---------------------------------------------------------------- which are due


@dataclass(frozen=True, slots=True)
class Due:
    """A summary to write (without words yet), its parts, and the one it replaces."""

    record: Episode
    parts: tuple[Episode, ...]
    standing: Episode | None

    def stands(self, rows: Rows) -> bool:
        """Whether all that it was made of is unchanged."""
        return rows.get(Episode, self.record.id) == self.standing and all(
            rows.get(Episode, part.id) == part for part in self.parts
        )


@dataclass(slots=True)
class History:
    """The episodes of one Session, in the order of time, and its summaries, by id.

    Attributes:
        changed: When episodes and summaries were last written, by id.
        until: First message that is not learned yet; what holds it is not due.
    """

    session: str
    episodes: list[Episode] = field(default_factory=list)
    records: dict[str, Episode] = field(default_factory=dict)
    changed: dict[str, float] = field(default_factory=dict)
    until: float = math.inf

    def due(self, level: Level, zone: tzinfo, now: float) -> list[Due]:
        """What is to be written of a level, oldest first."""
        today = day_of(now, zone)
        found: list[Due] = []
        for first, units in self._periods(level, zone):
            parts = tuple(unit for unit in units if unit)
            if len(units) < 2 or len(parts) < len(units) or bounds(level, first)[1] > today:
                continue
            record = summing(record_id(level, self.session, first), level, parts)
            standing = self.records.get(record.id)
            if record.last_message >= self.until:
                continue
            since = self.changed.get(record.id, now)
            is_told = all(self.changed.get(part.id, now) <= since for part in parts)
            if standing and is_told and _outline(standing) == _outline(record):
                if standing.summary and standing.parts == record.parts:
                    continue
                if not standing.summary and now - since < REVIEW:
                    continue
                record = replace(record, summary=standing.summary)
            found.append(Due(record, parts, standing))
        return found

    def _periods(self, level: Level, zone: tzinfo) -> list[tuple[date, list[Episode | None]]]:
        """Parts of the summary of each period; ``None`` for one not there yet."""
        groups: dict[date, list[Episode | None]] = defaultdict(list)
        if PARTS[level] == EPISODE:
            for episode in self.episodes:
                groups[bounds(level, day_of(episode.started_at, zone))[0]].append(episode)
            return sorted(groups.items())
        below = Level(PARTS[level])
        for first, parts in self._periods(below, zone):
            record = self.records.get(record_id(below, self.session, first))
            groups[bounds(level, first)[0]].append(parts[0] if len(parts) == 1 else record)
        return sorted(groups.items())


def history(db: sqlite3.Connection, session: str) -> History:
    """The episodes and summaries of a Session."""
    found = History(session)
    rows = db.execute(
        "SELECT r.data, c.at FROM row r JOIN change c ON c.id = r.change"
        " WHERE r.kind = 'episode' AND r.session = ?",
        (session,),
    )
    for data, at in rows:
        episode = Episode.of_data(json.loads(data))
        found.changed[episode.id] = at
        if episode.is_record:
            found.records[episode.id] = episode
        else:
            found.episodes.append(episode)
    found.episodes.sort(key=lambda episode: (episode.started_at, episode.id))
    (first,) = db.execute(
        "SELECT min(first) FROM ("
        " SELECT min(id) first FROM message"
        " WHERE session = :session AND batch IS NULL UNION ALL"
        " SELECT min(m.id) FROM batch b CROSS JOIN message m"
        " ON m.batch = b.id WHERE b.state = 'waiting' AND b.state != 'learned'"
        " AND b.session = :session)",
        {"session": session},
    ).fetchone()
    found.until = math.inf if first is None else first
    return found


def bounds(level: Level, day: date) -> tuple[date, date]:
    """First day of the period that a day is in, and of the next one."""
    return (day, day + timedelta(1)) if level is Level.DAY else period(0, level, day)


def record_id(level: Level, session: str, first: date) -> str:
    """Id of a Session's summary of the period that begins on a day."""
    return stable_id("rec", session, level, first.isoformat())


def summing(id: str, level: Level, parts: Sequence[Episode]) -> Episode:
    """The record that sums up some parts, without words."""
    numbered = [part for part in parts if part.last_message]
    return Episode(
        id,
        parts[0].session,
        min(part.started_at for part in parts),
        max(part.ended_at for part in parts),
        min((part.first_message for part in numbered), default=0),
        max((part.last_message for part in numbered), default=0),
        sum(part.messages for part in parts),
        participants=tuple(dict.fromkeys(user for part in parts for user in part.participants)),
        level=level.value,
        parts=tuple(part.id for part in parts),
    )


def _outline(record: Episode) -> tuple[object, ...]:
    """What of a record follows from its parts; ids change when a memory is moved."""
    return record.first_message, record.last_message, record.messages, len(record.parts)


# -------------------------------------------------------------------- the words


def compose(level: Level, told: Sequence[Episode], zone: tzinfo) -> tuple[str, str]:
    """System prompt and prompt for a record of some parts, in their language."""
    shown = [told[at] for at in telling([part.summary for part in told], MOST_PIECES)]
    lines = [
        f"[{number}] {day_of(part.started_at, zone)}: {fenced(part.summary, MAX_PIECE)}"
        for number, part in enumerate(shown, 1)
    ]
    tongue, length = measure(level, shown)
    system = say(tongue, "summary_system", length=length)
    return system, "\n".join(["<records>", *lines, "</records>"])


def measure(level: Level, told: Sequence[Episode]) -> tuple[str, int]:
    """Language of some parts, and characters of a record in it."""
    is_zh = is_chinese("\n".join(part.summary for part in told))
    return ("zh", LENGTHS[level]) if is_zh else ("en", LENGTHS[level] * ENGLISH)


def answered(text: str, level: Level, told: Sequence[Episode], zone: tzinfo) -> str:
    """A model's answer; empty if its numbers and words are not from the parts."""
    said = " ".join(part.summary for part in told)
    limit = measure(level, told)[1] * 3 // 2
    kept = fenced(text[: 8 * limit], limit)
    words = set(terms(kept))
    days = " ".join(str(day_of(part.started_at, zone)) for part in told)
    known = _numbers(said) | _numbers(days) | _MONTHS
    if not words or not _numbers(kept) <= known:
        return ""
    return kept if len(words & set(terms(said))) >= GROUNDED * len(words) else ""


def _numbers(text: str) -> set[str]:
    return {found.lstrip("0") for found in _NUMBERS.findall(text)}


def picked(level: Level, told: Sequence[Episode]) -> str:
    """The words of the most telling parts, in the order of time."""
    return digest([part.summary for part in told], measure(level, told)[1]) if told else ""
