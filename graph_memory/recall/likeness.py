"""How alike facts and messages are, by the vectors that the index has of them anyway."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .documents import message_key
from .index import Index


def likeness(index: Index, messages: Iterable[int], facts: Iterable[str]) -> dict[str, float]:
    """The cosine of each fact with the message that is most like it.

    Returns:
        By id of the fact; what has no vector yet, or is not in the index, is left out.
    """
    dense = index.dense
    if dense is None:
        return {}
    lines = [index.documents.number(message_key(id)) for id in messages]
    known = {id: index.documents.number(id) for id in facts}
    numbers = {id: n for id, n in known.items() if n is not None and dense.has(n)}
    wanted = np.array(list(numbers.values()), np.intp)
    best = np.full(len(wanted), -np.inf, np.float32)
    for line in lines:
        if line is not None and dense.has(line) and len(wanted):
            best = np.maximum(best, dense.cosines(wanted, dense.vector(line)))
    return {id: float(cosine) for id, cosine in zip(numbers, best, strict=True) if cosine > -1.0}
