"""Inverted lists: which documents contain a term, and how often.

A posting is a document number and a term frequency packed into 32 bits. A term of a
single document, as most are, has no list but the posting itself.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

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
            (at,) = np.flatnonzero(self._packed(term) >> _FREQUENCY_BITS == number).tolist()
            found[at] = found[-1]
            found.pop()
            if len(found) == 1:
                self._lists[term] = found[0]

    def is_lone(self, term: str) -> bool:
        """Whether at most one document has a term."""
        return not isinstance(self._lists.get(term), array)

    def postings(
        self, terms: Iterable[str]
    ) -> tuple[NDArray[np.intp], NDArray[np.integer[Any]], NDArray[np.intp]]:
        """Document numbers and frequencies of terms, of all documents.

        The caller has to restrict them to what may be seen before anything is computed
        from them, their count included.

        Returns:
            Numbers and frequencies, those of the first term first, and where those of
            each term end.
        """
        lists = [self._packed(term) for term in terms]
        packed = np.concatenate(lists)
        ends = np.cumsum([len(each) for each in lists])
        return (packed >> _FREQUENCY_BITS).astype(np.intp), packed & _FREQUENCY, ends

    def _packed(self, term: str) -> NDArray[np.uint32]:
        """Postings of a term: a view, during the life of which the list cannot grow."""
        found = self._lists.get(term)
        if isinstance(found, array):
            return np.frombuffer(found, np.uint32)
        return np.array(() if found is None else (found,), np.uint32)
