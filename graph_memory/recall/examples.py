"""Examples of messages, by which a text is told by its meaning what it wants.

Small talk and tasks for anybody stand against questions of what was said; requests for advice
(``conditions.py``) against what only looks so. All are in Chinese and English.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Likeness = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]

SHARPNESS = 14.0
"""How much more the nearest examples count than the others."""
MARGIN = 0.04
"""How much more like requests a text has to be to be one; half as much for small talk, which
still gets what surely answers."""

_KINDS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("examples.json").read_text("utf-8")
)
EXAMPLES = [text for texts in _KINDS.values() for text in texts]
SMALL_TALK = len(_KINDS["chatter"]) + len(_KINDS["memory"])
"""How many of the first are needed to know small talk."""


def rows(is_meant: Callable[[str], bool]) -> Rows:
    """Which of :data:`EXAMPLES` are of some kinds, told by their names."""
    return np.flatnonzero([is_meant(kind) for kind, texts in _KINDS.items() for _ in texts])


_CHATTER, _MEMORY = rows("chatter".__eq__), rows("memory".__eq__)


def nearness(likeness: Likeness, some: Rows) -> float:
    """How like a text is to some examples, as cosine of which the nearest count most.

    Args:
        likeness: Cosine of the text with each of :data:`EXAMPLES`.
    """
    weights = np.exp(likeness[some] * SHARPNESS)
    return math.log(float(weights.mean())) / SHARPNESS


def is_chatter(likeness: Likeness) -> bool:
    """Whether a text is more like small talk than like a question of the memory."""
    return nearness(likeness, _CHATTER) - nearness(likeness, _MEMORY) > MARGIN / 2
