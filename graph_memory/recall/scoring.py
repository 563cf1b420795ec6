"""Scores of the visible documents: words, meaning, their fusion, the second step.

Scores are arrays by position in a :class:`~.visible.VisibleSet`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ports import Vectors
from ..stopwords import weight as commonplace
from .documents import Numbers
from .index import Index
from .lexical import index_terms, is_character, search_terms
from .visible import VisibleSet

Scores = NDArray[np.float64]

K1 = 0.9
B = 0.6
NEIGHBOURS = 0.3
"""Share of the neighbours in what a message means."""
SUBSTANCE = 18.0
"""What three rare words say; of a query that says less, less can be covered."""
FAMILIAR, FAMILIAR_SHARE = 256, 1 / 16
"""Documents, and their share, above which a single character tells too little for the time
it takes."""
LEAST = 200
"""Documents that are assumed when judging how rare a term is: in a memory of three
sentences every word looks rare or common by chance."""
LEXICAL = 0.4
"""Weight of words; the rest is that of meaning."""
SWAY, OTHERS = 0.1, 10
"""Weight that goes to the one of the two that sets its best apart from the one so many
places after it, at most."""
CONVERSATION, CONVERSATION_TOP = 0.4, 3
"""Weight of the mean of a conversation's best lines."""
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


def lexical_scores(
    postings: VisiblePostings, query: Mapping[str, float], said: Iterable[str]
) -> tuple[Scores, Scores]:
    """BM25 and coverage of every visible document, for weighted terms of a query.

    Coverage is the share, 0…1, of the terms ``said`` that the document says too; unlike
    BM25 it means the same in every query and every memory.
    """
    count = len(postings)
    coverage = np.zeros(count)
    total = 0.0
    postings.look_up(query)
    for term in said:
        occurrences = postings.occurrences(term)
        says = term_weight(term, count, occurrences)
        total += says
        if occurrences:
            found = postings.find(term)
            np.add.at(coverage, found.positions, says * np.minimum(1.0, found.frequencies))
    return bm25(postings, query), coverage / max(total, SUBSTANCE)


def bm25(postings: VisiblePostings, query: Mapping[str, float]) -> Scores:
    """BM25 of every visible document, by position."""
    scores = np.zeros(len(postings))
    for term, weight in query.items():
        if postings.occurrences(term):
            found = postings.find(term)
            # In half the time of +=, though here no position comes twice.
            np.add.at(scores, found.positions, weight * found.gains)
    return scores


def idf(count: int, occurrences: int) -> float:
    """Weight (idf) of a term that ``occurrences`` of ``count`` documents have."""
    return math.log(1 + (count - occurrences + 0.5) / (occurrences + 0.5))


def term_weight(term: str, count: int, occurrences: int) -> float:
    """How much it says that one of ``count`` documents has a term."""
    return commonplace(term) * idf(max(count, LEAST), occurrences)


@dataclass(frozen=True, slots=True)
class TermHits:
    """Documents that have a term, in context, how often, and what it adds to their BM25."""

    positions: Numbers
    frequencies: Scores
    gains: Scores


class VisiblePostings:
    """Postings of the visible documents, in context; made for one search."""

    def __init__(self, index: Index, visible: VisibleSet) -> None:
        self._index = index
        self._visible = visible
        self._count = len(visible)
        self._found: dict[str, TermHits] = {}
        self._owners: dict[str, tuple[Numbers, NDArray[np.integer[Any]]]] = {}
        lengths = visible.lengths
        mean = max(1.0, float(lengths.sum()) / max(1, len(visible)))
        self._damping = K1 * (1 - B + B * lengths / mean)

    def __len__(self) -> int:
        return self._count

    def occurrences(self, term: str) -> int:
        """How many visible documents have a term themselves."""
        return len(self.having(term))

    def having(self, term: str) -> Numbers:
        """Positions of the visible documents that have a term themselves."""
        return self._own(term)[0]

    def find(self, term: str) -> TermHits:
        """Where a term is, among the visible documents."""
        found = self._found.get(term)
        if found is None:
            positions, frequencies = self._own(term)
            if is_character(term):  # found in many places already, and costly to look for
                if len(positions) > max(FAMILIAR, self._count * FAMILIAR_SHARE):
                    positions, frequencies = positions[:0], frequencies[:0]
                hit, frequency = positions, frequencies.astype(np.float64)
            else:
                hit, frequency = self._visible.conversations.spread(positions, frequencies)
            gains = frequency * (K1 + 1)
            gains /= frequency + self._damping.take(hit)
            gains *= idf(self._count, len(positions))
            found = self._found[term] = TermHits(hit, frequency, gains)
        return found

    def _own(self, term: str) -> tuple[Numbers, NDArray[np.integer[Any]]]:
        """Visible documents that have a term, and how often."""
        if term not in self._owners:
            self.look_up((term,))
        return self._owners[term]

    def look_up(self, terms: Iterable[str]) -> None:
        """Look up many terms in one go, which takes less time than one by one."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._owners]
        if not wanted:
            return
        numbers, frequencies, ends = self._index.inverted.postings(wanted)
        positions = self._visible.positions.take(numbers)
        seen = (positions >= 0).nonzero()[0]
        if len(seen) < len(positions):
            ends = np.searchsorted(seen, ends)
            positions, frequencies = positions.take(seen), frequencies.take(seen)
        start = 0
        for term, end in zip(wanted, ends.tolist(), strict=True):
            self._owners[term] = positions[start:end], frequencies[start:end]
            start = end


def semantic_scores(index: Index, visible: VisibleSet, vector: Vectors | None) -> Scores | None:
    """Similarity of every visible document above the model's floor; ``None`` without vectors.

    A message means what it says or what a fact that rests on it says, whichever is
    closer, and a little of what its neighbours say. 0 where there is no vector.
    """
    vectors = index.vectors
    if vectors is None or vector is None or not len(visible):
        return None
    own = vectors.cosines(visible.numbers, vector).astype(np.float64)
    own -= vectors.floor
    unknown = np.isnan(own).nonzero()[0]
    if len(unknown) == len(own):
        return None
    own[unknown] = 0.0
    if len(visible.facts):
        np.maximum.at(own, visible.messages, own.take(visible.facts))
    members = visible.conversations.members
    values = own.take(members)
    own[members] = (1 - NEIGHBOURS) * values + NEIGHBOURS * visible.conversations.around(values)
    return own


def best(scores: Scores, count: int) -> list[int]:
    """Positions of the ``count`` best scores, in order; more if some are equal."""
    if len(scores) > count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        kept = (scores >= least).nonzero()[0]
    else:
        kept = np.arange(len(scores))
    found: list[int] = kept[np.argsort(-scores.take(kept), kind="stable")].tolist()
    return found


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


def lift_conversations(relevance: Scores, visible: VisibleSet) -> Scores:
    """Add to each memory the mean of the best of its conversation (itself, if alone)."""
    lifted: Scores = relevance + CONVERSATION * relevance
    conversations = visible.conversations
    if len(conversations.members):
        values = relevance.take(conversations.members)
        top = conversations.best(values, CONVERSATION_TOP)
        lift = CONVERSATION * top / np.minimum(conversations.sizes, CONVERSATION_TOP)
        lifted[conversations.members] = values + conversations.of_members(lift)
    return lifted


def second_step(
    index: Index,
    visible: VisibleSet,
    postings: VisiblePostings,
    query: Mapping[str, float],
    relevance: Scores,
    close: Scores | None,
) -> Scores:
    """Add what follows from the best hits, by position; there must be a document.

    "Where does the one with the orange cat work?" finds the cat, whose sentence names 小红;
    this rare word leads to a sentence about her work. A document gains as far as the hit is
    relevant and leaves something unsaid, as it shares the hit's rare words, and as it has
    what the query asks for and the hit does not say, in words or in meaning (``close``);
    but it does not overtake the best hit.
    """
    order = best(relevance, HITS)[:HITS]
    most = float(relevance[order[0]])
    if most <= 0:
        return relevance
    gained = np.zeros(len(visible))
    meant = _meant(close) if close is not None else None
    texts = [index.documents[int(visible.numbers[hit])].text for hit in order]
    says = [set(index_terms(text)) for text in texts]
    leads = [
        [
            term
            for term in set(search_terms(text)) - query.keys()
            if commonplace(term) == 1 and not index.inverted.is_lone(term)
        ]
        for text in texts
    ]
    postings.look_up(chain.from_iterable(leads))
    worths = {
        term: weight * term_weight(term, len(postings), postings.occurrences(term))
        for term, weight in query.items()
    }
    for hit, said, leading in zip(order, says, leads, strict=True):
        rest = {term: weight for term, weight in query.items() if term not in said}
        reach = _unsaid(worths, rest) * float(relevance[hit]) / most
        shared = _shared(postings, leading, reach) if rest else None
        if shared is None:
            continue
        answers = bm25(postings, rest)
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
    """Root of the share, 0…1, of what a query says that is in its ``rest``."""
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
    middle, most = float(np.median(close)), float(close.max())
    if most <= middle:
        return np.zeros(len(close))
    meant: Scores = (MEANT / (most - middle)) * np.maximum(close - middle, 0.0)
    return meant


def _shared(postings: VisiblePostings, leading: list[str], whole: float) -> Scores | None:
    """How much of a hit's rarest words each document shares, 0…``whole``."""
    count = len(postings)
    most = max(FEW, count * COMMON)
    counted = sorted((postings.occurrences(term), term) for term in leading)
    bridges = [(times, term) for times, term in counted if 2 <= times <= most][:BRIDGES]
    if not bridges:
        return None
    shared = np.zeros(count)
    weights = [idf(count, occurrences) for occurrences, _ in bridges]
    unit = whole / sum(weights)
    for weight, (_, term) in zip(weights, bridges, strict=True):
        np.add.at(shared, postings.having(term), weight * unit)
    return shared
