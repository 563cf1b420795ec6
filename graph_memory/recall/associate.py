"""A second step: from what fits, to what belongs to it and answers the rest.

"Where does the one with the orange cat work?" finds the orange cat, whose sentence names
小红; 小红 leads to a sentence about her work. No graph is needed for that, only a rare word
that both sentences share.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .commonplace import weight as commonplace
from .index import Index
from .sight import Sight
from .signals import Bag, Scores, best, fit, rarity
from .vocabulary import search_terms

STEP = 0.4
"""Weight of the second step."""
HITS = 4
"""Best documents that are stepped from."""
BRIDGES = 6
"""Rarest words of a hit that are stepped over."""
COMMON = 0.3
"""Share of the documents above which a word is no bridge."""
FEW = 3
"""Documents that may always share a bridge."""


def associate(
    index: Index, sight: Sight, bag: Bag, query: Mapping[str, float], relevance: Scores
) -> Scores:
    """Add what follows from the best hits, by position; there must be a document.

    A document gains as far as the hit is relevant, as it shares the hit's rare words, and
    as it has what the query asks for and the hit does not say; but it does not overtake
    the best hit.
    """
    order = best(relevance, HITS)[:HITS]
    most = float(relevance[order[0]])
    if most <= 0:
        return relevance
    gained = np.zeros(len(sight))
    for hit in order:
        said = set(search_terms(index.documents[int(sight.numbers[hit])].text))
        rest = {term: weight for term, weight in query.items() if term not in said}
        shared = _shared(bag, sorted(said - query.keys()))
        if not rest or shared is None:
            continue
        answers = _share(fit(bag, rest))
        steps = relevance[hit] / most * shared * answers
        steps[hit] = 0.0
        np.maximum(gained, steps, out=gained)
    stepped: Scores = relevance + STEP * most * gained
    return np.where(relevance < most, np.minimum(stepped, most), stepped)


def _share(scores: Scores) -> Scores:
    most = float(scores.max())
    return scores / most if most > 0 else scores


def _shared(bag: Bag, said: list[str]) -> Scores | None:
    """How much of a hit's rarest words each document shares, 0…1."""
    count = len(bag)
    bridges: list[tuple[float, str]] = []
    for term in said:
        if commonplace(term) == 1 and not bag.is_lone(term):
            occurrences = bag.occurrences(term)
            if 2 <= occurrences <= max(FEW, count * COMMON):
                bridges.append((rarity(count, occurrences), term))
    bridges = sorted(bridges, key=lambda bridge: (-bridge[0], bridge[1]))[:BRIDGES]
    if not bridges:
        return None
    shared = np.zeros(count)
    for weight, term in bridges:
        shared[bag.having(term)] += weight
    return shared / sum(weight for weight, _ in bridges)
