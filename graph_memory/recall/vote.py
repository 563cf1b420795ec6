"""Questions for all things of a kind: the best hits say which words tell the kind.

"How many people were born in June?" finds those of June first. Of the words of the question
most of the hits have some, born, in common, and others, June, not all: with the former the
others rise, without whom nobody can count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ..stopwords import weight as commonplace
from .index import Index
from .sight import Sight
from .signals import Bag, Scores, best, rarity
from .vocabulary import index_terms

VOTERS = 8
"""Best documents that vote."""
MAJORITY = 0.3
"""Share of them that a word of the question needs."""
ELECTED = 0.5
"""Weight of having all the words that were elected."""


def vote(
    index: Index, sight: Sight, bag: Bag, query: Mapping[str, float], relevance: Scores
) -> Scores:
    """Add what documents share with the best hits of what was asked, by position."""
    order = best(relevance, VOTERS)[:VOTERS]
    most = float(relevance[order[0]])
    votes: Counter[str] = Counter()
    for hit in order:
        votes.update(set(index_terms(index.documents[int(sight.numbers[hit])].text)))
    shared = np.zeros(len(sight))
    total = 0.0
    for term in query:
        count = votes[term]
        if count < max(2, MAJORITY * len(order)):
            continue
        worth = commonplace(term) * rarity(len(sight), bag.occurrences(term)) * count / len(order)
        np.add.at(shared, bag.having(term), worth)
        total += worth
    if total <= 0 or most <= 0:
        return relevance
    voted: Scores = relevance + ELECTED * most * shared / total
    return voted
