"""Each rule of recall helps, or at least does no harm, on text that nobody generated.

``data/days.jsonl`` holds four months of two people's chats, one in Chinese and one in
English, and what they ask later: several things at once, after breaking off, for all of a
kind, over two steps, by date, in a follow-up. A rule is taken out of the running product by
putting something in its place that does nothing; everything else stays as it is.
"""

import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

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
from graph_memory.text import forget

from . import corpus
from .corpus import Corpus, Query
from .metrics import Shown, covered
from .test_smalltalk import DATA, OWNERS, answered, remembered, small_talk
from .trial import Trial, asker

pytestmark = pytest.mark.slow

DAYS = DATA / "days.jsonl"
ROOMY = 5_000
"""Tokens; the budget is not what is measured."""
FIRST = 5
"""Places that count: a memory of eighty lines is small."""
HARMLESS = 0.01
"""ER@5 that a rule may cost by chance: one answer of 115."""
ANYWAY = {"splitting", "the turn before"}
HELPS = {
    True: ANYWAY | {"named times", "questions in earnest"},
    False: ANYWAY | {"coming to the point", "characters"},
}
"""What is seen to help, with meaning and by words alone. Forms of numbers help less here since
dates in Chinese numerals are times: the questions of this file name hardly any other numbers."""


def unsplit(text: str) -> tuple[query.Subquery, ...]:
    return (query._part(text, ""),)


def best(found: Any, _: object) -> dict[Any, selection.Best]:
    return {candidate.part: selection.Best(-9.0, 9.0) for candidate in found}


NEVER = re.compile("(?!)")
RULES: dict[str, list[tuple[Any, str, Any]]] = {
    "splitting": [(query, "split", unsplit), (recaller, "split", unsplit)],
    "coming to the point": [(query, "_to_the_point", lambda topic: topic)],
    "named times": [(ranking, "spans", lambda *_: [])],
    "forms of numbers": [(lexical, "_NUMBERS", NEVER)],
    "characters": [(query, "telling_characters", lambda _: ())],
    "second step": [(ranking, "second_step", lambda *found: found[4])],
    "voting": [(ranking, "vote", lambda *found: found[-1])],
    "words said already": [(ranking._OwnWords, "said_after", lambda *_: 0.0)],
    "what a hit leaves unsaid": [(ranking, "_unsaid", lambda *_: 1.0)],
    "what speaks by itself": [(ranking, "EVIDENCE", 0.0)],
    "likeness penalty": [(ranking, "ALIKE", 2.0), (ranking, "SAME", 3.0)],
    "neighbours": [(visible.ConversationContext, "around", lambda _, own: own)],
    "who asks tells little": [(documents.Documents, "telling", lambda *_: 1.0)],
    "the turn before": [(recaller, "compose", lambda text, _: text)],
    "questions in earnest": [(ranking, "_is_earnest", lambda *_: False)],
    "long repetitions last": [(selection, "BRIEF", 1_000)],
    "floor": [(selection, "_best", best)],
    "kinds of questions": [(query, "predicates_of", lambda _: frozenset())],
    "words for relatives": [(query, "kin_in", lambda _: ())],
    "how it was": [(query, "_FORMER", NEVER)],
    "others than the asker": [(ranking._Ranker, "_is_beside", lambda *_: False)],
}
"""What does nothing, in the place of each rule."""
REBUILT = ("forms of numbers",)
"""Rules without which the index has to be built as well."""


@asynccontextmanager
async def without(rule: str, recaller: Recaller) -> AsyncIterator[None]:
    """Recall as it would be without a rule."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, value in RULES[rule]:
            patch.setattr(owner, name, value)
        if rule in REBUILT:
            await anew(recaller)
        yield
    if rule in REBUILT:
        await anew(recaller)


async def anew(recaller: Recaller) -> None:
    forget()
    await recaller.rebuild()
    await recaller.settle()


async def ask(trial: Trial, recaller: Recaller, asked: Query) -> list[Shown]:
    """What a question is answered with, best first."""
    options = RecallOptions(budget=ROOMY, previous=asked.previous)
    found = await recaller.remind(asker(asked.owner), asked.text, options)
    return [trial.shown(item) for item in found.items]


async def ask_all(trial: Trial, recaller: Recaller, asked: list[Query]) -> list[list[Shown]]:
    return [await ask(trial, recaller, each) for each in asked]


def share(asked: list[Query], answers: list[list[Shown]]) -> float:
    """Mean share of the evidence among the first items (ER@5)."""
    found = [covered(q, shown[:FIRST]) for q, shown in zip(asked, answers, strict=True)]
    return sum(found) / len(found)


@pytest.mark.parametrize(("by_meaning", "least"), [(True, 0.82), (False, 0.75)])
async def test_each_rule_helps_or_does_no_harm(tmp_path, bundled, by_meaning, least):
    read = corpus.read(DAYS)
    async with remembered(read, tmp_path, bundled if by_meaning else None) as (trial, recaller):
        found = await ask_all(trial, recaller, read.queries)
        assert share(read.queries, found) >= least
        gains: dict[str, float] = {}
        for rule in RULES:
            async with without(rule, recaller):
                less = await ask_all(trial, recaller, read.queries)
            gains[rule] = share(read.queries, found) - share(read.queries, less)
        assert await ask_all(trial, recaller, read.queries) == found  # all rules are back
    gains.pop("neighbours")  # help in long conversations (docs/recall.md), not in single lines
    silence = gains.pop("floor")
    assert silence <= 0  # which is what it is for: the next test
    assert {name: gain for name, gain in gains.items() if gain < -HARMLESS} == {}
    assert {name for name, gain in gains.items() if gain > 0} >= HELPS[by_meaning]


async def test_the_floor_keeps_small_talk_from_being_answered(tmp_path: Path) -> None:
    async with remembered(corpus.read(DAYS), tmp_path, None) as (_, recaller):
        for owner in OWNERS:
            talk = small_talk()[owner]
            quiet = await answered(recaller, owner, talk)
            async with without("floor", recaller):
                assert await answered(recaller, owner, talk) > quiet + 0.15
            assert quiet <= 0.2


async def test_the_order_of_a_file_changes_nothing(tmp_path: Path) -> None:
    read = corpus.read(DAYS)
    shuffled = Corpus(dict(reversed(read.people.items())), list(read.queries))
    random.Random(3).shuffle(shuffled.queries)
    answers = []
    for each in (read, shuffled):
        folder = tmp_path / str(len(answers))
        folder.mkdir()
        async with remembered(each, folder, None) as (trial, recaller):
            answers.append({q: await ask(trial, recaller, q) for q in each.queries})
    assert answers[0] == answers[1]
    assert sum(bool(found) for found in answers[0].values()) > 0.8 * len(read.queries)
