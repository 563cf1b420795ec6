"""A new graph file from the journal's rows, by COPY from CSV.

The rows are read once, in a snapshot, and spooled to one CSV file for each table and
pair of labels. Text is always quoted; the word for a missing text is a random one, so
that no text, the empty one included, can be taken for it.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TypeVar

from ..identity import Identities
from ..journal import Rows
from ..model import Entity, Episode, Fact, Mention, Name, Participation, Row, Session, User
from . import records, schema, seal
from .engine import Connection, Engine
from .records import Edge, NodeKey, Portrait, Value, Values

T = TypeVar("T")
_CHECK = 1_000  # rows between two looks at `stop`


class Stopped(Exception):  # noqa: N818 - a request that was heard, not an error
    """The build was asked to stop."""


def build(path: Path, rows: Rows, buffer_pool_mb: int, stop: threading.Event) -> Engine:
    """Make a database at ``path`` (which must not exist) and return it, open.

    Args:
        path: The new file; the CSV files go into a folder beside it.
        rows: The journal's rows as of one change.
        buffer_pool_mb: See ``Engine``.
        stop: When set, the build ends early.

    Raises:
        Stopped: ``stop`` was set; nothing is left behind.
        GraphError: Kùzu refused; nothing is left behind.
        OSError: The disk did; nothing is left behind.
    """
    folder = seal.spool(path)
    engine: Engine | None = None
    done = False
    try:
        folder.mkdir(mode=0o700, parents=True)
        engine = Engine(path, buffer_pool_mb)
        for node in schema.NODES.values():
            engine.writer.run(node.ddl)
        for edge in schema.EDGES.values():
            engine.writer.run(edge.ddl)
        with _Spool(folder) as files:
            _spool(rows, files, stop)
        files.load(engine.writer, stop)
        done = True
        return engine
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not done:
            if engine is not None:
                engine.close()
            seal.discard(path)


def _spool(rows: Rows, files: _Spool, stop: threading.Event) -> None:
    identities = rows.identities()
    portraits: dict[str, Portrait] = defaultdict(Portrait)
    pending: set[NodeKey] = set()  # ends of edges, until their own row turns up

    def ends(edge: Edge) -> None:
        pending.update((edge.source, edge.target))

    for name in _watch(rows.scan(Name), stop):
        portraits[identities.canonical(name.node)].add(name)
    for mention in _watch(rows.scan(Mention), stop):
        portraits[identities.canonical(mention.entity)].add(mention)
        ends(files.edge(mention, identities))
    for part in _watch(rows.scan(Participation), stop):
        ends(files.edge(part, identities))
    for fact in _watch(rows.scan(Fact), stop):
        ends(files.edge(fact, identities))
    for episode in _watch(rows.scan(Episode), stop):
        pending.add(files.edge(episode, identities).target)
        files.node((schema.EPISODE, episode.id), records.episode_values(episode))
    for session in _watch(rows.scan(Session), stop):
        pending.discard(key := (schema.SESSION, session.id))
        files.node(key, records.session_values(session))
    nodes: list[tuple[str, Iterable[User | Entity]]] = [
        (schema.USER, rows.scan(User)),
        (schema.ENTITY, rows.scan(Entity)),
    ]
    merged: set[NodeKey] = set()
    for label, found in nodes:
        for row in _watch(found, stop):
            if len(identities.nodes(row.id)) > 1:
                merged.add((label, identities.canonical(row.id)))
                continue
            pending.discard(key := (label, row.id))
            files.node(key, records.portrait_values(key, portraits[row.id], True))
    for key in sorted(merged):
        pending.discard(key)
        files.node(key, records.portrait_values(key, portraits[key[1]], True))
    for key in sorted(pending):
        values = records.unlisted(key)
        if key[0] in (schema.USER, schema.ENTITY):
            values = records.portrait_values(key, portraits[key[1]], False)
        files.node(key, values)


def _watch(rows: Iterable[T], stop: threading.Event) -> Iterator[T]:
    for count, row in enumerate(rows):
        if count % _CHECK == 0 and stop.is_set():
            raise Stopped
        yield row


class _Spool:
    """CSV files in a folder: one for each node table, one for each pair of an edge table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._null = secrets.token_hex(16)
        self._open: dict[tuple[str, ...], IO[str]] = {}

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.close()

    def node(self, key: NodeKey, values: Values) -> None:
        """Add a node."""
        self._write((key[0],), values)

    def edge(self, row: Row, identities: Identities) -> Edge:
        """Add the edge of a row that has one, and return it."""
        edge = records.edge(row, identities)
        if edge is None:
            raise TypeError(f"{row.kind} rows are not edges")
        ends = (edge.source[1], edge.target[1])
        self._write((edge.table, edge.source[0], edge.target[0]), (*ends, *edge.values))
        return edge

    def _write(self, table: tuple[str, ...], values: Values) -> None:
        file = self._open.get(table)
        if file is None:
            path = self._folder / f"{'-'.join(table)}.csv"
            file = self._open[table] = path.open("w", encoding="utf-8", newline="")
        file.write(",".join(map(_cell, values)) + "\n")

    def load(self, connection: Connection, stop: threading.Event) -> None:
        """COPY everything, nodes first. The files must be closed."""
        for table in sorted(self._open, key=len):
            if stop.is_set():
                raise Stopped
            path = _literal(self._folder / f"{'-'.join(table)}.csv")
            # parallel=false: the parallel reader cannot have line ends inside a text.
            options = (
                "header=false, auto_detect=false, parallel=false, "
                f"""quote='"', escape='"', null_strings=['{self._null}']"""
            )
            if len(table) > 1:
                options += f", from='{table[1]}', to='{table[2]}'"
            connection.run(f"COPY {table[0]} FROM {path} ({options})")


def _cell(value: Value) -> str:
    match value:
        case None:
            return ""  # only numbers may be missing; for them nothing reads as NULL
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace('"', '""') + '"'
        case _:
            return repr(value)


def _literal(path: Path) -> str:
    """A path as a Cypher literal; Kùzu takes it for a pattern, so its signs are masked."""
    masked = re.sub(r"[\[\]*?]", r"[\g<0>]", path.as_posix())
    return "'" + masked.replace("\\", "\\\\").replace("'", "\\'") + "'"
