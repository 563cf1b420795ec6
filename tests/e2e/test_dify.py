"""Chats that Dify answers: AstrBot hands on little, and the memory has to be in it."""

from pathlib import Path
from typing import Any

import pytest

from .dify import FakeDify
from .harness import ADMIN_ID
from .world import living

pytestmark = [pytest.mark.e2e, pytest.mark.host, pytest.mark.asyncio(loop_scope="session")]


def answered_by(dify: FakeDify, api: str, **more: Any) -> dict[str, Any]:
    """How AstrBot is set up, as its older and its newer versions each want it."""
    app = {"dify_api_base": dify.base_url, "dify_api_key": "app-key", "dify_api_type": api} | more
    kind = {"id": "dify-app", "provider": "dify", "type": "dify", "provider_type": "agent_runner"}
    older = {"agent_runner_type": "dify", "dify_agent_runner_provider_id": "dify-app"}
    newer = {"runner_type": "dify", "config": app}
    return {
        "config": {"agent_runner": newer, "provider_settings": older},
        "providers": [{**kind, "enable": True, **app}],
    }


async def test_the_memory_is_in_the_query(tmp_path: Path) -> None:
    async with FakeDify() as dify, living(tmp_path, **answered_by(dify, "chat")) as world:
        await world.ready()
        assert await world.qq.ask_private(701, "我对花生过敏", "小福") == "Dify 的回答"
        assert dify.asked[-1]["query"] == "我对花生过敏"  # nothing to be reminded of yet
        assert "已学习" in await world.learn()
        await world.qq.ask_private(701, "/new")
        await world.qq.ask_private(701, "你还记得我对什么过敏吗？")
        asked = dify.asked[-1]
        assert asked["query"].startswith("你还记得我对什么过敏吗？\n\n<memories>")
        assert "花生" in asked["query"]
        assert not asked["conversation_id"]  # `/new` is AstrBot's own here
        # What Dify said is context, and what it was shown is not taken for the user's words.
        stored = b"".join(path.read_bytes() for path in world.data.glob("journal*"))
        assert "Dify 的回答".encode() in stored
        assert b"<memories>" not in stored
        # Somebody else hears nothing of it.
        await world.qq.ask_private(702, "我对什么过敏？", "小贵")
        assert "花生" not in str(dify.asked[-1])


async def test_an_app_with_an_input_of_its_own(tmp_path: Path) -> None:
    """Declared among the variables in AstrBot's settings, it keeps the query clean."""
    async with FakeDify() as dify:
        setup = answered_by(dify, "workflow", variables={"system_prompt": ""})
        async with living(tmp_path, **setup) as world:
            await world.ready()
            assert "工作流" in await world.qq.ask_private(711, "我养了一只叫年糕的猫", "小禄")
            await world.qq.ask_private(ADMIN_ID, "/memory flush all")
            await world.qq.ask_private(711, "我的猫叫什么？")
            inputs = dify.asked[-1]["inputs"]
            assert inputs["astrbot_text_query"] == "我的猫叫什么？"
            assert "年糕" in inputs["system_prompt"]
