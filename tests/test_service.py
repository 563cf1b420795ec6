"""The thin line through all layers, without AstrBot: heard, learned, recalled, kept."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from graph_memory import service as service_module
from graph_memory.commands.memory_commands import Commands
from graph_memory.data_directory import lock
from graph_memory.errors import EmbeddingError, LockedError
from graph_memory.inference import Embedder
from graph_memory.inspect.health import describe
from graph_memory.locales import TEXTS, explain
from graph_memory.model import Fact, Turn, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from . import world
from .makers import HOME, ZHANG
from .scripted import NOTHING, Call, HashEmbedder, ScriptedModel, answer, said, thing


def likes_climbing(call: Call) -> dict[str, Any]:
    """What a model would call the tool with, were 爬山 in the batch."""
    if "爬山" not in call.prompt:
        return NOTHING
    likes = said("U1", "likes", "E1", "张三喜欢爬山", 1)
    return answer(likes, entities=[thing("E1", "爬山")], summary="张三聊起爬山")


@asynccontextmanager
async def opened(directory: Path, model: ScriptedModel | None = None) -> AsyncIterator[Any]:
    async with world.opened(directory, model=model) as service:
        service.use_embedder(HashEmbedder.load)
        await service.settle()
        yield service


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path, ScriptedModel(likes_climbing)) as service:
        yield service


async def recalled(service: MemoryService, session: Any, who: str, text: str) -> str:
    await service.settle()
    return (await service.recall.remind(asker_of(session, who), text)).block


async def test_what_was_said_is_learned_and_recalled(service: MemoryService):
    await service.learning.hear(Turn(HOME, ZHANG, "张三", "我周末最喜欢去爬山了"))
    assert await service.learning.flush(HOME.circle) == 1
    facts = await service.journal.read(lambda rows: rows.find(Fact))
    told = [(f.subject, f.predicate, f.statement) for f in facts]
    assert told == [(ZHANG, "likes", "张三喜欢爬山")]
    assert "张三喜欢爬山" in await recalled(service, HOME, ZHANG, "张三喜欢爬山吗？")
    await service.settle()
    around = await service.graph.ask(lambda graph: graph.neighbourhood(ZHANG))
    assert [edge.statement for edge in around.edges] == ["张三喜欢爬山"]


async def test_it_is_all_there_after_reopening_and_after_a_kill(tmp_path: Path):
    async with opened(tmp_path, ScriptedModel(likes_climbing)) as service:
        await service.learning.hear(Turn(HOME, ZHANG, "张三", "我周末最喜欢去爬山了"))
        await service.learning.flush()
        await service.learning.hear(Turn(HOME, ZHANG, "张三", "我家的猫叫豆包"))
    async with opened(tmp_path, ScriptedModel(likes_climbing)) as again:
        assert "爬山" in await recalled(again, HOME, ZHANG, "张三喜欢爬山吗？")
        assert "豆包" in await recalled(again, HOME, ZHANG, "我家的猫叫什么名字？")
        assert (await again.health()).counts["buffered"] == 1, "still waiting to be learned"


async def test_a_second_owner_is_refused(service: MemoryService):
    with pytest.raises(LockedError, match="in use"):
        await MemoryService.open(service.directory, Settings(), zone=UTC)


async def test_a_failing_embedder_is_a_problem_and_not_a_failure(memory: MemoryService):

    async def load() -> Embedder:
        raise EmbeddingError("模型不见了")

    memory.use_embedder(load)
    await memory.learning.hear(Turn(HOME, ZHANG, "张三", "我家的猫叫豆包"))
    assert "豆包" in await recalled(memory, HOME, ZHANG, "猫叫豆包吗")
    told = [[explain(words, each) for each in (await memory.health()).problems] for words in TEXTS]
    assert told[0] == ["向量模型用不了，只按词语和名字查找；详情见日志"]
    assert told[1][0].startswith("the embedding model cannot be used")


async def test_a_model_that_is_loading_is_not_called_missing(memory: MemoryService):
    go_on = asyncio.Event()

    async def load() -> Embedder:
        await go_on.wait()
        return HashEmbedder()

    async def told() -> str:
        return describe(await memory.health(), "zh", UTC)

    assert "向量模型：无" in await told()
    memory.use_embedder(load)
    assert "向量模型：加载中" in await told()
    owner = Turn(HOME, ZHANG, "张三", is_admin=True)
    assert "向量模型：加载中" in await Commands(memory).doctor(owner)
    go_on.set()
    await memory.settle()
    assert f"向量模型：{HashEmbedder.name}" in await told()
    assert "加载中" not in await Commands(memory).doctor(owner)


async def test_closing_twice_and_while_loading_leaves_nothing_running(tmp_path: Path):
    before = asyncio.all_tasks()
    async with opened(tmp_path) as service:
        service.use_embedder(lambda: asyncio.sleep(60))  # type: ignore[arg-type,return-value]
    await service.close()
    assert asyncio.all_tasks() == before


async def test_other_settings_take_hold_without_a_restart(service: MemoryService):
    await service.learning.hear(Turn(HOME, ZHANG, "张三", "我周末最喜欢去爬山了"))
    assert await service.learning.flush(HOME.circle) == 1
    before = (await service.library.browse()).items[0].fades_at
    service.retune(time_decay_rate=2.0, prune_interval=48)
    line = (await service.library.browse()).items[0]
    assert line.fades_at - line.fact.last_used == pytest.approx((before - line.fact.last_used) / 2)
    assert (service.settings.time_decay_rate, service.settings.prune_interval) == (2.0, 48)
    assert "爬山" in await recalled(service, HOME, ZHANG, "我喜欢做什么？")


async def test_cancelled_while_it_is_opened_it_lets_the_directory_go(tmp_path, monkeypatch):
    begun, goes_on = threading.Event(), threading.Event()

    def slowly(directory: Path) -> None:
        begun.set()
        goes_on.wait(10)

    monkeypatch.setattr(service_module, "restrict", slowly)
    opening = asyncio.create_task(MemoryService.open(tmp_path, Settings(), zone=UTC))
    await asyncio.to_thread(begun.wait, 10)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    goes_on.set()
    await asyncio.sleep(0.1)
    os.close(lock(tmp_path))
