"""What goes before the model: when it is, how the persona feels; nothing when nothing is on."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.commands.tools import RECORD_TOOLS, TOOLS, offered
from graph_memory.companion.proactive import elapsed

from ..cases import rows
from ..scripted import answer
from ..world import SETTINGS, World, living, zhang

HOUR, DAY = 3_600.0, 86_400.0


async def test_days_are_counted_over_weeks_and_restarts(tmp_path: Path) -> None:
    async with living(tmp_path) as world:
        for _ in range(20):
            await world.say(zhang, "今天也来了")
            await world.learn(answer(worth=False))
            world.later(DAY - 20)
        world.later(2 * DAY)
        _, lead = await world.ask(zhang, "我回来了")
        assert "上次聊天是约 3 天前；最近 7 天聊过 5 天、30 天聊过 21 天" in lead
        await world.learn(answer(worth=False))
        world.later(HOUR)
        clock = world.clock
    async with living(tmp_path, clock=clock) as world:
        _, lead = await world.ask(zhang, "还有一件事")
        assert "上次聊天是约 1 小时前；最近 7 天聊过 5 天、30 天聊过 21 天" in lead


async def test_asked_again_about_the_same_message_it_is_told_again(world: World) -> None:
    said = await world.say(zhang, "你好")
    once = await world.lead(zhang, "你好", said)
    assert "现在" in once
    assert await world.lead(zhang, "你好", said) == once


@pytest.mark.parametrize(("seconds", "text"), rows(__file__, "test_stretches_of_time"))
def test_stretches_of_time(seconds: float, text: str) -> None:
    assert elapsed(seconds, "zh") == text


def test_off_the_model_is_offered_the_tools_it_always_was() -> None:
    assert offered(replace(SETTINGS, companion=())) == TOOLS
    assert offered(replace(SETTINGS, companion=("mood",))) == TOOLS
    assert offered(SETTINGS) == TOOLS + RECORD_TOOLS
    assert offered(replace(SETTINGS, enable_function_calling=False)) == ()
