"""Intents of messages: what somebody wants, by examples and by words.

Examples tell a text by its meaning. Questions stand under the predicates of the facts that answer
them. Small talk and tasks for anybody stand against questions of what was said; requests for advice
against what only looks so. All are in Chinese and English.

Allergies, diets, illness, fears and beliefs matter to a meal or a trip though nobody asks about
them. Such a condition is told by its words; a request that it bears on by its meaning, or by its
words as well where that is unknown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from enum import IntFlag
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Fact
from ..text import patterns

Likeness = NDArray[np.floating[Any]]
Rows = NDArray[np.intp]

SHARPNESS = 14.0
"""How much more the nearest examples count than the others."""
MARGIN = 0.04
"""How much more like requests a text has to be to be one. Half as much is what words of advice
add, and what tells questions of the memory and small talk apart, by which more or less evidence is
enough; twice as much below the likeliest topic of a request, others are meant as well; what
is so much less like a question of the memory than like small talk is of no kind of fact."""

_KINDS: dict[str, list[str]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
EXAMPLES = [text for texts in _KINDS.values() for text in texts]
_QUESTIONS = {kind[2:]: len(texts) for kind, texts in _KINDS.items() if kind[:2] == "? "}
_SIZES = np.array([*_QUESTIONS.values()])
_STARTS = np.cumsum(_SIZES) - _SIZES
QUESTIONS = sum(_QUESTIONS.values())
"""How many of the first are needed to know what kind of fact is asked for."""
ENOUGH = 3
"""Documents that somebody sees, from which on it is asked for by meaning: with fewer there is
hardly anything to tell apart, and an empty memory need not embed the examples."""
SMALL_TALK = QUESTIONS + len(_KINDS["chatter"]) + len(_KINDS["memory"])
"""How many of the first are needed to know small talk."""


def rows(is_meant: Callable[[str], bool]) -> Rows:
    """Which of :data:`EXAMPLES` are of some kinds, told by their names."""
    return np.flatnonzero([is_meant(kind) for kind, texts in _KINDS.items() for _ in texts])


_CHATTER, _MEMORY = rows(lambda kind: kind == "chatter"), rows(lambda kind: kind == "memory")


def nearness(likeness: Likeness, some: Rows) -> float:
    """How like a text is to some examples, as cosine of which the nearest count most.

    Args:
        likeness: Cosine of the text with each of :data:`EXAMPLES`.
    """
    weights = np.exp(likeness[some] * SHARPNESS)
    return math.log(float(weights.mean())) / SHARPNESS


def predicates_like(likeness: Likeness) -> frozenset[str]:
    """Predicates of the facts that a question asks for.

    Those of the kinds that it is most like; of each kind the nearest examples count most. What is
    far more like small talk than like a question of the memory is of no kind: 太阳离我们多远.

    Args:
        likeness: Cosine of the question with the first :data:`QUESTIONS` of the examples, or more.
    """
    is_known = len(likeness) >= SMALL_TALK
    if is_known and nearness(likeness, _CHATTER) - nearness(likeness, _MEMORY) > 2 * MARGIN:
        return frozenset()
    return likeliest(likeness)[0]


def likeliest(likeness: Likeness) -> tuple[frozenset[str], float]:
    """Predicates of the kinds of question that a text is most like, and how much.

    What somebody says is like the questions that it answers: 我对虾过敏 like 我不能吃什么.
    """
    weights = np.exp(likeness[:QUESTIONS] * SHARPNESS)
    near = np.log(np.add.reduceat(weights, _STARTS) / _SIZES) / SHARPNESS
    best = near >= near.max() - MARGIN / 2
    return frozenset(" ".join(compress(_QUESTIONS, best)).split()), float(near.max())


def wants_memory(likeness: Likeness) -> bool | None:
    """Whether a text is like a question of the memory, or like small talk.

    Returns:
        ``None`` if it is much more like neither, or the examples are not known yet.
    """
    if len(likeness) < SMALL_TALK:
        return None
    more = nearness(likeness, _MEMORY) - nearness(likeness, _CHATTER)
    return None if abs(more) <= MARGIN / 2 else more > 0


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
