"""Six questions that people ask of a graph: canned, parameterised, read-only.

Archived facts answer none of them but *contradicted*, which is about what used to be
said. As everywhere in this package, this is the owner's view.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar

from ..errors import NotFoundError
from ..model import Status
from .engine import Connection
from .queries import FIELDS, GraphEdge, GraphNode, facts, nodes_of

T = TypeVar("T")

HOPS: Final = 4
"""Facts on the longest path that is looked for."""
WAYS: Final = 6
"""Most paths of an answer; the shortest ones there are."""

_ACTIVE: Final = {"status": Status.ACTIVE.value}
_FACT: Final = "(n:User:Entity)-[f:KNOWS|RELATED_TO]->(m:User:Entity)"
_EITHER: Final = "(n:User:Entity)-[f:KNOWS|RELATED_TO]-(m:User:Entity)"
# A condition on the way cannot be a parameter; it is one of our own constants.
_PATHS: Final = (
    f"MATCH p = (a:User:Entity)-[e:KNOWS|RELATED_TO* ALL SHORTEST 1..{HOPS}"
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
    "MATCH (a:User:Entity)-[f:KNOWS|RELATED_TO]-(m:User:Entity)"
    "-[g:KNOWS|RELATED_TO]-(b:User:Entity)"
    " WHERE a.id = $a AND b.id = $b AND m.id <> $a AND m.id <> $b"
    " AND f.status = $status AND g.status = $status"
    " RETURN m.id, collect(DISTINCT f.id), collect(DISTINCT g.id), count(*) AS many"
    " ORDER BY many DESC, m.id"
)
_LONELY: Final = (
    "WHERE n.listed AND NOT EXISTS"
    " { MATCH (n)-[f:KNOWS|RELATED_TO]-(m:User:Entity) WHERE f.status = $status }"
)
_ORPHANS: Final = f"MATCH (n:User:Entity) {_LONELY} RETURN n.id ORDER BY n.name, n.id LIMIT $limit"
_ALL_ORPHANS: Final = f"MATCH (n:User:Entity) {_LONELY} RETURN count(*)"
_NEWEST: Final = (
    f"MATCH {_FACT} WHERE f.status = $status RETURN f.id, n.id, m.id, {FIELDS}"
    " ORDER BY f.recorded_at DESC, f.id LIMIT $limit"
)
_REPLACING: Final = (
    f"MATCH {_FACT} WHERE f.supersedes <> '[]'"
    f" RETURN f.id, n.id, m.id, {FIELDS}, f.supersedes ORDER BY f.recorded_at DESC, f.id"
)
_FACTS: Final = f"MATCH {_FACT} WHERE f.id IN $ids RETURN f.id, n.id, m.id, {FIELDS} ORDER BY f.id"
_AMONG: Final = (
    f"MATCH {_FACT} WHERE n.id IN $ids AND m.id IN $ids"
    f" RETURN f.id, n.id, m.id, {FIELDS} ORDER BY f.id"
)


@dataclass(frozen=True, slots=True)
class Way:
    """A path: ids of the nodes, from the first to the last, and of the facts between them."""

    nodes: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked for.

    Attributes:
        nodes: All that the answer names, those that are the answer in its order.
        edges: Facts that it rests on, in its order.
        total: How many there are, shown or not: of whatever was asked for.
        ways: The paths, if paths were asked for.
        pairs: Ids of facts, newer and older, if replaced ones were asked for.
        counts: By node: with how many others facts join it.
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int
    ways: tuple[Way, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    counts: tuple[tuple[str, int], ...] = ()


class Ask(Protocol):
    """Runs a question on the reader's thread."""

    def __call__(self, question: Callable[[Connection], T], /) -> Awaitable[T]: ...


class Questions:
    """The questions; each raises ``GraphError`` while the graph is away.

    Args:
        canonical: The node under which a merged one goes.
    """

    def __init__(self, ask: Ask, canonical: Callable[[str], str]) -> None:
        self._ask = ask
        self._canonical = canonical

    async def path(self, a: str, b: str) -> Answer:
        """The shortest paths between two nodes, over at most :data:`HOPS` facts.

        Raises:
            NotFoundError: There is no such node.
        """
        return await self._ask(partial(_path, a=self._canonical(a), b=self._canonical(b)))

    async def shared(self, a: str, b: str, limit: int = 50) -> Answer:
        """What facts join with both of two nodes, the most often told first.

        Raises:
            NotFoundError: There is no such node.
        """
        one, other = self._canonical(a), self._canonical(b)
        return await self._ask(partial(_shared, a=one, b=other, limit=limit))

    async def connected(self, limit: int = 20) -> Answer:
        """The nodes that facts join with the most others."""
        return await self._ask(partial(_connected, limit=limit))

    async def orphans(self, limit: int = 50) -> Answer:
        """Nodes of which no fact in use tells."""
        return await self._ask(partial(_orphans, limit=limit))

    async def newest(self, limit: int = 20) -> Answer:
        """The facts that were learned last."""
        return await self._ask(partial(_newest, limit=limit))

    async def contradicted(self, limit: int = 50) -> Answer:
        """Facts that a newer one replaced, the newest replacements first."""
        return await self._ask(partial(_contradicted, limit=limit))

    async def among(self, ids: Collection[str]) -> Answer:
        """Some nodes, and all facts between them.

        Raises:
            NotFoundError: None of them exists.
        """
        wanted = list(dict.fromkeys(map(self._canonical, ids)))
        return await self._ask(partial(_among, ids=wanted))


def _path(reader: Connection, a: str, b: str) -> Answer:
    with reader.transaction(read_only=True):
        ends = _known(reader, [a, b])
        if a == b:
            return Answer(ends, [], 0)
        rows = reader.run(_PATHS, {"a": a, "b": b})
        ways = tuple(Way(tuple(nodes), tuple(edges)) for nodes, edges in rows)
        others = {id for way in ways for id in way.nodes} - {a, b}
        nodes = [*ends, *nodes_of(reader, sorted(others))]
        return Answer(nodes, _facts(reader, [f for w in ways for f in w.facts]), len(ways), ways)


def _shared(reader: Connection, a: str, b: str, limit: int) -> Answer:
    with reader.transaction(read_only=True):
        ends = _known(reader, [a, b])
        rows = [] if a == b else reader.run(_SHARED, {"a": a, "b": b, **_ACTIVE})
        shown = rows[:limit]
        nodes = [*ends, *nodes_of(reader, [row[0] for row in shown])]
        edges = _facts(reader, [id for row in shown for id in (*row[1], *row[2])])
        return Answer(nodes, edges, len(rows))


def _connected(reader: Connection, limit: int) -> Answer:
    with reader.transaction(read_only=True):
        rows = reader.run(_CONNECTED, {"limit": limit, **_ACTIVE})
        counts = tuple((row[0], int(row[1])) for row in rows)
        return Answer(nodes_of(reader, [row[0] for row in rows]), [], len(rows), counts=counts)


def _orphans(reader: Connection, limit: int) -> Answer:
    with reader.transaction(read_only=True):
        ids = [row[0] for row in reader.run(_ORPHANS, {"limit": limit, **_ACTIVE})]
        total = int(reader.run(_ALL_ORPHANS, dict(_ACTIVE))[0][0])
        return Answer(nodes_of(reader, ids), [], total)


def _newest(reader: Connection, limit: int) -> Answer:
    with reader.transaction(read_only=True):
        edges = facts(reader, reader.run(_NEWEST, {"limit": limit, **_ACTIVE}))
        return Answer(_ends(reader, edges), edges, len(edges))


def _contradicted(reader: Connection, limit: int) -> Answer:
    with reader.transaction(read_only=True):
        rows = reader.run(_REPLACING, {})
        wanted = [(row[0], old) for row in rows for old in json.loads(row[-1])]
        known = {edge.id: edge for edge in _facts(reader, [old for _, old in wanted])}
        pairs = [pair for pair in wanted if pair[1] in known]  # what was forgotten is no pair
        shown = tuple(pairs[:limit])
        newer = {row[0]: row[:-1] for row in rows}
        edges = {e.id: e for e in facts(reader, [newer[id] for id in dict(shown)])}
        edges |= {old: known[old] for _, old in shown}
        found = list(edges.values())
        return Answer(_ends(reader, found), found, len(pairs), pairs=shown)


def _among(reader: Connection, ids: list[str]) -> Answer:
    with reader.transaction(read_only=True):
        nodes = nodes_of(reader, ids)
        if not nodes:
            raise NotFoundError("there is no such node in the graph")
        edges = facts(reader, reader.run(_AMONG, {"ids": [node.id for node in nodes]}))
        return Answer(nodes, edges, len(nodes))


def _known(reader: Connection, ids: list[str]) -> list[GraphNode]:
    found = nodes_of(reader, list(dict.fromkeys(ids)))
    if len(found) < len(set(ids)):
        raise NotFoundError("there is no such node in the graph")
    return found


def _facts(reader: Connection, ids: Collection[str]) -> list[GraphEdge]:
    """Facts in the order of their ids' first appearance."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return []
    found = {edge.id: edge for edge in facts(reader, reader.run(_FACTS, {"ids": wanted}))}
    return [found[id] for id in wanted if id in found]


def _ends(reader: Connection, edges: list[GraphEdge]) -> list[GraphNode]:
    return nodes_of(reader, list(dict.fromkeys(id for e in edges for id in (e.source, e.target))))
