"""Kùzu database: built once from the journal's rows, then read.

Rows are spooled to one CSV file for each table and pair of labels, which Kùzu copies.
Names of tables and columns are the only text that is ever formatted into Cypher.
"""

from __future__ import annotations

import csv
import glob
import importlib.util
import json
import math
import re
import secrets
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from ..errors import GraphError
from ..model import Entity, Fact, Mention, Name, Participation, Session, User, encode, is_entity
from ..process_memory import trim_heap
from ..store import Rows
from ..text import normalise

T = TypeVar("T")
Value = str | float | int | None
NodeKey = tuple[str, str]
"""Label and id of a node."""
Edge = tuple[str, NodeKey, NodeKey, tuple[Value, ...]]
"""Table, ends, and values in the order of the table's columns."""

USER: Final = "User"
ENTITY: Final = "Entity"
SESSION: Final = "Session"
_SHOWN: Final = {"id": "STRING", "name": "STRING", "names": "STRING"}
_FACT: Final = {
    "id": "STRING",
    "session": "STRING",
    "predicate": "STRING",
    "statement": "STRING",
    "importance": "DOUBLE",
    "use_count": "INT64",
    "valid_to": "DOUBLE",
    "status": "STRING",
    "recorded_at": "DOUBLE",
    "archived_at": "DOUBLE",
    "last_used": "DOUBLE",
    "half_life": "DOUBLE",
    "pinned": "BOOLEAN",
    "supersedes": "STRING",
}
_READ: Final[dict[str, Callable[[Any], Value]]] = {
    "STRING": str, "DOUBLE": float, "INT64": int, "BOOLEAN": bool,
}  # fmt: skip
"""What a value of each type is made by: an imported row may have whole numbers."""
_TIMES: Final = {"id": "STRING", "times": "INT64"}
NODES: Final = {
    USER: _SHOWN,
    ENTITY: _SHOWN | {"type": "STRING"},
    SESSION: _SHOWN | {"type": "STRING", "circle": "STRING", "persona": "STRING"},
}
"""Type of each column by table."""
EDGES: Final = {
    "KNOWS": (_FACT, ((USER, ENTITY), (USER, USER))),
    "RELATED_TO": (_FACT, ((ENTITY, ENTITY), (ENTITY, USER))),
    "MENTIONED_IN": (_TIMES, ((ENTITY, SESSION),)),
    "PARTICIPATED_IN": (_TIMES, ((USER, SESSION),)),
}
"""The same, with the pairs of labels that a table joins."""
FEW = 200
"""Records of a table from which on they are copied from a file."""
_CHECK = 1_000  # rows between two looks at `stop`
_MAX_SIZE = 1 << 32  # bytes; the default, 8 TiB of address space, fails under ulimit
_THREADS = 2
_POOL = 128 << 20
"""Most memory for pages, bytes."""


ENGINES: Final = ("kuzu", "ladybug")
"""Packages of which one is needed, the better one first: Kùzu has no wheel for macOS and
Windows on 3.14, nor for musl; the other is its maintained fork."""


@cache
def is_available() -> bool:
    """Whether Kùzu or its fork is installed."""
    return any(map(importlib.util.find_spec, ENGINES))


@cache
def _engine() -> Any:
    """Kùzu or its fork, imported when there is something to build: it takes 4 MB."""
    try:
        import kuzu as engine
    except ImportError:
        import ladybug as engine
    return engine


class Database:
    """An open database file, new and disposable, for one thread at a time.

    ``execute(text, …)`` leaks per call, so statements are prepared once; open results pin
    the buffer pool, so each is closed at once.

    Args:
        path: A new file: opening a damaged one may hang the process.

    Raises:
        GraphError: It cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._prepared: dict[str, Any] = {}
        try:
            kuzu = _engine()
            self._database = kuzu.Database(
                path,
                buffer_pool_size=_POOL,
                max_num_threads=_THREADS,
                max_db_size=_MAX_SIZE,
                auto_checkpoint=False,
            )
            self._connection: Any = kuzu.Connection(self._database, num_threads=_THREADS)
        except (ImportError, RuntimeError, OSError, MemoryError) as error:
            raise GraphError(f"{path} cannot be opened: {_brief(error)}") from error
        with suppress(OSError):  # some file systems know no permissions
            path.chmod(0o600)
        self.run("CALL force_checkpoint_on_close=false")

    def run(self, statement: str, parameters: dict[str, Any] | None = None) -> list[list[Any]]:
        """Execute one statement, prepared if there are parameters (all that it names).

        Raises:
            GraphError: It failed.
        """
        try:
            query = statement if parameters is None else self._prepare(statement)
            with self._connection.execute(query, parameters) as result:
                rows: list[list[Any]] = result.get_all()
                return rows
        # pybind turns C++ errors into several classes, bad text into UnicodeError.
        except (RuntimeError, ValueError, TypeError, IndexError, MemoryError) as error:
            raise GraphError(f"the graph could not be asked: {_brief(error)}") from error

    def _prepare(self, statement: str) -> Any:
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = _engine().PreparedStatement(self._connection, statement)
            if not prepared.is_success():
                raise RuntimeError(prepared.get_error_message())
            self._prepared[statement] = prepared
        return prepared

    def limit(self, seconds: float) -> None:
        """Give up each statement after so many seconds."""
        self._connection.set_query_timeout(int(seconds * 1000))

    def discard(self) -> None:
        """Close it and delete its files; a query at work would crash."""
        self._prepared.clear()
        self._connection.close()
        self._database.close()
        trim_heap()  # what Kùzu's threads freed: after a day of builds, hundreds of MiB
        remove(self._path)


def remove(path: Path) -> None:
    """Delete a file that is closed, with what Kùzu put beside it, or a folder."""
    for each in (path, *path.parent.glob(f"{glob.escape(path.name)}.*")):
        with suppress(FileNotFoundError):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()


def _brief(error: BaseException) -> str:
    # Kùzu quotes values and, in COPY, whole lines: somebody's private chat.
    text = re.split("[\"'`]|Line/record", str(error))[0].strip()
    return (text.splitlines() or [type(error).__name__])[0][:200]


# ---------------------------------------------------------------- building


class Stopped(Exception):  # noqa: N818 - a request that was heard, not an error
    """The build was asked to stop."""


def build(
    path: Path, rows: Rows, canonical: Callable[[str], str], stop: threading.Event
) -> Database:
    """Build a database at ``path`` from the journal's rows; returns it open.

    If it fails, nothing is left behind.

    Args:
        canonical: Maps a merged node to its survivor.

    Raises:
        Stopped: ``stop`` was set.
        GraphError: Kùzu refused.
        OSError: The disk did.
    """
    folder = path.with_suffix(".csv")
    database: Database | None = None
    try:
        folder.mkdir(mode=0o700, parents=True)
        files = _Spool(folder)
        _spool(rows, canonical, files, stop)
        database = Database(path)
        for statement in _ddl():
            database.run(statement)
        files.load(database, stop)
    except BaseException:
        if database is not None:
            database.discard()
        raise
    finally:
        remove(folder)
    return database


def _ddl() -> Iterator[str]:
    """The statements that create the tables."""
    for name, columns in NODES.items():
        parts = [f"{column} {type}" for column, type in columns.items()]
        yield f"CREATE NODE TABLE {name} ({', '.join(parts)}, PRIMARY KEY (id))"
    for name, (columns, pairs) in EDGES.items():
        parts = [f"FROM {source} TO {target}" for source, target in pairs]
        parts += [f"{column} {type}" for column, type in columns.items()]
        yield f"CREATE REL TABLE {name} ({', '.join(parts)})"


# ---------------------------------------------------------------- from rows


@dataclass(slots=True)
class _Caption:
    """How a user or an entity is shown: newest name, all names, newest type."""

    names: set[str] = field(default_factory=set)
    name: tuple[tuple[bool, float, str], str] = ((False, -math.inf, ""), "")
    type: tuple[float, str, str] = (-math.inf, "", "")


def _spool(
    rows: Rows, canonical: Callable[[str], str], files: _Spool, stop: threading.Event
) -> None:
    captions: dict[str, _Caption] = defaultdict(_Caption)
    nodes: set[NodeKey] = set()
    for name in _watch(rows.scan(Name), stop):
        caption = captions[canonical(name.node)]
        caption.names.add(name.norm)
        caption.name = max(caption.name, (name.order, name.text))
    edges: Iterator[Fact | Mention | Participation]
    # What was told in confidence is nothing to walk along: it is for one person.
    facts = (fact for fact in rows.scan(Fact) if not fact.confidential)
    edges = chain(rows.scan(Mention), rows.scan(Participation), facts)
    for row in _watch(edges, stop):
        if isinstance(row, Mention):
            caption = captions[canonical(row.entity)]
            caption.type = max(caption.type, (float(row.last_at), row.id, row.type))
        table, source, target, values = _edge(row, canonical)
        files.write((table, source[0], target[0]), (source[1], target[1], *values))
        nodes |= {source, target}
    for session in _watch(rows.scan(Session), stop):
        nodes.discard((SESSION, session.id))
        files.write((SESSION,), _session(session))
    nodes.update((USER, row.id) for row in _watch(rows.scan(User), stop))
    nodes.update((ENTITY, canonical(row.id)) for row in _watch(rows.scan(Entity), stop))
    for label, id in nodes:
        caption = _Caption() if label == SESSION else captions[id]
        shown = (id, caption.name[1], "\n".join(sorted(caption.names)))
        rest = {USER: (), ENTITY: (caption.type[2],), SESSION: ("", "", "")}[label]
        files.write((label,), (*shown, *rest))


def _watch(rows: Iterable[T], stop: threading.Event) -> Iterator[T]:
    for count, row in enumerate(rows):
        if count % _CHECK == 0 and stop.is_set():
            raise Stopped
        yield row


def _edge(row: Fact | Mention | Participation, canonical: Callable[[str], str]) -> Edge:
    # A label follows from the row's kind if it can: a foreign id must not end elsewhere.
    if isinstance(row, Mention):
        ends = (ENTITY, canonical(row.entity)), (SESSION, row.session)
        return "MENTIONED_IN", *ends, (row.id, int(row.count))
    if isinstance(row, Participation):
        ends = (USER, row.user), (SESSION, row.session)
        return "PARTICIPATED_IN", *ends, (row.id, int(row.messages))
    source, target = (
        (ENTITY, canonical(id)) if is_entity(id) else (USER, id) for id in (row.subject, row.object)
    )
    data = encode(row) | {"supersedes": json.dumps(row.supersedes, ensure_ascii=False)}
    known = ((data[name], _READ[type]) for name, type in _FACT.items())
    values = tuple(None if value is None else read(value) for value, read in known)
    return "KNOWS" if source[0] == USER else "RELATED_TO", source, target, values


def _session(row: Session) -> tuple[Value, ...]:
    names = "\n".join(map(normalise, (row.title, row.circle, row.persona)))
    kind = "group" if row.is_group else "private"
    return row.id, row.called, names, kind, row.circle, row.persona


# ---------------------------------------------------------------- loading


class _Spool:
    """Records by table and labels: few in memory, more in CSV files of a folder.

    A few are created, in a third of the time that Kùzu takes to copy the smallest file; many
    would take ten times as long. Text is always quoted; the word for NULL is random, so that
    no text equals it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._null = secrets.token_hex(16)
        self._tables: dict[tuple[str, ...], list[tuple[Value, ...]]] = defaultdict(list)

    def write(self, table: tuple[str, ...], values: Iterable[Value]) -> None:
        """Add a record to a table: (its name, and the labels of both ends of an edge)."""
        self._tables[table].append((*values,))
        if len(self._tables[table]) >= FEW:
            self._spill(table)

    def _spill(self, table: tuple[str, ...]) -> None:
        with self._path(table).open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_STRINGS)
            writer.writerows(self._tables[table])
        self._tables[table].clear()

    def _path(self, table: tuple[str, ...]) -> Path:
        return self._folder / f"{'-'.join(table)}.csv"

    def load(self, database: Database, stop: threading.Event) -> None:
        """Create or COPY everything, nodes first."""
        for table in sorted(self._tables, key=len):
            if stop.is_set():
                raise Stopped
            if not self._path(table).exists():
                _create(database, table, self._tables[table])
                continue
            self._spill(table)
            # parallel=false: the parallel reader cannot have line ends inside a text.
            options = """header=false, auto_detect=false, parallel=false, quote='"', escape='"'"""
            options += f", null_strings=['{self._null}']"
            if len(table) > 1:
                options += f", from='{table[1]}', to='{table[2]}'"
            # Masks the signs of a glob pattern and of a Cypher literal.
            path = re.sub(r"[\[\]*?]", r"[\g<0>]", self._path(table).as_posix())
            path = path.replace("\\", "\\\\").replace("'", "\\'")
            database.run(f"COPY {table[0]} FROM '{path}' ({options})")


def _create(db: Database, table: tuple[str, ...], records: list[tuple[Value, ...]]) -> None:
    """Enter some records of a table; those of an edge begin with the ids of its ends."""
    name, *labels = table
    columns, ends = (EDGES[name][0], ["a", "b"]) if labels else (NODES[name], [])
    found = "".join(f" MATCH ({n}:{of} {{id: r.{n}}})" for n, of in zip(ends, labels, strict=True))
    # A column that is NULL everywhere has no type.
    given = ", ".join(f"{column}: CAST(r.{column} AS {type})" for column, type in columns.items())
    made = f"(a)-[:{name} {{{given}}}]->(b)" if ends else f"(:{name} {{{given}}})"
    rows = [dict(zip((*ends, *columns), values, strict=True)) for values in records]
    db.run(f"UNWIND $rows AS r{found} CREATE {made}", {"rows": rows})
