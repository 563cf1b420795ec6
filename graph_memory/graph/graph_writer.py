"""Writing rows into a graph: all of them by COPY, what changed by Cypher.

A new file is made from a snapshot of the journal, spooled to one CSV file for each table
and pair of labels. Later changes are replayed from the rows as they stand now: the edges
of touched rows are deleted and made again. What cannot be had so (nodes that vanish,
become one or come apart) takes a new file.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Final, TypeVar

from ..errors import GraphError
from ..identity import Identities
from ..model import (
    Change,
    Entity,
    Fact,
    Mention,
    Merge,
    Name,
    Participation,
    Row,
    Session,
    User,
)
from ..store import Rows
from .database import Connection, Database, remove
from .graph_schema import (
    EDGES,
    ENTITY,
    NODES,
    SESSION,
    USER,
    Caption,
    Edge,
    NodeKey,
    Table,
    Value,
    Values,
    edge_of,
    ends,
    node_key,
    session_values,
)

T = TypeVar("T")
_CHECK = 1_000  # rows between two looks at `stop`
_EDGES: Final = (Mention, Participation, Fact)
_NODES: Final = {USER: User, ENTITY: Entity, SESSION: Session}
_KINDS: Final[dict[str, type[Row]]] = {
    cls.kind: cls for cls in (*_EDGES, User, Entity, Session, Name, Merge)
}


class Stopped(Exception):  # noqa: N818 - a request that was heard, not an error
    """The build was asked to stop."""


# --------------------------------------------------------------- a whole new file


def build(path: Path, rows: Rows, buffer_pool_mb: int, stop: threading.Event) -> Database:
    """Make a database at ``path`` (which must not exist) and return it, open.

    Args:
        path: The new file; the CSV files go into a folder beside it.
        rows: The journal's rows as of one change.
        buffer_pool_mb: See ``Database``.
        stop: When set, the build ends early.

    Raises:
        Stopped: ``stop`` was set; nothing is left behind.
        GraphError: Kùzu refused; nothing is left behind.
        OSError: The disk did; nothing is left behind.
    """
    folder = path.with_suffix(".csv")
    database: Database | None = None
    try:
        folder.mkdir(mode=0o700, parents=True)
        with _Spool(folder) as files:
            _spool(rows, files, stop)
        database = Database(path, buffer_pool_mb)
        for table in (*NODES.values(), *EDGES):
            database.writer.run(table.ddl)
        files.load(database.writer, stop)
    except BaseException:
        if database is not None:
            database.discard()
        raise
    finally:
        remove(folder)
    return database


def _spool(rows: Rows, files: _Spool, stop: threading.Event) -> None:
    identities = rows.identities()
    captions: dict[str, Caption] = defaultdict(Caption)
    nodes: set[NodeKey] = set()
    for name in _watch(rows.scan(Name), stop):
        captions[identities.canonical(name.node)].add(name)
    for kind in _EDGES:
        for row in _watch(rows.scan(kind), stop):
            if isinstance(row, Mention):
                captions[identities.canonical(row.entity)].add(row)
            nodes |= files.edge(row, identities)
    for session in _watch(rows.scan(Session), stop):
        nodes.discard((SESSION, session.id))
        files.write(NODES[SESSION], session_values(session.id, session))
    nodes.update((USER, row.id) for row in _watch(rows.scan(User), stop))
    nodes.update((ENTITY, identities.canonical(row.id)) for row in _watch(rows.scan(Entity), stop))
    for key in nodes:
        bare = key[0] == SESSION
        values = session_values(key[1], None) if bare else captions[key[1]].values(key)
        files.write(NODES[key[0]], values)


def _watch(rows: Iterable[T], stop: threading.Event) -> Iterator[T]:
    for count, row in enumerate(rows):
        if count % _CHECK == 0 and stop.is_set():
            raise Stopped
        yield row


class _Spool(ExitStack):
    """CSV files in a folder, one for each table and pair of labels.

    Text is always quoted; the word for a missing text is a random one, so that no text,
    the empty one included, can be taken for it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._null = secrets.token_hex(16)
        self._files: dict[tuple[str, ...], IO[str]] = {}

    def edge(self, row: Row, identities: Identities) -> set[NodeKey]:
        """Add the edge of a row that has one, and return its ends."""
        edge = edge_of(row, identities)
        if edge is None:
            raise TypeError(f"{row.kind} rows are not edges")
        (source, a), (target, b) = edge.source, edge.target
        self.write(edge.table, (a, b, *edge.values), source, target)
        return {edge.source, edge.target}

    def write(self, table: Table, values: Values, *labels: str) -> None:
        """Add a record to a table, of an edge with the labels of its ends."""
        key = (table.name, *labels)
        file = self._files.get(key)
        if file is None:
            opened = self._path(key).open("w", encoding="utf-8", newline="")
            file = self._files[key] = self.enter_context(opened)
        file.write(",".join(map(_cell, values)) + "\n")

    def _path(self, table: tuple[str, ...]) -> Path:
        return self._folder / f"{'-'.join(table)}.csv"

    def load(self, connection: Connection, stop: threading.Event) -> None:
        """COPY everything, nodes first. The files must be closed."""
        for table in sorted(self._files, key=len):
            if stop.is_set():
                raise Stopped
            # parallel=false: the parallel reader cannot have line ends inside a text.
            options = (
                "header=false, auto_detect=false, parallel=false, "
                f"""quote='"', escape='"', null_strings=['{self._null}']"""
            )
            if len(table) > 1:
                options += f", from='{table[1]}', to='{table[2]}'"
            path = _literal(self._path(table))
            connection.run(f"COPY {table[0]} FROM {path} ({options})")


def _cell(value: Value) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return "" if value is None else repr(value)  # for numbers nothing reads as NULL


def _literal(path: Path) -> str:
    """A path as a Cypher literal; the signs of a glob pattern are masked."""
    masked = re.sub(r"[\[\]*?]", r"[\g<0>]", path.as_posix())
    return "'" + masked.replace("\\", "\\\\").replace("'", "\\'") + "'"


# --------------------------------------------------------------- changes


@dataclass(slots=True)
class Patch:
    """What changes amount to in an open graph.

    Attributes:
        touched: Rows whose edges are to be made again, by kind and id.
        nodes: Nodes to be shown as their rows say now; those that must exist are true.
        edges: The edges that touched rows have now.
        values: Of all ``nodes``.
        needs_build: Whether only a new file will do.
    """

    touched: set[tuple[str, str]] = field(default_factory=set)
    nodes: dict[NodeKey, bool] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    values: dict[NodeKey, Values] = field(default_factory=dict)
    needs_build: bool = False


def patch_of(rows: Rows, changes: Iterable[Change], identities: Identities, most: int) -> Patch:
    """What consecutive changes amount to. Runs on the journal's thread.

    The rows may be newer than the changes: the change that brought that comes later and
    reads them again, so what stands in the end is right.

    Args:
        identities: Which nodes are one in the graph.
        most: Rows and nodes up to which a patch is better than a new file.
    """
    patch, gone = Patch(), set[NodeKey]()
    for op in (op for change in changes for op in change.ops):
        if op.kind in _KINDS:
            gone |= _touch(patch, op.was, op.row, identities)
    patch.needs_build |= len(patch.touched) + len(patch.nodes) > most
    if patch.needs_build:
        return patch
    for kind, id in sorted(patch.touched):
        row = rows.get(_KINDS[kind], id)
        if row is not None and (edge := edge_of(row, identities)):
            patch.edges.append(edge)
    patch.nodes |= dict.fromkeys(ends(patch.edges), True)
    for key in patch.nodes.keys() | gone:
        is_listed, values = _read(rows, key, identities)
        patch.needs_build |= key in gone and not is_listed
        if key in patch.nodes:
            patch.nodes[key] |= is_listed
            patch.values[key] = values
    return patch


def _touch(
    patch: Patch, before: Row | None, after: Row | None, identities: Identities
) -> set[NodeKey]:
    """Note what an alteration touches; returns the ends of an edge that is no more."""
    gone: set[NodeKey] = set()
    edges = [edge_of(row, identities) if row else None for row in (before, after)]
    if edges[0] != edges[1]:
        row = before or after
        assert row is not None
        patch.touched.add((row.kind, row.id))
        old, new = (ends([edge] if edge else []) for edge in edges)
        gone = old - new
    for row in (before, after):
        match row:
            case Merge():
                patch.needs_build = True
            case User() | Entity() | Session():
                patch.needs_build |= after is None
                label = type(row).__name__
                patch.nodes.setdefault((label, identities.canonical(row.id)), False)
            case Name():
                patch.nodes.setdefault(node_key(row.node, identities), False)
            case Mention():
                patch.nodes.setdefault((ENTITY, identities.canonical(row.entity)), False)
    return gone


def _read(rows: Rows, key: NodeKey, identities: Identities) -> tuple[bool, Values]:
    """Whether a node has a row of its own, and its values."""
    label, id = key
    if label == SESSION:
        session = rows.get(Session, id)
        return session is not None, session_values(id, session)
    caption, is_listed = Caption(), False
    for node in identities.nodes(id):
        is_listed |= rows.get(_NODES[label], node) is not None
        for name in rows.find(Name, a=node):
            caption.add(name)
        for mention in rows.find(Mention, a=node):
            caption.add(mention)
    return is_listed, caption.values(key)


def apply(connection: Connection, patch: Patch) -> None:
    """Write a patch, all of it or nothing.

    Raises:
        GraphError: Kùzu refused, or did not do what it was told: of edges that are deleted
            and made again several times, 0.11.3 leaves one behind.
    """
    ids = sorted(id for _, id in patch.touched)
    with connection.transaction():
        for table in EDGES if ids else ():
            connection.run(_drop_edges(table.name), {"ids": ids})
        for key, exists in patch.nodes.items():
            names = NODES[key[0]].columns
            parameters = dict(zip(names, patch.values[key], strict=True))
            connection.run(_put_node(key[0], exists), parameters)
        for edge in patch.edges:
            place = edge.table.name, edge.source[0], edge.target[0]
            parameters = dict(zip(edge.table.columns, edge.values, strict=True))
            parameters |= {"a": edge.source[1], "b": edge.target[1]}
            connection.run(_make_edge(*place, tuple(edge.table.columns)), parameters)
        tables = EDGES if ids else ()
        found = [connection.run(_count_edges(table.name), {"ids": ids})[0][0] for table in tables]
        if sum(found) != len(patch.edges):
            raise GraphError(f"{sum(found)} edges where there should be {len(patch.edges)}")


@cache
def _drop_edges(table: str) -> str:
    return f"MATCH ()-[f:{table}]->() WHERE f.id IN $ids DELETE f"


@cache
def _count_edges(table: str) -> str:
    return f"MATCH ()-[f:{table}]->() WHERE f.id IN $ids RETURN count(f)"


@cache
def _put_node(label: str, exists: bool) -> str:
    """Give a node all its values; make it if it must exist."""
    names = list(NODES[label].columns)[1:]
    values = ", ".join(f"n.{name} = ${name}" for name in names)
    return f"{'MERGE' if exists else 'MATCH'} (n:{label} {{id: $id}}) SET {values}"


@cache
def _make_edge(table: str, source: str, target: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f"{name}: ${name}" for name in columns)
    ends = f"(a:{source} {{id: $a}}), (b:{target} {{id: $b}})"
    return f"MATCH {ends} CREATE (a)-[f:{table} {{{values}}}]->(b)"
