"""The bot remembers: in the next conversation, after a restart, a kill, a reload."""

import asyncio
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
