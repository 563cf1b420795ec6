"""Rows on their way into a change, over the rows that stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ..journal import Draft, Rows
from ..model import EntityType, Mention, Name, Row, stable_id
from ..text import normalise

R = TypeVar("R", bound=Row)


def name_id(session: str, node: str, norm: str) -> str:
    """Id of the row that says what a node was called in a Session."""
    return stable_id("n", session, node, norm)


def mention_id(session: str, entity: str) -> str:
    """Id of the row that says that an entity came up in a Session."""
    return stable_id("m", session, entity)


class Sheet:
    """Collects the rows of one draft; a row that is put twice is written once."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._put: dict[tuple[str, str], Row] = {}

    def get(self, cls: type[R], id: str) -> R | None:
        """A row as it will stand."""
        found = self._put.get((cls.kind, id))
        return found if isinstance(found, cls) else self._rows.get(cls, id)

    def put(self, row: Row) -> None:
        """Write a row."""
        self._put[row.kind, row.id] = row

    def all(self, cls: type[R]) -> list[R]:
        """The rows of ``cls`` on this sheet, in the order in which they came."""
        return [row for row in self._put.values() if isinstance(row, cls)]

    def name(self, session: str, node: str, text: str, at: float) -> None:
        """Write that a node was called ``text`` in a Session; nothing if that is empty."""
        norm = normalise(text)
        if not norm:
            return
        id = name_id(session, node, norm)
        known = self.get(Name, id) or Name(id, session, node, text, norm, at, at)
        self.put(
            replace(
                known,
                text=text if at >= known.last_at else known.text,
                first_at=min(known.first_at, at),
                last_at=max(known.last_at, at),
            )
        )

    def mention(self, session: str, entity: str, type: EntityType, at: float) -> None:
        """Write that an entity came up in a Session; call once for each batch.

        A type that says something replaces the default one, never another.
        """
        id = mention_id(session, entity)
        known = self.get(Mention, id) or Mention(id, session, entity, type.value, at, at, 0)
        self.put(
            replace(
                known,
                type=type.value if known.type == EntityType.TOPIC else known.type,
                first_at=min(known.first_at, at),
                last_at=max(known.last_at, at),
                count=known.count + 1,
            )
        )

    def draft(self, actor: str, reason: str, *, batch: int | None = None) -> Draft:
        """The draft of what is on this sheet."""
        return Draft(actor, reason, list(self._put.values()), batch=batch)
