"""Small talk is told by what it means, and brings up nothing by itself."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from graph_memory.embedding import load
from graph_memory.inference.ports import Embedder
from graph_memory.recall import ranking
from graph_memory.recall.examples import EXAMPLES, MARGIN, SMALL_TALK, nearness, rows, wants_memory
from graph_memory.recall.weights import LEAST
from graph_memory.store import Journal

from ..instruments.eval import world
from ..makers import T0, private, user
from .hashing import HashingEmbedder

HOME, ME = private("10001"), user("10001")


def test_the_nearest_examples_count_most() -> None:
    chatter = rows("chatter".__eq__)
    likeness = np.zeros(len(EXAMPLES))
    likeness[chatter[0]] = 0.9
    assert 0.9 / len(chatter) < nearness(likeness, chatter) < 0.9
    assert nearness(likeness, rows("memory".__eq__)) == 0.0
    assert wants_memory(likeness) is False
    assert wants_memory(np.roll(likeness, len(chatter))) is True
    assert wants_memory(np.full(len(EXAMPLES), MARGIN)) is None


def test_those_of_small_talk_come_first() -> None:
    assert rows(lambda kind: kind in ("chatter", "memory")).tolist() == [*range(SMALL_TALK)]
    assert len(set(EXAMPLES)) == len(EXAMPLES)


@pytest.fixture
async def bundled(journal: Journal) -> AsyncIterator[Embedder]:
    """The bundled model."""
    loaded = await load("bundled", journal)
    yield loaded
    await loaded.close()


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


@pytest.mark.parametrize("lines", [LEAST - 20, LEAST + 20])
async def test_small_talk_brings_up_nothing_where_much_is_remembered(memory, monkeypatch, lines):
    """Where little is, as others see it, the examples may not be known at all."""
    memory.embedder = HashingEmbedder()
    await memory.open()
    for number in range(lines):
        await memory.say(HOME, ME, f"第{number}天，阳台的绿萝又长新叶了", T0 + number)
    asked = "阳台的绿萝长新叶"
    assert (await memory.ask(HOME, asked)).block
    monkeypatch.setattr(ranking, "wants_memory", lambda _: False)
    monkeypatch.setattr(ranking, "FEW", 1_000)
    assert bool((await memory.ask(HOME, asked)).block) == (lines < LEAST)
