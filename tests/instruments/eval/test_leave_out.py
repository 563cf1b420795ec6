"""Numbers are chosen on some sources, and judged on another."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np

from graph_memory.recall import ranking, selection, weights

from .leave_out import Ask, LeaveOut, Open, is_sure, set_to, tried


def source(wanted: float) -> Open:
    """A source whose twenty questions like one value of ``WORDS``."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Ask]:
        async def ask() -> list[float]:
            return [1.0 - abs(ranking.WORDS - wanted)] * 20

        yield ask

    return opened


def test_a_number_is_changed_wherever_it_is_used_and_nowhere_else() -> None:
    with set_to({"FEW": 7, "SAME": 0.5}):
        assert (ranking.FEW, selection.FEW, ranking.SAME, selection.SAME) == (7, 7, 0.5, 0.5)
        assert (weights.FEW, ranking.SEVERAL) == (3, weights.SEVERAL)
    assert (ranking.FEW, selection.SAME) == (weights.FEW, weights.SAME)


def test_every_number_is_tried_with_other_values() -> None:
    names = {name for values in tried() for name in values}
    assert {"WORDS", "FEW", "LATELY"} <= names
    assert all(getattr(weights, name) != value for v in tried() for name, value in v.items())


async def test_what_suits_only_one_source_is_not_chosen_for_it_when_it_is_left_out() -> None:
    left_out = LeaveOut({"a": source(0.4), "b": source(0.4), "odd": source(0.8)})
    table = await left_out.run()
    assert left_out.chosen(["odd"]) == {"WORDS": 0.8}
    assert left_out.chosen(["a", "b"]) == {}
    assert "| odd | 0.600 | 0.600 |" in table


def test_chance_is_not_sure() -> None:
    random = np.random.default_rng(1)
    assert not is_sure([random.normal(0.0, 1.0, 50)])
    assert is_sure([random.normal(1.0, 1.0, 50)])
