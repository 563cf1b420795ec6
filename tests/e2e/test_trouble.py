"""Whatever breaks, the chat goes on, and the memory comes back."""

import json
import os
import shutil
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from .extractor import claims, is_extraction
from .harness import ADMIN_ID, EMBEDDING_PROVIDER_ID, Failure, wait_until
from .world import World, injected, living

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def troubled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A world of the module's own: what one scene breaks it mends."""
    async with living(tmp_path_factory.mktemp("troubled")) as world:
        await world.ready()
        yield world


@pytest_asyncio.fixture(loop_scope="session")
async def world(troubled: World) -> World:
    troubled.script()
    return troubled


async def test_learning_model_down(world: World) -> None:
    world.llm.reset()
    world.llm.when(lambda call: call.model == "extract-model", Failure(503, "busy"))
    call = await world.say(601, "我打算学大提琴", "小八")
    assert call.answer == "echo: 我打算学大提琴"
    assert "等待重试" in await world.learn()
    # What was said is recalled word for word all the same.
    await world.qq.ask_private(601, "/new")
    assert "大提琴" in injected(await world.say(601, "我打算学什么乐器？大提琴吗"))
    world.script()
    await world.learn()
    assert "大提琴" in await world.qq.ask_private(601, "/memory mine")


@pytest.mark.host
async def test_learning_model_without_tools(world: World) -> None:
    """A provider that refuses tools is asked for JSON text, and may wrap it in prose."""
    world.llm.reset()
    world.llm.when(
        lambda call: call.model == "extract-model" and bool(call.tool_names),
        Failure(400, "tool_choice is not supported"),
    )
    world.llm.when(
        is_extraction, lambda call: f"好的：\n```json\n{json.dumps(claims(call))}\n``` 完毕"
    )
    await world.say(602, "我喜欢皮影戏", "小九")
    await world.learn()
    assert "皮影戏" in await world.qq.ask_private(602, "/memory mine")


@pytest.mark.host
async def test_chat_model_down(world: World) -> None:
    world.llm.when(lambda call: call.model == "chat-model", Failure(400, "out of order"))
    await world.qq.ask_private(603, "我住在大连", "小十")
    world.script()
    await world.learn()
    assert "大连" in injected(await world.say(603, "我住在哪里？"))


@pytest.mark.host
async def test_embedding_provider(world: World) -> None:
    """AstrBot's provider is used when chosen; while it is down, words and names do."""
    async with world.told(embedding_provider_id=EMBEDDING_PROVIDER_ID):
        await world.tells(ADMIN_ID, "/memory status", of=EMBEDDING_PROVIDER_ID)
        await world.say(611, "我养了一只叫年糕的猫", "小冬")
        await world.learn()
        assert "年糕" in injected(await world.say(611, "我养了一只叫什么的猫？"))
        await wait_until(lambda: "年糕" in str(world.llm.embedded), 15, "the memory to be embedded")
        world.llm.embedding_failure = Failure(500, "no embeddings today")
        assert "年糕" in injected(await world.say(611, "我的猫叫年糕对吧？"))


async def test_wrong_settings_and_a_port_that_is_taken(world: World) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        settings = {
            "webui_port": other.getsockname()[1], "buffer_size_private": -3, "webui_key": "short",
            "llm_provider_id": "no-such-model", "embedding_provider_id": "no-such-embedding",
        }  # fmt: skip
        before = len(world.bot.log)
        async with world.told(**settings):
            await world.ready()  # with the local model in place of the wrong one
            await world.say(621, "我喜欢剪纸", "小夏")
            world.llm.when(lambda call: "save_memory" in call.tool_names, {"worth": False})
            await world.learn()
            log = world.bot.log[before:]
            for name in ("webui_port", "buffer_size_private", "webui_key", "llm_provider_id"):
                assert name in log
            assert "embedding_provider_id" in log
            assert "webui_port" in await world.status()


async def test_broken_journal(world: World) -> None:
    before, aside = len(world.bot.log), world.data.with_name("aside")
    async with world.absent():
        world.data.rename(aside)
        world.data.mkdir()
        (world.data / "journal.sqlite3").write_bytes(os.urandom(8192))
    assert (await world.say(641, "你好", "小春")).answer == "echo: 你好"
    assert "journal.sqlite3" in await world.status()
    assert "memory did not start" in world.bot.log[before:]
    assert "当前" in await world.qq.ask_private(641, "/persona")
    async with world.absent():
        shutil.rmtree(world.data)
        aside.rename(world.data)
    await world.ready()
