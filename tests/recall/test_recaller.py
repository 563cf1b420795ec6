from __future__ import annotations

from graph_memory.model import asker_of
from tests.makers import T0, entity, fact, group, name, private, user

from .conftest import Memory

ZHANG, HONG = user("10001"), user("10002")


async def test_reminds_of_a_message_and_of_a_fact(memory: Memory) -> None:
    recaller = await memory.open()
    home = private("10001")
    await memory.say(home, ZHANG, "我对花生过敏，吃了会起疹子", name="张三")
    await memory.say(home, ZHANG, "周末去爬了黄山", T0 + 9_000, name="张三")
    await memory.know(fact(home, ZHANG, entity("豆包"), "张三养了一只叫豆包的橘猫", at=T0 + 10_000))
    found = await memory.ask(home, "花生能吃吗？")
    assert [item.kind for item in found.items] == ["message"]
    assert "2026-09" in found.items[0].text
    assert "张三说过：我对花生过敏" in found.block
    assert "黄山" not in found.block
    found = await memory.ask(home, "我的橘猫叫什么名字来着")
    assert [item.kind for item in found.items] == ["fact"]
    assert "豆包" in found.block
    assert recaller.items == 3
