"""Which known facts a batch may be about: those the model is offered first.

Ranking decides nothing else. Vectors, where there are any, bring up what is said again in
other words (无辣不欢 for 爱吃辣); whether that is the same is the model's to say.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from ..model import Fact, Status
from ..text import terms
from .outlook import Outlook

MAX_LOOKED_AT = 150
"""Newest facts about one node among which those to show are chosen."""
ALIKE = 3
"""Words in common with the batch from which a fact about anything else is looked at."""
_SMOOTHING = 5.0
"""How little the very first places count more than the next ones."""


def candidates(
    outlook: Outlook, present: Iterable[str], named: Iterable[str], text: str
) -> list[Fact]:
    """The current facts about those who speak, about and with what is named, and those of
    this Session that are worded much like the batch, whatever they are about."""
    near: dict[str, Fact] = {}
    for node in present:
        near.update((fact.id, fact) for fact in outlook.facts_of(node, MAX_LOOKED_AT))
    for node in named:
        near.update((fact.id, fact) for fact in outlook.facts_of(node, MAX_LOOKED_AT))
        near.update((fact.id, fact) for fact in outlook.facts_with(node, MAX_LOOKED_AT))
    words = set(terms(text))
    for fact in outlook.facts_here(MAX_LOOKED_AT):
        if len(words.intersection(terms(fact.statement))) >= ALIKE:
            near.setdefault(fact.id, fact)
    return [
        fact
        for fact in near.values()
        if fact.status == Status.ACTIVE and fact.valid_to is None and not outlook.is_replaced(fact)
    ]


def ranked(
    outlook: Outlook,
    facts: Iterable[Fact],
    text: str,
    named: Collection[str],
    likeness: Mapping[str, float],
) -> list[Fact]:
    """Facts, nearest to a batch first: by shared words, things named and recency, and
    by likeness.

    The two orders are fused by place, so that neither needs a scale: what is first in
    one of them is offered whatever the other says.

    Args:
        likeness: Of facts to the batch, by id; empty: by words only.
    """
    words = set(terms(text))

    def distance(fact: Fact) -> tuple[float, float, str]:
        said = set(terms(fact.statement))
        # A long statement has some words in common with anything, and costs as much.
        shared = len(words & said) / math.sqrt(len(said) or 1)
        is_named = outlook.canonical(fact.object) in named
        return (-shared - is_named, -fact.last_used, fact.id)

    by_words = sorted(facts, key=distance)
    alike = [fact for fact in by_words if fact.id in likeness]
    if not alike:
        return by_words
    places = {fact.id: 1 / (_SMOOTHING + place) for place, fact in enumerate(by_words)}
    for place, fact in enumerate(sorted(alike, key=lambda fact: -likeness[fact.id])):
        places[fact.id] += 1 / (_SMOOTHING + place)
    return sorted(by_words, key=lambda fact: -places[fact.id])
