"""The timeline of conversations and their summaries, and what was said in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from graph_memory.service import MemoryService

from ..api.base import Number
from ..listing import Id, RecordsQuery
from ..view import Pages

NEAR = 6
"""Messages shown before and after one."""
MAX_NEAR = 96


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/records`` and ``/messages``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/records")
    async def listed(request: Request, wanted: RecordsQuery) -> Response:
        return pages.render(
            request,
            "records.html",
            wanted=wanted,
            page=await service.chronicle.browse(wanted.filter(service.zone)),
            levels=await service.chronicle.levels(),
            choices=await service.library.overview(),
        )

    @routes.get("/records/{id}")
    async def one(request: Request, id: Id) -> Response:
        return pages.render(request, "record.html", reading=await service.chronicle.read(id))

    @routes.get("/messages/{number}")
    async def message(
        request: Request,
        number: Number,
        near: Annotated[int, Query(ge=0, le=MAX_NEAR)] = NEAR,
        fact: Annotated[Id, Query()] = "",
    ) -> Response:
        scene = await service.chronicle.scene(number, near, near)
        return pages.render(
            request,
            "message.html",
            scene=scene,
            number=number,
            wider=min(MAX_NEAR, max(1, near) * 4) if near < MAX_NEAR else 0,
            fact=fact,
        )

    return routes
