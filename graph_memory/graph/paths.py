"""Paths along facts: search from several nodes, and what is central (pure).

The caller asks the graph for the next hops and says which of them the asker sees; others
do not exist here. Results depend on those alone, and not on the ids of nodes: one that
was merged goes under another's.
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
class Hop:
    """That a fact leads from a node to another one, whichever its subject is.

    Attributes:
        at: When it was said, seconds since the epoch; 0 if not known here.
        group: Circle of the group chat in which it was said; empty if there is none.
    """

    fact: str
    source: str
    target: str
    at: float = 0.0
    group: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """Ids of the nodes, from the first to the last, and of the facts between them."""

    nodes: tuple[str, ...]
    facts: tuple[str, ...] = ()

    def to(self, node: str, fact: str) -> Path:
        """One hop further."""
        return Path((*self.nodes, node), (*self.facts, fact))

    def meeting(self, other: Path) -> Path:
        """There, and back to where another path to the same node began."""
        return Path(self.nodes + other.nodes[-2::-1], self.facts + other.facts[::-1])


class PathSearch:
    """Breadth-first search from some seeds.

    Attributes:
        frontier: Nodes from which the next hops go.
    """

    def __init__(self, seeds: Sequence[str]) -> None:
        self._seeds = tuple(dict.fromkeys(seeds))
        self._paths: dict[str, dict[str, Path]] = {s: {s: Path((s,))} for s in self._seeds}
        self._degrees: dict[str, int] = {}
        self._at: dict[str, float] = {}
        self.frontier: set[str] = set(self._seeds)

    def advance(self, hops: Iterable[Hop]) -> None:
        """Take the next hops: those that the asker sees; there are no others."""
        ways: dict[str, list[Hop]] = defaultdict(list)
        for hop in dict.fromkeys(hops):
            ways[hop.source].append(hop)
        before = {node: dict(self._paths[node]) for node in self.frontier & ways.keys()}
        fresh: set[str] = set()
        for node in sorted(before, key=lambda node: sorted(p.facts for p in before[node].values())):
            newest = sorted(ways[node], key=lambda way: (-way.at, way.fact))
            self._degrees[node] = len(newest)
            if len(newest) > HUB and node not in self._seeds:
                continue
            for hop in newest[:NEIGHBOURS]:
                self._at[hop.fact] = hop.at
                if self._extend(before[node], hop.target, hop.fact):
                    fresh.add(hop.target)
        self.frontier = fresh

    def _extend(self, paths: Mapping[str, Path], target: str, fact: str) -> bool:
        found = self._paths.setdefault(target, {})
        fresh = {
            seed: path.to(target, fact)
            for seed, path in paths.items()
            if seed not in found and target not in path.nodes
        }
        found.update(fresh)
        return bool(fresh)

    def meetings(self, longest: int) -> list[Path]:
        """How each two seeds are joined: the shortest path of each, then all others.

        Args:
            longest: Facts of a path at most.
        """
        found: dict[tuple[str, str], set[Path]] = defaultdict(set)
        for paths in self._paths.values():
            for ends in combinations([seed for seed in self._seeds if seed in paths], 2):
                path = paths[ends[0]].meeting(paths[ends[1]])
                if len(path.facts) <= longest and len(set(path.nodes)) == len(path.nodes):
                    found[ends].add(path)
        first = [min(paths, key=_length) for paths in found.values()]
        others = set[Path]().union(*found.values()) - set(first)
        return sorted(first, key=_length) + sorted(others, key=_length)

    def onward(
        self, seeds: Collection[str], known: Collection[str], avoid: Collection[str] = ()
    ) -> list[Path]:
        """Where the search led: the nearest first, through nodes of few facts, the newest.

        Args:
            seeds: Those whose surroundings matter.
            known: Facts that need not be shown again; neither is anything twice.
            avoid: Nodes that belong to everything, so that it says nothing to pass them.
        """
        paths = [
            path
            for node, found in self._paths.items()
            if node not in self._seeds
            for seed, path in found.items()
            if seed in seeds and not set(path.nodes[1:-1]) & set(avoid)
        ]
        paths.sort(
            key=lambda p: (
                len(p.facts),
                sum(self._degrees.get(node, 0) for node in p.nodes[1:-1]),
                -self._at[p.facts[-1]],
                p.facts,
            )
        )
        shown = set(known)
        news: list[Path] = []
        for path in paths:
            if path.facts[-1] not in shown:
                shown.update(path.facts)
                news.append(path)
        return news


def _length(path: Path) -> tuple[int, tuple[str, ...]]:
    return len(path.facts), path.facts
