"""What each rule of recall gives, on conversations that this project wrote itself.

A rule is taken out of the running product by putting something in its place that does
nothing; everything else stays as it is.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import pytest

from graph_memory.model import asker_of
from graph_memory.recall import (
    Recaller,
    RecallOptions,
    documents,
    lexical,
    query,
    ranking,
    recaller,
    selection,
    visible,
)

from .corpus import Query
from .metrics import Shown
from .trial import Trial, private_chat

ROOMY = 5_000
"""Tokens; the budget is not what is measured."""

FIRST = 5
"""Places that count: a memory of eighty lines is small."""

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and how to do without it.

    Attributes:
        about: Categories of the questions it is for.
        out: Takes it out.
        rebuild: Whether the index has to be built without it, too.
    """

    about: tuple[str, ...]
    out: Patch
    rebuild: bool = False


def _replace(*places: tuple[Any, str, Any]) -> Patch:
    def out(patch: pytest.MonkeyPatch) -> None:
        for owner, name, value in places:
            patch.setattr(owner, name, value)

    return out


def _unsplit(text: str) -> tuple[query.Subquery, ...]:
    return (query._part(text, ""),)


def _no(*_: object) -> bool:
    return False


def _all(*_: object) -> float:
    return 1.0


def _none(*_: object) -> float:
    return 0.0


RULES = {
    "splitting": Rule(
        ("several", "point"), _replace((query, "split", _unsplit), (recaller, "split", _unsplit))
    ),
    "coming to the point": Rule(
        ("point",), _replace((query, "_to_the_point", lambda topic: topic))
    ),
    "named times": Rule(("times",), _replace((ranking, "spans", lambda *_: []))),
    "forms of numbers": Rule(
        ("numbers",), _replace((lexical, "_NUMBERS", re.compile("(?!)"))), rebuild=True
    ),
    "characters": Rule((), _replace((query, "telling_characters", lambda _: ()))),
    "second step": Rule(("bridge",), _replace((ranking, "second_step", lambda *found: found[4]))),
    "voting": Rule(("set",), _replace((ranking, "vote", lambda *found: found[-1]))),
    "words said already": Rule(("set",), _replace((ranking._OwnWords, "said_after", _none))),
    "what a hit leaves unsaid": Rule(("bridge",), _replace((ranking, "_unsaid", _all))),
    "what speaks by itself": Rule((), _replace((ranking, "EVIDENCE", 0.0))),
    "likeness penalty": Rule((), _replace((ranking, "ALIKE", 2.0), (ranking, "SAME", 3.0))),
    "neighbours": Rule((), _replace((visible.ConversationContext, "around", lambda _, own: own))),
    "who asks tells little": Rule((), _replace((documents.Documents, "telling", _all))),
    "the turn before": Rule(("follow",), _replace((recaller, "compose", lambda text, _: text))),
    "questions in earnest": Rule(("times", "correction"), _replace((ranking, "_is_earnest", _no))),
    "long repetitions last": Rule((), _replace((selection, "BRIEF", 1_000))),
    "floor": Rule(
        (),
        _replace(
            (
                selection,
                "_best",
                lambda found, _: {c.part: selection.Best(-9.0, 9.0) for c in found},
            )
        ),
    ),
    "kinds of questions": Rule((), _replace((query, "predicates_of", lambda _: frozenset()))),
    "words for relatives": Rule((), _replace((query, "kin_in", lambda _: ()))),
    "how it was": Rule((), _replace((query, "_FORMER", re.compile("(?!)")))),
    "others than the asker": Rule((), _replace((ranking, "_is_own", _no))),
}


class Mark(NamedTuple):
    """How well questions are answered, 0…1.

    Attributes:
        covered: Share of the evidence among the first items (ER@5).
        soon: For each piece of evidence, one divided by one more than there are items
            before it that were not asked for.
    """

    covered: float
    soon: float


@dataclass(slots=True)
class Marks:
    """Marks of questions by category; ``all`` is every question."""

    _rows: dict[str, list[Mark]] = field(default_factory=lambda: defaultdict(list))

    def add(self, asked: Query, ranked: list[Shown]) -> None:
        """Enter one answer."""
        first = frozenset[str]().union(*(item.covers for item in ranked[:FIRST]))
        wanted = frozenset[str]().union(*asked.slots)
        soon = []
        for slot in asked.slots:
            before = list(takewhile(lambda item, slot=slot: not item.covers & slot, ranked))
            beside = sum(not item.covers & wanted for item in before)
            soon.append(1 / (1 + beside) if len(before) < len(ranked) else 0.0)
        covered = sum(bool(slot & first) for slot in asked.slots)
        mark = Mark(covered / len(asked.slots), sum(soon) / len(soon))
        for category in ("all", asked.category):
            self._rows[category].append(mark)

    def of(self, *categories: str) -> Mark:
        """Means over the questions of some categories; of none, over all."""
        rows = [row for each in categories or ("all",) for row in self._rows[each]]
        return Mark(*(sum(column) / len(rows) for column in zip(*rows, strict=True)))


async def ask(trial: Trial, recaller: Recaller, asked: Query) -> list[Shown]:
    """What a question is answered with, best first."""
    session = private_chat(asked.owner)
    asker = asker_of(session, session.owner)
    found = await recaller.remind(
        asker, asked.text, RecallOptions(budget=ROOMY, previous=asked.previous)
    )
    return [trial.shown(item) for item in found.items]


async def marks(trial: Trial, recaller: Recaller, asked: list[Query]) -> Marks:
    """How well some questions are answered."""
    found = Marks()
    for each in asked:
        found.add(each, await ask(trial, recaller, each))
    return found


@asynccontextmanager
async def without(rule: Rule, recaller: Recaller) -> AsyncIterator[None]:
    """Recall as it would be without a rule."""
    with pytest.MonkeyPatch.context() as patch:
        rule.out(patch)
        if rule.rebuild:
            await _anew(recaller)
        yield
    if rule.rebuild:
        await _anew(recaller)


async def _anew(recaller: Recaller) -> None:
    lexical.forget()
    await recaller.rebuild()
    await recaller.settle()
