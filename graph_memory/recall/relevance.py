"""One relevance of what speaks for a memory: words, meaning, the conversation it is in."""

from __future__ import annotations

import numpy as np

from .sight import Sight
from .signals import Scores

LEXICAL, DENSE = 0.4, 0.6
CONVERSATION, CONVERSATION_TOP = 0.4, 3
"""Weight of the mean of a conversation's best lines."""


def fuse(lexical: Scores, close: Scores | None) -> Scores:
    """One relevance, 0…1, of words and meaning."""
    most = float(lexical.max())
    by_words = lexical / most if most > 0 else lexical
    if close is None:
        return by_words.copy()
    low, high = min(0.0, float(close.min())), float(close.max())
    by_meaning = (close - low) / (high - low) if high > low else np.zeros(len(close))
    return LEXICAL * by_words + DENSE * by_meaning


def lift_conversations(relevance: Scores, sight: Sight) -> Scores:
    """Add to each memory the mean of the best of its conversation (itself, if alone)."""
    lifted: Scores = relevance + CONVERSATION * relevance
    flow = sight.flow
    if len(flow.members):
        values = relevance[flow.members]
        top = flow.best(values, CONVERSATION_TOP)
        lift = CONVERSATION * top / np.minimum(flow.sizes, CONVERSATION_TOP)
        lifted[flow.members] = values + lift[flow.place]
    return lifted
