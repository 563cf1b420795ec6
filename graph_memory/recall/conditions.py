"""Conditions: what somebody cannot or will not do, and requests that it bears on.

Allergies, diets, illness, fears and beliefs matter to a meal or a trip though nobody asks
about them. A condition is told by its words; a request by being more like requests than like
what only looks so in meaning, or by its words as well where its meaning is unknown.
"""

from __future__ import annotations

from enum import IntFlag
from pathlib import Path

from ..model import Fact
from ..text import patterns
from .examples import EXAMPLES, MARGIN, Likeness, Rows, nearness, rows


class Topic(IntFlag):
    """What a request is about, or a condition bears on."""

    NONE = 0
    FOOD = 1
    OUTING = 2
    SPORT = 4
    MEDICINE = 8
    VISIT = 16


_DIET = Topic.FOOD | Topic.OUTING | Topic.VISIT
_BODY = Topic.FOOD | Topic.OUTING | Topic.SPORT | Topic.MEDICINE
_FEAR = Topic.OUTING | Topic.SPORT | Topic.VISIT
_STATED = {"allergic_to": _DIET | Topic.MEDICINE, "health": _BODY}
"""By predicate."""


def _asking_for(topics: Topic) -> Rows:
    """Examples of requests on one of some topics."""
    names = {str(topic.name).casefold() for topic in topics}
    return rows(lambda kind: not names.isdisjoint(kind.split()))


_ANY, _NONE = _asking_for(Topic(sum(Topic))), rows(lambda kind: kind == "none")
_ROWS = {topic: _asking_for(topic) for topic in Topic}
_MAY_SAY_SO = frozenset(("dislikes", "habit", "believes", "feels", "status", "other"))
_AS_DIET, _AS_BODY, _AS_FEAR, *_AS_REQUEST, _ADVICE, _NO_ADVICE, _ALL = patterns(
    Path(__file__).with_suffix(".txt")
)
_BY_WORDS = (_DIET, _AS_DIET), (_BODY, _AS_BODY), (_FEAR, _AS_FEAR)
_ASKED = tuple(zip(Topic, _AS_REQUEST, strict=True))


def bears_on(fact: Fact) -> Topic:
    """What requests a fact bears on."""
    topic = _STATED.get(fact.predicate, Topic.NONE)
    if topic or fact.predicate in _MAY_SAY_SO:
        for each, words in _BY_WORDS:
            topic |= each if words.search(fact.statement) else Topic.NONE
    return topic


def requested(text: str, likeness: Likeness | None = None) -> Topic:
    """What a text wants advice on, or to be planned.

    Args:
        likeness: Cosine of its vector with that of each of ``EXAMPLES``; where not all are
            known, the text goes by its words.
    """
    is_advice, is_other = bool(_ADVICE.search(text)), bool(_NO_ADVICE.search(text))
    if likeness is not None and len(likeness) == len(EXAMPLES):
        return _meant(likeness, (is_advice - is_other) * MARGIN / 2)
    topic = Topic.NONE
    if is_advice and not is_other:
        for each, words in _ASKED:
            topic |= each if words.search(text) else Topic.NONE
    return topic


def _meant(likeness: Likeness, cue: float) -> Topic:
    if nearness(likeness, _ANY) - nearness(likeness, _NONE) + cue <= MARGIN:
        return Topic.NONE
    by_topic = {topic: nearness(likeness, _ROWS[topic]) for topic in Topic}
    least = max(by_topic.values()) - 2 * MARGIN
    return Topic(sum(topic for topic, each in by_topic.items() if each >= least))


def includes_all(text: str) -> bool:
    """Whether somebody asks for everybody who is there."""
    return _ALL.search(text) is not None
