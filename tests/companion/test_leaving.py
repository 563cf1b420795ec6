"""What of the companion goes with a message that is taken back, and with a person."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.companion import FollowUp, InnerState, Mood
from graph_memory.companion.control_words import Intent
from graph_memory.model import Message, Turn

from ..makers import holding
from ..scripted import ScriptedModel, answer
from ..world import CLUB, HOME, SETTINGS, ZHANG, World, li_in_club, living, zhang, zhang_in_club
from .test_proactive import Voice, start

PLANTED = "蓝鲸纸条"
INNER = {"self": "我想做个可靠的朋友", "user": "他嘴硬心软", "bond": "渐渐熟了"}
DAY = 86_400.0


async def say(world: World, text: str, ref: str, caller: Any = zhang) -> Message:
    """Somebody says something that has an id on its platform."""
    said = await world.memory.learning.hear(
        Turn(caller.session, caller.user, caller.name, text, ref=f"{ref}@1")
    )
    assert said
    world.later(20)
    return said


async def take_back(world: World, ref: str, caller: Any = zhang) -> None:
    assert await world.memory.library.retract(caller.session.circle, ref)
    await world.memory.settle()


def feeling(valence: float, inner: dict[str, str] | None = None) -> dict[str, Any]:
    """An answer that moves the mood, and says what was understood."""
    more = {"inner": inner} if inner else {}
    return answer(mood={"valence": valence, "arousal": 0.0}, **more)


async def batches(world: World, *answers: dict[str, Any]) -> None:
    """Unremarkable batches, each with its answer."""
    for number, given in enumerate(answers):
        await world.say(zhang, f"今天也没什么事{number}")
        await world.learn(given)


def left(world: World) -> list[str]:
    """The files of the journal in which the planted words are."""
    return holding(world.memory.directory, PLANTED, "journal*")


async def test_what_was_understood_before_stays_as_it_is(world: World) -> None:
    await batches(world, feeling(0.1), feeling(0.1, INNER))
    before = await world.rows(InnerState), await world.rows(Mood)
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await take_back(world, "7")  # nothing was learned from it yet
    assert (await world.rows(InnerState), await world.rows(Mood)) == before


async def test_other_chats_feel_nothing_of_it(world: World) -> None:
    await say(world, f"我的{PLANTED}是七号仓库", "7", zhang_in_club)
    await world.learn(feeling(-0.3))
    await batches(world, answer(), feeling(0.1, INNER))
    before = await world.rows(InnerState), await world.rows(Mood)
    await take_back(world, "7", zhang_in_club)
    home = [mood for mood in before[1] if mood.session == HOME.id]
    assert (await world.rows(InnerState), await world.rows(Mood)) == (before[0], home)


@pytest.fixture
async def caring(tmp_path: Path) -> AsyncIterator[World]:
    """A world in which somebody may speak first."""
    settings = replace(SETTINGS, quiet_hours="", proactive_daily_limit=5)
    async with living(tmp_path, settings) as world:
        start(world, Voice(), ScriptedModel())
        yield world


async def test_what_was_meant_because_of_it_is_meant_no_more(caring: World) -> None:
    care = caring.memory.companion.proactive
    await say(caring, "明天考研", "6")
    await care.plan(HOME, ZHANG, Intent(3 * DAY, "问问考得怎么样"))
    caring.later(60)
    await say(caring, f"我的{PLANTED}是七号仓库", "7")
    await care.plan(HOME, ZHANG, Intent(3 * DAY, f"问问{PLANTED}"))
    await take_back(caring, "7")
    (row,) = await caring.rows(FollowUp)
    assert (row.reason, row.status) == ("问问考得怎么样", "dropped")  # by the newer one
    assert "没有" in await caring.commands.companion.proactive(zhang)
    assert left(caring) == []


async def test_what_was_meant_before_it_still_is(caring: World) -> None:
    care = caring.memory.companion.proactive
    await say(caring, "明天考研", "6")
    await care.plan(HOME, ZHANG, Intent(3 * DAY, "问问考得怎么样"))
    await say(caring, "打错了", "7", zhang_in_club)
    await take_back(caring, "7", zhang_in_club)
    assert [row.status for row in await caring.rows(FollowUp)] == ["waiting"]


async def test_a_groups_mood_stays_if_somebody_else_goes(world: World) -> None:
    await world.say(zhang, "你好呀")
    await world.learn(answer())
    await world.say(li_in_club, "大家好呀")
    await world.learn(feeling(0.3))
    before = [mood for mood in await world.rows(Mood) if mood.session == CLUB.id]
    await world.memory.forget_me.forget(ZHANG)
    assert await world.rows(Mood) == before != []
