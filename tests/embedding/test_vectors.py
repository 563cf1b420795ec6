"""What goes into a model and what comes out of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.embedding import text_hash, vectors
from graph_memory.embedding.vectors import MAX_TEXT, fit, integer_products, unit_rows
from graph_memory.errors import EmbeddingError

from ..cases import tabled

ANY_TEXT = st.text(st.characters(categories=None), max_size=900)


@given(ANY_TEXT)
def test_a_fitted_text_can_be_given_to_any_model(text: str):
    fitted = fit(text)
    assert 0 < len(fitted.encode("utf-8")) <= MAX_TEXT
    assert "\0" not in fitted
    assert fitted == fitted.strip()


@given(st.text("张三住在北京，喜欢喝茶。 abc", max_size=80))
def test_a_short_text_is_left_alone(text: str):
    assert fit(text) == (text.strip() or "…")


def test_of_a_long_text_beginning_and_end_are_kept():
    fitted = fit("帮我看看这段话：" + "很长很长的内容，" * 400 + "最后一句是谁写的？")
    assert fitted.startswith("帮我看看这段话：很长")
    assert fitted.endswith("最后一句是谁写的？")
    assert " … " in fitted
    assert MAX_TEXT - 8 <= len(fitted.encode("utf-8")) <= MAX_TEXT


def test_170_chinese_characters_are_embedded_whole():
    assert fit("记" * 170) == "记" * 170
    assert "…" in fit("记" * 171)


def test_hashes_are_of_the_exact_text():
    texts = ["", " ", "\0", "你好", "你好 ", "\ud800", "\udfff", "é", "e\u0301"]
    hashes = [text_hash(text) for text in texts]
    assert len(set(hashes)) == len(texts)
    assert {len(found) for found in hashes} == {16}
    assert text_hash("你好") == text_hash("你" + "好")


def test_rows_become_unit_vectors():
    rows = unit_rows([[3.0, 4.0], [0.0, -2.0]], "m", 2)
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0.0, -1.0]])
    assert unit_rows([3.0, 4.0], "m", 1).shape == (1, 2)


def test_extreme_numbers_keep_their_direction():
    assert np.allclose(unit_rows([[1e200, 1e200], [1e-200, 0]], "m", 2), [[0.5**0.5] * 2, [1, 0]])


@tabled
def test_what_is_no_vector_is_refused(values: object, rows: int, width: int, why: str):
    with pytest.raises(EmbeddingError, match=why):
        unit_rows(values, "坏模型", rows, width)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [1, 48, 384, 1_000])
def test_products_of_integers_are_exact_on_any_processor(width: int, monkeypatch):
    rows = np.random.default_rng(5).integers(-127, 128, (300, width), np.int8)
    rows[:2] = 127  # the greatest there may be
    found = integer_products(rows, rows[1])
    assert found.tolist() == (rows.astype(int) @ rows[1].astype(int)).tolist()
    monkeypatch.setattr(vectors, "integer_kernels", lambda: None)
    assert integer_products(rows, rows[1]).tolist() == found.tolist()
