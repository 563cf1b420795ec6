"""Vectors of documents, and exact cosine over those that may be seen."""

from __future__ import annotations

from collections.abc import Sequence

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

    def put(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Store the vectors of some documents, shape ``(len(numbers), width)``.

        Raises:
            ValueError: They have another width than those before, or are not finite;
                nothing is stored.
        """
        width = vectors.shape[1] if self._matrix is None else self._matrix.values.shape[1]
        if vectors.shape != (len(numbers), width) or not np.isfinite(vectors).all():
            raise ValueError(f"no vectors of {self.model}: shape {vectors.shape}")
        if self._matrix is None:
            self._matrix = Growable(np.float32, width)
        if (size := max(numbers) + 1) > self._matrix.size:
            self._matrix.resize(size)
            self._known.resize(size)
        self._matrix.values[numbers] = _whole(vectors)
        self._known.values[numbers] = True
        self.count = int(np.count_nonzero(self._known.values))

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

    def vector(self, number: int) -> Vectors:
        """The vector of a document that has one, shape ``(width,)``, length 1."""
        assert self._matrix is not None
        row: Vectors = self._matrix.values[number] / np.float32(UNIT)
        return row

    def cosines(self, numbers: NDArray[np.intp], query: Vectors) -> NDArray[np.float32]:
        """Cosine of ``query`` to each of ``numbers``, shape ``(len(numbers),)``.

        NaN where a document has no vector (yet).
        """
        count = len(numbers)
        if not count or self._matrix is None or query.shape != self._matrix.values.shape[1:]:
            return np.full(count, np.nan, np.float32)
        matrix, known = self._matrix.values, self._known.values
        (wanted,) = _whole(query[np.newaxis])
        inside = None if numbers.max() < len(known) else np.flatnonzero(numbers < len(known))
        some = numbers if inside is None else numbers[inside]
        if count * 3 > len(known):
            # Reading all rows in their order is faster than gathering most of them.
            products = _products(matrix, wanted).take(some)
        else:
            products = np.empty(len(some), np.float32)
            for start in range(0, len(some), _CHUNK):
                part = slice(start, start + _CHUNK)
                products[part] = _products(matrix[some[part]], wanted)
        products /= np.float32(UNIT**2)
        if self.count < len(known):  # not all documents have a vector
            products[~known[some]] = np.nan
        if inside is None:
            return products
        found = np.full(count, np.nan, np.float32)
        found[inside] = products
        return found

    def likeness(self, numbers: list[int]) -> NDArray[np.float32] | None:
        """Cosines between some documents, shape ``(n, n)``; 0 where there is no vector."""
        if self._matrix is None:
            return None
        rows = self._matrix.values.take(numbers, axis=0, mode="clip")
        if self.count < self._known.size or max(numbers) >= self._known.size:
            rows[[at for at, number in enumerate(numbers) if not self.has(number)]] = 0.0
        alike = _products(rows[:, np.newaxis], rows)
        alike /= np.float32(UNIT**2)
        return alike


def _products(rows: Vectors, others: Vectors) -> Vectors:
    """Scalar products of vectors, those of ``rows`` and ``others`` broadcast together.

    BLAS would share one large product among threads and wait for the last of them, which
    on a busy machine takes ten times as long every so often. Scalar products it computes
    at once, and ``vecdot``, which NumPy has since 2.0, without further ado.
    """
    if hasattr(np, "vecdot"):
        products: Vectors = np.vecdot(rows, others)
        return products
    matrices: Vectors = np.matmul(rows[..., np.newaxis, :], others[..., np.newaxis])
    return matrices[..., 0, 0]


def _whole(vectors: Vectors) -> Vectors:
    """Vectors in whole numbers, each of length ``UNIT`` or so."""
    some = np.asarray(vectors, np.float32)
    lengths = np.sqrt(_products(some, some)).astype(np.float64)
    lengths[lengths == 0] = 1.0
    scales = (UNIT / lengths).astype(np.float32)
    whole: Vectors = np.rint(some * scales[..., np.newaxis])
    return whole
