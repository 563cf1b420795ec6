"""What speaks for each visible document: words and meaning.

A message is read in its context: to its words come some of those beside it (``flow.py``).
Its meaning is also that of the facts that rest on it; so a casual line is found by the
fact learned from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ports import Vectors
from ..stopwords import weight as commonplace
from .documents import Numbers
from .flow import OWN
from .index import Index
from .sight import Sight
from .vocabulary import is_character

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


@dataclass(frozen=True, slots=True)
class Words:
    """What the words of a query say.

    Attributes:
        scores: BM25 by position.
        coverage: By position: share of what the query says, 0…1, that the document says
            too; unlike a BM25 score it means the same in every query and every memory.
    """

    scores: Scores
    coverage: Scores


def words(bag: Bag, query: Mapping[str, float], said: Iterable[str]) -> Words:
    """How well every visible document fits the terms of a query, given with their weights.

    Args:
        said: Those terms of which it counts whether a document says them too.
    """
    count = len(bag)
    coverage = np.zeros(count)
    total = 0.0
    bag.look_up(query)
    for term in said:
        occurrences = bag.occurrences(term)
        says = worth(term, count, occurrences)
        total += says
        if occurrences:
            found = bag.find(term)
            np.add.at(coverage, found.positions, says * np.minimum(1.0, found.frequencies))
    return Words(fit(bag, query), coverage / max(total, SUBSTANCE))


def fit(bag: Bag, query: Mapping[str, float]) -> Scores:
    """BM25 of every visible document, by position."""
    scores = np.zeros(len(bag))
    for term, weight in query.items():
        if bag.occurrences(term):
            found = bag.find(term)
            # In half the time of +=, though here no position comes twice.
            np.add.at(scores, found.positions, weight * found.gains)
    return scores


def rarity(count: int, occurrences: int) -> float:
    """Weight (idf) of a term that ``occurrences`` of ``count`` documents have."""
    return math.log(1 + (count - occurrences + 0.5) / (occurrences + 0.5))


def worth(term: str, count: int, occurrences: int) -> float:
    """How much it says that one of ``count`` documents has a term."""
    return commonplace(term) * rarity(max(count, LEAST), occurrences)


@dataclass(frozen=True, slots=True)
class Found:
    """Where a term is.

    Attributes:
        positions, frequencies: Bags that have it, each once, and how often, context included;
            of single characters there is none.
        gains: What it adds to their BM25.
    """

    positions: Numbers
    frequencies: Scores
    gains: Scores


class Bag:
    """Bags of words of the visible documents, in context; made for one search.

    Attributes:
        damping: By position: how much the length of a bag damps its frequencies.
    """

    def __init__(self, index: Index, sight: Sight) -> None:
        self._index = index
        self._sight = sight
        self._count = len(sight)
        self._found: dict[str, Found] = {}
        self._owners: dict[str, tuple[Numbers, NDArray[np.integer[Any]]]] = {}
        lengths = sight.lengths
        mean = max(1.0, float(lengths.sum()) / max(1, len(sight)))
        self.damping = K1 * (1 - B + B * lengths / mean)

    def __len__(self) -> int:
        return self._count

    def occurrences(self, term: str) -> int:
        """How many visible documents have a term themselves."""
        return len(self._own(term)[0])

    def is_lone(self, term: str) -> bool:
        """Whether at most one document has a term, visible or not; quickly known."""
        return self._index.lexical.is_lone(term)

    def having(self, term: str) -> Numbers:
        """Positions of the visible documents that have a term themselves."""
        return self._own(term)[0]

    def find(self, term: str) -> Found:
        """Where a term is, among the visible documents."""
        found = self._found.get(term)
        if found is None:
            positions, frequencies = self._own(term)
            if is_character(term):  # found in many places already, and costly to look for
                if len(positions) > max(FAMILIAR, self._count * FAMILIAR_SHARE):
                    positions, frequencies = positions[:0], frequencies[:0]
                hit, frequency = positions, frequencies.astype(np.float64)
            else:
                hit, tenths = self._sight.flow.spread(positions, frequencies)
                frequency = tenths / OWN
            gains = frequency * (K1 + 1)
            gains /= frequency + self.damping.take(hit)
            gains *= rarity(self._count, len(positions))
            found = self._found[term] = Found(hit, frequency, gains)
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
        numbers, frequencies, ends = self._index.lexical.postings(wanted)
        positions = self._sight.positions.take(numbers)
        seen = (positions >= 0).nonzero()[0]
        if len(seen) < len(positions):
            ends = np.searchsorted(seen, ends)
            positions, frequencies = positions.take(seen), frequencies.take(seen)
        start = 0
        for term, end in zip(wanted, ends.tolist(), strict=True):
            self._owners[term] = positions[start:end], frequencies[start:end]
            start = end


def meaning(index: Index, sight: Sight, vector: Vectors | None) -> Scores | None:
    """Similarity of every visible document above the model's floor, by position.

    A message means what it says or what a fact that rests on it says, whichever is
    closer, and a little of what its neighbours say. 0 where there is no vector.

    Returns:
        ``None`` if there is nothing to compare with.
    """
    dense = index.dense
    if dense is None or vector is None or not len(sight):
        return None
    own = dense.cosines(sight.numbers, vector).astype(np.float64)
    own -= dense.floor
    unknown = np.isnan(own).nonzero()[0]
    if len(unknown) == len(own):
        return None
    own[unknown] = 0.0
    if len(sight.facts):
        np.maximum.at(own, sight.messages, own.take(sight.facts))
    members = sight.flow.members
    values = own.take(members)
    own[members] = (1 - NEIGHBOURS) * values + NEIGHBOURS * sight.flow.around(values)
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
