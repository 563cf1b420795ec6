"""Inverted lists: which documents contain a term, and how often.

A posting is a document number and a term frequency packed into 32 bits. A term of a
single document, as most are, has no list but the posting itself.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FREQUENCY_BITS = 4
_FREQUENCY = (1 << _FREQUENCY_BITS) - 1


class Lexical:
    """Inverted lists of all documents."""

    def __init__(self) -> None:
        self._lists: dict[str, int | array[int]] = {}

    def add(self, number: int, terms: Sequence[str]) -> None:
        """Enter a document."""
        for term, frequency in Counter(terms).items():
            posting = number << _FREQUENCY_BITS | min(frequency, _FREQUENCY)
            found = self._lists.get(term)
            if found is None:
                self._lists[term] = posting
            elif isinstance(found, int):
                self._lists[term] = array("I", (found, posting))
            else:
                found.append(posting)

    def remove(self, number: int, terms: Sequence[str]) -> None:
        """Take a document out; ``terms`` are those it was entered with."""
        for term in set(terms):
            found = self._lists[term]
            if isinstance(found, int):
                del self._lists[term]
                continue
            kept = [posting for posting in found if posting >> _FREQUENCY_BITS != number]
            self._lists[term] = array("I", kept) if len(kept) > 1 else kept[0]

    def is_lone(self, term: str) -> bool:
        """Whether at most one document has a term."""
        return not isinstance(self._lists.get(term), array)

    def postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Document numbers and frequencies of a term, of all documents.

        The caller has to restrict them to what may be seen before anything is computed
        from them, their count included.
        """
        found = self._lists.get(term, ())
        packed = np.array([found] if isinstance(found, int) else found, np.int64)
        return packed >> _FREQUENCY_BITS, packed & _FREQUENCY
