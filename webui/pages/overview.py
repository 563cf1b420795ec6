"""Pages of the overview, conversation records, messages, and the change log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from ..core import errors, library, queries
from ..guard import local_path
from ..listing import ChangeQuery, Id, RecordQuery
from ..rendering import Memory, Visit, or_back
from .data import sample_run

DAYS = 60
"""Days of growth that are drawn."""
RECENT = 60
"""Reminders of which is drawn how long they took."""
SOON = 30
"""Days of the forecast."""
NEWEST = 6
"""Facts that were learned last, and of what was recalled last, that are told."""
NEAR = 6
"""Messages shown before and after one."""
MAX_NEAR = 96
MAX_OPS = 100
"""Rows of a change that are shown."""

Number = Annotated[int, Field(ge=1, le=2**53)]
"""Of a change, or of a message."""

routes = APIRouter()


@routes.get("/")
async def overview(memory: Memory, visit: Visit) -> Response:
    """What was learned and recalled last, counts, growth, what fades soon, health."""
    (forecast,) = await memory.upkeep.preview(days=(SOON,), limit=5)
    recalls = memory.recall.traces.recent()[:RECENT]
    return visit.render(
        "overview.html",
        health=await memory.health(),
        sample=await sample_run(memory),
        growth=await memory.conversations.growth(DAYS),
        tokens=memory.spending.daily(),
        recalls=[each.timing.get("total", 0.0) for each in recalls],
        last=await memory.recall.retrace(recalls[0]) if recalls else None,
        newest=(await memory.library.browse(queries.FactFilter(limit=NEWEST))).items,
        known=await memory.library.overview(),
        forecast=forecast,
        backups=(await memory.backups.list())[:1],
        settings=memory.settings,
    )


@routes.post("/retry")
async def retry(memory: Memory, visit: Visit) -> Response:
    """Have what could not be learned tried again."""
    back = local_path(visit.form.get("back", "/"))
    return visit.redirect(back, what="revive", count=await memory.learning.revive())


@routes.get("/records")
async def records(wanted: RecordQuery, memory: Memory, visit: Visit) -> Response:
    """Timeline of conversations and their summaries."""
    return visit.render(
        "records.html",
        wanted=wanted,
        page=await memory.conversations.browse(wanted.filter(memory.zone)),
        levels=await memory.conversations.levels(),
        choices=await memory.library.overview(),
    )


@routes.get("/records/{id}")
async def record(id: Id, memory: Memory, visit: Visit) -> Response:
    """One record with its messages, or with what it sums up."""
    return visit.render("record.html", reading=await memory.conversations.read(id))


@routes.get("/messages/{number}")
async def message(
    number: Number,
    memory: Memory,
    visit: Visit,
    near: Annotated[int, Query(ge=0, le=MAX_NEAR)] = NEAR,
    fact: Annotated[Id, Query()] = "",
) -> Response:
    """A message with those before and after it."""
    return visit.render(
        "message.html",
        scene=await memory.conversations.scene(number, near),
        number=number,
        wider=min(MAX_NEAR, max(1, near) * 4) if near < MAX_NEAR else 0,
        fact=fact,
    )


@routes.get("/changes")
async def changes(wanted: ChangeQuery, memory: Memory, visit: Visit) -> Response:
    """What was done to the memory, by whom and why, newest first."""
    actors, reasons = await memory.conversations.acts()
    page = await memory.conversations.changes(wanted.actor, wanted.reason, wanted.place)
    return visit.render("changes.html", wanted=wanted, page=page, actors=actors, reasons=reasons)


@routes.get("/changes/{number}")
async def change(number: Number, memory: Memory, visit: Visit) -> Response:
    """One change and what became of each row."""
    found = await memory.conversations.change(number)
    ops, more = found.ops[:MAX_OPS], max(0, len(found.ops) - MAX_OPS)
    rows = [row for op in ops for row in (op.before, op.after) if row]
    held = {value for row in rows for value in row.values() if isinstance(value, str)}
    names = await memory.journal.read(lambda every: every.names({id: [id] for id in held}))
    return visit.render("change.html", change=found, ops=ops, more=more, names=names)


@routes.post("/changes/{number}/undo")
async def undo(number: Number, memory: Memory, visit: Visit) -> Response:
    """Take a change back."""
    back = local_path(visit.form.get("back", "/memories"))
    with or_back(back, conflict=errors.ConflictError, undone=errors.NotFoundError):
        await memory.library.undo(number, library.OWNER)
    return visit.redirect(back, what="undo")
