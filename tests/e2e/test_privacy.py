"""Who is reminded of what: never anybody who was not there."""

import pytest

from .world import World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_two_users_never_see_each_others_private_memories(world: World) -> None:
    await world.say(301, "我对青霉素过敏，别告诉别人", "小甲")
    await world.say(302, "我打算十月辞职", "小乙")
    await world.learn()
    assert "青霉素" in injected(await world.say(301, "我对什么过敏？"))
    assert "青霉素" not in injected(await world.say(302, "小甲对什么药过敏？"))
    assert "辞职" not in injected(await world.say(301, "小乙打算十月做什么？"))
    searched = await world.qq.ask_private(302, "/memory search 小甲 对什么药过敏")
    assert "青霉素" not in searched
    assert "青霉素" not in await world.qq.ask_private(302, "/memory mine")


async def test_private_memories_never_surface_in_a_group(world: World) -> None:
    group = 5031
    await world.say_in(group, 311, "大家好，我喜欢摄影", "小丙")
    await world.say(311, "我对海鲜过敏，是秘密", "小丙")
    await world.learn()
    for text in ("我对什么过敏？", "小丙不能吃什么？"):
        assert "海鲜" not in injected(await world.say_in(group, 311, text))
    for command in ("/memory mine", "/memory search 过敏 秘密", "/memory status"):
        reply = await world.qq.ask_group(group, 311, command, at_bot=False)
        assert "海鲜" not in reply
    assert "摄影" in await world.qq.ask_group(group, 311, "/memory mine", at_bot=False)
    assert "海鲜" in injected(await world.say(311, "我对什么过敏来着？"))


async def test_a_group_is_told_in_private_to_those_who_were_there(world: World) -> None:
    group = 5032
    await world.say_in(group, 321, "我打算五月办婚礼", "小丁")
    await world.say_in(group, 322, "恭喜恭喜", "小戊")
    await world.learn()
    # 322 spoke after the announcement, 323 never did, 321 was there.
    assert "婚礼" in injected(await world.say(321, "我打算五月办什么？"))
    assert "办婚礼" not in injected(await world.say(323, "小丁打算五月办什么？", "小己"))
    assert "办婚礼" not in injected(await world.say_in(5033, 321, "我打算五月办什么？"))
