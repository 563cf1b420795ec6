"""Facts as bars on an axis of time, in percent of its width: geometry only, no words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from graph_memory.library import FactLine, Thread, begun
from graph_memory.retention import DAY

LEAST = 1.2
"""Percent of the width that a bar has at least, to be seen."""
MAX_TICKS = 7


@dataclass(frozen=True, slots=True)
class Bar:
    """A fact from when to when it is true.

    Attributes:
        x, width: In percent.
        is_over: Whether it is true no more, as far as is known: it ended, or was replaced.
        end: When it ended; ``None`` if it did not.
    """

    line: FactLine
    x: float
    width: float
    is_over: bool
    start: float
    end: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A thread as bars, oldest first."""

    thread: Thread
    bars: tuple[Bar, ...]

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is true and in use any more."""
        return all(bar.is_over or bar.line.fact.archived_at is not None for bar in self.bars)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Threads of facts on one axis, which ends now.

    Attributes:
        ticks: Where on the axis which year or month begins: percent, year, month (0: only
            the year counts).
    """

    now: tuple[Row, ...]
    before: tuple[Row, ...]
    ticks: tuple[tuple[float, int, int], ...]

    @classmethod
    def of(cls, threads: Iterable[Thread], now: float, zone: tzinfo) -> Timeline:
        """Lay out some threads."""
        some = list(threads)
        starts = [begun(line) for thread in some for line in thread.lines]
        first = min([*filter(math.isfinite, starts), now - 30 * DAY])
        scale = _Scale(first, max(now, first + DAY))
        rows = [Row(thread, _bars(thread, scale, now)) for thread in some]
        return cls(
            tuple(row for row in rows if not row.is_over),
            tuple(row for row in rows if row.is_over),
            tuple(_ticks(scale, zone)),
        )


@dataclass(frozen=True, slots=True)
class _Scale:
    first: float
    last: float

    def at(self, moment: float) -> float:
        share = (moment - self.first) / (self.last - self.first)
        return 100.0 * min(1.0, max(0.0, share))


def _bars(thread: Thread, scale: _Scale, now: float) -> tuple[Bar, ...]:
    made = []
    for number, line in enumerate(thread.lines):
        start, end = begun(line), line.fact.valid_to
        if end is None and line.superseded:
            later = [begun(each) for each in thread.lines[number + 1 :]]
            end = max(start, min(later, default=now))
        x = min(scale.at(start), 100.0 - LEAST)
        width = max(LEAST, scale.at(now if end is None else end) - x)
        is_over = line.superseded or (end is not None and end <= now)
        made.append(Bar(line, round(x, 2), round(width, 2), is_over, start, end))
    return tuple(made)


def _ticks(scale: _Scale, zone: tzinfo) -> Iterable[tuple[float, int, int]]:
    try:
        first = datetime.fromtimestamp(scale.first, zone)
        last = datetime.fromtimestamp(scale.last, zone)
    except (OverflowError, ValueError, OSError):
        return
    months = (last.year - first.year) * 12 + last.month - first.month
    step = next((n for n in (1, 2, 3, 6, 12, 24, 60, 120) if months / n <= MAX_TICKS), 0)
    if not step:
        return
    count = first.year * 12 + first.month - 1
    count += -count % step
    while count < last.year * 12 + last.month:
        year, month = divmod(count, 12)
        begin = datetime(year, month + 1, 1, tzinfo=zone).timestamp()
        if scale.first <= begin <= scale.last:
            yield round(scale.at(begin), 2), year, month + 1 if step < 12 else 0
        count += step
