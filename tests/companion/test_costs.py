"""What the companion asks of the call that learns, and what it costs in calls and tokens."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from graph_memory.companion import Companion, Intent
from graph_memory.companion.core_facts import CoreFactExtension
from graph_memory.companion.inner_state import InnerStateExtension, MoodExtension
from graph_memory.companion.proactive import PURPOSE
from graph_memory.inference.breaker import Breaker
from graph_memory.inference.token_budget import TokenBudget
from graph_memory.learning import Learning
from graph_memory.learning.batching import PATIENCE
from graph_memory.learning.prompt import INSTRUCTIONS, TOOL
from graph_memory.locales import say
from graph_memory.model import Turn
from graph_memory.privacy.scope import Attendance
from graph_memory.recall import Recaller
from graph_memory.settings import PARTS, Settings
from graph_memory.store import Journal
from graph_memory.text import tokens

from ..makers import T0, context
from ..scripted import ScriptedModel, Voice
from ..world import CHINA, HOME, ZHANG

LESSONS = (CoreFactExtension, MoodExtension, InnerStateExtension)
HUNDRED = 100
MOST = 9
"""Calls besides replies for as many private messages, at most."""


async def chatted(path: Path, settings: Settings) -> Mapping[str, int]:
    """Somebody writes a hundred messages in a private chat, and each is answered; the model
    means to come back to every tenth. Calls to models besides replies, by purpose."""
    time, model = [T0 - 12 * 3_600], ScriptedModel()
    journal = await Journal.open(path / "journal.sqlite3", lambda: time[0])
    more = {"zone": CHINA, "now": lambda: time[0], "attendance": Attendance()}
    spending = TokenBudget(journal, CHINA, lambda: time[0])
    shared = context(journal, settings, budget=spending, **more)
    recall = Recaller(shared)
    companion = Companion(shared, recall)
    learning = Learning(
        shared, model, grace=0,
        extend=companion.teach, breaker=Breaker("模型", clock=lambda: time[0]),
    )  # fmt: skip
    await learning.start()
    companion.proactive.start(Voice(), model, learning)
    costs: dict[str, int] = {}
    try:
        for number in range(HUNDRED):
            await learning.hear(Turn(HOME, ZHANG, "张三", f"第{number}件事，今天过得还行"))
            await learning.reply(HOME, f"嗯，第{number}件事我听到了")
            if number % 10 == 9:
                await companion.proactive.plan(
                    HOME, ZHANG, Intent(12 * 3_600, f"问问第{number}件事")
                )
            time[0] += 45
            await learning.settle()
            await companion.proactive.settle()
        for wait in (settings.buffer_timeout * PATIENCE + 1, 20 * 3_600):
            time[0] += wait
            await learning.settle()
            await companion.proactive.settle()
            for purpose, cost in spending.today().costs.items():
                costs[purpose] = max(costs.get(purpose, 0), cost.calls)
    finally:
        await companion.proactive.close()
        await learning.close()
        await recall.close()
        await spending.close()
        await journal.close()
    assert len(model.calls) == sum(costs.values())
    return costs


@pytest.mark.parametrize("parts", [PARTS, ()], ids=["on", "off"])
async def test_a_hundred_messages_cost_few_calls(tmp_path, capsys, parts):
    """With default buffers, and as many as with everything off.

    What is said first, or kept back, is a reply: one at most to each talk, and not more
    than ``proactive_daily_limit`` a day.
    """
    costs = dict(await chatted(tmp_path, Settings(companion=parts)))
    first = costs.pop(PURPOSE, 0)
    with capsys.disabled():
        count = sum(costs.values())
        print(f"\ncalls besides replies per {HUNDRED} private messages: {count} {costs}", end="")
        print(f"; spoken first: {first}; companion: {', '.join(parts) or 'off'}")
    assert 0 < count <= MOST
    assert costs == {"learn": 9}
    assert first == (1 if parts else 0)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_tokens(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is sent with everything on, besides what is known and said."""
    asked = {name: each for lesson in LESSONS for name, each in lesson.properties.items()}
    fields = {**TOOL.parameters, "properties": {**TOOL.parameters["properties"], **asked}}
    plain = tokens(INSTRUCTIONS[language]) + tokens(json.dumps(TOOL.parameters))
    words = sum(tokens(lesson.instructions[language]) for lesson in LESSONS)
    whole = tokens(INSTRUCTIONS[language]) + words + tokens(json.dumps(fields))
    keys = ("intro", "silence", "want_more", "proactive")
    taught = sum(tokens(say(language, f"control_{key}")) for key in keys)
    with capsys.disabled():
        print(f"\nlearning: {plain} tokens, {whole} with the companion; control words: {taught}")
    assert whole <= 1_120
    assert taught <= 180


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_field_is_explained(lesson, language):
    told = lesson.instructions[language]
    for name, schema in lesson.properties.items():
        inner = schema.get("items", schema).get("properties", {})
        assert all(field in told for field in (name, *inner)), name


def test_no_field_is_taken_already() -> None:
    names = [name for lesson in LESSONS for name in lesson.properties]
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(TOOL.parameters["properties"])
