"""Personas: switching by command and dashboard, and who knows what after it."""

import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from .harness import ADMIN_ID
from .world import PLUGINS, World, injected

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]

TECH, LIFE = "tech_assistant", "life_advisor"


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def personas(shared_world: World) -> AsyncIterator[None]:
    await shared_world.bot.create_persona(TECH, "你是一个专业的技术助手。")
    await shared_world.bot.create_persona(LIFE, "你是一个温暖的生活顾问。")
    yield
    await shared_world.bot.delete_persona(TECH)
    await shared_world.bot.delete_persona(LIFE)


async def test_group_members_may_not_switch(world: World) -> None:
    before = await world.bot.conversations(world.qq.umo(group_id=5021))
    for command in (f"/persona {TECH}", f"/new {TECH}"):
        assert "权限" in await world.qq.ask_group(5021, 204, command, "小钱", at_bot=False)
    assert await world.bot.conversations(world.qq.umo(group_id=5021)) == before
    assert "已切换" in await world.qq.ask_group(5021, ADMIN_ID, f"/persona {TECH}", at_bot=False)


async def test_switch_in_the_dashboard(world: World) -> None:
    umo = world.qq.umo(user_id=211)
    await world.qq.ask_private(211, f"/new {TECH}", "李四")
    await world.say(211, "Redis常用于缓存数据")
    current = (await world.bot.conversations(umo))[0]["cid"]
    await world.bot.set_conversation_persona(umo, current, LIFE)
    await world.say(211, "散步有助于睡眠")
    await world.learn()
    await world.qq.ask_private(211, "/new")
    assert "缓存" not in injected(await world.say(211, "Redis常用于什么？"))
    assert "睡眠" in injected(await world.say(211, "散步有助于什么？"))
    await world.bot.set_conversation_persona(
        umo, (await world.bot.conversations(umo))[0]["cid"], TECH
    )
    await world.qq.ask_private(211, "/new")
    assert "缓存" in injected(await world.say(211, "Redis常用于什么？"))
    assert "睡眠" not in injected(await world.say(211, "散步有助于什么？"))


async def test_another_plugins_persona_command(world: World) -> None:
    """Where another plugin provides /persona, only that one answers."""
    name = "astrbot_plugin_persona_cmd"
    shutil.copytree(PLUGINS / name, world.bot.data_dir / "plugins" / name)
    await world.restart()
    await world.say(ADMIN_ID, "你好")
    assert await world.qq.ask_private(ADMIN_ID, f"/persona {LIFE}") == f"persona set to {LIFE}"
    await world.bot.set_plugin_enabled(name, False)
    assert "已切换" in await world.qq.ask_private(ADMIN_ID, f"/persona {TECH}")
