"""``/memory`` and the tools, as people and models use them."""

import pytest

from .harness import ADMIN_ID
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.host
async def test_remember_and_search(world: World) -> None:
    assert "记住了" in await world.qq.ask_private(421, "/memory remember 我对芒果过敏", "小四")
    assert "芒果" in await world.qq.ask_private(421, "/memory search 过敏")
    assert "芒果" in await world.qq.ask_private(421, "/记忆 我的")
    for written in ("Memory mine", "／记忆 我的", "/记忆我的", "/记忆搜索过敏"):
        assert "芒果" in await world.qq.ask_private(421, written)
    assert "要找什么" in await world.qq.ask_private(421, "/memory search")
    assert "要记住什么" in await world.qq.ask_private(421, "/memory remember")


@pytest.mark.host
async def test_what_is_for_admins(world: World) -> None:
    for command in ("/memory flush", "/memory preview", "/memory doctor"):
        assert "权限" in await world.qq.ask_private(431, command, "小五")
    assert "召回索引" not in await world.qq.ask_private(431, "/memory status")
    status = await world.status()
    assert "召回索引：就绪" in status
    assert f"http://127.0.0.1:{world.web_port}" in status
    in_group = await world.qq.ask_group(5042, ADMIN_ID, "/memory status", at_bot=False)
    assert "召回索引" not in in_group
    assert "30 天内会归档" in await world.qq.ask_private(ADMIN_ID, "/memory preview")
    assert "日志没有问题" in await world.qq.ask_private(ADMIN_ID, "/memory doctor")
    told = await world.qq.ask_private(431, "/memory help")
    assert "/记忆 我的" in told
    assert "/memory mine" in told  # the title says that English works


@pytest.mark.host
async def test_what_is_no_command_goes_no_further(world: World) -> None:
    await world.say(432, "我在学编钟", "小八")
    asked = len(world.chats)
    for text, meant in (
        ("/memory serach 编钟", "/memory search"),
        ("/记忆 搜所 编钟", "/记忆 搜索"),
        ("/memory pause qun", "/记忆 暂停 [群]"),
        ("/memory mine 谢谢", "/记忆 我的"),
    ):
        told = await world.qq.ask_private(432, text)
        assert "什么都没有做" in told
        assert meant in told
    assert "什么都没有做" in await world.qq.ask_group(5043, 432, "/memory serach", at_bot=False)
    for bare in ("/memory", "/记忆"):
        told = await world.qq.ask_private(432, bare)
        assert "/记忆 帮助" in told
        assert "/记忆 备份" not in told, "it is for admins"
        assert "├" not in told
    assert len(world.chats) == asked, "the model was not asked"
    found = await world.qq.ask_private(432, "/memory search 编钟")
    assert "我在学编钟" in found
    assert "serach" not in found
    assert "搜所" not in found


@pytest.mark.host
async def test_talk_that_begins_like_a_command_reaches_the_model(world: World) -> None:
    for text in (
        "记忆 状态 不太好怎么办",
        "记忆 忘掉 是两回事",
        "memory backup of my phone failed",
    ):
        assert (await world.say(433, text, "小九")).last_user_parts[0].endswith(text)
        assert "什么都没有做" in await world.qq.ask_private(433, "/memory why 不太好")
    assert "是两回事" in await world.qq.ask_private(433, "/memory search 两回事")
    for text in ("记忆 状态", "memory mine 1"):
        assert "🧠" in await world.qq.ask_private(433, text)


async def test_a_backup_is_put_back_while_the_bot_runs(world: World) -> None:
    await world.say(441, "我喜欢陶艺", "小六")
    name = (await world.qq.ask_private(ADMIN_ID, "/memory backup")).split("：")[1]
    await world.say(441, "我还喜欢木雕")
    assert "木雕" in await world.qq.ask_private(441, "/memory search 木雕")
    assert "权限" in await world.qq.ask_private(441, f"/memory restore {name} 确认")
    assert name in await world.qq.ask_private(ADMIN_ID, "/memory restore")
    assert "消息 -" in await world.qq.ask_private(ADMIN_ID, f"/memory restore {name}")
    assert "已恢复" in await world.qq.ask_private(ADMIN_ID, f"/memory restore {name} 确认")
    assert "木雕" not in await world.qq.ask_private(441, "/memory search 木雕")
    assert "陶艺" in await world.qq.ask_private(441, "/memory search 陶艺")
    assert f"http://127.0.0.1:{world.web_port}" in await world.status()
