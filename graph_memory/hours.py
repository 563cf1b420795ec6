"""When nobody is to be disturbed: quiet hours and days of the calendar (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

_HOURS = re.compile(r"\s*(\d{1,2})[:：](\d{2})\s*[-–—~～]\s*(\d{1,2})[:：](\d{2})\s*")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From ``start`` to ``end``, over midnight if need be; none if both are the same."""

    start: time
    end: time

    def until(self, at: float, zone: tzinfo) -> float | None:
        """When the quiet hours end that a moment lies in; ``None`` if it lies in none."""
        local = datetime.fromtimestamp(at, zone)
        clock = local.time()
        if self.start <= self.end:
            if not self.start <= clock < self.end:
                return None
        elif self.end <= clock < self.start:
            return None
        day = local.date() + timedelta(days=clock >= self.end)
        return datetime.combine(day, self.end, zone).timestamp()


def quiet_hours(text: str) -> QuietHours | None:
    """``23:00-08:00``, say; ``None`` for an empty text.

    Raises:
        ValueError: It says no hours.
    """
    if not text.strip():
        return None
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not like 23:00-08:00")
    hour, minute, to_hour, to_minute = map(int, found.groups())
    return QuietHours(time(hour, minute), time(to_hour % 24, to_minute))


def midnight(at: float, zone: tzinfo, days: int = 0) -> float:
    """When the local day of a moment began, or the one some days later."""
    day = datetime.fromtimestamp(at, zone).date() + timedelta(days=days)
    return datetime.combine(day, time.min, zone).timestamp()
