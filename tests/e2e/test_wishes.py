"""What people may ask of the memory: why, pause, forget me, and taking a message back."""

import pytest

from .harness import wait_until
from .world import World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


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
    await world.tells(631, "/memory mine", but="皮影")
    said = "SELECT sender, text FROM message WHERE instr(text, '小收喜欢帆布画吗')"
    assert world.journal(said) == [], "the bot's own line is gone, too"
