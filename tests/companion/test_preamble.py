"""What goes before the model: when it is, how the persona feels; nothing when nothing is on."""

from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import COMMANDS
from graph_memory.commands.tools import RECORD_TOOLS, TOOLS, offered
from graph_memory.commands.usage import NEEDED
from graph_memory.companion import Mood
from graph_memory.companion.inner_state import HALF_LIFE
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


async def test_a_mood_carries_over_and_decays(world: World) -> None:
    for valence, arousal in ((-0.3, 0.3), (-0.3, 0.3), (-9.0, 9.0)):
        await world.say(zhang, "你真烦，走开")
        await world.learn(answer(mood={"valence": valence, "arousal": arousal}, worth=False))
    (mood,) = await world.rows(Mood)
    assert (mood.valence, mood.arousal) == pytest.approx((-0.7, 0.9), abs=0.01)
    _, now = await world.ask(zhang, "喂")
    assert "你此刻的心情：烦躁生气" in now
    world.later(HALF_LIFE)
    _, later = await world.ask(zhang, "喂，在吗")
    assert "你此刻的心情：有些激动" in later
    world.later(10 * HALF_LIFE)
    await world.learn()
    _, next_day = await world.ask(zhang, "对不起")
    assert "你此刻的心情：平静" in next_day
    # The next batch moves what is left, not what was.
    await world.learn(answer(mood={"valence": 0.3, "arousal": 0.0}, worth=False))
    (mood,) = await world.rows(Mood)
    assert mood.valence == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    "given",
    ["高兴", {"valence": "很高"}, {"valence": float("nan"), "arousal": float("inf")}, [1, 2], {}],
)
async def test_whatever_a_model_says_the_mood_stays_a_mood(world: World, given: object) -> None:
    await world.say(zhang, "随便聊聊今天的事")
    await world.learn(answer(mood=given))
    for row in await world.rows(Mood):
        assert (row.valence, row.arousal) == (0.2, 0.0)


async def test_each_part_alone(tmp_path: Path) -> None:
    shown = {"records": "最近的对话", "metadata": "现在", "core_facts": "一直记着", "mood": "心情"}
    for part in shown:
        async with living(tmp_path / part, replace(SETTINGS, companion=(part,))) as world:
            await world.say(zhang, "我怕黑，记住哦")
            claims = [{"type": "fact", "text": "张三怕黑", "about": "U1", "evidence": "1"}]
            await world.learn(
                answer(core=claims, mood={"valence": 0.1, "arousal": 0}, summary="张三怕黑。")
            )
            properties = world.model.calls[-1].tool.parameters["properties"]
            assert ("core" in properties) == (part == "core_facts")
            assert ("mood" in properties) == (part == "mood")
            world.later(HOUR)
            _, lead = await world.ask(zhang, "在吗")
            assert [word in lead for word in shown.values()] == [each == part for each in shown]
            for command in COMMANDS:
                if command.name in ("core", "records"):
                    told = await command.answer(world.commands, zhang, "")
                    assert ("没有开启" in told) == (part != NEEDED[command.name])


def test_off_the_model_is_offered_the_tools_it_always_was() -> None:
    assert offered(replace(SETTINGS, companion=())) == TOOLS
    assert offered(replace(SETTINGS, companion=("mood",))) == TOOLS
    assert offered(SETTINGS) == TOOLS + RECORD_TOOLS
    assert offered(replace(SETTINGS, enable_function_calling=False)) == ()
