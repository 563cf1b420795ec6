import asyncio
import logging
import time

from graph_memory.model import Forgotten, asker_of
from tests.makers import T0, entity, fact, group, name, private, user

from .conftest import Memory
from .hashing import HashingEmbedder

ZHANG, HONG = user("10001"), user("10002")
HOME, OTHER, CLASS = private("10001"), private("10002"), group("77")


async def test_another_model_never_mixes_with_the_old_one(memory: Memory) -> None:
    memory.embedder = HashingEmbedder("one")
    recaller = await memory.open()
    await memory.say(HOME, ZHANG, "豆包是我的猫")
    await memory.ask(HOME, "猫")
    two = HashingEmbedder("two")
    recaller.use(two)
    found = await memory.ask(HOME, "豆包是谁的猫")
    assert two.embedded == ["豆包是我的猫"]
    assert found.trace.embedded
    recaller.use(None)
    found = await memory.ask(HOME, "豆包是谁的猫")
    assert (recaller.vectors, found.trace.embedded) == (0, False)
    assert "豆包" in found.block


async def test_a_slow_embedder_degrades_to_words_within_the_deadline(memory: Memory) -> None:
    memory.embedder = embedder = HashingEmbedder()
    await memory.open(recall_deadline=500)
    await memory.say(HOME, ZHANG, "我对花生过敏，吃了会起疹子")
    await memory.ask(HOME, "花生")
    embedder.stalled = asyncio.Event()
    started = time.monotonic()
    found = await memory.ask(HOME, "花生过敏严重吗")
    assert time.monotonic() - started < 5
    assert "花生" in found.block
    assert not found.trace.embedded


async def test_a_broken_embedder_is_logged_once(memory, caplog):
    memory.embedder = embedder = HashingEmbedder()
    embedder.broken = True
    await memory.open()
    await memory.say(HOME, ZHANG, "我对花生过敏，吃了会起疹子")
    with caplog.at_level(logging.WARNING, "graph_memory"):
        for _ in range(3):
            assert "花生" in (await memory.ask(HOME, "花生过敏严重吗")).block
    assert len([r for r in caplog.records if "words and names" in r.message]) == 1


async def test_a_failure_inside_is_an_empty_recall(memory, caplog, monkeypatch):
    recaller = await memory.open()
    await memory.say(HOME, ZHANG, "我对花生过敏")
    await recaller.settle()
    monkeypatch.setattr(recaller._sync.index, "visible", None)
    for _ in range(2):
        found = await memory.ask(HOME, "花生过敏吗")
        assert (found.items, found.block) == ((), "")
        assert "TypeError" in found.trace.problem
    assert len([r for r in caplog.records if r.name == "graph_memory.recall"]) == 1


async def test_after_closing_there_is_nothing(memory: Memory) -> None:
    recaller = await memory.open()
    await memory.say(HOME, ZHANG, "我对花生过敏")
    await recaller.settle()
    await recaller.close()
    found = await recaller.remind(asker_of(HOME, ZHANG), "花生过敏吗")
    assert (found.items, found.trace.problem) == ((), "closed")
    await asyncio.wait_for(recaller.settle(), 5)


async def test_a_restart_finds_the_same(memory: Memory) -> None:
    memory.embedder = HashingEmbedder()
    await memory.open()
    for number in range(12):
        await memory.say(HOME, ZHANG, f"第{number}号快递到了菜鸟驿站", T0 + 900 * number)
    said = await memory.say(CLASS, HONG, "班会在周五下午", name="小红")
    await memory.know(
        fact(HOME, ZHANG, entity("快递"), "张三常去菜鸟驿站取快递", evidence=(3,)),
        Forgotten("x:1", HOME.id, 5),
        name(CLASS, HONG, "小红"),
    )
    questions = [(HOME, "快递到菜鸟驿站了吗", ZHANG), (CLASS, "班会在周五吗", HONG)]
    before = [await memory.ask(*each) for each in questions]
    await memory.open()
    after = [await memory.ask(*each) for each in questions]
    assert [found.items for found in before] == [found.items for found in after]
    assert [found.block for found in before] == [found.block for found in after]
    assert after[1].items[0].messages == (said.id,)


async def test_messages_that_facts_rest_on_outlive_the_newest(memory, monkeypatch):
    """They take no place of these, nor of what facts among these rest on."""
    monkeypatch.setattr("graph_memory.recall.index_sync.MAX_MESSAGES", 2)
    monkeypatch.setattr("graph_memory.recall.index.MAX_MESSAGES", 2)
    for number, text in enumerate(("我对花生过敏", "我买了新自行车", "雨停了", "散步去了")):
        await memory.say(HOME, ZHANG, text, T0 + number)
    facts = [(1, "花生", "张三对花生过敏"), (3, "天气", "张三那里雨停了")]
    await memory.know(*(fact(HOME, ZHANG, entity(o), t, evidence=(id,)) for id, o, t in facts))
    recaller = await memory.open()
    await recaller.settle()
    assert recaller.items == 5  # two facts, what one rests on, the two newest
    assert list(recaller._sync.index.messages) == [3, 4]
    assert (await memory.ask(HOME, "新自行车买了吗")).items == ()
