"""The words of texts are kept for a while, and take no more memory for being long."""

from __future__ import annotations

import tracemalloc

from graph_memory.recall.vocabulary import forget, index_terms


def test_long_texts_are_not_piled_up() -> None:
    forget()
    tracemalloc.start()
    try:
        for number in range(100):
            assert len(index_terms(f"{number}号" + "天气不错" * 500)) > 2_000
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 12 * 2**20
