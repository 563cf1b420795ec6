"""Small talk is told by what it means, and brings up nothing by itself."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graph_memory.inference import Embedder
from graph_memory.model import PREDICATES, User
from graph_memory.recall import ranking
from graph_memory.recall.intents import (
    ENOUGH,
    EXAMPLES,
    MARGIN,
    QUESTIONS,
    SMALL_TALK,
    nearness,
    predicates_like,
    rows,
    wants_memory,
)
from graph_memory.recall.query import predicates_of
from graph_memory.recall.weights import CLOSE

from ..instruments.eval import world
from ..makers import T0, fact, private, user
from .hashing import HashingEmbedder

HOME, ME = private("10001"), user("10001")
UNSEEN = json.loads(Path(__file__).with_name("unseen_questions.json").read_text("utf-8"))
"""Questions by the predicates of the facts that answer them."""


def test_the_nearest_examples_count_most() -> None:
    chatter = rows("chatter".__eq__)
    likeness = np.zeros(len(EXAMPLES))
    likeness[chatter[0]] = 0.9
    assert 0.9 / len(chatter) < nearness(likeness, chatter) < 0.9
    assert nearness(likeness, rows("memory".__eq__)) == 0.0
    assert wants_memory(likeness) is False
    assert wants_memory(np.roll(likeness, len(chatter))) is True
    assert wants_memory(np.full(len(EXAMPLES), MARGIN)) is None
    assert wants_memory(likeness[:QUESTIONS]) is None, "not known yet"


def test_those_of_questions_come_first_and_those_of_small_talk_next() -> None:
    small = rows(lambda kind: kind in ("chatter", "memory")).tolist()
    assert small == [*range(QUESTIONS, SMALL_TALK)]
    assert len(set(EXAMPLES)) == len(EXAMPLES)
    stated = {each for kind in UNSEEN for each in kind.split()}
    assert {each for row in range(QUESTIONS) for each in predicates_like(one(row))} == stated
    assert stated < {*PREDICATES}


def one(row: int) -> NDArray[np.float64]:
    """A text that is one of the examples."""
    return np.where(np.arange(len(EXAMPLES)) == row, 1.0, 0.0)


def test_a_question_may_be_of_two_kinds() -> None:
    like = np.zeros(QUESTIONS)
    (age,), (pet,) = (rows(f"? {kind}".__eq__)[:1] for kind in ("age", "has_pet"))
    like[age] = 1.0
    assert predicates_like(like) == {"age"}
    like[pet] = 1.0
    assert predicates_like(like) == {"age", "has_pet"}


def test_a_question_that_is_like_small_talk_is_of_no_kind() -> None:
    like = np.zeros(len(EXAMPLES))
    like[rows("? age".__eq__)[:1]] = 1.0
    assert predicates_like(like) == {"age"}
    like[rows("chatter".__eq__)] = 0.9
    assert not predicates_like(like)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_what_needs_no_memory_is_told_from_what_does(bundled: Embedder, language: str):
    known = await bundled.questions(EXAMPLES[:SMALL_TALK])
    told = world.read(language)
    asked = [each.text for each in told.questions if each.kind not in ("joke", "nothing")]
    for texts, right in ((list(told.small), False), (asked, True)):
        found = [wants_memory(known @ vector) for vector in await bundled.questions(texts)]
        assert found.count(right) >= 0.8 * len(found)
        assert found.count(not right) <= 0.02 * len(found)


@pytest.mark.slow
async def test_what_is_asked_for_is_told_by_meaning(bundled: Embedder):
    """Of questions that were written apart from the examples, and were not looked at."""
    known = await bundled.questions(EXAMPLES[:QUESTIONS])
    right = by_words = 0
    asked = [(text, {*kind.split()}) for kind, texts in UNSEEN.items() for text in texts]
    vectors = await bundled.questions([text for text, _ in asked])
    for (text, wanted), vector in zip(asked, vectors, strict=True):
        right += wanted <= predicates_like(known @ vector)
        by_words += wanted <= predicates_of(text)
    assert right >= 0.8 * len(asked)
    assert by_words >= 0.3 * len(asked), "with no model"


async def know_job(memory, monkeypatch, lines: int) -> None:
    """Some lines of a chat and the asker's job, which every question is like one for."""
    memory.embedder = HashingEmbedder()
    await memory.open()
    monkeypatch.setattr(ranking, "predicates_like", lambda _likeness: frozenset({"works_as"}))
    await memory.know(HOME, User(ME), fact(HOME, ME, ME, "写程序的", predicate="works_as"))
    for number in range(lines):
        await memory.say(HOME, ME, f"第{number}天，阳台的绿萝又长新叶了", T0 + number)


@pytest.mark.parametrize("lines", [ENOUGH - 2, ENOUGH])
async def test_a_question_finds_its_kind_by_meaning(memory, monkeypatch, lines):
    """Where hardly anything is remembered, as others see it, it goes by its words."""
    await know_job(memory, monkeypatch, lines)
    for asked, is_found in (("我在哪儿混饭？", lines >= ENOUGH), ("我在混饭", False)):
        assert ("写程序的" in (await memory.ask(HOME, asked)).block) is is_found


@pytest.mark.parametrize("lines", [ENOUGH - 2, ENOUGH])
async def test_small_talk_brings_up_nothing_but_answers(memory, monkeypatch, lines):
    """Where hardly anything is remembered, as others see it, it goes by its words."""
    memory.embedder = HashingEmbedder()
    await memory.open()
    for number in range(lines):
        await memory.say(HOME, ME, f"第{number}天，阳台的绿萝又长新叶了", T0 + number)
    asked = "阳台的绿萝长新叶"
    assert (await memory.ask(HOME, asked)).block
    monkeypatch.setattr(ranking, "wants_memory", lambda _: False)
    monkeypatch.setattr(ranking, "FEW", 1_000)
    assert bool((await memory.ask(HOME, asked)).block) == (lines < ENOUGH)
    await memory.know(HOME, User(ME), fact(HOME, ME, ME, "在绿萝社写程序", predicate="works_as"))
    assert (await memory.ask(HOME, "我靠什么工作吃饭")).block


async def test_who_names_nobody_in_a_private_chat_asks_of_themselves(memory, monkeypatch):
    await know_job(memory, monkeypatch, ENOUGH)
    for asked, is_wanted, is_found in (
        ("在哪儿混饭？", True, True),
        ("在哪儿混饭？", None, False),
        ("谁在这儿混饭？", True, False),
    ):
        monkeypatch.setattr(ranking, "wants_memory", lambda _, found=is_wanted: found)
        assert ("写程序的" in (await memory.ask(HOME, asked)).block) is is_found


async def test_a_message_that_was_not_learned_is_found_by_its_kind(memory, monkeypatch):
    """What others said of themselves is not."""
    memory.embedder = HashingEmbedder()
    await memory.open()
    for who, text in ((ME, "我对虾过敏"), (ME, "绿萝又长新叶了"), (user("2"), "我对花生过敏")):
        await memory.say(HOME, who, text, T0)
    kind = frozenset({"allergic_to"})
    monkeypatch.setattr(ranking, "predicates_like", lambda _: kind)
    for near, is_found in ((CLOSE, True), (CLOSE / 2, False)):
        monkeypatch.setattr(ranking, "likeliest", lambda _, near=near: (kind, near))
        block = (await memory.ask(HOME, "我有啥是不能下肚的")).block
        assert ("我对虾过敏" in block) is is_found
        assert "花生" not in block
