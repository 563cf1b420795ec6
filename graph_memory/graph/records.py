"""What a journal row is in the graph: pure functions, used by build, apply and check.

Merged entities are one node, under the id of the survivor.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..identity import Identities
from ..journal import Rows
from ..model import Episode, Fact, Mention, Name, Participation, Row, Session, is_entity
from ..text import normalise
from . import schema

Value = str | float | int | bool | None
Values = tuple[Value, ...]
NodeKey = tuple[str, str]
"""Label and id of a node."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge record.

    Attributes:
        table: Name of its table.
        source, target: Label and id of its ends.
        values: In the order of the table's columns.
    """

    table: str
    source: NodeKey
    target: NodeKey
    values: Values

    @property
    def place(self) -> tuple[str, NodeKey, NodeKey]:
        """What cannot be altered, only deleted and made anew."""
        return self.table, self.source, self.target


@dataclass(slots=True)
class Portrait:
    """How a user or an entity is shown: put together from its names and mentions.

    Attributes:
        name: The newest name; empty if it has none.
        names: All names, normalised, for searching.
        type: The newest mention's type; empty if there is none.
    """

    name: str = ""
    names: set[str] = field(default_factory=set)
    type: str = ""
    _named: tuple[float, str] | None = field(default=None, init=False)
    _typed: tuple[float, str] | None = field(default=None, init=False)

    def add(self, row: Name | Mention) -> None:
        """Take a row into account; the order in which they come does not matter."""
        stamp = (float(row.last_at), row.id)
        if isinstance(row, Name):
            self.names.add(row.norm)
            if self._named is None or stamp > self._named:
                self._named, self.name = stamp, row.text
        elif self._typed is None or stamp > self._typed:
            self._typed, self.type = stamp, row.type

    @property
    def search(self) -> str:
        """The text that a search for names looks into."""
        return "\n".join(sorted(self.names))


def person_or_thing(id: str, identities: Identities) -> NodeKey:
    """Key of the node that a user's or entity's id names."""
    return (schema.ENTITY, identities.canonical(id)) if is_entity(id) else (schema.USER, id)


def portraits(rows: Rows, ids: Iterable[str], identities: Identities) -> dict[str, Portrait]:
    """Portraits of users and entities. Runs on the journal's thread."""
    found: dict[str, Portrait] = {}
    for id in ids:
        portrait = found[id] = Portrait()
        for node in identities.nodes(id):
            for name in rows.find(Name, a=node):
                portrait.add(name)
            for mention in rows.find(Mention, a=node):
                portrait.add(mention)
    return found


def portrait_values(key: NodeKey, portrait: Portrait, listed: bool) -> Values:
    """Values of a user or an entity."""
    label, id = key
    values: Values = (id, listed, portrait.name, portrait.search)
    return (*values, portrait.type) if label == schema.ENTITY else values


def session_values(row: Session) -> Values:
    """Values of a Session."""
    kind = "group" if row.is_group else "private"
    name = row.title or row.circle
    names = "\n".join(map(normalise, (row.title, row.circle, row.persona)))
    return row.id, True, name, names, kind, row.circle, row.persona, row.owner


def unlisted(key: NodeKey) -> Values:
    """Values of a node that has no row: its id, and what reads as nothing."""
    columns = schema.NODES[key[0]].columns
    empty: dict[str, Value] = {"STRING": "", "BOOLEAN": False, "DOUBLE": 0.0, "INT64": 0}
    return (key[1], *(empty[type] for _, type in columns[1:]))


def episode_values(row: Episode) -> Values:
    """Values of an Episode."""
    return (
        row.id,
        True,
        row.session,
        row.level,
        float(row.started_at),
        float(row.ended_at),
        int(row.first_message),
        int(row.last_message),
        int(row.messages),
        row.summary,
        _list(row.participants),
    )


def edge(row: Row, identities: Identities) -> Edge | None:
    """The edge of a row; ``None`` for rows that are nodes or parts of a portrait."""
    match row:
        case Fact():
            source = person_or_thing(row.subject, identities)
            target = person_or_thing(row.object, identities)
            table = schema.KNOWS if source[0] == schema.USER else schema.RELATED_TO
            return Edge(table, source, target, _fact_values(row))
        case Mention():
            values: Values = (
                row.id,
                row.type,
                float(row.first_at),
                float(row.last_at),
                int(row.count),
            )
            # The label follows from the row's kind: a foreign id must not end elsewhere.
            source = schema.ENTITY, identities.canonical(row.entity)
            target = schema.SESSION, row.session
            return Edge(schema.MENTIONED_IN, source, target, values)
        case Participation():
            values = (row.id, float(row.first_at), float(row.last_at), int(row.messages))
            source, target = (schema.USER, row.user), (schema.SESSION, row.session)
            return Edge(schema.PARTICIPATED_IN, source, target, values)
        case Episode():
            source, target = (schema.EPISODE, row.id), (schema.SESSION, row.session)
            return Edge(schema.PART_OF, source, target, (row.id,))
        case _:
            return None


def _fact_values(row: Fact) -> Values:
    return (
        row.id,
        row.session,
        row.predicate,
        row.statement,
        row.speaker,
        float(row.said_at),
        float(row.recorded_at),
        float(row.last_used),
        float(row.half_life),
        float(row.importance),
        int(row.use_count),
        bool(row.pinned),
        _optional(row.valid_from),
        _optional(row.valid_to),
        row.status,
        _list(row.supersedes),
        _optional(row.archived_at),
    )


def _optional(value: float | None) -> float | None:
    return None if value is None else float(value)


def _list(values: Iterable[Any]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
