"""Pages of people and personas: who is known, and what each persona knows of."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ..core import errors, queries
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, View

NEWEST = 8
"""Facts that a persona's page shows."""

routes = APIRouter()


@routes.get("/people")
async def people(
    request: Request,
    memory: Memory,
    pages: View,
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """People who chat, things that are known, and personas; or who is called so."""
    text = q.strip()
    return pages.render(
        request,
        "people.html",
        q=text,
        found=await memory.library.search(text, limit=60) if text else None,
        people=await memory.library.people(),
        things=(await memory.library.overview()).things,
        personas=await memory.library.personas(),
    )


@routes.get("/persona")
async def persona(request: Request, name: Id, memory: Memory, pages: View) -> Response:
    """What a persona knows: its chats, and its newest facts."""
    known = {each.persona: each for each in await memory.library.personas()}
    if not name or name not in known:
        raise errors.NotFoundError(f"there is no persona {name}")
    newest = queries.FactFilter(persona=name, limit=NEWEST)
    return pages.render(
        request,
        "persona.html",
        persona=known[name],
        sessions=[each for each in await memory.library.sessions() if each.persona == name],
        newest=(await memory.library.browse(newest)).items,
        mode=memory.settings.memory_sharing_mode,
    )
