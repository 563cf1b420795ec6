"""Pages of one person or thing, and of merging and splitting things."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ..charts import Timeline
from ..core import errors, library, model
from ..guard import read_form
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, View, node_url, or_back

routes = APIRouter()


@routes.get("/node")
async def node(request: Request, id: Id, memory: Memory, pages: View) -> Response:
    """Everything about one person or thing."""
    portrait = await memory.library.node(id)
    timeline = Timeline.of(portrait.threads, memory.now(), memory.zone)
    return pages.render(request, "node.html", portrait=portrait, timeline=timeline)


@routes.get("/node/merge")
async def choose(
    request: Request,
    id: Id,
    memory: Memory,
    pages: View,
    into: Annotated[Id, Query()] = "",
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """Find what something is one with, then see what saying so does."""
    portrait = await memory.library.node(id)
    other = await memory.library.node(into) if into else None
    own = {portrait.node, *(each.node for each in portrait.members)}
    text = q.strip() or ("" if other else portrait.name)
    found = await memory.library.search(text) if text else []
    return pages.render(
        request,
        "node_merge.html",
        portrait=portrait,
        other=other,
        found=[each for each in found if model.is_entity(each.node) and each.node not in own],
        q=q.strip(),
    )


@routes.post("/node/merge")
async def merge(request: Request, memory: Memory, pages: View) -> Response:
    """Have one thing go under another."""
    given = await read_form(request)
    id, into = given.get("id", "")[:500], given.get("into", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        change = await memory.identity_edits.merge(id, into, library.OWNER)
    return pages.redirect(node_url(into), what="merge", change=change.id, back=node_url(id))


@routes.post("/node/split")
async def split(request: Request, memory: Memory, pages: View) -> Response:
    """Let a merged thing be one of its own again."""
    id = (await read_form(request)).get("id", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        change = await memory.identity_edits.split(id, library.OWNER)
    return pages.redirect(node_url(id), what="split", change=change.id)
