"""Cypher queries of the graph: search, neighbourhood, paths, and canned questions.

This is the owner's view: nothing here asks who may see what. Archived facts count only for
neighbourhoods and *contradicted*.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from ..errors import NotFoundError
from ..model import Status, is_entity
from ..text import normalise
from .database import ENTITY, SESSION, USER, Database
from .paths import Hop, Path

HOPS: Final = 4
"""Facts on the longest path that is looked for."""
WAYS: Final = 6
"""Most paths of an answer; the shortest ones there are."""


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
        counts: ``(node, number)`` of the nodes or groups it is joined with.
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int
    paths: tuple[Path, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    counts: tuple[tuple[str, int], ...] = ()


_KINDS: Final = {USER: "user", ENTITY: "entity", SESSION: "session"}
_ACTIVE: Final = {"status": Status.ACTIVE.value}
_RELS: Final = "KNOWS|RELATED_TO"
_OUT: Final = f"(n:User:Entity)-[f:{_RELS}]->(m:User:Entity)"
_EITHER: Final = f"(n:User:Entity)-[f:{_RELS}]-(m:User:Entity)"
_BESIDE: Final = f"(n)-[f:{_RELS}]-(m:User:Entity)"
_PRESENCE: Final = "(n)<-[f:PARTICIPATED_IN|MENTIONED_IN]-(m:User:Entity)"
_FACT: Final = (
    "RETURN f.id, n.id, m.id, f.predicate, f.statement, f.importance, f.use_count,"
    " f.valid_to, f.status, f.recorded_at"
)
_DEGREE: Final = "RETURN n.id, label(n), n.type, n.name, count(f.id) AS degree"
_TOP: Final = f"{_DEGREE} ORDER BY degree DESC, n.id LIMIT $limit"
_DEGREES: Final = (
    "MATCH (n:User:Entity) WHERE n.id IN $ids"
    f" OPTIONAL MATCH {_BESIDE} WHERE m.id <> n.id {_DEGREE}"
)
_SESSIONS: Final = f"MATCH (n:Session) WHERE n.id IN $ids OPTIONAL MATCH {_PRESENCE} {_DEGREE}"
_FOUND: Final = (
    "MATCH (n:User:Entity) WHERE n.names CONTAINS $norm OR (label(n) = 'User' AND n.id CONTAINS"
    f" $text) OPTIONAL MATCH {_BESIDE} WHERE m.id <> n.id {_TOP}"
)
_FOUND_SESSIONS: Final = (
    f"MATCH (n:Session) WHERE n.names CONTAINS $norm OPTIONAL MATCH {_PRESENCE} {_TOP}"
)
_ALL: Final = f"MATCH (n:User:Entity) OPTIONAL MATCH {_BESIDE} WHERE m.id <> n.id {_TOP}"
_ALL_SESSIONS: Final = f"MATCH (n:Session) OPTIONAL MATCH {_PRESENCE} {_TOP}"
_NEIGHBOURS: Final = (
    f"MATCH {_EITHER} WHERE n.id = $id AND m.id <> $id"
    " RETURN m.id, max(CASE WHEN f.status = $status THEN 1 ELSE 0 END) AS active,"
    " count(*) AS facts, max(f.importance) AS weight"
    " ORDER BY active DESC, facts DESC, weight DESC, m.id"
)
_VISITORS: Final = (
    f"MATCH (n:Session {{id: $id}}) MATCH {_PRESENCE}"
    " RETURN f.id, m.id, n.id, lower(label(f)), f.times ORDER BY f.times DESC, m.id"
)
_AROUND: Final = (
    f"MATCH {_OUT} WHERE (n.id = $id AND (m.id IN $ids OR m.id = $id))"
    f" OR (m.id = $id AND n.id IN $ids) {_FACT} ORDER BY f.id"
)
_AMONG: Final = f"MATCH {_OUT} WHERE n.id IN $ids AND m.id IN $ids {_FACT} ORDER BY f.id"
_FACTS: Final = f"MATCH {_OUT} WHERE f.id IN $ids {_FACT}"
_REPLACED: Final = f"MATCH ()-[f:{_RELS}]->() WHERE f.supersedes <> '[]' RETURN f.supersedes"
_REPLACING: Final = (
    f"MATCH {_OUT} WHERE f.supersedes <> '[]' {_FACT}, f.supersedes"
    " ORDER BY f.recorded_at DESC, f.id"
)
_NEWEST: Final = (
    f"MATCH {_OUT} WHERE f.status = $status {_FACT} ORDER BY f.recorded_at DESC, f.id LIMIT $limit"
)
# A condition on the way cannot be a parameter; it is one of our own constants.
_PATHS: Final = (
    f"MATCH p = (a:User:Entity)-[e:{_RELS}* ALL SHORTEST 1..{HOPS}"
    f" (r, n | WHERE r.status = '{Status.ACTIVE.value}')]-(b:User:Entity)"
    " WHERE a.id = $a AND b.id = $b"
    " RETURN properties(nodes(p), 'id') AS ids, properties(rels(p), 'id') AS edges"
    " ORDER BY list_to_string(' ', ids), list_to_string(' ', edges)"
    f" LIMIT {WAYS}"
)
_CONNECTED: Final = (
    f"MATCH {_EITHER} WHERE f.status = $status AND n.id <> m.id"
    " RETURN n.id, count(DISTINCT m.id) AS many, count(DISTINCT f.id) AS facts"
    " ORDER BY many DESC, facts DESC, n.id LIMIT $limit"
)
_SHARED: Final = (
    f"MATCH (a:User:Entity)-[f:{_RELS}]-(m:User:Entity)-[g:{_RELS}]-(b:User:Entity)"
    " WHERE a.id = $a AND b.id = $b AND m.id <> $a AND m.id <> $b"
    " AND f.status = $status AND g.status = $status"
    " RETURN m.id, collect(DISTINCT f.id), collect(DISTINCT g.id), count(*) AS many"
    " ORDER BY many DESC, m.id"
)
_BRIDGES: Final = (
    "MATCH (n:User:Entity)-[f:PARTICIPATED_IN|MENTIONED_IN]->(s:Session)"
    " WHERE s.type = 'group' WITH n.id AS id, count(DISTINCT s.circle) AS many,"
    " sum(f.times) AS times, collect(DISTINCT s.id) AS groups WHERE many > 1"
    " RETURN id, many, groups ORDER BY many DESC, times DESC, id"
)
_ORPHANS: Final = (
    "MATCH (n:User:Entity) WHERE NOT EXISTS"
    f" {{ MATCH (n)-[f:{_RELS}]-(m:User:Entity) WHERE f.status = $status }}"
    " RETURN n.id ORDER BY n.name, n.id"
)
_HOPS: Final = (
    f"MATCH {_EITHER} WHERE n.id IN $ids AND f.session IN $sessions AND f.status = $status"
    " AND n.id <> m.id RETURN f.id, n.id, m.id ORDER BY f.id, n.id"
)
_ALL_HOPS: Final = (
    f"MATCH {_OUT} WHERE f.session IN $sessions AND f.status = $status AND n.id <> m.id"
    " RETURN f.id, n.id, m.id"
)


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
        norm, page = normalise(query), {"limit": max(0, limit)}
        if norm:
            rows = self._db.run(_FOUND, {"norm": norm, "text": query.strip(), **page})
            rows += self._db.run(_FOUND_SESSIONS, {"norm": norm, **page})
        else:  # nothing contains the empty text, says Kùzu
            rows = self._db.run(_ALL, page) + self._db.run(_ALL_SESSIONS, page)
        return [_node(row) for row in rows][: max(0, limit)]

    def neighbourhood(self, node: str, limit: int = 60) -> Subgraph:
        """A node, and what is one hop from it, the strongest first."""
        id = self._canonical(node)
        # A user's id could read like a session's, never the other way round: users first.
        centre = self._nodes([id]) or ([] if is_entity(id) else self._sessions([id]))
        if not centre:
            raise NotFoundError("there is no such node in the graph")
        if centre[0].kind == "session":
            rows = self._db.run(_VISITORS, {"id": id})
            shown = list(dict.fromkeys(row[1] for row in rows))
            people = shown[: max(0, limit)]
            active = Status.ACTIVE.value
            edges = [
                GraphEdge(edge, person, id, kind, "", 0.0, int(times), None, active)
                for edge, person, _, kind, times in rows
                if person in people
            ]
            return Subgraph(centre + self._nodes(people), edges, len(shown))
        ranked = self._db.run(_NEIGHBOURS, {"id": id, **_ACTIVE})
        shown = [row[0] for row in ranked][: max(0, limit)]
        edges = self._edges(self._db.run(_AROUND, {"id": id, "ids": shown or [id]}))
        return Subgraph(centre + self._nodes(shown), edges, len(ranked))

    def among(self, ids: Collection[str]) -> Subgraph:
        """Some users and entities, and all facts between them."""
        nodes = self._nodes(list(dict.fromkeys(map(self._canonical, ids))))
        if not nodes:
            raise NotFoundError("there is no such node in the graph")
        edges = self._edges(self._db.run(_AMONG, {"ids": [node.id for node in nodes]}))
        return Subgraph(nodes, edges, len(nodes))

    # ------------------------------------------------------------ about two

    def path(self, a: str, b: str) -> Subgraph:
        """The shortest paths between two nodes, over at most :data:`HOPS` facts."""
        ends = self._known(a, b)
        if len(ends) < 2:
            return Subgraph(ends, [], 0)
        rows = self._db.run(_PATHS, {"a": ends[0].id, "b": ends[1].id})
        paths = tuple(Path(tuple(nodes), tuple(facts)) for nodes, facts in rows)
        passed = {id for path in paths for id in path.nodes} - {end.id for end in ends}
        edges = self._facts([fact for path in paths for fact in path.facts])
        return Subgraph([*ends, *self._nodes(sorted(passed))], edges, len(paths), paths)

    def shared(self, a: str, b: str, limit: int = 50) -> Subgraph:
        """What facts join with both of two nodes, the most often told first."""
        ends = self._known(a, b)
        if len(ends) < 2:
            return Subgraph(ends, [], 0)
        rows = self._db.run(_SHARED, {"a": ends[0].id, "b": ends[1].id, **_ACTIVE})
        shown = rows[:limit]
        edges = self._facts([id for row in shown for id in (*row[1], *row[2])])
        return Subgraph([*ends, *self._nodes([row[0] for row in shown])], edges, len(rows))

    def _known(self, *ids: str) -> list[GraphNode]:
        wanted = list(dict.fromkeys(map(self._canonical, ids)))
        found = self._nodes(wanted)
        if len(found) < len(wanted):
            raise NotFoundError("there is no such node in the graph")
        return found

    # ------------------------------------------------------------ about all

    def connected(self, limit: int = 20) -> Subgraph:
        """The nodes that facts join with the most others."""
        rows = self._db.run(_CONNECTED, {"limit": limit, **_ACTIVE})
        nodes = self._nodes([row[0] for row in rows])
        return Subgraph(nodes, [], len(rows), counts=tuple((row[0], int(row[1])) for row in rows))

    def bridges(self, limit: int = 50) -> Subgraph:
        """People and things of more than one group chat, those of the most first."""
        rows = self._db.run(_BRIDGES, {})
        shown = rows[:limit]
        groups = sorted({group for row in shown for group in row[2]})
        edges = [
            GraphEdge("", row[0], group, "", "", 0.0, 0, None, Status.ACTIVE.value)
            for row in shown
            for group in sorted(row[2])
        ]
        nodes = self._nodes([row[0] for row in shown]) + self._sessions(groups)
        return Subgraph(nodes, edges, len(rows), counts=tuple((r[0], int(r[1])) for r in shown))

    def orphans(self, limit: int = 50) -> Subgraph:
        """Nodes of which no fact in use tells."""
        ids = [row[0] for row in self._db.run(_ORPHANS, dict(_ACTIVE))]
        return Subgraph(self._nodes(ids[:limit]), [], len(ids))

    def newest(self, limit: int = 20) -> Subgraph:
        """The facts that were learned last."""
        edges = self._edges(self._db.run(_NEWEST, {"limit": limit, **_ACTIVE}))
        return Subgraph(self._ends(edges), edges, len(edges))

    def contradicted(self, limit: int = 50) -> Subgraph:
        """Facts that a newer one replaced, the newest replacements first."""
        rows = self._db.run(_REPLACING, {})
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

    def hops(self, nodes: Collection[str], sessions: Collection[str]) -> list[Hop]:
        """Active facts of some Sessions at some nodes; the asker may not see all of them."""
        if not nodes or not sessions:  # Kùzu cannot tell the type of an empty list
            return []
        values = {"ids": sorted(nodes), "sessions": sorted(sessions), **_ACTIVE}
        return [Hop(*row) for row in self._db.run(_HOPS, values)]

    def all_hops(self, sessions: Collection[str]) -> list[Hop]:
        """All active facts of some Sessions, from subject to object."""
        values = {"sessions": sorted(sessions), **_ACTIVE}
        return [Hop(*row) for row in self._db.run(_ALL_HOPS, values)] if sessions else []

    # ------------------------------------------------------------ parts

    def _nodes(self, ids: list[str]) -> list[GraphNode]:
        """The users and entities with some ids, in their order; unknown ones are left out."""
        return _ordered(ids, self._db.run(_DEGREES, {"ids": ids}) if ids else [])

    def _sessions(self, ids: list[str]) -> list[GraphNode]:
        return _ordered(ids, self._db.run(_SESSIONS, {"ids": ids}) if ids else [])

    def _ends(self, edges: list[GraphEdge]) -> list[GraphNode]:
        return self._nodes(list(dict.fromkeys(id for e in edges for id in (e.source, e.target))))

    def _facts(self, ids: Iterable[str]) -> list[GraphEdge]:
        """Facts in the order of their ids' first appearance."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return []
        found = {e.id: e for e in self._edges(self._db.run(_FACTS, {"ids": wanted}))}
        return [found[id] for id in wanted if id in found]

    def _edges(self, rows: Iterable[Iterable[Any]]) -> list[GraphEdge]:
        edges = [GraphEdge(*row) for row in rows]
        if not edges:
            return []
        gone = {old for (listed,) in self._db.run(_REPLACED, {}) for old in json.loads(listed)}
        return [replace(edge, superseded=True) if edge.id in gone else edge for edge in edges]


def _ordered(ids: list[str], rows: Iterable[Iterable[object]]) -> list[GraphNode]:
    found = {node.id: node for node in map(_node, rows)}
    return [found[id] for id in ids if id in found]


def _node(row: Iterable[object]) -> GraphNode:
    id, label, type, name, degree = row
    return GraphNode(str(id), _KINDS[str(label)], str(type or ""), str(name), int(str(degree)))
