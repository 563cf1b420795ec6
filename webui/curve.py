"""How memories fade, as lines on a grid: geometry only; the formula is ``retention.py``'s."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graph_memory.retention import DAY, initial_half_life, lifetime, retention

WIDTH, HEIGHT = 720.0, 260.0
"""Units of the drawing."""
IMPORTANCES = (0.0, 0.25, 0.5, 0.75, 1.0)
STEPS = 60


@dataclass(frozen=True, slots=True)
class Line:
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
class Curve:
    """The drawing.

    Attributes:
        floor: Height of the threshold.
        ticks: Place and days.
    """

    lines: tuple[Line, ...]
    floor: float
    ticks: tuple[tuple[float, int], ...]


def curve(rate: float, threshold: float, days: int) -> Curve:
    """How facts of some importances fade within ``days`` if nobody mentions them again."""
    lines = tuple(_line(each, rate, threshold, days) for each in IMPORTANCES)
    ticks = tuple((WIDTH * day / days, day) for day in _ticks(days))
    return Curve(lines, _height(threshold), ticks)


def _line(importance: float, rate: float, threshold: float, days: int) -> Line:
    half_life = initial_half_life(importance)
    # Steep at first: points are nearer to each other there.
    times = [days * (step / STEPS) ** 2 for step in range(STEPS + 1)]
    points = " ".join(
        f"{WIDTH * at / days:.1f},{_height(retention(at * DAY, half_life, rate)):.1f}"
        for at in times
    )
    ends = lifetime(half_life, threshold, rate)
    mark = (round(WIDTH * ends / days, 1), _height(threshold)) if ends <= days else None
    return Line(importance, points, ends if math.isfinite(ends) else None, mark)


def _height(kept: float) -> float:
    return round(HEIGHT * (1 - kept), 1)


def _ticks(days: int) -> list[int]:
    step = next(s for s in (30, 90, 180, 365, 730, 1825, 3650) if days / s <= 6 or s == 3650)
    return list(range(step, days + 1, step))
