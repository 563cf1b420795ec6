"""Which words mean the same, where rules stand in for a model that would know."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graph_memory.ports import Embedder

NEAR = 0.8
"""Cosine from which two words mean the same. With the bundled model 警察 and 民警 have .86,
护士 and 医生 .70, 打球 and 足球 .74; a whole sentence around them would bring all above .8."""


class Synonyms:
    """Compares single words by an embedder; those it has not learned mean nothing to it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    async def learn(self, words: Iterable[str]) -> None:
        """Make some words comparable."""
        new = sorted({*words} - self._vectors.keys())
        if new:
            self._vectors.update(zip(new, await self._embedder.passages(new), strict=True))

    def same(self, one: str, other: str) -> bool:
        """Whether two learned words mean the same."""
        ours, theirs = self._vectors.get(one), self._vectors.get(other)
        return ours is not None and theirs is not None and float(ours @ theirs) >= NEAR
