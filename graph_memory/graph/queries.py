"""What the graph is asked: canned, parameterised, read-only; run on the reader's thread.

This is the owner's view: nothing here asks who may see what.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from ..errors import NotFoundError
from ..model import Status, is_entity
from ..text import normalise
from . import schema
from .engine import Connection

_KINDS: Final = {schema.USER: "user", schema.ENTITY: "entity", schema.SESSION: "session"}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A user, an entity or a session.

    Attributes:
        kind: ``user``, ``entity`` or ``session``.
        type: Of an entity, see ``EntityType``; ``group`` or ``private`` for a session;
            empty for a user or if unknown.
        name: Newest name, or a session's title; empty if it has none.
        degree: How many edges join it to other nodes: facts, or for a session its
            people and entities.
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
        id: The fact's id.
        source, target: Ids of subject and object.
        predicate: The fact's; ``participated_in`` or ``mentioned_in`` beside a session.
        strength_count: How often it was restated; how many messages or mentions.
        valid_to: Seconds since the epoch; ``None`` if open.
        status: ``active`` or ``archived``.
        recorded_at: When it was learned, seconds since the epoch; 0 beside a session.
        superseded: Whether a newer fact replaces it, be that one archived or not.
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
class Neighbourhood:
    """What is one hop from a node.

    Attributes:
        nodes: The neighbours, those joined most strongly first; the centre is not one.
        edges: All edges between the centre and ``nodes``, and from the centre to itself.
        total: How many neighbours there are, shown or not.
    """

    centre: GraphNode
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int


_FACTS: Final = "(n)-[f:KNOWS|RELATED_TO]-(m:User:Entity)"
_PRESENCE: Final = "(n)<-[f:PARTICIPATED_IN|MENTIONED_IN]-(m:User:Entity)"
_DEGREES: Final = (
    "RETURN n.id, label(n) AS kind, n.type, n.name, count(f.id) AS degree"
    " ORDER BY degree DESC, n.id LIMIT $limit"
)
_CENTRE: Final = {
    schema.USER: f"MATCH (n:User {{id: $id}}) OPTIONAL MATCH {_FACTS} WHERE m.id <> n.id"
    " RETURN n.id, label(n), '', n.name, count(f.id)",
    schema.ENTITY: f"MATCH (n:Entity {{id: $id}}) OPTIONAL MATCH {_FACTS} WHERE m.id <> n.id"
    " RETURN n.id, label(n), n.type, n.name, count(f.id)",
    schema.SESSION: f"MATCH (n:Session {{id: $id}}) OPTIONAL MATCH {_PRESENCE}"
    " RETURN n.id, label(n), n.type, n.name, count(f.id)",
}
# The neighbours' own degree is one query for all: a loop would cost a query for each.
_DEGREES_OF: Final = (
    f"MATCH (n:User:Entity) WHERE n.id IN $ids OPTIONAL MATCH {_FACTS} WHERE m.id <> n.id"
    " RETURN n.id, label(n), n.type, n.name, count(f.id)"
)
_RANKED: Final = (
    " RETURN m.id, max(CASE WHEN f.status = $active THEN 1 ELSE 0 END) AS active,"
    " count(*) AS facts, max(f.importance) AS weight ORDER BY active DESC, facts DESC,"
    " weight DESC, m.id"
)
_NEIGHBOURS: Final = {
    label: f"MATCH (n:{label} {{id: $id}})-[f:KNOWS|RELATED_TO]-(m:User:Entity)"
    f" WHERE m.id <> $id{_RANKED}"
    for label in (schema.USER, schema.ENTITY)
}
_VISITORS: Final = (
    f"MATCH (n:Session {{id: $id}}) MATCH {_PRESENCE} RETURN m.id,"
    " coalesce(f.messages, 0) + coalesce(f.mentions, 0) AS times ORDER BY times DESC, m.id"
)
FIELDS: Final = (
    "f.predicate, f.statement, f.importance, f.use_count, f.valid_to, f.status, f.recorded_at"
)
"""Of a fact, what :func:`facts` makes an edge of, after its id and those of its ends."""
_REPLACED: Final = (
    "MATCH ()-[f:KNOWS|RELATED_TO]->() WHERE f.supersedes <> '[]' RETURN f.supersedes"
)
_OUT: Final = {
    label: f"MATCH (n:{label} {{id: $id}})-[f:KNOWS|RELATED_TO]->(m:User:Entity)"
    f" WHERE m.id IN $ids OR m.id = $id RETURN f.id, n.id, m.id, {FIELDS} ORDER BY f.id"
    for label in (schema.USER, schema.ENTITY)
}
_IN: Final = {
    label: f"MATCH (n:{label} {{id: $id}})<-[f:KNOWS|RELATED_TO]-(m:User:Entity)"
    f" WHERE m.id IN $ids AND m.id <> $id RETURN f.id, m.id, n.id, {FIELDS} ORDER BY f.id"
    for label in (schema.USER, schema.ENTITY)
}
_VISITS: Final = (
    f"MATCH (n:Session {{id: $id}}) MATCH {_PRESENCE} WHERE m.id IN $ids"
    " RETURN f.id, m.id, lower(label(f)), coalesce(f.messages, 0) + coalesce(f.mentions, 0)"
    " ORDER BY f.id"
)
_ALL_NODES: Final = f"MATCH (n:User:Entity) OPTIONAL MATCH {_FACTS} WHERE m.id <> n.id {_DEGREES}"
_FOUND_NODES: Final = (
    "MATCH (n:User:Entity) WHERE n.names CONTAINS $norm OR (label(n) = 'User' AND n.id CONTAINS"
    f" $text) OPTIONAL MATCH {_FACTS} WHERE m.id <> n.id {_DEGREES}"
)
_ALL_SESSIONS: Final = f"MATCH (n:Session) OPTIONAL MATCH {_PRESENCE} {_DEGREES}"
_FOUND_SESSIONS: Final = (
    f"MATCH (n:Session) WHERE n.names CONTAINS $norm OPTIONAL MATCH {_PRESENCE} {_DEGREES}"
)


def neighbourhood(reader: Connection, id: str, limit: int) -> Neighbourhood:
    """See ``GraphStore.neighbourhood``."""
    with reader.transaction(read_only=True):
        label, centre = _centre(reader, id)
        if label == schema.SESSION:
            ranked = reader.run(_VISITORS, {"id": id})
        else:
            ranked = reader.run(_NEIGHBOURS[label], {"id": id, "active": Status.ACTIVE.value})
        others = list(dict.fromkeys(row[0] for row in ranked))
        shown = others[: max(0, limit)]
        return Neighbourhood(
            centre, nodes_of(reader, shown), _edges(reader, label, id, shown), len(others)
        )


def _centre(reader: Connection, id: str) -> tuple[str, GraphNode]:
    # A user's id could read like a session's, never the other way round: users first.
    likely = (schema.ENTITY,) if is_entity(id) else (schema.USER, schema.SESSION, schema.ENTITY)
    for label in likely:
        if found := reader.run(_CENTRE[label], {"id": id}):
            return label, _node(found[0])
    raise NotFoundError("there is no such node in the graph")


def nodes_of(reader: Connection, ids: Collection[str]) -> list[GraphNode]:
    """The users and entities with some ids, in their order; unknown ones are left out."""
    if not ids:  # Kùzu cannot tell the type of an empty list
        return []
    found = {row[0]: _node(row) for row in reader.run(_DEGREES_OF, {"ids": list(ids)})}
    return [found[id] for id in ids if id in found]


def _edges(reader: Connection, label: str, id: str, others: list[str]) -> list[GraphEdge]:
    parameters = {"id": id, "ids": others or [id]}
    if label == schema.SESSION:
        return [
            GraphEdge(edge, other, id, kind, "", 0.0, int(times), None, Status.ACTIVE.value)
            for edge, other, kind, times in reader.run(_VISITS, parameters)
        ]
    return facts(
        reader, [*reader.run(_OUT[label], parameters), *reader.run(_IN[label], parameters)]
    )


def facts(reader: Connection, rows: Iterable[Iterable[Any]]) -> list[GraphEdge]:
    """Edges of rows of id, source, target and :data:`FIELDS`."""
    edges = [GraphEdge(*row) for row in rows]
    if not edges:
        return []
    gone = {old for (listed,) in reader.run(_REPLACED, {}) for old in json.loads(listed)}
    return [replace(edge, superseded=True) if edge.id in gone else edge for edge in edges]


def nodes(reader: Connection, query: str, limit: int) -> list[GraphNode]:
    """See ``GraphStore.nodes``."""
    norm = normalise(query)
    page = {"limit": max(0, limit)}
    with reader.transaction(read_only=True):
        if not norm:  # nothing contains the empty text, says Kùzu
            people, sessions = reader.run(_ALL_NODES, page), reader.run(_ALL_SESSIONS, page)
        else:
            wanted = {"norm": norm, "text": query.strip(), **page}
            people = reader.run(_FOUND_NODES, wanted)
            del wanted["text"]
            sessions = reader.run(_FOUND_SESSIONS, wanted)
    return [_node(row) for row in (*people, *sessions)][: max(0, limit)]


def _node(row: Iterable[object]) -> GraphNode:
    id, label, type, name, degree = row
    return GraphNode(str(id), _KINDS[str(label)], str(type or ""), str(name), int(str(degree)))


_COUNTS: Final = {
    **{
        name: f"MATCH (n:{label}) RETURN count(*)"
        for name, label in (
            ("users", schema.USER),
            ("entities", schema.ENTITY),
            ("sessions", schema.SESSION),
            ("episodes", schema.EPISODE),
        )
    },
    **{table.lower(): f"MATCH ()-[f:{table}]->() RETURN count(*)" for table in schema.EDGES},
}
_ARCHIVED: Final = "MATCH ()-[f:KNOWS|RELATED_TO]->() WHERE f.status = $status RETURN count(*)"


def statistics(reader: Connection) -> dict[str, int]:
    """See ``GraphStore.statistics``."""
    with reader.transaction(read_only=True):
        counts = {name: int(reader.run(query)[0][0]) for name, query in _COUNTS.items()}
        archived = reader.run(_ARCHIVED, {"status": Status.ARCHIVED.value})
    return {**counts, "archived": int(archived[0][0])}
