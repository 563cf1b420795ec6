"""What was done to the memory, and taking it back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from graph_memory.journal.chronicle import Entry
from graph_memory.library import OWNER
from graph_memory.model import Change
from graph_memory.service import MemoryService

from ..listing import PAGE_SIZE, ChangesQuery, Limit
from .base import Number, Out, Turned, turning, when


class ChangeOut(Out):
    """What was done; its number undoes it."""

    id: int
    at: datetime | None
    actor: str
    reason: str
    undoes: int | None

    @classmethod
    def of(cls, change: Change) -> ChangeOut:
        """From what the journal says."""
        return cls(
            id=change.id,
            at=when(change.at),
            actor=change.actor,
            reason=change.reason,
            undoes=change.undoes,
        )


class EntryOut(Out):
    """A line of the change log."""

    id: int
    at: datetime | None
    actor: str
    reason: str
    rows: dict[str, int] = Field(description="How many rows of each kind it touched.")
    undoes: int | None = Field(description="The change it takes back.")
    undone_by: int | None = Field(description="The change that took it back.")

    @classmethod
    def of(cls, entry: Entry) -> EntryOut:
        """From what the journal says."""
        return cls(
            id=entry.id,
            at=when(entry.at),
            actor=entry.actor,
            reason=entry.reason,
            rows=entry.rows,
            undoes=entry.undoes,
            undone_by=entry.undone_by,
        )


class ChangesOut(Turned):
    """One page of the change log, newest first."""

    items: list[EntryOut]


class OpOut(Out):
    """What became of one row."""

    kind: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class ChangeDetailOut(Out):
    """A change and all it did."""

    change: ChangeOut
    ops: list[OpOut]


def routes(service: MemoryService) -> APIRouter:
    """``/changes``."""
    api = APIRouter(prefix="/changes")

    @api.get("")
    async def listed(wanted: ChangesQuery, limit: Limit = PAGE_SIZE) -> ChangesOut:
        """What was done to the memory, newest first."""
        page = await service.chronicle.changes(wanted.actor, wanted.reason, wanted.place, limit)
        return ChangesOut(items=[EntryOut.of(entry) for entry in page.items], **turning(page))

    @api.get("/{number}")
    async def one(number: Number) -> ChangeDetailOut:
        """One change and what became of each row."""
        change = await service.chronicle.change(number)
        ops = [OpOut(kind=op.kind, id=op.id, before=op.before, after=op.after) for op in change.ops]
        return ChangeDetailOut(change=ChangeOut.of(change), ops=ops)

    @api.post("/{number}/undo")
    async def undo(number: Number) -> ChangeOut:
        """Take a change back; 409 if a later one touched the same rows."""
        return ChangeOut.of(await service.library.undo(number, OWNER))

    return api
