"""Softly, no two memories that say the same next to each other.

Nothing is left out; what repeats a better memory comes later. Two measures of repeating:
the cosine of two memories, and, where all things of a kind are asked for, how much of a
memory's own words (those that are not in the question) has not been said already: the
third sentence about one person makes way for the first about another. What is new counts
by itself and not as a share of the memory, so that a line which says little beside the
answer makes way for one which says whose it is.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..stopwords import weight as commonplace
from .index import Index
from .questions import Part
from .signals import Scores, rarity
from .vocabulary import index_terms

PENALTY = 0.15
"""Share of the best score that a memory loses if one before it says the same."""
ALIKE, SAME = 0.6, 0.95
"""Cosines from which two memories are alike, and say the same."""
SAID = 0.3
"""Share of the best score that a memory loses if all its own words have been said."""
LITTLE, FIRST = 25, 20
"""Percentile of what the first memories say by themselves; nothing is lost by what says as
much that is new."""


def vary(
    index: Index, part: Part, numbers: list[int], scores: list[float]
) -> list[tuple[int, float]]:
    """An order of documents by score, less what repeats a better one.

    Returns:
        Places in ``numbers``, best first, and what each is worth there: the share of the best
        score that is left.
    """
    if not numbers:
        return []
    most = max(scores)
    left, loss = np.array(scores), np.zeros(len(numbers))
    worth = left.copy()
    penalties = _penalties(index, numbers) * most
    costs_others = ((penalties > 0).sum(1) > 1).tolist()
    if part.many:
        words = _own_words(index, part, numbers)
        fresh = words.sum(1)
        enough = max(float(np.percentile(fresh[:FIRST], LITTLE)), 1e-9)
    order: list[tuple[int, float]] = []
    for _ in numbers:
        place = int(worth.argmax())
        order.append((place, float(worth[place]) / most))
        left[place] = worth[place] = -np.inf
        if costs_others[place]:
            np.maximum(loss, penalties[place], out=loss)
            np.subtract(left, loss, out=worth)
        if part.many:
            now_said = np.flatnonzero(words[place])
            fresh -= words[:, now_said].sum(1)
            words[:, now_said] = 0
            worth = left - loss - SAID * most * (1 - np.minimum(fresh / enough, 1.0))
    return order


def _penalties(index: Index, numbers: list[int]) -> Scores:
    alike = index.dense.likeness(numbers) if index.dense else None
    if alike is None:
        return np.zeros((len(numbers), len(numbers)))
    scaled: Scores = (alike.astype(np.float64) - ALIKE) / (SAME - ALIKE)
    return PENALTY * np.minimum(np.maximum(scaled, 0.0), 1.0)


def _own_words(index: Index, part: Part, numbers: list[int]) -> Scores:
    """What each word is worth in each document, shape ``(documents, words)``.

    A word that few of these documents have is worth more.
    """
    documents = [set(index_terms(index.documents[number].text)) for number in numbers]
    counts = Counter(term for document in documents for term in document)
    columns = {term: at for at, term in enumerate(sorted(counts.keys() - part.terms.keys()))}
    worth = np.array([commonplace(term) * rarity(len(numbers), counts[term]) for term in columns])
    words = np.zeros((len(numbers), len(columns)))
    for row, document in enumerate(documents):
        own = [columns[term] for term in document if term in columns]
        words[row, own] = worth[own]
    return words
