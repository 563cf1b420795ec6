"""How a persona feels, as a point that drifts back to its baseline (pure).

Feelings have two sides: valence (unhappy −1 … +1 happy) and arousal (calm −1 … +1
excited). What was felt last fades towards the baseline as time passes:

    initial = baseline + (last − baseline) · exp(−k·Δt)

so that it does not matter how often anybody looked in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HALF_LIFE = 6 * 3_600.0
"""Seconds in which half of a feeling is gone: a quarrel of the evening is a shadow in the
morning."""
STEP = 0.3
"""How far one batch of messages can move either side."""
_STRONG = 0.3
"""From where a side counts as more than neutral."""


@dataclass(frozen=True, slots=True)
class Feeling:
    """A point of the plane; both sides are within −1…+1."""

    valence: float
    arousal: float


BASELINE = Feeling(0.2, 0.0)
"""Friendly and at ease."""


def decayed(
    last: Feeling,
    seconds: float,
    baseline: Feeling = BASELINE,
    half_life: float = HALF_LIFE,
) -> Feeling:
    """What is left of a feeling some time later; a clock that was set back changes nothing."""
    left = math.exp(-math.log(2) / half_life * max(0.0, seconds))
    return Feeling(
        _bounded(baseline.valence + (last.valence - baseline.valence) * left),
        _bounded(baseline.arousal + (last.arousal - baseline.arousal) * left),
    )


def moved(feeling: Feeling, valence: float, arousal: float) -> Feeling:
    """A feeling after something moved it, by :data:`STEP` at most on either side."""
    return Feeling(
        _bounded(feeling.valence + max(-STEP, min(STEP, valence))),
        _bounded(feeling.arousal + max(-STEP, min(STEP, arousal))),
    )


def name(feeling: Feeling) -> str:
    """Which of nine moods a feeling is: ``low``, ``even`` or ``high`` on either side,
    valence first (``low_high`` is upset)."""
    return f"{_level(feeling.valence)}_{_level(feeling.arousal)}"


def _level(side: float) -> str:
    return "low" if side <= -_STRONG else "high" if side >= _STRONG else "even"


def _bounded(side: float) -> float:
    return max(-1.0, min(1.0, side))
