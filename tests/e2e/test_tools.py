"""The memory's tools in AstrBot's own tool loop, called by a scripted model."""

import re

import pytest

from .harness import ChatCall, ToolCall
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]


def script(world: World, asked: str, words: str, tool: str, **given: str) -> None:
    """Let the model look something up when it is asked, and use a tool on the line it finds.

    Args:
        asked: What the user says.
        words: What the line says.
        tool: What is called with the line's id and ``given``.
    """

    def act(call: ChatCall) -> object:
        found = re.search(rf"\[(m:[0-9a-f]+)\] [^\[]*{words}", "\n".join(call.tool_results))
        return ToolCall(tool, {"id": found[1] if found else "m:none", **given})

    def is_asked(call: ChatCall) -> bool:
        return asked in call.last_user_parts[0]

    look_up = ToolCall("memory_recall", {"query": words, "person": "我"})
    world.llm.when(lambda call: is_asked(call) and not call.tool_results, look_up)
    world.llm.when(lambda call: is_asked(call) and len(call.tool_results) == 1, act)


async def test_the_model_corrects_and_forgets_by_id(world: World) -> None:
    await world.say(451, "我喜欢登山", "小七")
    await world.say(451, "我擅长摄影")
    await world.learn()
    offered = world.asked("我擅长摄影")[-1].tool_names
    assert {"memory_recall", "memory_remember", "memory_correct", "memory_forget"} <= set(offered)
    script(world, "现在只游泳", "喜欢登山", "memory_correct", text="小七现在喜欢游泳")
    await world.qq.ask_private(451, "不对，我不登山了，现在只游泳")
    results = world.asked("现在只游泳")[-1].tool_results
    assert re.search(r"\[m:[0-9a-f]{4}\] \d{4}-\d\d-\d\d .*喜欢登山", results[0])
    assert "已更正：小七现在喜欢游泳" in results[1], results[0]
    mine = await world.qq.ask_private(451, "/memory mine")
    assert "小七现在喜欢游泳" in mine
    assert "喜欢登山" not in mine
    script(world, "别记摄影", "擅长摄影", "memory_forget")
    await world.qq.ask_private(451, "别记摄影的事了")
    assert "已忘掉" in world.asked("别记摄影")[-1].tool_results[1]
    assert "摄影" not in await world.qq.ask_private(451, "/memory mine")
    assert "又记起来" in await world.qq.ask_private(451, "/memory undo")
    assert "刚才的更正已还原" in await world.qq.ask_private(451, "/memory undo")
    mine = await world.qq.ask_private(451, "/memory mine")
    assert "喜欢登山" in mine
    assert "擅长摄影" in mine
    assert "游泳" not in mine
