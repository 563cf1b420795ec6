"""The bot remembers: in the next conversation, after a restart, a kill, a reload."""

import asyncio
import json
import signal

import pytest

from .harness import ADMIN_ID, wait_until
from .world import World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def texts(world: World, sender: str) -> list[str]:
    """What the journal has of one sender."""
    query = "SELECT text FROM message WHERE sender = ? ORDER BY id"
    return [text for (text,) in world.journal(query, sender)]


@pytest.mark.host
async def test_next_conversation(world: World) -> None:
    nothing = await world.say(101, "我对花生过敏，出门都要小心。", "张三")
    assert injected(nothing) == ""  # nothing is relevant yet, so nothing is injected
    assert "已学习" in await world.learn()
    await world.qq.ask_private(101, "/new")
    call = await world.say(101, "你还记得我对什么过敏吗？")
    assert "花生" in injected(call)
    assert call.last_user_parts[0] == "你还记得我对什么过敏吗？"

    async def stored() -> str:
        history = json.dumps(await world.turns(world.qq.umo(user_id=101)), ensure_ascii=False)
        return history if "你还记得我" in history else ""

    history = await wait_until(stored, what="history to be stored")
    assert "花生" not in history  # what is injected never enters AstrBot's own history


@pytest.mark.host
async def test_neither_commands_nor_notices_nor_the_bot_are_kept(world: World) -> None:
    await world.qq.ask_private(133, "/memory search 秘密指令")
    await world.qq.ask_private(133, "/sid")
    await world.qq._push(
        post_type="notice", notice_type="group_increase", group_id=5012, user_id=133
    )
    await world.qq.send_group(5012, world.qq.self_id, "我是机器人自己")
    await world.say_in(5012, 133, "大家好")
    assert texts(world, "aiocqhttp:133") == ["大家好"]
    assert texts(world, f"aiocqhttp:{world.qq.self_id}") == []


@pytest.mark.host
async def test_somebody_leaves_a_group(world: World) -> None:
    group = 5013
    await world.say_in(group, 141, "我先说一句，大家好", "小梅")
    await world.qq._push(
        post_type="notice", notice_type="group_decrease", sub_type="leave", group_id=group,
        user_id=141, operator_id=141,
    )  # fmt: skip
    left = "SELECT until FROM presence WHERE user = 'aiocqhttp:141' AND until > 0"
    await wait_until(lambda: world.journal(left), 10, "the departure")
    await world.say_in(group, 142, "小梅走了，我打算给她办欢送会", "小竹")
    await world.learn()
    assert "欢送会" not in injected(await world.say(141, "给我办欢送会的事你知道吗？"))
    assert "欢送会" in injected(await world.say(142, "我打算办什么会来着？"))


@pytest.mark.host
async def test_streamed_answers(world: World) -> None:
    world.llm.when("流式", "好的，流式回答已经记下。")
    world.bot.streaming = True
    try:
        answer = await world.bot.web_chat("流式聊天：我擅长书法", "stream-1")
    finally:
        world.bot.streaming = False
    assert answer == "好的，流式回答已经记下。"
    assert world.asked("我擅长书法")[-1].stream
    await wait_until(lambda: answer in texts(world, "bot"), 10, "the answer to be kept")
    await world.learn()
    await world.bot.web_chat("我擅长什么？", "stream-2")
    assert "书法" in injected(world.asked("我擅长什么？")[-1])


@pytest.mark.host
async def test_a_message_during_a_tool_loop_is_kept(world: World) -> None:
    """AstrBot feeds it into the running request, where no request hook sees it."""
    running, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_call: object) -> str:
        running.set()
        await go_on.wait()
        return "说完了"

    world.llm.when("慢慢来", slow)
    await world.qq.send_private(151, "慢慢来，先想想", "小慢")
    await asyncio.wait_for(running.wait(), 15)
    await world.qq.send_private(151, "补充一句：我住在成都")
    said = "补充一句：我住在成都"
    try:
        await wait_until(lambda: said in texts(world, "aiocqhttp:151"), 10, "the second message")
    finally:
        go_on.set()
    await world.qq.next_message(user_id=151)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
async def test_kill_in_the_middle_of_a_batch(world: World, sig: signal.Signals) -> None:
    account = 164 + (sig == signal.SIGKILL)
    asked, killed = asyncio.Event(), asyncio.Event()

    async def hang(_call: object) -> str:
        asked.set()
        await killed.wait()
        return ""

    world.llm.reset()
    world.llm.when(lambda call: "save_memory" in call.tool_names, hang)
    await world.say(account, "我养了一只叫橘子的猫", "小橘")
    flush = asyncio.create_task(world.qq.send_private(ADMIN_ID, "/memory flush all"))
    await asyncio.wait_for(asked.wait(), 15)
    await world.say(account, "还有，我住在青岛")
    await flush
    await world.bot.stop(sig)
    killed.set()
    world.script()
    await world.bot.start()
    await world.reconnect()
    await world.learn()
    for words in ("橘子", "青岛"):
        await world.tells(account, "/memory mine", of=words)
    assert texts(world, f"aiocqhttp:{account}") == ["我养了一只叫橘子的猫", "还有，我住在青岛"]
    learned = world.journal("SELECT count(*), count(DISTINCT batch) FROM change WHERE batch > 0")
    assert learned[0][0] == learned[0][1]  # no batch twice
