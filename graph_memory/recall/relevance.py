"""One relevance of what speaks for a memory: words, meaning, the conversation it is in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    starts = np.flatnonzero(~sight.follows)
    sizes = np.diff(np.r_[starts, len(relevance)])
    left = relevance.copy()
    top = np.zeros(len(starts))
    for nth in range(CONVERSATION_TOP):
        # Conversations lie together, so that a maximum of each is taken in one go.
        most = np.maximum.reduceat(left, starts)
        top += np.where(sizes > nth, most, 0.0)
        left[_firsts(left == np.repeat(most, sizes), starts, sizes)] = -np.inf
    lift = CONVERSATION * top / np.minimum(sizes, CONVERSATION_TOP)
    lifted: Scores = relevance + np.repeat(lift, sizes)
    return lifted


def _firsts(
    chosen: NDArray[np.bool_], starts: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The first of the chosen positions in each conversation."""
    positions = np.flatnonzero(chosen)
    conversation = np.repeat(np.arange(len(starts)), sizes)[positions]
    return positions[np.r_[True, conversation[1:] != conversation[:-1]]]
