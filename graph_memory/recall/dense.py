"""Vectors of documents, and exact cosine over those that may be seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ports import Vectors
from .growable import Growable

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
        self._matrix.values[number] = vector
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

        NaN where a document has no vector (yet). Each value depends on its own row
        only, to the last bit: ``einsum`` computes rows one by one, where a matrix
        product would round a row differently depending on its neighbours. It also
        stays on one thread.
        """
        found = np.full(len(numbers), np.nan, np.float32)
        if self._matrix is None or query.shape != self._matrix.values.shape[1:]:
            return found
        matrix, known = self._matrix.values, self._known.values
        query = np.ascontiguousarray(query, np.float32)
        inside = numbers < len(known)
        if len(numbers) * 2 > len(known):
            # Reading all rows in their order is faster than gathering most of them.
            usable = np.flatnonzero(inside)
            some = numbers[usable]
            every = np.einsum("ij,j->i", matrix, query)
            found[usable] = np.where(known[some], every[some], np.nan)
            return found
        for start in range(0, len(numbers), _CHUNK):
            part = slice(start, start + _CHUNK)
            some = np.where(inside[part], numbers[part], 0)
            usable = inside[part] & known[some]
            found[part] = np.where(usable, np.einsum("ij,j->i", matrix[some], query), np.nan)
        return found
