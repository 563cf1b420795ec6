"""Digests: the most telling of some texts, chosen without a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from .text import is_chinese, one_line, terms

PICKED = 4
"""Texts of which a digest is made."""
SHORTEST = 40
"""Characters that each of them may have, at least."""


def telling(texts: Sequence[str], count: int) -> list[int]:
    """Places of at most ``count`` texts that have most of what came up, in order.

    Greedy: a word counts once, for as many texts as have it; a long text is divided by the
    root of its length.
    """
    bags = [frozenset(terms(text)) for text in texts]
    worth = Counter(term for bag in bags for term in bag)
    left = set(range(len(bags)))
    chosen: list[int] = []
    while left and len(chosen) < count:
        best = max(
            sorted(left),
            key=lambda at: sum(worth[term] for term in bags[at]) / math.sqrt(1 + len(bags[at])),
        )
        left.remove(best)
        chosen.append(best)
        for term in bags[best]:
            worth[term] = 0
    return sorted(chosen)


def digest(texts: Sequence[str], limit: int) -> str:
    """The most telling of some texts, in their order, in about ``limit`` characters."""
    chosen = telling(texts, PICKED)
    if not chosen:
        return ""
    each = max(SHORTEST, limit // len(chosen))
    some = dict.fromkeys(one_line(texts[at], each).rstrip("。.;；") for at in chosen)
    joint = "；" if is_chinese("".join(texts)) else "; "
    return one_line(joint.join(some), limit * 3 // 2)
