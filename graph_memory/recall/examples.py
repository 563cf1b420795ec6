"""Examples of messages, by which a text is told by its meaning what it wants.

Questions stand under the predicates of the facts that answer them. Small talk and tasks for
anybody stand against questions of what was said; requests for advice (``conditions.py``) against
what only looks so. All are in Chinese and English.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Likeness = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]

SHARPNESS = 14.0
"""How much more the nearest examples count than the others."""
MARGIN = 0.04
"""How much more like requests a text has to be to be one. Half as much is what words of advice
add, and what tells questions of the memory and small talk apart, by which more or less evidence is
enough; twice as much below the likeliest topic of a request, others are meant as well."""

_KINDS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("examples.json").read_text("utf-8")
)
EXAMPLES = [text for texts in _KINDS.values() for text in texts]
_QUESTIONS = {kind[2:]: len(texts) for kind, texts in _KINDS.items() if kind[:2] == "? "}
_SIZES = np.array([*_QUESTIONS.values()])
_STARTS = np.cumsum(_SIZES) - _SIZES
QUESTIONS = sum(_QUESTIONS.values())
"""How many of the first are needed to know what kind of fact is asked for."""
ENOUGH = 3
"""Documents that somebody sees, from which on it is asked for by meaning: with fewer there is
hardly anything to tell apart, and an empty memory need not embed the examples."""
SMALL_TALK = QUESTIONS + len(_KINDS["chatter"]) + len(_KINDS["memory"])
"""How many of the first are needed to know small talk."""


def rows(is_meant: Callable[[str], bool]) -> Rows:
    """Which of :data:`EXAMPLES` are of some kinds, told by their names."""
    return np.flatnonzero([is_meant(kind) for kind, texts in _KINDS.items() for _ in texts])


_CHATTER, _MEMORY = rows(lambda kind: kind == "chatter"), rows(lambda kind: kind == "memory")


def nearness(likeness: Likeness, some: Rows) -> float:
    """How like a text is to some examples, as cosine of which the nearest count most.

    Args:
        likeness: Cosine of the text with each of :data:`EXAMPLES`.
    """
    weights = np.exp(likeness[some] * SHARPNESS)
    return math.log(float(weights.mean())) / SHARPNESS


def predicates_like(likeness: Likeness) -> frozenset[str]:
    """Predicates of the facts that a question asks for.

    Those of the kinds that it is most like; of each kind the nearest examples count most.

    Args:
        likeness: Cosine of the question with the first :data:`QUESTIONS` of the examples, or more.
    """
    weights = np.exp(likeness[:QUESTIONS] * SHARPNESS)
    near = np.log(np.add.reduceat(weights, _STARTS) / _SIZES) / SHARPNESS
    best = near >= near.max() - MARGIN / 2
    return frozenset(" ".join(compress(_QUESTIONS, best)).split())


def wants_memory(likeness: Likeness) -> bool | None:
    """Whether a text is like a question of the memory, or like small talk.

    Returns:
        ``None`` if it is much more like neither, or the examples are not known yet.
    """
    if len(likeness) < SMALL_TALK:
        return None
    more = nearness(likeness, _MEMORY) - nearness(likeness, _CHATTER)
    return None if abs(more) <= MARGIN / 2 else more > 0
