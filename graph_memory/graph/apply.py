"""Changes applied to an open graph, in one transaction, by parameterised Cypher only.

Several changes count as one: of each row only what stood there first and what stands
there last matters. An edge that should be there and is not means that graph and
journal have parted; that is an error, and errors are answered by building anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import GraphError
from ..identity import Identities
from ..model import (
    Change,
    Entity,
    Episode,
    Mention,
    Merge,
    Name,
    Op,
    Participation,
    Row,
    Session,
    User,
    decode,
)
from . import records, schema, statements
from .engine import Connection
from .records import Edge, NodeKey, Portrait, Value, Values

_PORTRAYED = (schema.USER, schema.ENTITY)


@dataclass(slots=True)
class Delta:
    """What changes amount to, read off their rows.

    Attributes:
        put, drop: Nodes that have a row now, with their row; that have none any more.
        gone: Edges to delete.
        kept: Edges that stay where they are, with new values.
        new: Edges to make.
        painted: Users and entities whose portrait may have changed, or that may be new.
        anew: Whether nodes become one, or come apart: then the graph has to be built anew.
    """

    put: dict[NodeKey, Row] = field(default_factory=dict)
    drop: set[NodeKey] = field(default_factory=set)
    gone: list[Edge] = field(default_factory=list)
    kept: list[Edge] = field(default_factory=list)
    new: list[Edge] = field(default_factory=list)
    painted: set[NodeKey] = field(default_factory=set)
    anew: bool = False

    @staticmethod
    def ends(edges: Iterable[Edge]) -> set[NodeKey]:
        """The nodes that edges join."""
        return {end for edge in edges for end in (edge.source, edge.target)}

    @property
    def size(self) -> int:
        """How many statements it takes, roughly."""
        edges = len(self.gone) + len(self.kept) + len(self.new)
        return len(self.put) + len(self.drop) + edges + len(self.painted)


def delta(changes: Iterable[Change], identities: Identities) -> Delta:
    """The net effect of consecutive changes.

    Args:
        identities: Which nodes are one in the graph.
    """
    net: dict[tuple[str, str], Op] = {}
    for change in changes:
        for op in change.ops:
            first = net.get((op.kind, op.id))
            stood = first.before if first else op.before
            net[op.kind, op.id] = Op(op.kind, op.id, stood, op.after)
    found = Delta()
    for op in net.values():
        if op.before != op.after:
            before = None if op.before is None else decode(op.kind, op.before)
            after = None if op.after is None else decode(op.kind, op.after)
            _add_node(found, before, after, identities)
            _add_edge(found, before, after, identities)
    return found


def _add_node(found: Delta, before: Row | None, after: Row | None, identities: Identities) -> None:
    for row in (before, after):
        match row:
            case Name():
                found.painted.add(records.person_or_thing(row.node, identities))
            case Mention():
                found.painted.add((schema.ENTITY, identities.canonical(row.entity)))
            case Participation():
                found.painted.add((schema.USER, row.user))
            case Merge():
                found.anew = True
            case User() | Entity() | Session() | Episode():
                label = type(row).__name__
                id = identities.canonical(row.id) if label == schema.ENTITY else row.id
                if label in _PORTRAYED:
                    found.painted.add((label, id))
                if after is None:
                    found.drop.add((label, id))
                    # Whether one of the others has a row is more than a change tells.
                    found.anew |= label == schema.ENTITY and len(identities.nodes(id)) > 1
                elif row is after:
                    found.put[label, id] = row


def _add_edge(found: Delta, before: Row | None, after: Row | None, identities: Identities) -> None:
    old = records.edge(before, identities) if before else None
    new = records.edge(after, identities) if after else None
    if old and new and old.place == new.place:
        if old.values != new.values:
            found.kept.append(new)
        return
    if old:
        found.gone.append(old)
    if new:
        found.new.append(new)
        found.painted.update(end for end in (new.source, new.target) if end[0] in _PORTRAYED)


def apply(connection: Connection, delta: Delta, portraits: Mapping[str, Portrait]) -> None:
    """Write a delta, all of it or nothing.

    Args:
        connection: The graph's writer.
        delta: Of the changes that follow what the graph holds.
        portraits: Of everything in ``delta.painted``, by id.

    Raises:
        GraphError: Kùzu refused, or the graph is not what the changes take it to be.
    """
    with connection.transaction():
        # What is there is changed before anything is added: inside a transaction Kùzu
        # has been seen to find an edge that it has just made twice.
        for edge in delta.kept:
            _run_edge(connection, statements.set_edge, edge, edge.values)
        for edge in delta.gone:
            _run_edge(connection, statements.drop_edge, edge, edge.values[:1])
        for key in sorted(delta.ends(delta.new) - delta.put.keys()):
            values = _unlisted(key, portraits)
            connection.run(statements.imply_node(key[0]), _node_parameters(key, values))
        for key, row in delta.put.items():
            connection.run(
                statements.put_node(key[0]), _node_parameters(key, _values(key, row, portraits))
            )
        for key in sorted(delta.painted - delta.put.keys()):
            parameters = _node_parameters(key, _unlisted(key, portraits))
            del parameters["listed"]
            connection.run(statements.paint_node(key[0]), parameters)
        for edge in delta.new:
            _run_edge(connection, statements.make_edge, edge, edge.values)
        for key in sorted(delta.drop):
            values = _unlisted(key, portraits)
            connection.run(statements.set_node(key[0]), _node_parameters(key, values))
        for label, id in sorted(delta.drop | delta.ends(delta.gone)):
            connection.run(statements.sweep_node(label), {"id": id})


def _values(key: NodeKey, row: Row, portraits: Mapping[str, Portrait]) -> Values:
    match row:
        case Session():
            return records.session_values(row)
        case Episode():
            return records.episode_values(row)
        case _:
            return records.portrait_values(key, portraits[key[1]], True)


def _unlisted(key: NodeKey, portraits: Mapping[str, Portrait]) -> Values:
    if key[0] in _PORTRAYED:
        return records.portrait_values(key, portraits[key[1]], False)
    return records.unlisted(key)


def _node_parameters(key: NodeKey, values: Values) -> dict[str, Value]:
    return dict(zip((name for name, _ in schema.NODES[key[0]].columns), values, strict=True))


def _run_edge(
    connection: Connection, statement: Callable[[statements.Place], str], edge: Edge, values: Values
) -> None:
    columns = schema.EDGES[edge.table].columns[: len(values)]
    parameters: dict[str, Value] = dict(zip((name for name, _ in columns), values, strict=True))
    parameters |= {"a": edge.source[1], "b": edge.target[1]}
    place = edge.table, edge.source[0], edge.target[0]
    found = connection.run(statement(place), parameters)
    if found != [[1]]:
        raise GraphError(f"the graph has {found} edges {edge.table} {values[0]}, not one")
