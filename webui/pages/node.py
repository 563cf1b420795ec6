"""A person's or a thing's own page, and saying what is one with it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from graph_memory.errors import BondError
from graph_memory.library import OWNER
from graph_memory.model import is_entity
from graph_memory.service import MemoryService

from ..guard import read_form
from ..listing import MAX_TEXT, Id
from ..timeline import Timeline
from ..view import Pages, node_url


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/node`` and what one can do there."""
    routes = APIRouter(include_in_schema=False)
    portraits, bonds = service.portraits, service.bonds

    @routes.get("/node")
    async def node(request: Request, id: Id) -> Response:
        portrait = await portraits.portrait(id)
        timeline = Timeline.of(portrait.threads, service.now(), service.zone)
        return pages.render(request, "node.html", portrait=portrait, timeline=timeline)

    @routes.get("/node/merge")
    async def choose(
        request: Request,
        id: Id,
        into: Annotated[Id, Query()] = "",
        q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    ) -> Response:
        """Find what something is one with, then see what saying so does."""
        portrait = await portraits.portrait(id)
        other = await portraits.portrait(into) if into else None
        own = {portrait.node, *(each.node for each in portrait.members)}
        text = q.strip() or ("" if other else portrait.name)
        found = await portraits.search(text) if text else []
        return pages.render(
            request,
            "node_merge.html",
            portrait=portrait,
            other=other,
            found=[each for each in found if is_entity(each.node) and each.node not in own],
            q=q.strip(),
        )

    @routes.post("/node/merge")
    async def merge(request: Request) -> Response:
        given = await read_form(request)
        id, into = given.get("id", "")[:500], given.get("into", "")[:500]
        try:
            change = await bonds.merge(id, into, OWNER)
        except BondError:
            return pages.redirect(node_url(id), what="bond")
        return pages.redirect(node_url(into), what="merge", change=change.id, back=node_url(id))

    @routes.post("/node/split")
    async def split(request: Request) -> Response:
        given = await read_form(request)
        id = given.get("id", "")[:500]
        try:
            change = await bonds.split(id, OWNER)
        except BondError:
            return pages.redirect(node_url(id), what="bond")
        return pages.redirect(node_url(id), what="split", change=change.id)

    return routes
