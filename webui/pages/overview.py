"""The first page: what is known, and how the memory is doing."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from graph_memory.journal.catalogue import FactFilter
from graph_memory.service import MemoryService

from ..view import Pages

STROKES = 120
"""Facts drawn as strokes of ink."""
SOON = 30
"""Days of the forecast."""


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/`` and what its buttons do."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def overview(request: Request) -> Response:
        health = await service.health()
        recent = await service.library.browse(FactFilter(status="active", limit=STROKES))
        (forecast,) = await service.upkeep.preview(days=(SOON,), limit=5)
        return pages.render(
            request,
            "overview.html",
            health=health,
            recent=recent,
            forecast=forecast,
            settings=service.settings,
        )

    @routes.post("/retry")
    async def retry(request: Request) -> Response:
        count = await service.learning.revive()
        return pages.redirect("/", what="revive", count=count)

    return routes
