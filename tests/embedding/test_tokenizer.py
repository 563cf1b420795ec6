"""Cutting texts into pieces, compared with trying every way to cut them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.embedding.e5 import UNKNOWN_COSTS, Unigram, fill_pieces, piece_table

from ..cases import tabled

PIECES = {"<unk>": 0.0, "": 0.0, "▁": -2.0, "a": -3.0, "b": -3.5, "ab": -4.0, "▁a": -3.2}
PIECES |= {"小": -5.0, "林": -5.5, "小林": -6.0, "ba": -9.5, "😀": -7.0, "abab": -8.5}
UNKNOWN = -9.5 - UNKNOWN_COSTS


@pytest.fixture(scope="module")
def tokenizer() -> Unigram:
    encoded = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, encoded)]).astype(np.uint32)
    scores = np.array(list(PIECES.values()), np.float32)
    replaced = {ord("Ａ"): "a", ord("\n"): " ", ord("…"): "...", 0x200B: ""}
    table = np.zeros((), piece_table(len(PIECES)))
    fill_pieces(table, np.frombuffer(b"".join(encoded), np.uint8), starts, scores, 0)
    return Unigram(table, replaced, 0)


def likeliest(text: str) -> float:
    """The best sum of scores over all ways to cut a short text."""
    best = -np.inf
    for cuts in itertools.product([False, True], repeat=len(text) - 1):
        at = [0, *(n for n, cut in enumerate(cuts, 1) if cut), len(text)]
        parts = [text[a:b] for a, b in itertools.pairwise(at)]
        if all(part in PIECES or len(part) == 1 for part in parts):
            best = max(best, sum(PIECES.get(part, UNKNOWN) for part in parts))
    return best


@given(st.text("ab小林😀é ", max_size=8))
def test_no_way_to_cut_is_likelier(tokenizer: Unigram, text: str):
    names = list(PIECES)
    found = tokenizer.pieces(text)
    score = sum(list(PIECES.values())[piece] if piece else UNKNOWN for piece in found)
    marked = "▁".join(text.split(" ")) if "  " not in text else None
    if marked is not None:
        marked = marked if marked.startswith("▁") else f"▁{marked}"
        assert score == pytest.approx(likeliest(marked))
        assert len("".join(names[piece] if piece else "?" for piece in found)) == len(marked)


@tabled
def test_what_is_replaced_first(tokenizer: Unigram, text: str, pieces: list[str]):
    assert [list(PIECES)[piece] for piece in tokenizer.pieces(text)] == pieces
