"""The first page: what is known, and how the memory is doing."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from graph_memory.service import MemoryService

from ..view import Pages

DAYS = 60
"""Days of growth that are drawn."""
SOON = 30
"""Days of the forecast."""


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/`` and what its buttons do."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def overview(request: Request) -> Response:
        health = await service.health()
        (forecast,) = await service.upkeep.preview(days=(SOON,), limit=5)
        return pages.render(
            request,
            "overview.html",
            health=health,
            growth=await service.chronicle.growth(DAYS),
            known=await service.library.overview(),
            forecast=forecast,
            backups=(await service.backups.list())[:1],
            settings=service.settings,
        )

    @routes.post("/retry")
    async def retry(request: Request) -> Response:
        count = await service.learning.revive()
        return pages.redirect("/", what="revive", count=count)

    return routes
