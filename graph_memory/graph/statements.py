"""The Cypher that writes, put together from the names in ``schema.py`` and nothing else.

Every value is a parameter, named like its column; an edge's ends are ``$a`` and ``$b``.
"""

from __future__ import annotations

from functools import cache

from . import schema

Place = tuple[str, str, str]
"""Edge table, label of the source, label of the target."""


@cache
def put_node(label: str) -> str:
    """Make a node, or give it all its values."""
    names = [name for name, _ in schema.NODES[label].columns[1:]]
    return f"MERGE (n:{label} {{id: $id}}) SET {_assign('n', names)}"


@cache
def imply_node(label: str) -> str:
    """Make a node with these values if there is none."""
    names = [name for name, _ in schema.NODES[label].columns[1:]]
    return f"MERGE (n:{label} {{id: $id}}) ON CREATE SET {_assign('n', names)}"


@cache
def paint_node(label: str) -> str:
    """Show a user or an entity differently, if it is there."""
    names = [name for name, _ in schema.NODES[label].columns[2:]]
    return f"MATCH (n:{label} {{id: $id}}) SET {_assign('n', names)}"


@cache
def set_node(label: str) -> str:
    """Give a node all its values, if it is there."""
    names = [name for name, _ in schema.NODES[label].columns[1:]]
    return f"MATCH (n:{label} {{id: $id}}) SET {_assign('n', names)}"


@cache
def sweep_node(label: str) -> str:
    """Delete a node that has neither a row nor an edge."""
    out = [table.name for table in schema.EDGES.values() if label in _ends(table, 0)]
    into = [table.name for table in schema.EDGES.values() if label in _ends(table, 1)]
    where = "".join(
        f" AND NOT EXISTS {{ MATCH (n){left}[:{'|'.join(names)}]{right}() }}"
        for names, left, right in ((out, "-", "->"), (into, "<-", "-"))
        if names
    )
    return f"MATCH (n:{label} {{id: $id}}) WHERE NOT n.listed{where} DELETE n"


@cache
def make_edge(place: Place) -> str:
    """Make an edge between two nodes; counts 1 if both are there."""
    table, source, target = place
    values = ", ".join(f"{name}: ${name}" for name, _ in schema.EDGES[table].columns)
    return (
        f"MATCH (a:{source} {{id: $a}}), (b:{target} {{id: $b}})"
        f" CREATE (a)-[f:{table} {{{values}}}]->(b) RETURN count(*)"
    )


@cache
def set_edge(place: Place) -> str:
    """Give an edge new values; counts 1 if it is there."""
    names = [name for name, _ in schema.EDGES[place[0]].columns[1:]]
    return f"{_find_edge(place)} SET {_assign('f', names)} RETURN count(*)"


@cache
def drop_edge(place: Place) -> str:
    """Delete an edge; counts 1 if it was there."""
    return f"{_find_edge(place)} DELETE f RETURN count(*)"


def _find_edge(place: Place) -> str:
    table, source, target = place
    return f"MATCH (a:{source} {{id: $a}})-[f:{table}]->(b:{target} {{id: $b}}) WHERE f.id = $id"


def _ends(table: schema.EdgeTable, side: int) -> set[str]:
    return {pair[side] for pair in table.pairs}


def _assign(variable: str, names: list[str]) -> str:
    return ", ".join(f"{variable}.{name} = ${name}" for name in names)
