"""What people may ask of the memory: why, pause, forget me, and taking a message back."""

import re
import sqlite3
from contextlib import closing

import pytest

from .harness import wait_until
from .world import World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def test_why(world: World) -> None:
    await world.say(601, "我喜欢冲浪", "小浪")
    await world.learn()
    await world.qq.ask_private(601, "/new")
    await world.say(601, "我喜欢什么运动？")
    why = await world.qq.ask_private(601, "/memory why")
    assert "喜欢冲浪" in why
    assert "关于说话的人" in why
    assert "冲浪" not in await world.qq.ask_private(602, "/memory why", "小沙")


async def test_forget_me(world: World) -> None:
    await world.say(621, "我喜欢竹蜻蜓玩具", "小忘")
    await world.say(622, "我喜欢石头收藏", "小石")
    await world.learn()
    assert "无法撤销" in await world.qq.ask_private(621, "/memory forgetme")
    assert "已彻底删除" in await world.qq.ask_private(621, "/memory forgetme 确认", timeout=60)
    assert "还没有" in await world.qq.ask_private(621, "/memory mine")
    assert "石头" in await world.qq.ask_private(622, "/memory mine")
    # What is left of it in files goes with the daily purge: tests/deletion/test_forget_me.py.
    with closing(
        sqlite3.connect(f"{(world.data / 'journal.sqlite3').as_uri()}?mode=ro", uri=True)
    ) as db:
        stored = "\n".join(db.iterdump())
    assert "石头收藏" in stored
    assert "竹蜻蜓" not in stored
    assert "小忘" not in stored
    assert not re.search(r":621(?![0-9a-f])", stored)  # the id of a row may begin so


@pytest.mark.host
async def test_what_is_taken_back_is_not_recalled(world: World) -> None:
    group = 5062
    said = await world.qq.send_group(group, 631, "我喜欢帆布画", "小收")
    await world.say(631, "我喜欢皮影戏")
    await world.learn()
    assert "帆布画" in injected(await world.say_in(group, 631, "小收喜欢帆布画吗？"))

    async def is_gone() -> bool:
        told = await world.qq.ask_group(group, 631, "/memory search 帆布画", at_bot=False)
        return "喜欢帆布画" not in told

    await world.qq.take_back(world.qq.last_id(world.qq.self_id, "小收喜欢帆布画吗"))
    await world.qq.take_back(world.qq.last_id(631, "小收喜欢帆布画吗"))
    await world.qq.take_back(said)
    await wait_until(is_gone, 10, "the message to be gone")
    assert "喜欢帆布画" not in injected(await world.say_in(group, 632, "谁在帆布上画？", "小观"))
    await world.qq.take_back(world.qq.last_id(631, "我喜欢皮影戏"))

    async def is_forgotten() -> bool:
        return "皮影" not in await world.qq.ask_private(631, "/memory mine")

    await wait_until(is_forgotten, 10, "the fact to be gone")
    with closing(sqlite3.connect(world.data / "journal.sqlite3")) as db:
        said = "SELECT sender, text FROM message WHERE instr(text, '小收喜欢帆布画吗')"
        assert db.execute(said).fetchall() == [], "the bot's own line is gone, too"
