"""One relevance of what speaks for a memory: words, meaning, the conversation it is in.

Whether words or meaning are the better guide differs from question to question. Where one of
them sets a few memories apart and the other finds dozens about as good, it counts for more.
"""

from __future__ import annotations

import numpy as np

from .sight import Sight
from .signals import Scores

LEXICAL = 0.4
"""Weight of words; the rest is that of meaning."""
SWAY = 0.1
"""Weight that goes to the one of the two that tells the best from the others, at most."""
OTHERS = 10
"""How many places after the best a document is looked at to see what the best is set apart from."""
CONVERSATION, CONVERSATION_TOP = 0.4, 3
"""Weight of the mean of a conversation's best lines."""


def fuse(lexical: Scores, close: Scores | None) -> Scores:
    """One relevance, 0…1, of words and meaning."""
    most = float(lexical.max())
    relevance: Scores = lexical / most if most > 0 else lexical.copy()
    if close is None:
        return relevance
    low, high = min(0.0, float(close.min())), float(close.max())
    by_meaning = close - low
    if high > low:
        by_meaning /= high - low
    words, meaning = _apart(relevance), _apart(by_meaning)
    sway = SWAY * (words - meaning) / (words + meaning) if words + meaning > 0 else 0.0
    relevance *= LEXICAL + sway
    by_meaning *= 1 - LEXICAL - sway
    relevance += by_meaning
    return relevance


def _apart(values: Scores) -> float:
    """How far the best, which is 1, is above the one ``OTHERS`` places after it, 0…1."""
    for least in (0.75, 0.5, 0.25, 0.0):  # few are above the first, and quickly sorted
        found = values[values > least]
        if len(found) > OTHERS:
            at = len(found) - OTHERS - 1
            return 1 - float(np.partition(found, at)[at])
    return float(len(found) > 0)


def lift_conversations(relevance: Scores, sight: Sight) -> Scores:
    """Add to each memory the mean of the best of its conversation (itself, if alone)."""
    lifted: Scores = relevance + CONVERSATION * relevance
    flow = sight.flow
    if len(flow.members):
        values = relevance.take(flow.members)
        top = flow.best(values, CONVERSATION_TOP)
        lift = CONVERSATION * top / np.minimum(flow.sizes, CONVERSATION_TOP)
        lifted[flow.members] = values + flow.of_members(lift)
    return lifted
