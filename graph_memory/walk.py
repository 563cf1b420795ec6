"""Walking from some nodes along facts, step by step (pure).

Whoever walks asks the graph for the next steps and says which of them the asker sees;
others do not exist here. The result depends on those alone, and not on the ids of nodes:
one that was merged goes under another's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

HUB = 30
"""Facts of a node up to which it is walked through: one of many says little about each."""
NEIGHBOURS = 60
"""Facts of a node that was asked for that are walked over, the newest."""


@dataclass(frozen=True, slots=True)
class Stride:
    """A step that may be taken: the asker sees its fact, and knows where it leads."""

    fact: str
    source: str
    target: str
    said_at: float


@dataclass(frozen=True, slots=True)
class Trail:
    """How a node was reached: from the first of ``nodes`` to the last, fact by fact."""

    nodes: tuple[str, ...]
    facts: tuple[str, ...] = ()

    def to(self, node: str, fact: str) -> Trail:
        """One step further."""
        return Trail((*self.nodes, node), (*self.facts, fact))

    def meeting(self, other: Trail) -> Trail:
        """There, and back to where another trail to the same node began."""
        return Trail(self.nodes + other.nodes[-2::-1], self.facts + other.facts[::-1])


class Walk:
    """A walk from some seeds.

    Attributes:
        frontier: Nodes from which the next steps go.
    """

    def __init__(self, seeds: Sequence[str]) -> None:
        self._seeds = tuple(dict.fromkeys(seeds))
        self._trails: dict[str, dict[str, Trail]] = {s: {s: Trail((s,))} for s in self._seeds}
        self._degrees: dict[str, int] = {}
        self._at: dict[str, float] = {}
        self.frontier: set[str] = set(self._seeds)

    def go(self, strides: Iterable[Stride]) -> None:
        """Take the next steps.

        Args:
            strides: Those that the asker sees; there are no others.
        """
        ways: dict[str, list[Stride]] = defaultdict(list)
        for stride in dict.fromkeys(strides):
            ways[stride.source].append(stride)
        before = {node: dict(self._trails[node]) for node in self.frontier & ways.keys()}
        fresh: set[str] = set()
        for node in sorted(before, key=lambda node: sorted(t.facts for t in before[node].values())):
            newest = sorted(ways[node], key=lambda way: (-way.said_at, way.fact))
            self._degrees[node] = len(newest)
            if len(newest) > HUB and node not in self._seeds:
                continue
            for stride in newest[:NEIGHBOURS]:
                self._at[stride.fact] = stride.said_at
                if self._extend(before[node], stride.target, stride.fact):
                    fresh.add(stride.target)
        self.frontier = fresh

    def _extend(self, trails: Mapping[str, Trail], target: str, fact: str) -> bool:
        found = self._trails.setdefault(target, {})
        fresh = {
            seed: trail.to(target, fact)
            for seed, trail in trails.items()
            if seed not in found and target not in trail.nodes
        }
        found.update(fresh)
        return bool(fresh)

    def meetings(self, longest: int) -> list[Trail]:
        """How each two seeds are joined, by the shortest way.

        Args:
            longest: Facts of such a way at most.
        """
        best: dict[tuple[str, str], Trail] = {}
        for trails in self._trails.values():
            for pair in combinations([seed for seed in self._seeds if seed in trails], 2):
                way = trails[pair[0]].meeting(trails[pair[1]])
                if len(way.facts) > longest or len(set(way.nodes)) < len(way.nodes):
                    continue
                if pair not in best or _length(way) < _length(best[pair]):
                    best[pair] = way
        return sorted(best.values(), key=_length)

    def onward(
        self, seeds: Collection[str], known: Collection[str], avoid: Collection[str]
    ) -> list[Trail]:
        """Where the walk led: the nearest first, through nodes of few facts, the newest.

        Args:
            seeds: Those whose surroundings matter.
            known: Facts that need not be told again; neither is anything twice.
            avoid: Nodes that belong to everything, so that it says nothing to pass them.
        """
        trails = [
            trail
            for node, found in self._trails.items()
            if node not in self._seeds
            for seed, trail in found.items()
            if seed in seeds and not set(trail.nodes[1:-1]) & set(avoid)
        ]
        trails.sort(
            key=lambda t: (
                len(t.facts),
                sum(self._degrees.get(node, 0) for node in t.nodes[1:-1]),
                -self._at[t.facts[-1]],
                t.facts,
            )
        )
        told = set(known)
        news: list[Trail] = []
        for trail in trails:
            if trail.facts[-1] not in told:
                told.update(trail.facts)
                news.append(trail)
        return news


def _length(trail: Trail) -> tuple[int, tuple[str, ...]]:
    return len(trail.facts), trail.facts
