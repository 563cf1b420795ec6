"""What of the companion goes with a message that is taken back, and with a person."""

from typing import Any

from graph_memory.companion import InnerState, Mood
from graph_memory.model import Message, Turn

from ..scripted import answer
from ..world import CLUB, HOME, ZHANG, World, li_in_club, zhang, zhang_in_club

PLANTED = "蓝鲸纸条"
INNER = {"self": "我想做个可靠的朋友", "user": "他嘴硬心软", "bond": "渐渐熟了"}


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


async def test_a_groups_mood_stays_if_somebody_else_goes(world: World) -> None:
    await world.say(zhang, "你好呀")
    await world.learn(answer())
    await world.say(li_in_club, "大家好呀")
    await world.learn(feeling(0.3))
    before = [mood for mood in await world.rows(Mood) if mood.session == CLUB.id]
    await world.memory.forget_me.forget(ZHANG)
    assert await world.rows(Mood) == before != []
