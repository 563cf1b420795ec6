"""Overview page: what is known, and how the memory is doing."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from ..rendering import Memory, View

DAYS = 60
"""Days of growth that are drawn."""
SOON = 30
"""Days of the forecast."""

routes = APIRouter()


@routes.get("/")
async def overview(request: Request, memory: Memory, pages: View) -> Response:
    """Counts, growth, health, what fades soon."""
    (forecast,) = await memory.upkeep.preview(days=(SOON,), limit=5)
    return pages.render(
        request,
        "overview.html",
        health=await memory.health(),
        growth=await memory.conversations.growth(DAYS),
        known=await memory.library.overview(),
        forecast=forecast,
        backups=(await memory.backups.list())[:1],
        settings=memory.settings,
    )


@routes.post("/retry")
async def retry(memory: Memory, pages: View) -> Response:
    """Have what could not be learned tried again."""
    return pages.redirect("/", what="revive", count=await memory.learning.revive())
