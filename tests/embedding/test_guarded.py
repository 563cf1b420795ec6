"""A dead or slow model costs whoever asks nothing, once that is known."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from graph_memory.breaker import Breaker, BreakerState
from graph_memory.embedding import CachedEmbedder, GuardedEmbedder
from graph_memory.errors import ClosedError, EmbeddingError, Failure
from graph_memory.journal import Journal
from graph_memory.ports import Vectors

from ..scripted import HashEmbedder


class Flaky(HashEmbedder):
    """Fails or hangs as it is told."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None
        self.answers = asyncio.Event()
        self.answers.set()

    async def query(self, text: str) -> Vectors:
        self.asked += 1
        await self.answers.wait()
        if self.error:
            raise self.error
        return await super().query(text)


def guarded(inner: Flaky, late: float = 0.02) -> tuple[GuardedEmbedder, Breaker, list[float]]:
    clock = [0.0]
    breaker = Breaker("embedding", clock=lambda: clock[0])
    return GuardedEmbedder(inner, breaker, late), breaker, clock


async def test_what_fails_is_not_asked_until_the_pause_is_over():
    inner = Flaky()
    embedder, breaker, clock = guarded(inner)
    inner.error = EmbeddingError("连接被拒绝", Failure.UNREACHABLE)
    for number in range(50):
        with pytest.raises(EmbeddingError, match="连接被拒绝" if number < 3 else "unreachable"):
            await embedder.query("猫叫什么")
    assert inner.asked == 3
    assert (await embedder.passages(["豆包"])).shape == (1, 64), "the background goes on"
    clock[0] += 30
    inner.error = None
    assert (await embedder.query("猫叫什么")).shape == (64,)
    assert breaker.state is BreakerState.CLOSED


async def test_a_late_answer_is_a_failure_but_is_kept(tmp_path: Path):
    inner = Flaky()
    guard, breaker, _ = guarded(inner)
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    embedder = CachedEmbedder(guard, journal)
    inner.answers.clear()
    waiting = [asyncio.create_task(embedder.query(text)) for text in ("一", "二", "三")]
    while breaker.state is BreakerState.CLOSED:
        await asyncio.sleep(0.005)
    with pytest.raises(EmbeddingError, match="timeout"):
        await embedder.query("四")
    inner.answers.set()
    assert np.isfinite(await asyncio.gather(*waiting)).all()
    assert breaker.state is BreakerState.OPEN, "late answers say nothing"
    assert (await embedder.query("二")).shape == (64,), "what is known needs no model"
    assert inner.asked == 3
    await embedder.close()
    await journal.close()


async def test_a_question_that_was_given_up_is_not_waited_for_again(tmp_path: Path):
    inner = Flaky()
    guard, _, _ = guarded(inner, late=60)
    journal = await Journal.open(tmp_path / "journal.sqlite3")
    embedder = CachedEmbedder(guard, journal)
    inner.answers.clear()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await embedder.query("猫叫什么")
    async with asyncio.timeout(10):
        with pytest.raises(EmbeddingError, match="has not answered this question yet"):
            await embedder.query("猫叫什么")
    inner.answers.set()
    while embedder._asked:
        await asyncio.sleep(0)
    assert (await embedder.query("猫叫什么")).shape == (64,), "the late answer was kept"
    assert inner.asked == 1
    await embedder.close()
    await journal.close()


async def test_a_closed_embedder_is_not_a_failing_one():
    inner = Flaky()
    embedder, breaker, _ = guarded(inner)
    inner.error = ClosedError("关了")
    for _ in range(5):
        with pytest.raises(ClosedError):
            await embedder.query("猫叫什么")
    assert breaker.status.failures == 0
