"""What of the companion goes with a message that is taken back, and with a person."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_memory.companion import FollowUp, InnerState, Mood
from graph_memory.companion.control_words import Intent
from graph_memory.companion.inner_state import BASELINE
from graph_memory.model import BOT, Episode, Message, Turn

from ..makers import holding
from ..scripted import ScriptedModel, answer
from ..world import CLUB, HOME, SETTINGS, ZHANG, World, li_in_club, living, zhang, zhang_in_club
from .test_proactive import Voice, start

PLANTED = "蓝鲸暗号"
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


# ------------------------------------------------------------- inner state, mood


async def test_inner_state_and_mood_go_back_to_before_it(world: World) -> None:
    await batches(world, feeling(0.1), feeling(0.1, INNER))
    (mood,) = await world.rows(Mood)
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await world.learn(feeling(-0.3))  # not asked what was understood
    await batches(world, feeling(-0.2, {"user": f"他藏着{PLANTED}"}))
    (row,) = await world.rows(InnerState)
    assert (row.other, row.version) == (f"他藏着{PLANTED}", 2)
    await take_back(world, "7")
    (row,) = await world.rows(InnerState)
    assert (row.itself, row.other, row.bond) == tuple(INNER.values())
    assert row.version == 3
    assert await world.rows(Mood) == [mood]
    assert left(world) == []
    told = await world.commands.companion.inner(zhang, "history")
    assert "他嘴硬心软" in told
    assert "第 2 版" not in told
    await world.say(zhang, "在吗")
    lead = await world.lead(zhang, "在吗")
    assert "他嘴硬心软" in lead
    # What follows is written on top of what stands.
    await batches(world, feeling(0.1), feeling(0.1, {"bond": "更近了"}))
    (row,) = await world.rows(InnerState)
    assert (row.other, row.bond, row.version) == ("他嘴硬心软", "更近了", 4)


async def test_what_it_began_with_it_has_again(world: World) -> None:
    await batches(world, answer())
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await world.learn(feeling(-0.3, {"user": f"他藏着{PLANTED}"}))
    await take_back(world, "7")
    assert await world.rows(InnerState) == []
    assert await world.rows(Mood) == []
    assert left(world) == []
    await world.say(zhang, "在吗")
    assert "还不了解对方" in await world.lead(zhang, "在吗")
    assert "还没有" in await world.commands.companion.inner(zhang, "history")


async def test_what_was_understood_before_stays_as_it_is(world: World) -> None:
    await batches(world, feeling(0.1), feeling(0.1, INNER))
    before = await world.rows(InnerState), await world.rows(Mood)
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await take_back(world, "7")  # nothing was learned from it yet
    assert (await world.rows(InnerState), await world.rows(Mood)) == before


async def test_a_version_that_was_brought_back_meanwhile_goes_too(world: World) -> None:
    """Unless it is from before; nothing of it can be had by an undo."""
    await batches(world, answer(), feeling(0.0, INNER))
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await world.learn(answer())
    await batches(world, answer(inner={"user": f"他藏着{PLANTED}"}))
    heart = world.commands.companion
    assert "已换回" in await heart.inner(zhang, "back 2")
    assert "已换回" in await heart.inner(zhang, "back 2")
    assert PLANTED in (await world.rows(InnerState))[0].other
    await take_back(world, "7")
    assert (await world.rows(InnerState))[0].other == "他嘴硬心软"
    assert left(world) == []
    await world.commands.undo(zhang)
    assert (await world.rows(InnerState))[0].other == "他嘴硬心软"


async def test_other_chats_feel_nothing_of_it(world: World) -> None:
    await say(world, f"我的{PLANTED}是七号仓库", "7", zhang_in_club)
    await world.learn(feeling(-0.3))
    await batches(world, answer(), feeling(0.1, INNER))
    before = await world.rows(InnerState), await world.rows(Mood)
    await take_back(world, "7", zhang_in_club)
    home = [mood for mood in before[1] if mood.session == HOME.id]
    assert (await world.rows(InnerState), await world.rows(Mood)) == (before[0], home)


# ------------------------------------------------------------------- follow-ups


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


# ---------------------------------------------------------------------- records


async def test_a_record_tells_neither_of_it_nor_of_what_was_answered(world: World) -> None:
    await world.say(zhang, "今天去爬山了")
    await world.answer(HOME, "爬山好呀")
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await world.answer(HOME, f"好的，{PLANTED}我记住了")
    await world.say(zhang, "风景不错")
    await world.answer(HOME, "下次带我去")
    await world.learn(answer(summary=f"张三爬山，说了{PLANTED}。"))
    world.later(DAY)
    said = await world.say(zhang, "早")
    assert PLANTED in await world.lead(zhang, "早", said)
    await take_back(world, "7")
    assert left(world) == []
    (episode,) = await world.rows(Episode)
    assert (episode.summary, episode.messages) == ("张三: 今天去爬山了；张三: 风景不错", 4)
    said = await world.say(zhang, "在吗")
    assert PLANTED not in await world.lead(zhang, "在吗", said)
    assert "爬山" in await world.tools.use(zhang, "search_history", {"keyword": "爬山"})
    await world.commands.companion.records(zhang)
    told = await world.commands.companion.records(zhang, "2")
    assert [each for each in ("爬山好呀", "风景不错", "下次带我去") if each not in told] == []
    assert PLANTED not in told


async def test_nothing_is_learned_from_what_was_answered(world: World) -> None:
    await say(world, f"我的{PLANTED}是七号仓库", "7")
    await world.answer(HOME, f"好的，{PLANTED}我记住了")
    await take_back(world, "7")
    await world.say(zhang, "我说错了")
    await world.learn()
    assert PLANTED not in world.model.calls[-1].prompt
    assert left(world) == []


async def test_taking_an_answer_back_leaves_the_question(world: World) -> None:
    await world.say(zhang, "今天去爬山了")
    await world.answer(HOME, f"说起{PLANTED}，爬山好呀")
    await world.say(zhang, "风景不错")
    assert await world.memory.library.retract(HOME.circle, "?", f"说起{PLANTED}，爬山好呀")
    assert left(world) == []
    found = await world.memory.journal.look(
        lambda db: db.execute("SELECT sender FROM message ORDER BY id").fetchall()
    )
    assert found == [(ZHANG,), (ZHANG,)]
    assert BOT not in {sender for (sender,) in found}


# ----------------------------------------------------------------------- people


async def test_a_groups_mood_goes_with_whoever_had_a_part_in_it(world: World) -> None:
    """It says when somebody spoke last, and how it was taken."""
    await world.say(li_in_club, "大家好呀")
    await world.learn(feeling(0.3))
    at = (await world.say(zhang_in_club, "烦死了，走开")).at
    await world.learn(feeling(-0.3))
    (mood,) = await world.rows(Mood)
    assert mood.at == at
    assert mood.valence < BASELINE[0] + 0.3
    await world.memory.forget_me.forget(ZHANG)
    assert await world.rows(Mood) == []
    log = await world.memory.journal.look(
        lambda db: "".join(ops for (ops,) in db.execute("SELECT ops FROM change"))
    )
    assert '"valence"' not in log
    await world.say(li_in_club, "在吗")
    assert "心情" not in await world.lead(li_in_club, "在吗")


async def test_a_groups_mood_stays_if_somebody_else_goes(world: World) -> None:
    await world.say(zhang, "你好呀")
    await world.learn(answer())
    await world.say(li_in_club, "大家好呀")
    await world.learn(feeling(0.3))
    before = [mood for mood in await world.rows(Mood) if mood.session == CLUB.id]
    await world.memory.forget_me.forget(ZHANG)
    assert await world.rows(Mood) == before != []
