"""Cypher queries of the graph, and search of paths along its facts.

This is the owner's view: no query asks who may see what. Archived facts count only for
neighbourhoods and *contradicted*.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path as FilePath
from typing import Any, Final

from ..errors import NotFoundError
from ..model import Status, is_entity
from ..text import joined, normalise
from .database import ENTITY, SESSION, USER, Database

HOPS: Final = 4
"""Facts on the longest path that is looked for."""
WAYS: Final = 6
"""Most paths of an answer; the shortest ones there are."""
HUB = 30
"""Facts of a node up to which it is walked through: one of many says little about each."""
NEIGHBOURS = 60
"""Facts of a node that was asked for that are walked over, the newest."""
NAMED = 12
"""Groups of one node that are named."""


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


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A user, an entity or a session; ``degree`` is the number of its edges.

    ``type`` is an ``EntityType``; ``group`` or ``private`` for a session; empty for a user.
    """

    id: str
    kind: str
    type: str
    name: str
    degree: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A fact; beside a session, that somebody spoke or something was mentioned in it.

    Attributes:
        strength_count: How often it was restated; how many messages or mentions.
        valid_to: Seconds since the epoch; ``None`` if open.
        recorded_at: When it was learned, seconds since the epoch; 0 beside a session.
        superseded: Whether a newer fact, archived or not, replaces it.
    """

    id: str
    source: str
    target: str
    predicate: str
    statement: str
    importance: float
    strength_count: int
    valid_to: float | None
    status: str
    recorded_at: float = 0.0
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Subgraph:
    """Part of the graph, those nodes first that were asked about.

    Attributes:
        total: How many answers there are, shown or not.
        pairs: Ids of facts, newer and older, if replaced ones were asked for.
        counts: ``(node, number)`` of the nodes or groups it is joined with; of the centre
            ``(predicate, number)`` of its neighbours, shown or not.
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int
    paths: tuple[Path, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MapEdge(GraphEdge):
    """A fact as the map of all of them has it, without its statement.

    Attributes:
        session: Where it was said.
        until: When it ended, was replaced or put away, if that is known; ``None`` if open.
    """

    last_used: float = 0.0
    half_life: float = 0.0
    pinned: bool = False
    session: str = ""
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """All of the graph, or its best connected part.

    Attributes:
        nodes: Users and entities, the most connected first.
        sessions: Circle, title, whether it is a group, and persona of each Session.
        total: How many nodes there are, here or not.
    """

    nodes: list[GraphNode]
    edges: list[MapEdge]
    sessions: dict[str, tuple[str, str, bool, str]]
    total: int

    @property
    def places(self) -> dict[str, int]:
        """Where each node is in the list of them, by its id."""
        return {node.id: number for number, node in enumerate(self.nodes)}


_KINDS: Final = {USER: "user", ENTITY: "entity", SESSION: "session"}
_PARTS: Final = {"HOPS": HOPS, "WAYS": WAYS, "ACTIVE": Status.ACTIVE.value}
_QUERIES: Final = {
    name: query
    for whole in joined(FilePath(__file__).with_suffix(".cypher"), " ", **_PARTS)
    for label in (USER, ENTITY)
    for name, _, query in [whole.replace("<LABEL>", label).partition(" ")]
}


class GraphQueries:
    """What a graph is asked, on the thread that reads.

    Questions about a node that does not exist raise ``NotFoundError``.
    """

    def __init__(self, database: Database, canonical: Callable[[str], str]) -> None:
        self._db = database
        self._canonical = canonical

    # ------------------------------------------------------------ what there is

    def nodes(self, query: str = "", limit: int = 50) -> list[GraphNode]:
        """Users and entities, then sessions, each the most connected first.

        Args:
            query: Part of any of their names, old ones included; of a user's account; of a
                session's title, circle or persona. Empty: all.
        """
        norm, most = normalise(query), max(0, limit)
        if norm:
            rows = self._run("found", norm=norm, text=query.strip(), limit=most)
            rows += self._run("found_sessions", norm=norm, limit=most)
        else:  # nothing contains the empty text, says Kùzu
            rows = self._run("all", limit=most) + self._run("all_sessions", limit=most)
        return [_node(row) for row in rows][:most]

    def neighbourhood(self, node: str, limit: int = 60, predicate: str = "") -> Subgraph:
        """A node, and what is one hop from it, the strongest first.

        Args:
            predicate: Of the facts that lead to what is shown; empty: any.
        """
        id = self._canonical(node)
        # A user's id could read like a session's, never the other way round: users first.
        centre = self._nodes([id]) or ([] if is_entity(id) else self._sessions([id]))
        if not centre:
            raise NotFoundError("there is no such node in the graph")
        if centre[0].kind == "session":
            rows = self._run("visitors", id=id)
            shown = list(dict.fromkeys(row[1] for row in rows))
            people = shown[: max(0, limit)]
            active = Status.ACTIVE.value
            edges = [
                GraphEdge(edge, person, id, kind, "", 0.0, int(times), None, active)
                for edge, person, _, kind, times in rows
                if person in people
            ]
            return Subgraph(centre + self._nodes(people), edges, len(shown))
        ranked = self._run("neighbours", id=id)
        wanted = [row[0] for row in ranked if not predicate or predicate in row[4]]
        shown = wanted[: max(0, limit)]
        edges = self._edges(self._run("around", id=id, ids=shown or [id]))
        counts = tuple(Counter(kind for row in ranked for kind in row[4]).most_common())
        return Subgraph(centre + self._nodes(shown), edges, len(ranked), counts=counts)

    def within(self, node: str, depth: int, limit: int, predicate: str = "") -> Subgraph:
        """A node and what is up to ``depth`` hops from it, the nearest first.

        Args:
            predicate: As of :meth:`neighbourhood`, for one hop only.
        """
        if depth < 2:
            return self.neighbourhood(node, limit, predicate)
        (centre,) = self._known(node)
        found = [row[0] for row in self._run(f"within_{depth}", id=centre.id)]
        some = self.among([centre.id, *found[:limit]])
        return replace(some, total=len(found))

    def among(self, ids: Collection[str]) -> Subgraph:
        """Some users and entities, and all facts between them."""
        nodes = self._nodes(list(dict.fromkeys(map(self._canonical, ids))))
        if not nodes:
            raise NotFoundError("there is no such node in the graph")
        shown = {node.id for node in nodes}
        rows = (row for row in self._of_each("from", sorted(shown)) if row[2] in shown)
        edges = self._edges(sorted(rows))
        return Subgraph(nodes, edges, len(nodes))

    # ------------------------------------------------------------ about two

    def path(self, a: str, b: str) -> Subgraph:
        """The shortest paths between two nodes, over at most :data:`HOPS` facts."""
        ends = self._known(a, b)
        if len(ends) < 2:
            return Subgraph(ends, [], 0)
        rows = self._run("paths", a=ends[0].id, b=ends[1].id)
        paths = tuple(Path(tuple(nodes), tuple(facts)) for nodes, facts in rows)
        passed = {id for path in paths for id in path.nodes} - {end.id for end in ends}
        edges = self._facts([fact for path in paths for fact in path.facts])
        return Subgraph([*ends, *self._nodes(sorted(passed))], edges, len(paths), paths)

    def shared(self, a: str, b: str, limit: int = 50) -> Subgraph:
        """What facts join with both of two nodes, the most often told first."""
        ends = self._known(a, b)
        if len(ends) < 2:
            return Subgraph(ends, [], 0)
        # Each one's neighbours by themselves: a join of both takes twenty times as long.
        one, other = (dict(self._run("besides", id=e.id)) for e in ends)
        both = one.keys() & other.keys()
        found = sorted(both, key=lambda node: (-len(one[node]) * len(other[node]), node))
        edges = self._facts([id for node in found[:limit] for id in (*one[node], *other[node])])
        return Subgraph([*ends, *self._nodes(found[:limit])], edges, len(found))

    def _known(self, *ids: str) -> list[GraphNode]:
        wanted = list(dict.fromkeys(map(self._canonical, ids)))
        found = self._nodes(wanted)
        if len(found) < len(wanted):
            raise NotFoundError("there is no such node in the graph")
        return found

    # ------------------------------------------------------------ about all

    def connected(self, limit: int = 20) -> Subgraph:
        """The nodes that facts join with the most others."""
        rows = self._run("connected", limit=limit)
        nodes = self._nodes([row[0] for row in rows])
        return Subgraph(nodes, [], len(rows), counts=tuple((row[0], int(row[1])) for row in rows))

    def whole(self, nodes: int, edges: int) -> Whole:
        """All of the graph: at most so many nodes, the best connected, and newest facts."""
        facts = self._run("every_fact")
        degrees = Counter[str](end for row in facts for end in (row[1], row[2]))
        everybody = [_node((*row, degrees[row[0]])) for row in self._run("everybody")]
        shown = sorted(everybody, key=lambda node: (-node.degree, node.id))[:nodes]
        ids = {node.id for node in shown}
        inner = [row for row in facts if row[1] in ids and row[2] in ids]
        replaced = self._run("replaced_at")
        gone = {old: float(at) for listed, at in replaced for old in json.loads(listed)}
        sessions = {
            id: (circle, name, type == "group", persona)
            for id, circle, name, type, persona in self._run("every_session")
        }
        drawn = [_map_edge(row, gone) for row in inner[:edges]]
        return Whole(shown, drawn, sessions, len(everybody))

    def bridges(self, limit: int = 50) -> Subgraph:
        """People and things of more than one group chat, those of the most first."""
        rows = self._run("bridges")
        shown = rows[:limit]
        groups = sorted({group for row in shown for group in row[2]})
        edges = [
            GraphEdge("", row[0], group, "", "", 0.0, 0, None, Status.ACTIVE.value)
            for row in shown
            for group in sorted(row[2])[:NAMED]
        ]
        nodes = self._nodes([row[0] for row in shown]) + self._sessions(groups)
        return Subgraph(nodes, edges, len(rows), counts=tuple((r[0], int(r[1])) for r in shown))

    def orphans(self, limit: int = 50) -> Subgraph:
        """Nodes of which no fact in use tells."""
        ids = [row[0] for row in self._run("orphans")]
        return Subgraph(self._nodes(ids[:limit]), [], len(ids))

    def newest(self, limit: int = 20) -> Subgraph:
        """The facts that were learned last."""
        edges = self._edges(self._run("newest", limit=limit))
        return Subgraph(self._ends(edges), edges, len(edges))

    def contradicted(self, limit: int = 50) -> Subgraph:
        """Facts that a newer one replaced, the newest replacements first."""
        rows = self._run("replacing")
        wanted = [(row[0], old) for row in rows for old in json.loads(row[-1])]
        known = {edge.id: edge for edge in self._facts([old for _, old in wanted])}
        pairs = [pair for pair in wanted if pair[1] in known]  # what was forgotten is no pair
        shown = tuple(pairs[:limit])
        newer = {row[0]: row[:-1] for row in rows}
        edges = {edge.id: edge for edge in self._edges([newer[id] for id in dict(shown)])}
        edges |= {old: known[old] for _, old in shown}
        found = list(edges.values())
        return Subgraph(self._ends(found), found, len(pairs), pairs=shown)

    # ------------------------------------------------------------ for an asker

    def hops(self, sessions: Collection[str], nodes: Collection[str] | None = None) -> list[Hop]:
        """Active facts of some Sessions; the asker may not see all of them.

        Args:
            nodes: From which they lead; ``None`` for all facts, from subject to object.
        """
        if not sessions:  # Kùzu cannot tell the type of an empty list
            return []
        some = sorted(sessions)
        if nodes is None:
            return [Hop(*row) for row in self._run("all_hops", sessions=some)]
        rows = [
            row
            for way in ("hops_out", "hops_in")
            for row in self._of_each(way, sorted(nodes), sessions=some)
        ]
        return [Hop(*row) for row in sorted(rows)]

    # ------------------------------------------------------------ parts

    def _nodes(self, ids: list[str]) -> list[GraphNode]:
        """The users and entities with some ids, in their order; unknown ones are left out."""
        return _ordered(ids, self._of_each("degrees", ids))

    def _run(self, query: str, **values: Any) -> list[list[Any]]:
        """Answers to one of our queries, by its name."""
        return self._db.run(_QUERIES[query], values)

    def _of_each(self, query: str, ids: Iterable[str], **more: Any) -> list[list[Any]]:
        """Answers about users, then about entities, by the query of each table."""
        of = {USER: list[str](), ENTITY: list[str]()}
        for id in ids:
            of[ENTITY if is_entity(id) else USER].append(id)
        each = ((f"{query}_{label}", some) for label, some in of.items() if some)
        return [row for name, some in each for row in self._run(name, ids=some, **more)]

    def _sessions(self, ids: list[str]) -> list[GraphNode]:
        return _ordered(ids, self._run("sessions", ids=ids) if ids else [])

    def _ends(self, edges: list[GraphEdge]) -> list[GraphNode]:
        return self._nodes(list(dict.fromkeys(id for e in edges for id in (e.source, e.target))))

    def _facts(self, ids: Iterable[str]) -> list[GraphEdge]:
        """Facts in the order of their ids' first appearance."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return []
        found = {e.id: e for e in self._edges(self._run("facts", ids=wanted))}
        return [found[id] for id in wanted if id in found]

    def _edges(self, rows: Iterable[Iterable[Any]]) -> list[GraphEdge]:
        edges = [GraphEdge(*row) for row in rows]
        if not edges:
            return []
        gone = {old for (listed,) in self._run("replaced") for old in json.loads(listed)}
        return [replace(edge, superseded=True) if edge.id in gone else edge for edge in edges]


def _ordered(ids: list[str], rows: Iterable[Iterable[object]]) -> list[GraphNode]:
    found = {node.id: node for node in map(_node, rows)}
    return [found[id] for id in ids if id in found]


def _map_edge(row: list[Any], gone: Mapping[str, float]) -> MapEdge:
    """An answer to ``every_fact``; ``gone`` says when facts were replaced."""
    id, valid_to, fact, away, kept = row[0], row[7], row[:10], row[10], row[11:]
    ends = [time for time in (valid_to, away, gone.get(id)) if time is not None]
    return MapEdge(*(*fact, id in gone, *kept, min(ends, default=None)))


def _node(row: Iterable[object]) -> GraphNode:
    id, label, type, name, degree = row
    return GraphNode(str(id), _KINDS[str(label)], str(type or ""), str(name), int(str(degree)))


# ------------------------------------------------------------------ search of paths

# Pure: the caller asks the graph for the next hops and says which of them the asker sees; others
# do not exist here. Results depend on those alone, and not on the ids of nodes: one that was
# merged goes under another's.


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
