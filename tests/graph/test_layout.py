"""Communities and places of the nodes of a graph."""

import time

import numpy as np
import pytest

from graph_memory.graph.layout import GAP, communities, positions


def circles(groups: int, size: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Groups within which everybody knows somebody, and one edge from each group to the next."""
    random = np.random.default_rng(1)
    inner = [
        group * size + np.sort(random.choice(size, 2, replace=False))
        for group in range(groups)
        for _ in range(size * 4)
    ]
    bridges = [np.array([group * size, (group + 1) % groups * size]) for group in range(groups)]
    ends = np.array(inner + bridges, np.intp)
    return groups * size, ends, np.ones(len(ends))


def test_communities_are_those_that_belong_together() -> None:
    count, ends, weights = circles(6, 20)
    labels = communities(count, ends, weights)
    assert [len(set(labels[g * 20 : g * 20 + 20])) for g in range(6)] == [1] * 6
    assert len(set(labels)) == 6


def test_neighbours_are_near_and_nobody_stands_on_another() -> None:
    count, ends, weights = circles(6, 20)
    places = positions(communities(count, ends, weights), ends, weights)
    span = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    own = np.arange(count) // 20
    same = (own[:, None] == own[None, :]) & ~np.eye(count, dtype=bool)
    assert span[same].mean() < span[own[:, None] != own[None, :]].mean() / 2
    assert span[~np.eye(count, dtype=bool)].min() > GAP * 0.9


def test_two_who_know_nobody_else_stay_in_the_picture() -> None:
    star = [(0, other) for other in range(1, 800)]
    ends = np.array([*star, *((node, node + 1) for node in range(800, 840, 2))], np.intp)
    places = positions(communities(840, ends, np.ones(len(ends))), ends, np.ones(len(ends)))
    assert np.ptp(places, axis=0).max() < 400
    pairs = places[800::2] - places[801::2]
    assert np.hypot(*pairs.T).min() > GAP * 0.9


def test_the_same_graph_looks_the_same() -> None:
    count, ends, weights = circles(4, 10)
    first, second = (positions(communities(count, ends, weights), ends, weights) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_what_is_joined_with_nothing_has_a_place_too(count: int) -> None:
    ends, weights = np.zeros((0, 2), np.intp), np.zeros(0)
    places = positions(communities(count, ends, weights), ends, weights)
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
    assert len(set(map(tuple, places.tolist()))) == count


def test_thousands_take_seconds_at_most() -> None:
    ends = np.sort(np.random.default_rng(5).integers(0, 5_000, (20_000, 2)), axis=1)
    ends = ends[ends[:, 0] != ends[:, 1]]
    begun = time.process_time()
    places = positions(communities(5_000, ends, np.ones(len(ends))), ends, np.ones(len(ends)))
    assert time.process_time() - begun < 10
    assert np.isfinite(places).all()
