"""Vectors of documents, and exact cosine over those that may be seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ports import Vectors
from .growable import Growable

UNIT = 4000
"""Length of a stored vector, whose numbers are whole.

Sums of products of whole numbers are exact in 32-bit floats up to 2**24, whatever the
order they are added in; so a cosine depends on its two vectors alone, to the last bit, and
nobody can tell from its rounding what else is stored. What is lost is below 0.0002.
"""
_CHUNK = 512
"""Rows gathered at a time: small enough to stay in the processor's cache."""


class Dense:
    """Vectors of one model by document number.

    Attributes:
        model: Name of the model; vectors of different models are never mixed.
        floor: Cosine of unrelated texts under this model.
        count: How many documents have a vector.
    """

    def __init__(self, model: str, floor: float) -> None:
        self.model = model
        self.floor = floor
        self.count = 0
        self._matrix: Growable | None = None
        self._known = Growable(np.bool_)

    def put(self, number: int, vector: Vectors) -> None:
        """Store the vector of a document.

        Raises:
            ValueError: It has another width than those before, or is not finite.
        """
        if self._matrix is None:
            self._matrix = Growable(np.float32, len(vector))
        if vector.shape != self._matrix.values.shape[1:] or not np.isfinite(vector).all():
            raise ValueError(f"not a vector of {self.model}: shape {vector.shape}")
        if number >= self._matrix.size:
            self._matrix.resize(number + 1)
            self._known.resize(number + 1)
        self.count += not self._known.values[number]
        self._matrix.values[number] = _whole(vector)
        self._known.values[number] = True

    def remove(self, number: int) -> None:
        """Forget the vector of a document, if it has one."""
        if self.has(number):
            assert self._matrix is not None
            self.count -= 1
            self._matrix.values[number] = 0
            self._known.values[number] = False

    def has(self, number: int) -> bool:
        """Whether a document has a vector."""
        return number < self._known.size and bool(self._known.values[number])

    def cosines(self, numbers: NDArray[np.int32], query: Vectors) -> NDArray[np.float32]:
        """Cosine of ``query`` to each of ``numbers``, shape ``(len(numbers),)``.

        NaN where a document has no vector (yet).
        """
        found = np.full(len(numbers), np.nan, np.float32)
        if self._matrix is None or query.shape != self._matrix.values.shape[1:]:
            return found
        matrix, known = self._matrix.values, self._known.values
        wanted = _whole(query)
        inside = np.flatnonzero(numbers < len(known))
        some = numbers[inside]
        if len(numbers) * 3 > len(known):
            # Reading all rows in their order is faster than gathering most of them.
            products = (matrix @ wanted)[some]
        else:
            products = np.empty(len(some), np.float32)
            for start in range(0, len(some), _CHUNK):
                part = slice(start, start + _CHUNK)
                products[part] = matrix[some[part]] @ wanted
        found[inside] = np.where(known[some], products / UNIT**2, np.nan)
        return found

    def likeness(self, numbers: list[int]) -> NDArray[np.float32] | None:
        """Cosines between some documents, shape ``(n, n)``; 0 where there is no vector."""
        if self._matrix is None:
            return None
        rows = np.zeros((len(numbers), self._matrix.values.shape[1]), np.float32)
        known = [at for at, number in enumerate(numbers) if self.has(number)]
        rows[known] = self._matrix.values[[numbers[at] for at in known]]
        alike: NDArray[np.float32] = (rows @ rows.T) / np.float32(UNIT**2)
        return alike


def _whole(vector: Vectors) -> Vectors:
    """A vector in whole numbers, of length ``UNIT`` or so."""
    length = float(np.linalg.norm(vector)) or 1.0
    return np.rint(np.asarray(vector, np.float32) * (UNIT / length)).astype(np.float32)
