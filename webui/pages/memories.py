"""The table of facts, and each fact's own page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from graph_memory.errors import ConflictError, GraphError
from graph_memory.graph import GraphNode
from graph_memory.library import OWNER, Page
from graph_memory.service import MemoryService

from ..guard import local_path, read_form
from ..listing import PAGE_SIZE, Id, WantedQuery
from ..view import Pages

PEOPLE = 40
"""People offered as a filter."""


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/memories`` and what one can do there."""
    routes = APIRouter(include_in_schema=False)
    library = service.library

    @routes.get("/memories")
    async def table(request: Request, wanted: WantedQuery) -> Response:
        page = await library.browse(wanted.filter())
        last = max(1, -(-page.total // PAGE_SIZE))
        people = await _people(service)
        return pages.render(
            request,
            "memories.html",
            wanted=wanted,
            page=page,
            last=last,
            choices=await library.overview(),
            people=people,
            node_name=_name(wanted.node, page, people) if wanted.node else "",
        )

    @routes.get("/memories/{id}")
    async def detail(request: Request, id: Id) -> Response:
        return pages.render(request, "memory.html", detail=await library.fact(id))

    @routes.post("/memories/{id}/archive")
    async def archive(id: Id) -> Response:
        change = await library.archive(id, OWNER)
        return pages.redirect(f"/memories/{id}", what="archive", change=change.id)

    @routes.post("/memories/{id}/restore")
    async def restore(id: Id) -> Response:
        change = await library.restore(id, OWNER)
        return pages.redirect(f"/memories/{id}", what="restore", change=change.id)

    @routes.post("/memories/{id}/forget")
    async def forget(id: Id) -> Response:
        change = await library.forget(id, None, OWNER)
        # The way back is named here and never taken from the request.
        return pages.redirect("/memories", what="forget", change=change.id, back=f"/memories/{id}")

    @routes.post("/changes/{number}/undo")
    async def undo(request: Request, number: Annotated[int, Field(ge=1, le=2**53)]) -> Response:
        back = local_path((await read_form(request)).get("back", "/memories"))
        try:
            await library.undo(number, OWNER)
        except ConflictError:
            return pages.redirect(back, what="conflict")
        return pages.redirect(back, what="undo")

    return routes


async def _people(service: MemoryService) -> list[GraphNode]:
    """The people most is known about; nobody while the graph is away."""
    try:
        found = await service.graph.nodes("", limit=PEOPLE * 3)
    except GraphError:
        return []
    return [node for node in found if node.kind == "user"][:PEOPLE]


def _name(node: str, page: Page, people: list[GraphNode]) -> str:
    """What a node is called, from what is on the page anyway."""
    for line in page.items:
        if line.fact.subject == node:
            return line.subject
        if line.fact.object == node:
            return line.object
    return next((person.name for person in people if person.id == node), node)
