"""Tables of the graph, and what a journal row is in them (pure).

Merged entities are one node, under the id of the survivor. Times are seconds since the
epoch. Names of tables and columns are the only text that is ever formatted into Cypher;
values travel as parameters or in a CSV file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..identity import Identities
from ..model import Fact, Mention, Name, Participation, Row, Session, is_entity
from ..text import normalise

USER: Final = "User"
ENTITY: Final = "Entity"
SESSION: Final = "Session"

Value = str | float | int | None
Values = tuple[Value, ...]
NodeKey = tuple[str, str]
"""Label and id of a node."""

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
    "supersedes": "STRING",
}
_TIMES: Final = {"id": "STRING", "times": "INT64"}
_SHOWN: Final = {"id": "STRING", "name": "STRING", "names": "STRING"}


@dataclass(frozen=True, slots=True)
class Table:
    """A node table, or with ``pairs`` of labels that it joins a relationship table.

    Attributes:
        columns: Type by name; the first one is ``id``, of a node the primary key.
    """

    name: str
    columns: dict[str, str]
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def ddl(self) -> str:
        """The statement that creates it."""
        parts = [f"FROM {source} TO {target}" for source, target in self.pairs]
        parts += [f"{name} {type}" for name, type in self.columns.items()]
        if self.pairs:
            return f"CREATE REL TABLE {self.name} ({', '.join(parts)})"
        return f"CREATE NODE TABLE {self.name} ({', '.join(parts)}, PRIMARY KEY (id))"


NODES: Final = {
    USER: Table(USER, _SHOWN),
    ENTITY: Table(ENTITY, _SHOWN | {"type": "STRING"}),
    SESSION: Table(SESSION, _SHOWN | {"type": "STRING", "circle": "STRING"}),
}
KNOWS: Final = Table("KNOWS", _FACT, ((USER, ENTITY), (USER, USER)))
RELATED_TO: Final = Table("RELATED_TO", _FACT, ((ENTITY, ENTITY), (ENTITY, USER)))
MENTIONED_IN: Final = Table("MENTIONED_IN", _TIMES, ((ENTITY, SESSION),))
PARTICIPATED_IN: Final = Table("PARTICIPATED_IN", _TIMES, ((USER, SESSION),))
EDGES: Final = (KNOWS, RELATED_TO, MENTIONED_IN, PARTICIPATED_IN)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of the graph; its values are in the order of the table's columns."""

    table: Table
    source: NodeKey
    target: NodeKey
    values: Values


@dataclass(slots=True)
class Caption:
    """How a user or an entity is shown: newest name, all names, newest type."""

    names: set[str] = field(default_factory=set)
    _name: tuple[float, str, str] = (-math.inf, "", "")
    _type: tuple[float, str, str] = (-math.inf, "", "")

    def add(self, row: Name | Mention) -> None:
        """Take a row into account; the order in which they come does not matter."""
        if isinstance(row, Name):
            self.names.add(row.norm)
            self._name = max(self._name, (float(row.last_at), row.id, row.text))
        else:
            self._type = max(self._type, (float(row.last_at), row.id, row.type))

    def values(self, key: NodeKey) -> Values:
        """Values of the node that is shown so."""
        label, id = key
        shown: Values = (id, self._name[2], "\n".join(sorted(self.names)))
        return (*shown, self._type[2]) if label == ENTITY else shown


def node_key(id: str, identities: Identities) -> NodeKey:
    """Key of the node that a user's or entity's id names."""
    return (ENTITY, identities.canonical(id)) if is_entity(id) else (USER, id)


def session_values(id: str, row: Session | None) -> Values:
    """Values of a Session; without a row of its own it has its id only."""
    if row is None:
        return id, "", "", "", ""
    names = "\n".join(map(normalise, (row.title, row.circle, row.persona)))
    kind = "group" if row.is_group else "private"
    return id, row.title or row.circle, names, kind, row.circle


def edge_of(row: Row, identities: Identities) -> Edge | None:
    """The edge of a row; ``None`` for rows that are none."""
    match row:
        case Fact():
            source, target = (node_key(id, identities) for id in (row.subject, row.object))
            return Edge(KNOWS if source[0] == USER else RELATED_TO, source, target, _fact(row))
        case Mention():
            # The label follows from the row's kind: a foreign id must not end elsewhere.
            source = ENTITY, identities.canonical(row.entity)
            return Edge(MENTIONED_IN, source, (SESSION, row.session), (row.id, int(row.count)))
        case Participation():
            source, values = (USER, row.user), (row.id, int(row.messages))
            return Edge(PARTICIPATED_IN, source, (SESSION, row.session), values)
    return None


def _fact(row: Fact) -> Values:
    return (
        row.id,
        row.session,
        row.predicate,
        row.statement,
        float(row.importance),
        int(row.use_count),
        None if row.valid_to is None else float(row.valid_to),
        row.status,
        float(row.recorded_at),
        json.dumps(row.supersedes, ensure_ascii=False),
    )


def ends(edges: Iterable[Edge]) -> set[NodeKey]:
    """The nodes that edges join."""
    return {end for edge in edges for end in (edge.source, edge.target)}
