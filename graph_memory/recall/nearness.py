"""What is near: to a node of the graph that was named, or that the best facts are about, and
to a time that was named."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..dates import Span
from ..model import Fact, is_entity
from .index import Index
from .sight import Sight
from .signals import Scores, best

NAMED = 0.15
"""Preference for facts about a node that was named, damped by its degree."""
MENTION = 2.5
"""Evidence from being named, damped likewise, at most 1: in full up to three facts."""
HOP, HOP_SEEDS, HOP_DEGREE = 0.1, 3, 30
"""Preference for facts one hop from the best facts, through nodes of low degree."""
TIMELY, GRACE = 0.3, 7 * 86_400.0
"""Preference for what was said at a time that is named, and half of it for what was said
in the week after: people tell what happened."""


def near(
    index: Index, sight: Sight, relevance: Scores, named: dict[str, str]
) -> tuple[Scores, Scores]:
    """What being near a node adds to relevance and to evidence, by position.

    Near are the facts about a named node, and those about a node of the best facts. A
    node of many facts says little about each of them.
    """
    boost, mentioned = np.zeros(len(sight)), np.zeros(len(sight))
    for node in dict.fromkeys(index.distinct(named).values()):
        facts = sight.positions[index.touching(node, sight)]
        damped = 1 + math.log1p(len(facts))
        boost[facts] += NAMED / damped
        mentioned[facts] = np.maximum(mentioned[facts], min(1.0, MENTION / damped))
    for node, weight in sorted(_reached(index, sight, relevance, named).items()):
        facts = sight.positions[index.touching(node, sight)]
        if len(facts) <= HOP_DEGREE:
            boost[facts] += HOP * weight / (1 + math.log1p(len(facts)))
    return boost, mentioned


def _reached(
    index: Index, sight: Sight, relevance: Scores, named: dict[str, str]
) -> dict[str, float]:
    """Entities of the best facts, with the best relevance; not through those named."""
    reached: dict[str, float] = {}
    passed = {index.identities.canonical(node) for node in named}
    for position in best(relevance, HOP_SEEDS):
        source = index.documents[int(sight.numbers[position])].source
        if isinstance(source, Fact):
            for node in (source.subject, source.object):
                if not is_entity(node) or index.identities.canonical(node) in passed:
                    continue
                if index.knows(node, sight.views):
                    reached[node] = max(reached.get(node, 0.0), float(relevance[position]))
    best_of: dict[str, float] = {}
    for node, first in index.distinct(reached).items():
        best_of[first] = max(best_of.get(first, 0.0), reached[node])
    return best_of


def timely(index: Index, sight: Sight, times: Sequence[Span]) -> Scores:
    """What being of one of some times adds to relevance, by position."""
    boost = np.zeros(len(sight))
    at = index.documents.since.values[sight.numbers]
    for start, end in times:
        inside = (start <= at) & (at < end)
        after = (end <= at) & (at < end + GRACE)
        np.maximum(boost, np.where(inside, TIMELY, np.where(after, TIMELY / 2, 0.0)), out=boost)
    return boost
