import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from graph_memory.embedding import CachedEmbedder
from graph_memory.errors import RerankError
from graph_memory.inference import Embedder, Vectors
from graph_memory.inference.breaker import BreakerState
from graph_memory.model import asker_of
from graph_memory.recall import Reason, Recall, Recaller, ranking
from graph_memory.text import tokens
from tests.cases import tabled
from tests.makers import T0, private, user

from .conftest import Memory
from .hashing import HashingEmbedder

ZHANG, HONG = user("10001"), user("10002")
HOME, OTHER = private("10001"), private("10002")


def texts(found: Recall) -> str:
    return "\n".join(item.text for item in found.items)


async def test_a_character_that_many_have_is_not_looked_for(memory, monkeypatch):
    """Of 40 messages, one in eight has 高."""
    for number in range(40):
        await memory.say(
            HOME, ZHANG, "身高一米六" if number % 8 == 0 else "路过", T0 + 90_000 * number
        )
    monkeypatch.setattr(ranking, "FAMILIAR", 5)
    assert texts(await memory.ask(HOME, "高？")).count("身高") == 1, "as many as are looked for"
    monkeypatch.setattr(ranking, "FAMILIAR", 4)
    assert (await memory.ask(HOME, "高？")).items == ()
    monkeypatch.setattr(ranking, "FAMILIAR_SHARE", 1 / 8)
    assert texts(await memory.ask(HOME, "高？")).count("身高") == 1, "it is no large share"


async def test_block_keeps_to_the_budget_and_the_limit(memory: Memory) -> None:
    await memory.open(retrieval_top_k=5)
    for number in range(20):
        await memory.say(
            HOME, ZHANG, f"第{number}次露营去了莫干山的{number}号营地", T0 + 900 * number
        )
    found = await memory.ask(HOME, "露营去了莫干山哪个营地", budget=5_000)
    assert len(found.items) == 5
    found = await memory.ask(HOME, "露营去了莫干山哪个营地", budget=100)
    assert 0 < len(found.items) < 5
    assert tokens(found.block) <= 100
    assert Reason.BUDGET in {each.dropped for each in found.trace.candidates}


async def test_traces_are_kept_per_circle_and_newest_first(memory: Memory) -> None:
    recaller = await memory.open()
    await memory.say(HOME, ZHANG, "我对花生过敏")
    for number in range(12):
        await memory.ask(HOME, f"花生过敏第{number}问")
    await memory.ask(OTHER, "在吗", HONG)
    kept = recaller.traces.of(HOME.circle)
    assert [trace.query for trace in kept[:2]] == ["花生过敏第11问", "花生过敏第10问"]
    assert len(kept) == 8
    assert kept[0].candidates[0].text == "我对花生过敏"
    assert {"search", "total", "embedding"} <= kept[0].timing.keys()
    assert len(recaller.traces.of(OTHER.circle)) == 1


async def test_the_lines_before_the_memories_count_in_the_budget(memory: Memory) -> None:
    for number in range(20):
        await memory.say(HOME, ZHANG, f"第{number}次说花生过敏", T0 + number * 90_000)
    lead = [
        "常挂在心上的：",
        *(f"{number}. 花生一点也不能碰，发作起来很厉害" for number in range(60)),
    ]
    found = await memory.ask(HOME, "花生过敏吗", lead=[lead], budget=300)
    assert tokens(found.block) <= 300
    assert lead[1] in found.block
    assert found.items, "there is room for what is recalled"
    alone = await memory.ask(HOME, " ", lead=[lead[:1] + lead[1:] * 9], budget=300)
    assert tokens(alone.block) <= 300
    assert alone.block == alone.trace.block


async def test_a_question_is_embedded_once_and_small_talk_never(memory: Memory) -> None:
    embedder = HashingEmbedder()
    recaller = await memory.open()
    recaller.use(CachedEmbedder(embedder, memory.journal))
    await memory.say(HOME, ZHANG, "我对花生过敏，吃了会起疹子", name="张三")
    await recaller.settle()
    for text in ("我的花生过敏严重吗，要不要看医生？", "早上好呀", "哈哈哈"):
        recaller.expect(text)
        found = await memory.ask(HOME, text)
        assert (found.items, found.block) == ((), "") or "花生" in text
    assert embedder.queries == ["我的花生过敏严重吗，要不要看医生？"]
    await recaller.find(asker_of(HOME, ZHANG), "早上好呀")
    assert embedder.queries[1:] == ["早上好呀"], "who searches for it is answered"


async def test_a_model_that_would_hold_the_bot_up_embeds_a_question_when_it_is_asked(memory):
    embedder = HashingEmbedder()
    embedder.parallel = False
    recaller = await memory.open()
    recaller.use(CachedEmbedder(embedder, memory.journal))
    await recaller.settle()
    assert not recaller.embeds_beside
    assert embedder.queries == []
    recaller.expect("我的花生过敏严重吗？")
    await memory.ask(HOME, "我的花生过敏严重吗？")
    assert embedder.queries == ["我的花生过敏严重吗？"]


async def test_the_turn_before_is_embedded_by_itself(memory: Memory) -> None:
    embedder = HashingEmbedder()
    recaller = await memory.open()
    recaller.use(CachedEmbedder(embedder, memory.journal))
    await recaller.settle()
    recaller.expect("那它呢？")
    await memory.ask(HOME, "那它呢？", previous="我家的橘猫叫什么名字来着")
    assert sorted(embedder.queries) == ["我家的橘猫叫什么名字来着", "那它呢？"]


class Judge:
    """A reranker that prefers what holds a word; ``fails`` may raise or hang."""

    def __init__(self, word: str, fails: Callable[[], Awaitable[None]] | None = None) -> None:
        self.word, self.fails = word, fails
        self.asked: list[list[str]] = []

    async def scores(self, query: str, texts: list[str]) -> list[float]:
        self.asked.append(texts)
        if self.fails:
            await self.fails()
        return [float(self.word in text) for text in texts]


async def camped(memory: Memory, **settings: Any) -> Recaller:
    recaller = await memory.open(retrieval_top_k=2, **settings)
    for number in range(6):
        await memory.say(
            HOME, ZHANG, f"第{number}次露营去了莫干山的{number}号营地", T0 + 900 * number
        )
    await memory.say(OTHER, HONG, "露营去了莫干山的九号营地", T0)
    return recaller


async def test_a_reranker_puts_what_may_be_shown_in_order(memory: Memory) -> None:
    recaller = await camped(memory)
    before = await memory.ask(HOME, "露营去了莫干山哪个营地")
    last = before.trace.candidates[-1]
    recaller.reranker = judge = Judge(last.text)
    after = await memory.ask(HOME, "露营去了莫干山哪个营地")
    assert after.items[0].text in last.text or last.text in after.items[0].text
    assert len(after.items) == len(before.items)
    scores = [[each.score for each in found.trace.candidates] for found in (before, after)]
    assert scores[0] == scores[1], "places keep their scores: it does not decide how many are shown"
    assert after.trace.timing["reranking"] >= 0
    assert "九号" not in "".join(judge.asked[0])
    await memory.ask(HOME, "早上好呀")
    assert len(judge.asked) == 1


async def test_a_reranker_that_fails_or_is_late_changes_nothing(memory: Memory) -> None:
    recaller = await camped(memory, recall_deadline=1_000)
    before = (await memory.ask(HOME, "露营去了莫干山哪个营地")).block

    async def fail() -> None:
        raise RerankError("down")

    async def hang() -> None:
        await asyncio.sleep(60)

    recaller.reranker = judge = Judge("5号", hang)
    assert (await memory.ask(HOME, "露营去了莫干山哪个营地")).block == before
    judge.fails = fail
    for _ in range(4):
        found = await memory.ask(HOME, "露营去了莫干山哪个营地")
        assert found.block == before
        assert "reranking" not in found.trace.timing
    assert len(judge.asked) == 3, "the breaker leaves it alone"
    assert recaller.rerank_breaker.state is BreakerState.OPEN


async def find(memory: Memory, text: str) -> tuple[list[str], list[str]]:
    """What holds some words, and what is similar."""
    await memory.recaller.settle()
    found = await memory.recaller.find(asker_of(HOME, ZHANG), text)
    return [item.text for item in found.items], [item.text for item in found.similar]


@pytest.mark.slow
async def test_what_was_said_beside_it_is_not_similar(memory: Memory, bundled: Embedder) -> None:
    memory.embedder = bundled
    await memory.open()
    for number, text in enumerate(("五一想住民宿", "阿弛说的那家", "长凳下面", "诺诺最靠谱")):
        await memory.say(HOME, ZHANG, text, T0 + 20 * number)
    holding, similar = await find(memory, "民宿")
    assert len(holding) == 1
    assert similar == []


@pytest.mark.slow
@tabled
async def test_what_means_the_same_is(memory, bundled, word, said, means):
    memory.embedder = bundled
    await memory.open()
    for number, text in enumerate((said, means, "我没哭，真的", "my back hurts")):
        await memory.say(HOME, ZHANG, text, T0 + 9_000 * number)
    holding, similar = await find(memory, word)
    assert [line.endswith(said) for line in holding] == [True]
    assert [line.endswith(means) for line in similar] == [True]


async def test_a_question_outlives_an_exchange_of_the_model_that_embeds_it(memory: Memory) -> None:
    class Other(HashingEmbedder):
        async def query(self, text: str) -> Vectors:
            return np.tile(await super().query(text), 2)

    class Leaving(HashingEmbedder):
        async def query(self, text: str) -> Vectors:
            recaller.use(Other("other"))
            return await super().query(text)

    recaller = await memory.open()
    await memory.say(HOME, HONG, "我养了一只猫叫豆包", name="小红")
    recaller.use(Leaving())
    found = await memory.ask(HOME, "小红养了什么？")
    assert found.trace.problem == ""
    assert "豆包" in texts(found)
