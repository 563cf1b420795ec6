"""Nothing is computed twice, on a real journal."""

import asyncio
import logging
from collections.abc import AsyncIterator
from hashlib import blake2b

import numpy as np
import pytest

from graph_memory.embedding import SLICE, CachedEmbedder, text_hash, vectors
from graph_memory.errors import ClosedError, EmbeddingError, Failure, JournalError
from graph_memory.inference import Vectors
from graph_memory.inference.breaker import Breaker, BreakerState
from graph_memory.store import Journal

from ..waiting import until


class Counting:
    """An embedder that notes what it is asked, and can be held up, widened and broken."""

    floor = 0.2
    parallel = True

    def __init__(self, name: str = "数数-1", width: int = 16) -> None:
        self.name = name
        self.width = width
        self.queries: list[str] = []
        self.slices: list[list[str]] = []
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()
        self.broken: Exception | None = None
        self.closed = False

    def vector(self, text: str) -> Vectors:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=self.width).digest()
        return np.frombuffer(digest, np.uint8).astype(np.float32) + 1

    async def query(self, text: str) -> Vectors:
        self.queries.append(text)
        self.asked.set()
        await self.go.wait()
        if self.broken:
            raise self.broken
        return self.vector(text)

    async def passages(self, texts: list[str]) -> Vectors:
        self.slices.append(texts)
        self.asked.set()
        await self.go.wait()
        if self.broken:
            raise self.broken
        return np.stack([self.vector(text) for text in texts])

    async def questions(self, texts: list[str]) -> Vectors:
        return -await self.passages(texts)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def model() -> Counting:
    return Counting()


@pytest.fixture
async def cached(
    model: Counting, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[CachedEmbedder]:
    monkeypatch.setattr(vectors, "REMEMBERED", 3)
    embedder = CachedEmbedder(model, journal)
    yield embedder
    await embedder.close()


async def test_a_question_is_computed_once(cached: CachedEmbedder, model: Counting):
    first = await cached.query("小林有什么东西不能吃？")
    again = await cached.query("小林有什么东西不能吃？")
    assert model.queries == ["小林有什么东西不能吃？"]
    assert again is first
    assert np.array_equal(first, model.vector("小林有什么东西不能吃？"))
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1


async def test_questions_nobody_waits_for_last_beside_passages(cached, model, journal):
    asked, told = await cached.questions(["在吗", "好吗"]), await cached.passages(["在吗", "好吗"])
    assert np.allclose(asked, -told)
    model.slices.clear()
    assert np.array_equal(await CachedEmbedder(model, journal).questions(["在吗", "好吗"]), asked)
    assert model.slices == []


async def test_everybody_waits_for_the_same_computation(cached: CachedEmbedder, model: Counting):
    model.go.clear()
    waiting = [asyncio.create_task(cached.query("在吗")) for _ in range(5)]
    await model.asked.wait()
    model.go.set()
    found = await asyncio.gather(*waiting)
    assert model.queries == ["在吗"]
    assert all(row is found[0] for row in found)


async def test_the_longest_unused_question_is_forgotten(cached: CachedEmbedder, model: Counting):
    for text in ("一", "二", "三", "一", "四", "一", "二"):
        await cached.query(text)
    assert model.queries == ["一", "二", "三", "四", "二"]


async def test_who_gives_up_takes_nothing_from_the_others(cached: CachedEmbedder, model: Counting):
    model.go.clear()
    patient, hasty = (asyncio.create_task(cached.query("在吗")) for _ in range(2))
    await model.asked.wait()
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    model.go.set()
    assert (await patient).shape == (16,)


async def test_a_failure_is_told_and_not_kept(cached: CachedEmbedder, model: Counting):
    model.broken = EmbeddingError("断网了")
    with pytest.raises(EmbeddingError, match="断网了"):
        await cached.query("在吗")
    model.broken = None
    assert (await cached.query("在吗")).shape == (16,)


async def test_a_failure_nobody_waits_for_is_silent(cached, model, caplog):
    model.go.clear()
    task = asyncio.create_task(cached.query("在吗"))
    await model.asked.wait()
    task.cancel()
    model.broken = EmbeddingError("断网了")
    model.go.set()
    await asyncio.gather(task, *cached._asked.values(), return_exceptions=True)
    del task
    assert caplog.records == []


async def test_a_passage_is_computed_once_and_outlives_the_process(journal, model):
    texts = [f"小林的第{n}件事" for n in range(20)]
    rows = await CachedEmbedder(model, journal).passages(texts)
    assert np.array_equal(rows, np.stack([model.vector(text) for text in texts]))
    assert rows.dtype == np.float32

    later = Counting()
    again = await CachedEmbedder(later, journal).passages([*texts, "新的一件"])
    assert np.array_equal(again[:20], rows)
    assert later.slices == [["新的一件"]]


async def test_slices_are_small_and_repeated_texts_are_one(cached: CachedEmbedder, model: Counting):
    rows = await cached.passages([f"事{n % 20}" for n in range(60)])
    assert rows.shape == (60, 16)
    assert np.array_equal(rows[:20], rows[20:40])
    assert max(map(len, model.slices)) <= SLICE
    assert sum(map(len, model.slices)) == 20


async def test_many_texts_in_any_order(cached: CachedEmbedder, model: Counting):
    texts = [f"事{n}" for n in range(600)]
    rows = await cached.passages(texts)
    model.slices.clear()
    assert np.array_equal(await cached.passages(texts[::-1]), rows[::-1])
    assert model.slices == []


async def test_what_was_computed_before_a_failure_is_kept(cached: CachedEmbedder, model: Counting):
    texts = [f"事{n}" for n in range(24)]
    real = model.passages

    async def fails_late(some: list[str]) -> Vectors:
        if "事16" in some:
            raise EmbeddingError("断网了")
        return await real(some)

    model.passages = fails_late  # type: ignore[method-assign]
    with pytest.raises(EmbeddingError, match="断网了"):
        await cached.passages(texts)
    model.passages = real  # type: ignore[method-assign]
    model.slices.clear()
    await cached.passages(texts)
    assert model.slices == [texts[16:]]


async def test_two_models_are_never_mixed(journal: Journal):
    one, two = Counting("甲"), Counting("乙")
    await CachedEmbedder(one, journal).passages(["小林对花生过敏", "阿杰有只猫"])
    await CachedEmbedder(two, journal).passages(["小林对花生过敏", "阿杰有只猫"])
    assert two.slices == [["小林对花生过敏", "阿杰有只猫"]]


async def test_odd_texts_keep_apart(cached: CachedEmbedder):
    texts = ["", " ", "\0", "\ud800", "\udfff", "'; DROP TABLE vector; --"]
    rows = await cached.passages(texts)
    assert len(np.unique(rows, axis=0)) == len(texts)
    assert np.array_equal(await cached.passages(texts), rows)


async def test_no_texts_no_vectors(cached: CachedEmbedder, model: Counting):
    assert len(await cached.passages([])) == 0
    assert model.slices == []


async def test_stored_vectors_of_another_width_are_computed_again(journal: Journal):
    await CachedEmbedder(Counting(width=24), journal).passages(["小林对花生过敏", "阿杰有只猫"])
    rows = await CachedEmbedder(Counting(width=16), journal).passages(["阿杰有只猫"])
    assert rows.shape == (1, 16)
    [stored] = (await journal.vectors("数数-1", [text_hash("阿杰有只猫")])).values()
    assert stored.shape == (16,)


async def test_a_damaged_stored_vector_is_computed_again(cached, model, journal):
    key = text_hash("阿杰有只猫")
    await journal.put_vectors(model.name, {key: np.full(16, np.nan, np.float32)})
    assert np.isfinite(await cached.passages(["阿杰有只猫"])).all()
    assert np.isfinite((await journal.vectors(model.name, [key]))[key]).all()


class FullDisk:
    """A store that does not work until it is repaired."""

    def __init__(self) -> None:
        self.works = False

    async def vectors(self, model: str, hashes: list[bytes]) -> dict[bytes, Vectors]:
        if not self.works:
            raise JournalError("disk I/O error")
        return {}

    async def put_vectors(self, model: str, vectors: dict[bytes, Vectors]) -> None:
        if not self.works:
            raise JournalError("database or disk is full")


async def test_without_a_store_it_goes_on_and_says_so_once(model, caplog):
    store = FullDisk()
    cached = CachedEmbedder(model, store)
    texts = [f"事{n}" for n in range(30)]
    assert (await cached.passages(texts)).shape == (30, 16)
    assert len(caplog.records) == 1
    assert caplog.records[0].levelno == logging.WARNING
    store.works = True
    await cached.passages(texts)
    store.works = False
    await cached.passages(texts)
    assert len(caplog.records) == 2
    await cached.close()


async def test_closing_ends_what_is_under_way(cached: CachedEmbedder, model: Counting):
    model.go.clear()
    query = asyncio.create_task(cached.query("在吗"))
    await model.asked.wait()
    await cached.close()
    with pytest.raises(ClosedError):
        await query
    assert model.closed
    with pytest.raises(ClosedError):
        await cached.query("在吗")
    with pytest.raises(ClosedError):
        await cached.passages(["在吗"])
    await cached.close()


async def test_what_fails_is_not_asked_until_the_pause_is_over(model: Counting, journal: Journal):
    clock = [0.0]
    cached = CachedEmbedder(model, journal)
    cached.breaker = Breaker("向量模型", clock=lambda: clock[0])
    model.broken = EmbeddingError("连接被拒绝", Failure.UNREACHABLE)
    for number in range(50):
        with pytest.raises(EmbeddingError, match="连接被拒绝" if number < 3 else "unreachable"):
            await cached.query("猫叫什么")
    assert len(model.queries) == 3
    model.broken = None
    assert (await cached.passages(["豆包"])).shape == (1, 16), "the background goes on"
    clock[0] += 30
    assert (await cached.query("猫叫什么")).shape == (16,)
    assert cached.breaker.state is BreakerState.CLOSED


async def test_a_late_answer_is_a_failure_but_is_kept(model: Counting, journal: Journal):
    cached = CachedEmbedder(model, journal, late=0.02)
    cached.breaker = Breaker("向量模型", clock=lambda: 0.0)
    model.go.clear()
    waiting = [asyncio.create_task(cached.query(text)) for text in ("一", "二", "三")]
    await until(lambda: cached.breaker.state is not BreakerState.CLOSED)
    with pytest.raises(EmbeddingError, match="timeout"):
        await cached.query("四")
    model.go.set()
    assert np.isfinite(await asyncio.gather(*waiting)).all()
    assert cached.breaker.state is BreakerState.OPEN, "late answers say nothing"
    assert (await cached.query("二")).shape == (16,), "what is known needs no model"
    assert len(model.queries) == 3


async def test_a_question_that_was_given_up_is_not_waited_for_again(cached, model):
    model.go.clear()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await cached.query("猫叫什么")
    async with asyncio.timeout(10):
        with pytest.raises(EmbeddingError, match="has not answered this question yet"):
            await cached.query("猫叫什么")
    model.go.set()
    await until(lambda: not cached._asked)
    assert (await cached.query("猫叫什么")).shape == (16,), "the late answer was kept"
    assert len(model.queries) == 1


async def test_a_closed_embedder_is_not_a_failing_one(cached: CachedEmbedder, model: Counting):
    model.broken = ClosedError("关了")
    for _ in range(5):
        with pytest.raises(ClosedError):
            await cached.query("猫叫什么")
    assert cached.breaker.failures == 0


async def test_no_words_of_a_question_are_kept(cached: CachedEmbedder) -> None:

    await cached.query("我怀孕了")
    await asyncio.sleep(0)
    assert "怀孕" not in repr({key: vars(cached)[key] for key in ("_queries", "_asked", "_late")})
