"""Communities and force-directed layout of a graph, always the same for the same.

Repulsion goes by a mesh (charges on a grid, their potential by FFT), so that thousands of nodes
take about a second.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]

SEED: Final = 20_251
ROUNDS = 12
"""Most moves of each node at one level of communities."""
LEVELS = 4
MESHES: Final = ((64, 90), (128, 50))
"""Cells of a side of the mesh, and the steps made with it: first where, then how exactly."""
GRAVITY = 0.12
GAP = 1.0
"""How far apart any two nodes are at least, as far as there is time to part them."""
PARTINGS = 24
GOLDEN: Final = np.pi * (3 - np.sqrt(5))


def communities(count: int, ends: Numbers, weights: Floats) -> Numbers:
    """Number of each node's community, 0 is the largest (Louvain's method).

    Args:
        count: How many nodes there are.
        ends: Two nodes of each edge, shape ``(edges, 2)``.
    """
    labels = np.arange(count, dtype=np.intp)
    loops = np.zeros(count)
    for _ in range(LEVELS):
        found = _moved(len(loops), ends, weights, loops)
        names, found = np.unique(found, return_inverse=True)
        if len(names) == len(loops):
            break
        labels, ends = found[labels], found[ends]
        inner = ends[:, 0] == ends[:, 1]
        sums = np.bincount(ends[inner, 0], 2 * weights[inner], len(names))
        loops = sums + np.bincount(found, loops, len(names))
        ends, weights = _merged(ends[~inner], weights[~inner], len(names))
    sizes = np.bincount(labels)
    ranks = np.empty(len(sizes), np.intp)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return ranks[labels]


def _merged(ends: Numbers, weights: Floats, count: int) -> tuple[Numbers, Floats]:
    """One edge for all between the same two nodes."""
    low, high = ends.min(axis=1, initial=count), ends.max(axis=1, initial=0)
    keys, found = np.unique(low * count + high, return_inverse=True)
    pairs = np.stack(np.divmod(keys, max(count, 1)), axis=1)
    return pairs, np.bincount(found, weights, len(keys))


def _moved(count: int, ends: Numbers, weights: Floats, loops: Floats) -> Numbers:
    """Each node in the best community next to it, a random half at a time."""
    random = np.random.default_rng(SEED)
    labels = np.arange(count, dtype=np.intp)
    both = np.concatenate([ends, ends[:, ::-1]])
    degrees = np.bincount(both[:, 0], np.tile(weights, 2), count) + loops
    total = max(float(degrees.sum()), 1e-9)
    for _ in range(2 * ROUNDS):
        keys, found = np.unique(both[:, 0] * count + labels[both[:, 1]], return_inverse=True)
        nodes, there = np.divmod(keys, max(count, 1))
        inside = np.bincount(found, np.tile(weights, 2), len(keys))
        sums = np.bincount(labels, degrees, count)
        others = sums[there] - np.where(labels[nodes] == there, degrees[nodes], 0)
        gain = inside - degrees[nodes] * others / total
        order = np.lexsort((there, -gain, nodes))
        best = order[np.r_[True, np.diff(nodes[order]) > 0]] if len(order) else order
        stay = np.zeros(count)
        own = labels[nodes] == there
        stay[nodes[own]] = gain[own]
        alone = -degrees * (sums[labels] - degrees) / total
        stay = np.where(np.bincount(nodes[own], minlength=count) > 0, stay, alone)
        better = (gain[best] > stay[nodes[best]] + 1e-9) & (random.random(len(best)) < 0.5)
        moving = best[better]
        if not len(moving) and not (gain[best] > stay[nodes[best]] + 1e-9).any():
            break
        labels[nodes[moving]] = there[moving]
    return labels


def positions(labels: Numbers, ends: Numbers, weights: Floats) -> Floats:
    """A place for each node, shape ``(nodes, 2)``, about one unit of area for each.

    Args:
        labels: Communities; each begins in a place of its own.
    """
    count = len(labels)
    if count < 2:
        return np.zeros((count, 2))
    places = _started(labels)
    degrees = np.bincount(ends.ravel(), minlength=count).astype(np.float64)
    charges = 1 + np.sqrt(degrees)
    pulls = weights / np.sqrt(1 + np.minimum(degrees[ends[:, 0]], degrees[ends[:, 1]]))
    steps = sum(number for _, number in MESHES)
    done = 0
    for cells, number in MESHES:
        for _ in range(number):
            force = charges[:, None] * _repulsion(places, charges, cells)
            span = places[ends[:, 1]] - places[ends[:, 0]]
            for axis in range(2):
                pull = pulls * span[:, axis]
                force[:, axis] += np.bincount(ends[:, 0], pull, count)
                force[:, axis] -= np.bincount(ends[:, 1], pull, count)
            force -= GRAVITY * charges[:, None] * places
            length = np.hypot(*force.T)[:, None]
            heat = 0.1 * np.sqrt(count) * (1 - done / steps) ** 1.5 + 0.02
            places += force / np.maximum(length, 1e-9) * np.minimum(length / charges[:, None], heat)
            done += 1
    return _parted(places - places.mean(axis=0))


def _started(labels: Numbers) -> Floats:
    """Communities on a spiral, the largest inside; their nodes on a spiral in each."""
    sizes = np.bincount(labels)
    before = np.cumsum(sizes) - sizes
    turn = np.arange(len(sizes)) * GOLDEN
    far = np.sqrt(before + sizes / 2) * (np.arange(len(sizes)) > 0)
    order = np.argsort(labels, kind="stable")
    rank = np.empty(len(labels))
    rank[order] = np.arange(len(labels)) - before[labels[order]]
    near = np.sqrt(rank) * 0.6
    x = (far * np.cos(turn))[labels] + near * np.cos(rank * GOLDEN)
    y = (far * np.sin(turn))[labels] + near * np.sin(rank * GOLDEN)
    return np.stack([x, y], axis=1)


def _repulsion(places: Floats, charges: Floats, cells: int) -> Floats:
    """Force of all charges on each of them: 1/r, from the potential on a mesh."""
    low = places.min(axis=0)
    size = max(float((places.max(axis=0) - low).max()), 1e-6) / (cells - 3)
    spot = (places - low) / size + 1
    cell = spot.astype(np.intp)
    part = spot - cell
    corners = [(i, j) for i in (0, 1) for j in (0, 1)]
    shares = [
        (part[:, 0] if i else 1 - part[:, 0]) * (part[:, 1] if j else 1 - part[:, 1])
        for i, j in corners
    ]
    spots = [(cell[:, 0] + i) * cells + cell[:, 1] + j for i, j in corners]
    mesh = np.bincount(
        np.concatenate(spots), np.concatenate([charges * s for s in shares]), cells**2
    )
    wide = (2 * cells, 2 * cells)  # else the forces go around the edge
    waves = np.fft.rfft2(mesh.reshape(cells, cells), wide) * _kernel(cells)
    potential = np.fft.irfft2(waves, wide)[:cells, :cells]
    force = np.empty_like(places)
    for axis, slope in enumerate(np.gradient(potential)):
        flat = slope.ravel()
        force[:, axis] = sum(share * flat[spot] for share, spot in zip(shares, spots, strict=True))
    return force / size


@cache
def _kernel(cells: int) -> NDArray[Any]:
    """Waves of the potential of one charge, ``log r`` around the corner of the mesh."""
    far = np.minimum(np.arange(2 * cells), 2 * cells - np.arange(2 * cells))
    square = far[:, None] ** 2 + far[None, :] ** 2
    return np.fft.rfft2(0.5 * np.log(np.maximum(square, 0.25)))


def _parted(places: Floats) -> Floats:
    """Nodes moved apart that stand on each other."""
    for _ in range(PARTINGS):
        a, b = _close(places)
        span = places[b] - places[a]
        far = np.hypot(*span.T)
        near = far < GAP
        if not near.any():
            break
        a, b, span, far = a[near], b[near], span[near], far[near]
        # Two in the same spot part in a direction of their own.
        span[far < 1e-6] = np.stack([np.cos(a * GOLDEN), np.sin(a * GOLDEN)], axis=1)[far < 1e-6]
        push = span / np.hypot(*span.T)[:, None] * ((GAP - far) * 0.5)[:, None]
        for axis in range(2):
            places[:, axis] += np.bincount(b, push[:, axis], len(places))
            places[:, axis] -= np.bincount(a, push[:, axis], len(places))
    return places


def _close(places: Floats) -> tuple[Numbers, Numbers]:
    """Pairs of nodes in the same square or in squares that touch."""
    square = np.floor((places - places.min(axis=0)) / GAP).astype(np.intp) + 1
    wide = int(square[:, 1].max()) + 2
    keys = square[:, 0] * wide + square[:, 1]
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    firsts, seconds = [], []
    for step in (0, 1, wide - 1, wide, wide + 1):
        begin = np.searchsorted(ranked, ranked + step)
        if step == 0:
            begin = np.arange(1, len(ranked) + 1)
        many = np.maximum(np.searchsorted(ranked, ranked + step, "right") - begin, 0)
        starts = np.repeat(begin - np.cumsum(many) + many, many)
        firsts.append(order[np.repeat(np.arange(len(ranked)), many)])
        seconds.append(order[starts + np.arange(many.sum())])
    return np.concatenate(firsts), np.concatenate(seconds)
