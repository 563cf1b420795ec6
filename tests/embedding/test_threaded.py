"""Questions do not wait for long, nothing blocks the loop, nothing is left behind."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from graph_memory.embedding import local_models
from graph_memory.embedding.local_models import ThreadedEmbedder
from graph_memory.errors import ClosedError, EmbeddingError

from ..waiting import until


class SlowModel:
    """A model whose passages take until they are let go, and that notes what it does."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.started = threading.Event()
        self.go = threading.Event()

    def questions(self, texts: list[str]) -> ArrayLike:
        self.done += [f"query {text}" for text in texts]
        return [[1.0, 0.0]] * len(texts)

    def passages(self, texts: list[str]) -> ArrayLike:
        self.started.set()
        assert self.go.wait(10)
        self.done += texts
        return [[0.0, 2.0]] * len(texts)


Make = Callable[..., ThreadedEmbedder]


@pytest.fixture
def slow() -> SlowModel:
    return SlowModel()


@pytest.fixture
async def make(slow: SlowModel) -> AsyncIterator[Make]:
    made: list[ThreadedEmbedder] = []

    def build(**options: object) -> ThreadedEmbedder:
        made.append(ThreadedEmbedder("慢", slow.questions, slow.passages, **options))  # type: ignore[arg-type]
        return made[-1]

    yield build
    slow.go.set()
    for embedder in made:
        await embedder.close()


def threads() -> set[threading.Thread]:
    return set(threading.enumerate())


async def started(slow: SlowModel) -> None:
    assert await asyncio.to_thread(slow.started.wait, 10)


async def test_traditional_characters_are_simplified(slow: SlowModel, make: Make):
    slow.go.set()
    embedder = make()
    await embedder.passages(["我對蝦子過敏"])
    await embedder.questions(["我不能吃什麼"])
    assert slow.done == ["我对虾子过敏", "query 我不能吃什么"]


async def test_a_question_waits_for_the_step_under_way_only(slow: SlowModel, make: Make):
    embedder = make(step=6)
    passages = asyncio.create_task(embedder.passages(["一", "二", "三", "四", "五"]))
    await started(slow)
    question = asyncio.create_task(embedder.questions(["谁？"]))
    await asyncio.sleep(0)
    slow.go.set()
    assert (await question).tolist() == [[1.0, 0.0]]
    assert (await passages).tolist() == [[0.0, 2.0]] * 5
    assert slow.done == ["一", "二", "query 谁？", "三", "四", "五"]


async def test_short_texts_are_computed_together_and_long_ones_alone(slow: SlowModel, make: Make):
    slow.go.set()
    calls: list[list[str]] = []

    def note(texts: list[str]) -> ArrayLike:
        calls.append(texts)
        return slow.passages(texts)

    embedder = ThreadedEmbedder("慢", slow.questions, note, step=9)
    rows = await embedder.passages(["一", "二", "三", "四", "五五五五", "六", "七七"])
    assert calls == [["一", "二", "三"], ["四"], ["五五五五"], ["六", "七七"]]
    assert np.shape(rows) == (7, 2)
    assert (await embedder.questions(["谁", "哪"])).tolist() == [[1.0, 0.0]] * 2
    await embedder.close()


async def test_cancelled_passages_stop_after_the_step_under_way(slow: SlowModel, make: Make):
    embedder = make()
    passages = asyncio.create_task(embedder.passages(["一", "二", "三"]))
    await started(slow)
    passages.cancel()
    with pytest.raises(asyncio.CancelledError):
        await passages
    slow.go.set()
    await embedder.passages(["四"])
    assert slow.done == ["一", "四"]


async def test_closing_waits_for_nothing_and_begins_nothing(slow: SlowModel, make: Make):
    others = threads()
    embedder = make()
    passages = asyncio.create_task(embedder.passages(["一", "二", "三"]))
    await started(slow)
    await embedder.close()
    slow.go.set()
    with pytest.raises(ClosedError):
        await passages
    assert slow.done == ["一"]
    await until(lambda: not any("gm-embed" in each.name for each in threads() - others))
    await embedder.close()
    with pytest.raises(ClosedError):
        await embedder.questions(["在吗"])
    assert (await embedder.passages([])).size == 0


async def test_whatever_a_model_raises_is_an_embedding_error():
    def broken(_: object) -> ArrayLike:
        raise RuntimeError("显存不足")

    embedder = ThreadedEmbedder("坏", broken, broken)
    with pytest.raises(EmbeddingError, match=r"坏 failed: RuntimeError$"):
        await embedder.questions(["在吗"])
    with pytest.raises(EmbeddingError, match=r"坏 failed: RuntimeError$"):
        await embedder.passages(["在吗"])
    await embedder.close()


async def test_a_model_that_nobody_asks_lets_go(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local_models, "RESTING", 0.05)
    rested: list[str] = []
    model = make(rest=lambda: rested.append(threading.current_thread().name))
    for _ in range(5):
        await model.questions(["豆包是谁"])
    assert not rested
    await until(lambda: bool(rested))
    assert rested[0].startswith("gm-embed")
    await model.questions(["豆包是谁"])
    await model.close()
    await asyncio.sleep(0.1)
    assert len(rested) == 1
