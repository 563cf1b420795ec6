"""Which known facts a batch may be about: those the model is offered first.

Ranking decides nothing else. Vectors, where there are any, bring up what is said again in
other words (无辣不欢 for 爱吃辣); whether that is the same is the model's to say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ..model import Fact, Status
from ..text import normalise, terms
from ..visible_rows import SessionRows

MAX_LOOKED_AT = 150
"""Newest facts about one node among which those to show are chosen."""
ALIKE = 3
"""Words in common with the batch from which a fact about anything else is looked at."""
NAMED = 1.0
"""What it counts that a message names who or what a fact is about, in words shared."""
_SMOOTHING = 5.0
"""How little the very first places count more than the next ones."""


def candidates(
    visible: SessionRows, present: Iterable[str], named: Iterable[str], text: str
) -> list[Fact]:
    """The current facts about those who speak, about and with what is named, and those of
    this Session that are worded much like the batch, whatever they are about."""
    near: dict[str, Fact] = {}
    for node in present:
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_LOOKED_AT))
    for node in named:
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_LOOKED_AT))
        near.update((fact.id, fact) for fact in visible.facts_with(node, MAX_LOOKED_AT))
    words = set(terms(text))
    for fact in visible.facts_here(MAX_LOOKED_AT):
        if len(words.intersection(terms(fact.statement))) >= ALIKE:
            near.setdefault(fact.id, fact)
    return [
        fact
        for fact in near.values()
        if fact.status == Status.ACTIVE and fact.valid_to is None and not visible.is_replaced(fact)
    ]


def ranked(
    visible: SessionRows,
    facts: Iterable[Fact],
    said: Iterable[str],
    named: Mapping[str, Collection[str]],
    likeness: Mapping[str, float],
) -> list[Fact]:
    """Facts, nearest to a batch first: by shared words, things named and recency, and
    by likeness.

    Every message has its turn: first what is nearest to each of them, then what is second
    nearest, so that one of which much is known does not take the place of all others. The
    two orders are fused by place, so that neither needs a scale: what is first in one of
    them is offered whatever the other says.

    Args:
        said: The messages.
        named: What they name, and in which words.
        likeness: Of facts to the batch, by id; empty: by words only.
    """
    by_words = _by_words(visible, list(facts), said, named)
    alike = [fact for fact in by_words if fact.id in likeness]
    if not alike:
        return by_words
    places = {fact.id: 1 / (_SMOOTHING + place) for place, fact in enumerate(by_words)}
    for place, fact in enumerate(sorted(alike, key=lambda fact: -likeness[fact.id])):
        places[fact.id] += 1 / (_SMOOTHING + place)
    return sorted(by_words, key=lambda fact: -places[fact.id])


def _by_words(
    visible: SessionRows,
    facts: list[Fact],
    said: Iterable[str],
    named: Mapping[str, Collection[str]],
) -> list[Fact]:
    words = {fact.id: set(terms(fact.statement)) for fact in facts}
    ends = {f.id: {visible.canonical(f.subject), visible.canonical(f.object)} for f in facts}
    known = Counter(word for each in words.values() for word in each)
    # What is in every other fact says little about which of them is meant.
    weight = {word: math.log1p(len(facts) / count) for word, count in known.items()}
    turns: dict[str, tuple[int, float]] = {}
    for text in said:
        spoken, norm = set(terms(text)), normalise(text)
        meant = {node for node, used in named.items() if any(normalise(u) in norm for u in used)}
        score = {
            # A long statement has some words in common with anything, and costs as much.
            fact.id: sum(weight[word] for word in words[fact.id] & spoken)
            / math.sqrt(len(words[fact.id]) or 1)
            + NAMED * len(ends[fact.id] & meant)
            for fact in facts
        }
        near = sorted(
            (f for f in facts if score[f.id]), key=lambda f: (-score[f.id], -f.last_used, f.id)
        )
        for place, fact in enumerate(near):
            turn = (place, -score[fact.id])
            turns[fact.id] = min(turns.get(fact.id, turn), turn)
    last = (len(facts), 0.0)
    return sorted(facts, key=lambda f: (turns.get(f.id, last), -f.last_used, f.id))
