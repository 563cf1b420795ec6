"""A persona command of another plugin."""

import shutil

import pytest

from .harness import ADMIN_ID
from .world import PLUGINS, World

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]


async def test_where_another_plugin_provides_the_command_only_that_one_answers(world):
    name = "astrbot_plugin_persona_cmd"
    await world.bot.create_persona("poet", "你是一个诗人。")
    shutil.copytree(PLUGINS / name, world.bot.data_dir / "plugins" / name)
    await world.restart()
    await world.say(ADMIN_ID, "你好")
    assert await world.qq.ask_private(ADMIN_ID, "/persona poet") == "persona set to poet"
    await world.bot.set_plugin_enabled(name, False)
    assert "已切换" in await world.qq.ask_private(ADMIN_ID, "/persona poet")


async def test_a_persona_that_chooses_its_tools_has_ours_if_it_chooses_one(world: World) -> None:
    for persona, tools in (("chef", ["memory_recall"]), ("guard", ["sing"])):
        await world.bot.create_persona(persona, tools=tools)
    await world.say(ADMIN_ID, "你好")  # AstrBot lists our tool from the next request on
    offered = {"": set((await world.say(ADMIN_ID, "在吗")).tool_names)}
    for persona in ("chef", "guard"):
        await world.qq.ask_private(ADMIN_ID, f"/persona {persona}")
        offered[persona] = set((await world.say(ADMIN_ID, f"{persona} 在吗")).tool_names)
    ours = {"memory_recall", "memory_remember", "memory_correct", "memory_forget"}
    has = {persona: ours & names for persona, names in offered.items()}
    assert has == {"": ours, "chef": ours, "guard": set()}


async def test_what_was_told_to_one_persona_is_learned_once_another_is_chosen(world: World) -> None:
    await world.bot.create_persona("florist", "你是一个花匠。")
    await world.say(ADMIN_ID, "我喜欢插花")
    assert "已切换" in await world.qq.ask_private(ADMIN_ID, "/persona florist")
    await world.tells(ADMIN_ID, "/memory mine", of="喜欢插花")
