"""The feed keeps up, catches up, and builds anew what it cannot follow; in bounded memory."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from graph_memory.deletion.retraction import retract_all
from graph_memory.embedding import CachedEmbedder
from graph_memory.errors import ClosedError, EmbeddingError, Failure
from graph_memory.model import Episode, Erased, Fact, Message, asker_of
from graph_memory.recall import index_sync
from tests.makers import T0, entity, fact, group, private, put, user
from tests.scripted import HashEmbedder
from tests.views import stale
from tests.waiting import until

from .conftest import Memory
from .hashing import HashingEmbedder

ZHANG = user("zhang")
HOME = private("zhang")


async def test_more_events_than_it_holds_are_read_from_the_journal(memory, monkeypatch, caplog):
    monkeypatch.setattr(index_sync, "MAX_STEPS", 10)
    recaller = await memory.open()
    await recaller.settle()
    for number in range(35):
        await memory.say(HOME, ZHANG, f"第{number}次说起花生过敏")
    steps = recaller._sync._steps
    newest = (await memory.journal.newest_messages(1))[0]
    for _ in range(25):
        recaller._sync.take(newest)  # all at once
        assert len(steps) <= 10
    assert sum("builds its index anew" in m for m in caplog.messages) >= 1
    await asyncio.wait_for(recaller.settle(), 20)
    assert recaller.items == 35
    assert "花生" in (await memory.ask(HOME, "第34次花生过敏")).block


async def test_what_it_could_not_follow_is_built_anew(memory, monkeypatch, caplog):
    monkeypatch.setattr(index_sync, "RETRY", (0.3,))
    recaller = await memory.open()
    recaller.use(HashEmbedder())
    await memory.say(HOME, ZHANG, "我对花生过敏")
    await recaller.settle()
    enter = type(recaller._sync.index).enter
    failures = [ZeroDivisionError("?"), None]

    def breaks(index, steps):
        if error := failures.pop(0) if failures else None:
            raise error
        enter(index, steps)

    monkeypatch.setattr(type(recaller._sync.index), "enter", breaks)
    with caplog.at_level(logging.WARNING, "graph_memory.recall"):
        await memory.know(fact(HOME, ZHANG, entity("爬山"), "张三喜欢爬山"))
        await until(lambda: recaller.problem)
        assert "花生" in (await recaller.remind(asker_of(HOME, ZHANG), "花生过敏吗")).block, (
            "the old one answers"
        )
        await until(lambda: not recaller.problem)
    await asyncio.wait_for(recaller.settle(), 20)
    assert [r.message for r in caplog.records] == ["recall is held up: ?"]
    assert "爬山" in (await memory.ask(HOME, "张三喜欢爬山吗")).block
    assert recaller.vectors == recaller.items == 2


async def test_a_build_that_is_stopped_as_it_ends_leaves_the_file(memory, monkeypatch):
    """Else whoever is to restore a backup finds it locked."""
    recaller = await memory.open()
    await recaller.settle()
    sync, snapshot, each = recaller._sync, memory.journal.snapshot, recaller._sync._each
    scanned, holding, ended = [], [], asyncio.Event()

    @contextmanager
    def watched() -> Iterator[SimpleNamespace]:
        with snapshot() as rows:
            holding.append(rows)
            yield SimpleNamespace(scan=lambda kind: scanned.append(kind) or rows.scan(kind))
        holding.clear()

    async def entered(items, work):
        await each(items, work)
        if Episode in scanned:  # the last of a build
            sync._thread.submit(time.sleep, 0.1)
            ended.set()

    monkeypatch.setattr(memory.journal, "snapshot", watched)
    monkeypatch.setattr(sync, "_each", entered)
    rebuilding = asyncio.create_task(sync.rebuild())
    await ended.wait()
    await asyncio.sleep(0.01)
    assert holding
    await recaller.close()
    with pytest.raises(ClosedError):
        await rebuilding
    assert not holding


async def test_what_is_said_in_a_new_chat_during_the_first_build_has_its_chat(memory, monkeypatch):
    """It is known to be said in a group, before others who may bear the same name."""
    room, said = group("9"), asyncio.Event()

    async def read(limit: int) -> list[Message]:
        if not said.is_set():
            said.set()
            for number in ("6602", "101"):
                await memory.say(room, user(number), f"我是{number}号，爱吃榴莲", name="陈大文")
        return await newest(limit)

    newest = memory.journal.newest_messages
    monkeypatch.setattr(memory.journal, "newest_messages", read)
    recaller = await memory.open()
    await asyncio.wait_for(recaller.settle(), 20)
    found = await recaller.find(asker_of(room, ZHANG), "榴莲")
    assert [("(6602)" in item.text) + ("(101)" in item.text) for item in found.items] == [1, 1]


async def test_building_anew_loses_nothing_that_happens_meanwhile(memory: Memory):
    recaller = await memory.open()
    for number in range(30):
        await memory.say(HOME, ZHANG, f"第{number}次说起花生过敏")
    await recaller.settle()
    made = fact(HOME, ZHANG, entity("爬山"), "张三喜欢爬山")

    async def life() -> None:
        for number in range(30, 60):
            await memory.say(HOME, ZHANG, f"第{number}次说起花生过敏")
        await memory.know(made)
        await put(memory.journal, drop=[made])

    await asyncio.gather(*(recaller.rebuild() for _ in range(3)), life())
    await recaller.settle()
    assert recaller.items == 60
    assert await stale(recaller) == 0
    assert recaller.items == 60


async def test_documents_that_were_wrong_are_right_again(memory: Memory):
    recaller = await memory.open()
    first, second = [
        fact(HOME, ZHANG, entity(name), f"张三喜欢{name}") for name in ("爬山", "游泳")
    ]
    await memory.know(first)
    await memory.know(second)
    await recaller.settle()
    recaller._sync.index.drop(Fact.kind, first.id)
    assert await stale(recaller) == 1
    assert await stale(recaller) == 0


async def test_what_is_forgotten_while_an_index_is_built_is_gone_at_once(memory, monkeypatch):
    recaller = await memory.open()
    made = fact(HOME, ZHANG, entity("爬山"), "张三喜欢爬山")
    await memory.know(made)
    await recaller.settle()
    build, goes_on = recaller._sync._build, asyncio.Event()

    async def slow(index):
        await build(index)
        await goes_on.wait()

    monkeypatch.setattr(recaller._sync, "_build", slow)
    rebuilding = asyncio.create_task(recaller.rebuild())
    await put(memory.journal, drop=[made])
    await until(lambda: not recaller.items)
    assert not rebuilding.done()
    goes_on.set()
    await rebuilding
    assert recaller.items == 0


async def test_what_a_first_build_that_failed_left_is_not_built_upon(memory, monkeypatch):
    await memory.say(HOME, ZHANG, "我对花生过敏")
    monkeypatch.setattr(index_sync, "RETRY", (60.0,))
    index = index_sync.Index
    put = index.put

    def fails(self: index_sync.Index, row: object) -> None:
        raise ZeroDivisionError("?")

    monkeypatch.setattr(index, "put", fails)
    recaller = await memory.open()
    await until(lambda: recaller.problem)
    begun = recaller._sync.index
    monkeypatch.setattr(index, "put", put)
    await recaller.rebuild()
    assert recaller._sync.index is not begun
    assert recaller.items == 1


async def test_a_few_new_documents_are_embedded_when_the_chat_is_quiet(memory, monkeypatch):
    """Unless somebody waits for their vectors; until then their words are enough."""
    recaller, embedder = await memory.open(), HashingEmbedder()
    recaller.use(embedder)
    await memory.say(HOME, ZHANG, "昨天修好了自行车")
    await recaller.settle()
    await memory.say(HOME, ZHANG, "我对花生过敏")
    await asyncio.sleep(0.1)
    assert len(embedder.embedded) == 1
    assert "花生" in (await recaller.remind(asker_of(HOME, ZHANG), "我对什么过敏？")).block
    await recaller.settle()
    assert len(embedder.embedded) == recaller.vectors == 2
    monkeypatch.setattr(index_sync, "LULL", 0.05)
    await memory.say(HOME, ZHANG, "周末去爬了黄山")
    await asyncio.sleep(0.3)
    assert recaller.vectors == 2  # messages wait for each other
    await memory.know(fact(HOME, ZHANG, entity("黄山"), "张三爬了黄山"))
    await until(lambda: recaller.vectors == 4)
    monkeypatch.setattr(index_sync, "MESSAGES_LULL", 0.05)
    await memory.say(HOME, ZHANG, "下周想去泰山")
    await until(lambda: recaller.vectors == 5)


async def test_what_is_taken_back_while_it_is_embedded_leaves_no_vector(memory):
    begins, goes_on = asyncio.Event(), asyncio.Event()

    class Slow(HashingEmbedder):
        async def passages(self, texts):
            begins.set()
            await goes_on.wait()
            return await super().passages(texts)

    recaller = await memory.open()
    said = await memory.say(HOME, ZHANG, "我怕山竹虫")
    await memory.say(HOME, ZHANG, "我喜欢爬山")
    await recaller.settle()
    recaller.use(CachedEmbedder(Slow(), memory.journal))
    await begins.wait()
    await memory.journal.alter(lambda db, tell: retract_all(db, tell, [said.id], T0))
    goes_on.set()
    await recaller.settle()
    count = "SELECT count(*) FROM vector"
    assert await memory.journal.look(lambda db: db.execute(count).fetchone()) == (1,)


async def test_what_is_about_much_is_entered_in_pieces(memory, monkeypatch):
    """So that a question that comes meanwhile need not wait for all of it."""
    recaller = await memory.open()
    facts = [fact(HOME, ZHANG, entity(f"爱好{n}"), f"张三喜欢爱好{n}") for n in range(130)]
    await memory.know(*facts)
    for number in range(130):
        await memory.say(HOME, ZHANG, f"第{number}次说起花生过敏")
    await recaller.settle()
    entered: list[int] = []
    index = type(recaller._sync.index)
    enter = index.enter
    monkeypatch.setattr(
        index, "enter", lambda self, steps: (entered.append(len(steps)), enter(self, steps))[1]
    )
    gone = [message.id for message in await memory.journal.newest_messages(200)]
    recaller._on_erased(Erased(tuple(gone)))
    await put(memory.journal, drop=facts)
    await recaller.settle()
    assert recaller.items == 0
    assert sum(entered) == 260
    assert max(entered) <= index_sync.PIECE


async def test_a_text_that_is_refused_holds_up_no_other(memory, monkeypatch):
    class Choosy(HashEmbedder):
        async def passages(self, texts):
            if any("敏感" in text for text in texts):
                raise EmbeddingError("refused", Failure.REFUSED)
            return await super().passages(texts)

    monkeypatch.setattr(index_sync, "PATIENCE", 0.01)
    monkeypatch.setattr(index_sync, "MESSAGES_LULL", 0.01)
    for number in range(5):
        await memory.say(HOME, ZHANG, f"第{number}次说起花生过敏")
    await memory.say(HOME, ZHANG, "这是一句敏感的话")
    recaller = await memory.open()
    recaller.use(Choosy())
    await until(lambda: recaller.vectors == 5)
    await memory.say(HOME, ZHANG, "第六次说起花生过敏")
    await until(lambda: recaller.vectors == 6 and not recaller._sync._embedding.problem)
    assert recaller.items == 7


async def test_while_the_model_is_down_what_is_newest_stays_first(memory, monkeypatch):
    asked: list[list[str]] = []

    class Down(HashEmbedder):
        async def passages(self, texts):
            asked.append(texts)
            raise EmbeddingError("busy", Failure.RATE_LIMIT)

    monkeypatch.setattr(index_sync, "PATIENCE", 0.01)
    monkeypatch.setattr(index_sync, "EMBEDDED", 2)
    for number in range(5):
        await memory.say(HOME, ZHANG, f"第{number}次说起花生过敏")
    recaller = await memory.open()
    recaller.use(Down())
    await until(lambda: len(asked) > 3)
    assert all("第4次" in texts[0] for texts in asked)
