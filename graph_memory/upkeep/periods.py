"""Which records over time are due: days of episodes, weeks and months of days, years of months.

Pure. A record sums up at least two parts; where there is only one, that part stands for
the period. So a day of one conversation has no record, and a month of one such day
neither. Weeks are beside the months, which they do not fill evenly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from enum import StrEnum

from ..model import EPISODE, Episode, stable_id

REVIEW = 30 * 86_400.0
"""Seconds after which a record that lost its words (something was forgotten) is written anew:
by then hardly anybody takes the forgetting back, which a newer record would prevent."""


class Level(StrEnum):
    """How long a record lasts. In the order in which they are condensed."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


PARTS: Mapping[Level, str] = {
    Level.DAY: EPISODE,
    Level.WEEK: Level.DAY,
    Level.MONTH: Level.DAY,
    Level.YEAR: Level.MONTH,
}
"""Of which level the parts of a record are."""


@dataclass(frozen=True, slots=True)
class Due:
    """A record that is to be written.

    Attributes:
        record: Without words, but for one that only lost sight of its parts.
        parts: What it sums up, in the order of time.
    """

    record: Episode
    parts: tuple[Episode, ...]


def bounds(level: Level, day: date) -> tuple[date, date]:
    """First day of the period that a day is in, and of the next one."""
    match level:
        case Level.DAY:
            return day, day + timedelta(1)
        case Level.WEEK:
            first = day - timedelta(day.weekday())
            return first, first + timedelta(7)
        case Level.MONTH:
            first = day.replace(day=1)
            return first, (first + timedelta(32)).replace(day=1)
        case Level.YEAR:
            return date(day.year, 1, 1), date(day.year + 1, 1, 1)


def recent(today: date) -> date:
    """The first day of what usually is due: of the last month, in January of the last year."""
    last = bounds(Level.MONTH, today)[0] - timedelta(1)
    return bounds(Level.YEAR if today.month == 1 else Level.MONTH, last)[0]


def record_id(level: Level, session: str, first: date) -> str:
    """Id of the record of a Session for the period that begins on a day."""
    return stable_id("rec", session, level, first.isoformat())


class Calendar:
    """The episodes and records of one Session.

    Args:
        episodes: All of them.
        zone: Whose midnight counts.
        today: What is not over today is not due.
        until: Id of the Session's first message that is not learned yet; what holds it or
            a later one is not due. ``None``: all is learned.
        since: First day from which ``episodes`` are complete; what began before is not due.
    """

    def __init__(
        self,
        episodes: Iterable[Episode],
        zone: tzinfo,
        today: date,
        until: int | None = None,
        since: date = date.min,
    ) -> None:
        self._since = since
        self._zone = zone
        self._today = today
        self._until = until
        self._records: dict[str, Episode] = {}
        found: list[Episode] = []
        for episode in episodes:
            if episode.is_record:
                self._records[episode.id] = episode
            else:
                found.append(episode)
        self._episodes = sorted(found, key=lambda each: (each.started_at, each.id))
        self._days: dict[float, date] = {}

    def due(self, level: Level, faded: Mapping[str, float], now: float) -> list[Due]:
        """What is to be written of a level, whose parts are all there, oldest first.

        Args:
            faded: When records without words lost them, by id.
        """
        found: list[Due] = []
        for first, parts in self._groups(level):
            if len(parts) < 2 or None in parts:
                continue
            wanted = self._record(level, first, [part for part in parts if part])
            if not self._is_ready(level, first, wanted.record):
                continue
            standing = self._records.get(wanted.record.id)
            if standing and _outline(standing) == _outline(wanted.record):
                if standing.summary and standing.parts != wanted.record.parts:
                    record = replace(wanted.record, summary=standing.summary)
                    found.append(replace(wanted, record=record))
                if standing.summary or now - faded.get(standing.id, now) < REVIEW:
                    continue
            found.append(wanted)
        return found

    def _groups(self, level: Level) -> list[tuple[date, list[Episode | None]]]:
        """What a record of each period would sum up; ``None`` for a part that is not there yet."""
        groups: dict[date, list[Episode | None]] = defaultdict(list)
        for day, unit in self._units(PARTS[level]):
            groups[bounds(level, day)[0]].append(unit)
        return sorted(groups.items())

    def _units(self, level: str) -> list[tuple[date, Episode | None]]:
        """What stands for each period of a level in which anything was said."""
        if level == EPISODE:
            return [(self._day(each), each) for each in self._episodes]
        own = Level(level)
        units: list[tuple[date, Episode | None]] = []
        for first, parts in self._groups(own):
            whole = parts[0] if len(parts) == 1 else None
            units.append((first, whole or self._records.get(record_id(own, self._session, first))))
        return units

    @property
    def _session(self) -> str:
        return self._episodes[0].session if self._episodes else ""

    def _day(self, episode: Episode) -> date:
        at = episode.started_at
        if at not in self._days:
            self._days[at] = datetime.fromtimestamp(at, self._zone).date()
        return self._days[at]

    def _is_ready(self, level: Level, first: date, record: Episode) -> bool:
        if first < self._since or bounds(level, first)[1] > self._today:
            return False
        return self._until is None or record.last_message < self._until

    def _record(self, level: Level, first: date, parts: list[Episode]) -> Due:
        numbered = [part for part in parts if part.last_message]
        people = dict.fromkeys(user for part in parts for user in part.participants)
        record = Episode(
            record_id(level, self._session, first),
            self._session,
            min(part.started_at for part in parts),
            max(part.ended_at for part in parts),
            min((part.first_message for part in numbered), default=0),
            max((part.last_message for part in numbered), default=0),
            sum(part.messages for part in parts),
            participants=tuple(people),
            level=level.value,
            parts=tuple(part.id for part in parts),
        )
        return Due(record, tuple(parts))


def _outline(record: Episode) -> tuple[object, ...]:
    """What of a record follows from its parts; ids change when a memory is moved."""
    return record.first_message, record.last_message, record.messages, len(record.parts)
