"""What somebody cannot or will not do comes up when a request bears on it, and only then."""

from collections import defaultdict
from pathlib import Path

import pytest

from graph_memory.recall.intents import EXAMPLES, Topic, bears_on, includes_all, requested
from graph_memory.text import content
from tests.cases import rows, tabled
from tests.makers import put

from ..instruments import eval as evaluation
from ..makers import entity, fact, group, private, user
from .conftest import Memory

HOME, ROOM, MING, MEI = private("ming"), group("9"), user("ming"), user("mei")


Known = tuple[str, str]
"""Predicate and statement of a condition."""


def requests(language: str) -> dict[Known, list[tuple[str, bool]]]:
    """Requests and whether the condition bears on them, by predicate and statement."""
    found: dict[Known, list[tuple[str, bool]]] = defaultdict(list)
    path = Path(evaluation.__file__).parent / "conditions.tsv"
    for line in path.read_text("utf-8").splitlines():
        of, predicate, statement, asked, bears = line.split("\t")
        if of == language:
            found[predicate, statement].append((asked, bears == "1"))
    return found


def unseen(language: str) -> dict[Known, list[tuple[str, bool]]]:
    """The same of requests that were written before the examples, and used to choose nothing.

    What only looks so is asked with every condition known.
    """
    told = rows(__file__, "what bears on a kind of unseen requests")
    known = {kind: (predicate, text) for kind, of, predicate, text in told if of == language}
    found: dict[Known, list[tuple[str, bool]]] = defaultdict(list)
    path = Path(__file__).with_name("unseen_requests.tsv")
    for line in path.read_text("utf-8").splitlines():
        of, kind, asked = line.split("\t")
        for each in known if kind == "none" else [kind]:
            if of == language:
                found[known[each]].append((asked, kind != "none"))
    return found


async def know(memory: Memory, language: str) -> None:
    await memory.open()
    await memory.say(HOME, MING, "你好")
    remarks = [text for of, text in rows(__file__, "what is known besides") if of == language]
    for number, statement in enumerate(remarks):
        likes = "likes" if number % 2 else "other"
        await memory.know(fact(HOME, MING, entity(f"x{number}"), statement, predicate=likes))


async def shares(memory: Memory, asked: dict[Known, list[tuple[str, bool]]]) -> tuple[float, float]:
    """Shares of the texts at which a condition came up: where it should, and where not."""
    brought: dict[bool, dict[str, bool]] = {True: {}, False: {}}
    for (predicate, statement), texts in asked.items():
        row = fact(HOME, MING, entity("y"), statement, predicate=predicate)
        await memory.know(row)
        for text, bears in texts:
            found = await memory.ask(HOME, text)
            is_named = bool(content(text) & content(statement)) and not bears  # by its words
            is_there = row.id in [item.id for item in found.items] and not is_named
            brought[bears][text] = brought[bears].get(text, False) or is_there
        await put(memory.journal, drop=[row])
    right, wrong = (sum(some.values()) / len(some) for some in (brought[True], brought[False]))
    return right, wrong


@pytest.mark.parametrize(
    ("by_meaning", "asked"),
    [
        (False, requests),
        pytest.param(True, requests, marks=pytest.mark.slow),
        pytest.param(True, unseen, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_conditions_come_up_where_they_matter(memory, language, by_meaning, asked, bundled):
    """By what they are about; with a model by what requests mean as well."""
    if by_meaning:
        memory.embedder = bundled
        await bundled.questions(EXAMPLES)
    await know(memory, language)
    right, wrong = await shares(memory, asked(language))
    assert right >= 0.9
    assert wrong <= 0.05


@tabled
def test_what_somebody_cannot_do_is_a_condition(statement: str, topic: str) -> None:
    found = bears_on(fact(HOME, MING, entity("it"), statement, predicate="dislikes"))
    assert found & Topic[topic] if topic else not found


def test_stories_and_facts_are_no_requests() -> None:
    assert requested("晚上吃什么？") & Topic.FOOD
    assert not requested("我在看一部做菜的番")
    assert not requested("吃什么用英语怎么说？")
    assert includes_all("What should we eat?")
    assert not includes_all("What should I eat?")
