"""The doctor finds what was broken on purpose, mends it, and finds nothing in what is well."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.commands.memory_commands import Commands
from graph_memory.errors import GraphError
from graph_memory.inspect.health import Checkup
from graph_memory.locales import TEXTS
from graph_memory.model import Entity, Episode, Fact, Turn, User, asker_of
from graph_memory.service import MemoryService
from graph_memory.store import examine
from tests.makers import last_change, put

from ..makers import CLUB, HOME, LI, ZHANG, all_changes, entity, fact, name
from ..scripted import HashEmbedder
from ..world import opened

CLIMBING, TEA = entity("爬山"), entity("龙井")
HOBBY = fact(HOME, ZHANG, CLIMBING, "张三喜欢爬山")
OTHERS = fact(CLUB, LI, TEA, "李四爱喝龙井")
admin = Turn(HOME, ZHANG, "张三", is_admin=True)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path) as service:
        service.use_embedder(HashEmbedder.load)
        for text in ("我周末去爬山", "我家的猫叫豆包", "龙井真好喝"):
            await service.learning.hear(Turn(HOME, ZHANG, "张三", text))
            await service.learning.hear(Turn(CLUB, LI, "李四", text))
        await service.learning.flush()
        nodes = [User(ZHANG), User(LI), Entity(CLIMBING), Entity(TEA), name(HOME, ZHANG, "张三")]
        await put(service.journal, HOME, CLUB, *nodes, HOBBY, OTHERS)
        await service.settle()
        yield service


def codes(checkup: Checkup) -> dict[str, tuple[int, bool]]:
    return {f.code: (f.count, f.is_mended) for f in checkup.findings}


async def spoil(service: MemoryService, *statements: str) -> None:
    """Break the journal behind everybody's back."""

    def work(db: object) -> None:
        db.execute("PRAGMA foreign_keys = OFF")  # type: ignore[attr-defined]
        for statement in statements:
            db.execute(statement)  # type: ignore[attr-defined]

    await service.journal.tidy(work)


async def test_what_is_well_is_left_as_it_is(service: MemoryService):
    before = await last_change(service.journal)
    checkup = await service.doctor()
    assert checkup.findings == ()
    assert (checkup.documents, checkup.vectors) == (8, 8)
    assert checkup.changes == before == await last_change(service.journal)


async def test_it_may_be_in_use_meanwhile(service: MemoryService):
    for round in range(5):
        chat = [
            service.learning.hear(Turn(HOME, ZHANG, "张三", f"第{round}轮第{n}句，豆包在睡觉"))
            for n in range(10)
        ]
        checkup, *_ = await asyncio.gather(service.doctor(), *chat)
        assert checkup.findings == ()
    await service.settle()
    assert service.recall.items == 8 + 50


async def test_a_broken_index_is_rebuilt(service: MemoryService):
    index = service.recall._sync.index
    index.drop(Fact.kind, HOBBY.id)
    index.put(fact(HOME, ZHANG, TEA, "张三爱喝龙井"))  # which the journal does not know
    index.put(replace(OTHERS, statement="李四讨厌龙井"))
    assert (await service.doctor()).findings == ()
    await service.settle()
    assert service.recall.vectors == service.recall.items == 8
    assert "爬山" in (await service.recall.remind(asker_of(HOME, ZHANG), "张三喜欢爬山吗")).block


async def test_a_view_that_cannot_be_rebuilt_is_reported(service, monkeypatch):
    async def broken() -> None:
        raise GraphError("没有地方了")

    monkeypatch.setattr(service.graph, "rebuild", broken)
    assert codes(await service.doctor()) == {"graph_away": (1, False)}


async def test_a_journal_is_mended_without_losing_anything(service: MemoryService):
    changes = await all_changes(service.journal)
    learned = next(c.batch for c in changes if c.batch)
    await service.learning.hear(Turn(HOME, ZHANG, "张三", "还没学到的一句"))
    await spoil(
        service,
        f"DELETE FROM batch WHERE id = {learned}",
        "UPDATE message SET batch = 99 WHERE text = '还没学到的一句'",
        f"UPDATE batch SET state = 'waiting' WHERE id != {learned}",
        "INSERT INTO batch (session, state, created_at) VALUES ('没有这个会话', 'waiting', 0)",
    )
    assert codes(await service.doctor()) == {
        "stray_batches": (1, True),
        "lost_batches": (4, True),
        "done_batches": (1, True),
    }
    assert await service.journal.survey(examine) == {}
    waiting = await service.journal.pending(HOME.id)
    assert [m.text for m in waiting] == ["还没学到的一句"], "what was learned stays learned"


async def test_what_cannot_be_read_is_left_out_and_reported(service: MemoryService):
    (episode, *_) = await service.journal.read(lambda rows: rows.find(Episode))
    await spoil(
        service,
        f"UPDATE row SET data = '{{}}' WHERE id = '{HOBBY.id}'",
        f"UPDATE row SET data = '{json.dumps({'id': episode.id})}' WHERE id = '{episode.id}'",
        "UPDATE message SET session = '没有这个会话' WHERE id = 1",
    )
    found = codes(await service.doctor())
    assert found["unreadable"] == (2, False)
    assert found["stray_messages"] == (1, False)
    assert "龙井" in (await service.recall.remind(asker_of(CLUB, LI), "李四爱喝什么茶龙井")).block


async def test_its_report_is_for_people_and_tells_no_contents(service: MemoryService):
    commands = Commands(service)
    well = await commands.doctor(admin)
    assert "已重建" in well
    assert "8 条" in well
    await spoil(service, "UPDATE batch SET state = 'waiting'")
    mended = await commands.doctor(admin)
    assert "✅ 已修复：" in mended
    assert "爬山" not in mended


@pytest.mark.parametrize("language", ["zh", "en"])
def test_there_are_words_for_everything(language: str):
    known = {
        "damaged", "unreadable", "stray_messages", "stray_batches", "lost_batches",
        "done_batches", "journal_away", "graph_away", "index_away",
    }  # fmt: skip
    assert {f"doctor.{code}" for code in known} <= TEXTS[language].keys()
    kinds = ("full", "read_only", "busy", "slow", "damaged", "broken")
    assert {f"storage_{kind}" for kind in kinds} <= TEXTS[language].keys()
