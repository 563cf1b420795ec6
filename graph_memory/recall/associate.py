"""A second step: from what fits, to what belongs to it and answers the rest.

"Where does the one with the orange cat work?" finds the orange cat, whose sentence names
小红; 小红 leads to a sentence about her work. No graph is needed for that, only a rare word
that both sentences share. How far the step leads depends on what the hit leaves unsaid: one
that says all that is asked for leads nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from ..stopwords import weight as commonplace
from .index import Index
from .sight import Sight
from .signals import Bag, Scores, best, fit, rarity, worth
from .vocabulary import index_terms, search_terms

STEP = 1.0
"""Weight of the second step, of a hit that leaves everything unsaid."""
HITS = 4
"""Best documents that are stepped from."""
BRIDGES = 8
"""Rarest words of a hit that are stepped over."""
COMMON = 0.3
"""Share of the documents above which a word is no bridge."""
FEW = 3
"""Documents that may always share a bridge."""
MEANT = 0.3
"""Share of meaning, beside that of words, in whether a document answers the rest."""
HEADROOM = 0.1
"""Share of the best score, right below it, into which what was lifted is pressed."""


def associate(
    index: Index,
    sight: Sight,
    bag: Bag,
    query: Mapping[str, float],
    relevance: Scores,
    close: Scores | None,
) -> Scores:
    """Add what follows from the best hits, by position; there must be a document.

    A document gains as far as the hit is relevant and leaves something unsaid, as it shares
    the hit's rare words, and as it has what the query asks for and the hit does not say, in
    words or in meaning (``close``); but it does not overtake the best hit.
    """
    order = best(relevance, HITS)[:HITS]
    most = float(relevance[order[0]])
    if most <= 0:
        return relevance
    gained = np.zeros(len(sight))
    meant = _meant(close) if close is not None else None
    texts = [index.documents[int(sight.numbers[hit])].text for hit in order]
    says = [set(index_terms(text)) for text in texts]
    leads = [_leading(bag, set(search_terms(text)) - query.keys()) for text in texts]
    bag.look_up(chain.from_iterable(leads))
    worths = {
        term: weight * worth(term, len(bag), bag.occurrences(term))
        for term, weight in query.items()
    }
    for hit, said, leading in zip(order, says, leads, strict=True):
        rest = {term: weight for term, weight in query.items() if term not in said}
        reach = _unsaid(worths, rest) * float(relevance[hit]) / most
        shared = _shared(bag, leading, reach) if rest else None
        if shared is None:
            continue
        answers = fit(bag, rest)
        if (whole := float(answers.max())) > 0:
            answers *= (1.0 if meant is None else 1 - MEANT) / whole
        if meant is not None:
            answers += meant
        shared *= answers
        shared[hit] = 0.0
        np.maximum(gained, shared, out=gained)
    stepped: Scores = relevance + STEP * most * gained
    return np.where(relevance < most, _below(most, stepped), stepped)


def _unsaid(worths: Mapping[str, float], rest: Iterable[str]) -> float:
    """How much of what a query says is in its ``rest``, 0…1; the root, so that half is a lot."""
    total = sum(worths.values())
    return math.sqrt(sum(worths[term] for term in rest) / total) if total > 0 else 0.0


def _below(most: float, scores: Scores) -> Scores:
    """Scores that come near ``most`` without reaching it, in the order they had.

    To cut them off there would make many of them equal, and their order one of chance.
    """
    room = HEADROOM * most
    over = np.maximum(scores - (most - room), 0.0)
    pressed: Scores = scores - over + over * room / (over + room)
    return pressed


def _meant(close: Scores) -> Scores:
    """What its meaning adds to how well a document answers; the closer half has any."""
    middle, most = _median(close), float(close.max())
    if most <= middle:
        return np.zeros(len(close))
    meant: Scores = (MEANT / (most - middle)) * np.maximum(close - middle, 0.0)
    return meant


def _median(values: Scores) -> float:
    """What ``np.median`` gives, with less ado."""
    half = len(values) // 2
    halves = np.partition(values, half)
    upper = float(halves[half])
    return upper if len(values) % 2 else (float(halves[:half].max()) + upper) / 2


def _leading(bag: Bag, said: set[str]) -> list[str]:
    """Words that may lead from a document to another one."""
    return [term for term in said if commonplace(term) == 1 and not bag.is_lone(term)]


def _shared(bag: Bag, leading: list[str], whole: float) -> Scores | None:
    """How much of a hit's rarest words each document shares, 0…``whole``."""
    count = len(bag)
    most = max(FEW, count * COMMON)
    counted = sorted((bag.occurrences(term), term) for term in leading)
    bridges = [(times, term) for times, term in counted if 2 <= times <= most][:BRIDGES]
    if not bridges:
        return None
    shared = np.zeros(count)
    weights = [rarity(count, occurrences) for occurrences, _ in bridges]
    unit = whole / sum(weights)
    for weight, (_, term) in zip(weights, bridges, strict=True):
        np.add.at(shared, bag.having(term), weight * unit)
    return shared
