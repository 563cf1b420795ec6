"""Geometry of charts: fading curves, and facts as bars on an axis of time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from .core import library, retention

WIDTH, HEIGHT = 720.0, 260.0
"""Units of the drawing."""
IMPORTANCES = (0.0, 0.25, 0.5, 0.75, 1.0)
STEPS = 60
LEAST = 1.2
"""Percent of the width that a bar has at least, to be seen."""
MAX_TICKS = 7


@dataclass(frozen=True, slots=True)
class FadingLine:
    """One importance.

    Attributes:
        points: ``x,y`` of a polyline.
        days: After how many days it fades; ``None`` for never.
        mark: Where that is, or ``None`` if it is off the grid.
    """

    importance: float
    points: str
    days: float | None
    mark: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class FadingCurve:
    """The drawing.

    Attributes:
        floor: Height of the threshold.
        ticks: Place and days.
    """

    lines: tuple[FadingLine, ...]
    floor: float
    ticks: tuple[tuple[float, int], ...]


def curve(rate: float, threshold: float, days: int) -> FadingCurve:
    """Fading of facts of some importances within ``days``, unless they are mentioned."""
    lines = tuple(_line(each, rate, threshold, days) for each in IMPORTANCES)
    ticks = tuple((WIDTH * day / days, day) for day in _day_ticks(days))
    return FadingCurve(lines, _height(threshold), ticks)


def _line(importance: float, rate: float, threshold: float, days: int) -> FadingLine:
    half_life = retention.initial_half_life(importance)
    # Steep at first: points are nearer to each other there.
    times = [days * (step / STEPS) ** 2 for step in range(STEPS + 1)]
    kept = [retention.retention(at * retention.DAY, half_life, rate) for at in times]
    points = " ".join(
        f"{WIDTH * at / days:.1f},{_height(share):.1f}"
        for at, share in zip(times, kept, strict=True)
    )
    ends = retention.lifetime(half_life, threshold, rate)
    mark = (round(WIDTH * ends / days, 1), _height(threshold)) if ends <= days else None
    return FadingLine(importance, points, ends if math.isfinite(ends) else None, mark)


def _height(kept: float) -> float:
    return round(HEIGHT * (1 - kept), 1)


def _day_ticks(days: int) -> list[int]:
    step = next(s for s in (30, 90, 180, 365, 730, 1825, 3650) if days / s <= 6 or s == 3650)
    return list(range(step, days + 1, step))


@dataclass(frozen=True, slots=True)
class Bar:
    """A fact from when to when it is true.

    Attributes:
        x, width: In percent.
        is_over: Whether it is true no more, as far as is known: it ended, or was replaced.
        end: When it ended; ``None`` if it did not.
    """

    line: library.FactLine
    x: float
    width: float
    is_over: bool
    start: float
    end: float | None


@dataclass(frozen=True, slots=True)
class ThreadBars:
    """A thread as bars, oldest first."""

    thread: library.Thread
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

    now: tuple[ThreadBars, ...]
    before: tuple[ThreadBars, ...]
    ticks: tuple[tuple[float, int, int], ...]

    @classmethod
    def of(cls, threads: Iterable[library.Thread], now: float, zone: tzinfo) -> Timeline:
        """Lay out some threads."""
        some = list(threads)
        starts = [library.begun(line) for thread in some for line in thread.lines]
        first = min([*filter(math.isfinite, starts), now - 30 * retention.DAY])
        scale = _TimeScale(first, max(now, first + retention.DAY))
        rows = [ThreadBars(thread, _bars(thread, scale, now)) for thread in some]
        return cls(
            tuple(row for row in rows if not row.is_over),
            tuple(row for row in rows if row.is_over),
            tuple(_ticks(scale, zone)),
        )


@dataclass(frozen=True, slots=True)
class _TimeScale:
    first: float
    last: float

    def at(self, moment: float) -> float:
        share = (moment - self.first) / (self.last - self.first)
        return 100.0 * min(1.0, max(0.0, share))


def _bars(thread: library.Thread, scale: _TimeScale, now: float) -> tuple[Bar, ...]:
    made = []
    for number, line in enumerate(thread.lines):
        start, end = library.begun(line), line.fact.valid_to
        if end is None and line.superseded:
            later = [library.begun(each) for each in thread.lines[number + 1 :]]
            end = max(start, min(later, default=now))
        x = min(scale.at(start), 100.0 - LEAST)
        width = max(LEAST, scale.at(now if end is None else end) - x)
        is_over = line.superseded or (end is not None and end <= now)
        made.append(Bar(line, round(x, 2), round(width, 2), is_over, start, end))
    return tuple(made)


def _ticks(scale: _TimeScale, zone: tzinfo) -> Iterable[tuple[float, int, int]]:
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
