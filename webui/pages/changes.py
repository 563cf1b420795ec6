"""The change log: what was done to the memory, by whom and why, and taking it back."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from graph_memory.errors import ConflictError, NotFoundError
from graph_memory.library import OWNER
from graph_memory.service import MemoryService

from ..api.base import Number
from ..guard import local_path, read_form
from ..listing import ChangesQuery
from ..view import Pages

MAX_OPS = 100
"""Rows of a change that are shown."""


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/changes``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/changes")
    async def listed(request: Request, wanted: ChangesQuery) -> Response:
        actors, reasons = await service.chronicle.acts()
        page = await service.chronicle.changes(wanted.actor, wanted.reason, wanted.place)
        return pages.render(
            request, "changes.html", wanted=wanted, page=page, actors=actors, reasons=reasons
        )

    @routes.get("/changes/{number}")
    async def one(request: Request, number: Number) -> Response:
        change = await service.chronicle.change(number)
        return pages.render(
            request,
            "change.html",
            change=change,
            ops=change.ops[:MAX_OPS],
            more=max(0, len(change.ops) - MAX_OPS),
        )

    @routes.post("/changes/{number}/undo")
    async def undo(request: Request, number: Number) -> Response:
        back = local_path((await read_form(request)).get("back", "/memories"))
        try:
            await service.library.undo(number, OWNER)
        except ConflictError:
            return pages.redirect(back, what="conflict")
        except NotFoundError:
            return pages.redirect(back, what="undone")
        return pages.redirect(back, what="undo")

    return routes
