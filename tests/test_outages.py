"""Models that are down cost a message nothing, and the status says so."""

import asyncio
import logging
import re

from graph_memory.commands.memory_commands import Commands
from graph_memory.inference import Vectors
from graph_memory.inference.breaker import BreakerState
from graph_memory.model import Presence, Turn, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from .makers import HOME, T0, ZHANG, admin, group, message, private, user
from .scripted import HashEmbedder, ScriptedModel
from .world import opened


class Hanging(HashEmbedder):
    """Embeds passages, and never answers a question."""

    def __init__(self) -> None:
        self.asked = 0

    async def query(self, text: str) -> Vectors:
        self.asked += 1
        await asyncio.Event().wait()
        raise AssertionError


async def test_an_embedder_that_hangs_delays_three_messages_and_no_more(tmp_path, caplog):
    embedder = Hanging()
    async with opened(tmp_path, Settings(recall_deadline=200)) as service:

        async def load() -> Hanging:
            return embedder

        service.use_embedder(load)
        await service.learning.hear(Turn(HOME, ZHANG, "张三", "我家的猫叫豆包"))
        await service.settle()
        asker = asker_of(HOME, ZHANG)
        for number in range(3):
            assert "豆包" in (await service.recall.remind(asker, f"第{number}只猫叫什么呢？")).block
        for number in range(20):
            assert "豆包" in (await service.recall.remind(asker, f"那第{number}只猫叫什么？")).block
        assert embedder.asked == 3, "who is not asked is not waited for"
        assert sum("left alone" in m for m in caplog.messages) == 1
        breaker = (await service.health()).breakers["embedding"]
        assert (breaker.state, breaker.failures) == (BreakerState.OPEN, 3)
        status = await Commands(service).status(admin)
        assert "⏸ 向量模型连续失败 3 次，暂停使用，30 秒后再试：模型没有及时回答" in status


async def test_a_model_that_is_down_is_told_once_and_shown(tmp_path, caplog):
    async with opened(
        tmp_path, Settings(language="en"), model=ScriptedModel(lambda _: None)
    ) as service:
        with caplog.at_level(logging.WARNING, "graph_memory"):
            for number in range(30):
                session = private(f"p{number}")
                await service.learning.hear(Turn(session, user(f"p{number}"), "某人", "我喜欢爬山"))
            assert await service.learning.flush() == 0
        learning = await service.learning.status()
        assert (learning.waiting, learning.dead) == (30, 0)
        # Three to notice, one that was under way beside them, one because flush wants to know.
        assert 3 <= service.spending.today().costs["learn"].calls <= 5
        assert len(caplog.records) <= 4
        status = await Commands(service).status(admin)
        assert re.search(r"The language model that learns failed [34] times in a row", status)


async def test_a_clock_that_is_set_back_turns_no_interval_around(memory: MemoryService):
    club = group("读书会")
    await memory.journal.append(message(club, ZHANG, "大家好", at=T0), club)
    (ended,) = await memory.journal.leave(club.circle, ZHANG, T0 - 3600)
    assert ended == Presence(club.circle, ZHANG, T0, T0)
    assert await memory.journal.presences() == [ended]
