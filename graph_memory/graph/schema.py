"""Tables of the graph, declared once: DDL, COPY and SET all follow from here.

Times are seconds since the epoch (``DOUBLE``), as in the journal, so that a value read
back equals the one written. Names of tables, columns and pairs are the only text that
is ever formatted into Cypher; values travel as parameters or in a CSV file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SCHEMA_VERSION: Final = 1
"""Raise it whenever a table or what is written into it changes: files are rebuilt."""

USER: Final = "User"
ENTITY: Final = "Entity"
SESSION: Final = "Session"
EPISODE: Final = "Episode"
KNOWS: Final = "KNOWS"
RELATED_TO: Final = "RELATED_TO"
MENTIONED_IN: Final = "MENTIONED_IN"
PARTICIPATED_IN: Final = "PARTICIPATED_IN"
PART_OF: Final = "PART_OF"

Column = tuple[str, str]

_FACT: tuple[Column, ...] = (
    ("id", "STRING"),
    ("session", "STRING"),
    ("predicate", "STRING"),
    ("statement", "STRING"),
    ("speaker", "STRING"),
    ("said_at", "DOUBLE"),
    ("recorded_at", "DOUBLE"),
    ("last_used", "DOUBLE"),
    ("half_life", "DOUBLE"),
    ("importance", "DOUBLE"),
    ("use_count", "INT64"),
    ("pinned", "BOOLEAN"),
    ("valid_from", "DOUBLE"),
    ("valid_to", "DOUBLE"),
    ("status", "STRING"),
    ("supersedes", "STRING"),
    ("archived_at", "DOUBLE"),
)


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A node table; its first column is the primary key ``id``.

    A node without a row of its own, known only because an edge ends there, has
    ``listed`` false and goes with its last edge.
    """

    name: str
    columns: tuple[Column, ...]

    @property
    def ddl(self) -> str:
        return f"CREATE NODE TABLE {self.name} ({_columns(self.columns)}, PRIMARY KEY (id))"


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """A relationship table; ``pairs`` are the labels it joins, its first column is ``id``."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]

    @property
    def ddl(self) -> str:
        pairs = ", ".join(f"FROM {source} TO {target}" for source, target in self.pairs)
        return f"CREATE REL TABLE {self.name} ({pairs}, {_columns(self.columns)})"


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{name} {type}" for name, type in columns)


NODES: Final[dict[str, NodeTable]] = {
    table.name: table
    for table in (
        NodeTable(
            USER,
            (("id", "STRING"), ("listed", "BOOLEAN"), ("name", "STRING"), ("names", "STRING")),
        ),
        NodeTable(
            ENTITY,
            (
                ("id", "STRING"),
                ("listed", "BOOLEAN"),
                ("name", "STRING"),
                ("names", "STRING"),
                ("type", "STRING"),
            ),
        ),
        NodeTable(
            SESSION,
            (
                ("id", "STRING"),
                ("listed", "BOOLEAN"),
                ("name", "STRING"),
                ("names", "STRING"),
                ("type", "STRING"),
                ("circle", "STRING"),
                ("persona", "STRING"),
                ("owner", "STRING"),
            ),
        ),
        NodeTable(
            EPISODE,
            (
                ("id", "STRING"),
                ("listed", "BOOLEAN"),
                ("session", "STRING"),
                ("level", "STRING"),
                ("started_at", "DOUBLE"),
                ("ended_at", "DOUBLE"),
                ("first_message", "INT64"),
                ("last_message", "INT64"),
                ("messages", "INT64"),
                ("summary", "STRING"),
                ("participants", "STRING"),
            ),
        ),
    )
}

EDGES: Final[dict[str, EdgeTable]] = {
    table.name: table
    for table in (
        EdgeTable(KNOWS, ((USER, ENTITY), (USER, USER)), _FACT),
        EdgeTable(RELATED_TO, ((ENTITY, ENTITY), (ENTITY, USER)), _FACT),
        EdgeTable(
            MENTIONED_IN,
            ((ENTITY, SESSION),),
            (
                ("id", "STRING"),
                ("type", "STRING"),
                ("first_at", "DOUBLE"),
                ("last_at", "DOUBLE"),
                ("mentions", "INT64"),
            ),
        ),
        EdgeTable(
            PARTICIPATED_IN,
            ((USER, SESSION),),
            (
                ("id", "STRING"),
                ("first_at", "DOUBLE"),
                ("last_at", "DOUBLE"),
                ("messages", "INT64"),
            ),
        ),
        EdgeTable(PART_OF, ((EPISODE, SESSION),), (("id", "STRING"),)),
    )
}
