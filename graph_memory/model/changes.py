"""The unit of commit and of undo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .row import Row, decode


@dataclass(frozen=True)
class Op:
    """One row written (``after``) or deleted (``after is None``).

    ``before`` is what stood there, ``None`` if nothing did; both are encoded rows.
    ``was`` and ``row`` are the same decoded, once for all who ask.
    """

    kind: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @cached_property
    def was(self) -> Row | None:
        """The row that stood there."""
        return None if self.before is None else decode(self.kind, self.before)

    @cached_property
    def row(self) -> Row | None:
        """The row that was written."""
        return None if self.after is None else decode(self.kind, self.after)


@dataclass(frozen=True, slots=True)
class Change:
    """Everything one act did to the memory; the unit of commit and of undo.

    Attributes:
        id: Position in the journal, from 1.
        actor: ``chat``, ``learn``, ``upkeep``, ``owner`` or a user id.
        reason: Why, in a word or two (``learned``, ``forget``, ``archive``, …).
        batch: The learned batch; a batch has at most one change.
        undoes: The change this one takes back.
    """

    id: int
    at: float
    actor: str
    reason: str
    ops: tuple[Op, ...]
    batch: int | None = None
    undoes: int | None = None

    @property
    def is_trimmed(self) -> bool:
        """Whether it is so old that only the kinds of its rows are still known."""
        return any(not op.id for op in self.ops)
