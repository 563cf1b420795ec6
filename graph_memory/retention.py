"""Retention of facts: a score computed when it is needed, never stored.

The curve is a power law (Wixted & Ebbesen 1991, "On the form of forgetting"); the gain on
use is largest when the fact had nearly faded (spacing effect)::

    H0 = 30 d · 16^importance
    R  = 1 / sqrt(1 + 3·Δt/H)          R(0) = 1, R(H) = ½, Δt = rate · (now − last_used)
    on use with weight w:  H ← min(3650 d, H·(1 + 2·w·(1 − R)))
                           last_used ← now − (1 − w)·(now − last_used)
    archive  ⇔  R < threshold
"""

from __future__ import annotations

import math
from dataclasses import replace

from .model import Fact, Status

DAY = 86_400.0
BASE_HALF_LIFE = 30.0
"""Half-life in days of a fact of no importance."""
IMPORTANCE_RATIO = 16.0
"""Factor for a fact of full importance."""
MAX_HALF_LIFE = 3650.0
SPACING_GAIN = 2.0

RESTATED = 1.0
"""Weight of being said again or confirmed."""
USED = 0.5
"""Weight of being used in a reply."""


def initial_half_life(importance: float) -> float:
    """Half-life in days of a new fact of ``importance`` (0…1, clipped)."""
    return BASE_HALF_LIFE * math.pow(IMPORTANCE_RATIO, min(1.0, max(0.0, importance)))


def retention(age: float, half_life: float, rate: float = 1.0) -> float:
    """Retention in (0, 1]; ``age`` in seconds, ``half_life`` in days.

    ``rate`` is the setting ``time_decay_rate``; 0 never forgets.
    """
    elapsed = max(0.0, age) * rate / DAY
    return 1.0 / math.sqrt(1.0 + 3.0 * elapsed / half_life)


def lifetime(half_life: float, threshold: float, rate: float = 1.0) -> float:
    """Days from the last use until retention is below ``threshold``, or ``inf``."""
    if rate <= 0.0 or threshold <= 0.0:
        return math.inf
    return half_life * (1.0 / threshold**2 - 1.0) / 3.0 / rate


def strength(fact: Fact, now: float, rate: float = 1.0) -> float:
    """Retention of ``fact`` at ``now``; pinned facts do not fade."""
    return 1.0 if fact.pinned else retention(now - fact.last_used, fact.half_life, rate)


def used(fact: Fact, now: float, weight: float, rate: float = 1.0) -> Fact:
    """``fact`` after a use of ``weight`` (0 < weight ≤ 1) at ``now``."""
    age = max(0.0, now - fact.last_used)
    gain = 1.0 + SPACING_GAIN * weight * (1.0 - retention(age, fact.half_life, rate))
    return replace(
        fact,
        half_life=min(MAX_HALF_LIFE, fact.half_life * gain),
        last_used=max(fact.last_used, now - (1.0 - weight) * age),
        use_count=fact.use_count + (1 if weight >= RESTATED else 0),
    )


def told_anew(fact: Fact, speaker: str, at: float, now: float) -> Fact:
    """``fact`` as if somebody told it at a time for the first time."""
    return replace(
        fact,
        speaker=speaker,
        said_at=at,
        recorded_at=now,
        last_used=at,
        half_life=initial_half_life(fact.importance),
        use_count=1,
        status=Status.ACTIVE.value,
        archived_at=None,
        corrects=False,
    )


def fades_at(fact: Fact, threshold: float, rate: float = 1.0) -> float:
    """Time at which retention is below ``threshold``: epoch seconds, or ``inf``.

    What is still to come, or to be done, is kept until its day.
    """
    if fact.pinned or fact.status != Status.ACTIVE:
        return math.inf
    faded = fact.last_used + lifetime(fact.half_life, threshold, rate) * DAY
    return max(faded, fact.due or 0.0, fact.valid_from or 0.0)
