"""What the companion asks of the call that learns, and what it costs in calls and tokens."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from graph_memory.companion import Intent
from graph_memory.companion.core_facts import CoreFactExtension
from graph_memory.companion.inner_state import InnerStateExtension, MoodExtension
from graph_memory.companion.proactive import PURPOSE
from graph_memory.learning.batching import PATIENCE
from graph_memory.learning.prompt import INSTRUCTIONS, TOOL
from graph_memory.locales import say
from graph_memory.model import Turn
from graph_memory.settings import PARTS, Settings
from graph_memory.text import tokens

from ..makers import T0, Clock
from ..scripted import ScriptedModel, Voice
from ..world import CHINA, HOME, ZHANG, opened

LESSONS = (CoreFactExtension, MoodExtension, InnerStateExtension)
HUNDRED = 100
MOST = 9
"""Calls besides replies for as many private messages, at most."""


async def chatted(path: Path, settings: Settings) -> Mapping[str, int]:
    """Somebody writes a hundred messages in a private chat, and each is answered; the model
    means to come back to every tenth. Calls to models besides replies, by purpose."""
    clock, model, costs = Clock(T0 - 12 * 3_600), ScriptedModel(), dict[str, int]()
    async with opened(path, settings, zone=CHINA, model=model, now=clock) as memory:
        learning, proactive = memory.learning, memory.companion.proactive
        learning._buffers._grace = 0
        proactive.start(Voice(), model, learning)
        for number in range(HUNDRED):
            await learning.hear(Turn(HOME, ZHANG, "张三", f"第{number}件事，今天过得还行"))
            await learning.reply(HOME, f"嗯，第{number}件事我听到了")
            if number % 10 == 9:
                await proactive.plan(HOME, ZHANG, Intent(12 * 3_600, f"问问第{number}件事"))
            clock.now += 45
            await learning.settle()
            await proactive._job.idle()
        for wait in (settings.buffer_timeout * PATIENCE + 1, 20 * 3_600):
            clock.now += wait
            await learning.settle()
            await proactive._job.idle()
            for purpose, cost in memory.spending.today().costs.items():
                costs[purpose] = max(costs.get(purpose, 0), cost.calls)
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
    assert whole <= 1_130
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
