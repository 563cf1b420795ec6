"""The table of facts, each fact's own page, and what the owner does with them."""

from __future__ import annotations

import hashlib
from typing import get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response

from graph_memory.errors import NotFoundError
from graph_memory.library import MAX_STATEMENT, OWNER, Action, FactLine, Overview
from graph_memory.service import MemoryService

from ..guard import local_path, read_choices, read_form
from ..listing import Id, Wanted, WantedQuery
from ..site import split
from ..view import Pages, memory_url

SHOWN = 5
"""Facts that are named before something is done with them."""
MAX_EVERY = 2_000
"""Facts that something is done with at once, of all that were found."""
ACTIONS: dict[str, Action] = {action: action for action in get_args(Action)}


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/memories`` and what one can do there."""
    routes = APIRouter(include_in_schema=False)
    library = service.library

    @routes.get("/memories")
    async def table(request: Request, wanted: WantedQuery) -> Response:
        page = await library.browse(wanted.filter(service.zone))
        choices = await library.overview()
        return pages.render(
            request,
            "memories.html",
            wanted=wanted,
            page=page,
            choices=choices,
            most=MAX_EVERY,
            node_name=_name(wanted, page.items, choices),
        )

    @routes.post("/memories/act")
    async def act(request: Request) -> Response:
        """Do something with some facts; what destroys, or is much, is shown first."""
        given = await read_choices(request)
        back = local_path(given.get("back", ["/memories"])[-1])
        word, _, only = given.get("only", [""])[-1].partition(" ")
        action = ACTIONS.get(word or given.get("action", [""])[-1])
        every = "" if only else given.get("every", [""])[-1]
        if every:
            ids = await library.found(_listed(every).filter(service.zone, MAX_EVERY))
        else:
            ids = [only] if only else list(dict.fromkeys(given.get("id", [])))
        if action is None or not ids:
            return pages.redirect(back, what="nothing")
        is_small = len(ids) == 1 and action != "forget"
        # Of all that is found only what was shown is touched, not what came since.
        seen = _digest(ids) if every else "yes"
        if not is_small and given.get("confirm", [""])[-1] != seen:
            found = await library.weigh(action, ids)
            lines = await library.some(ids[:SHOWN])
            return pages.render(
                request,
                "memories_act.html",
                action=action,
                ids=ids,
                every=every,
                seen=seen,
                effect=found,
                lines=lines,
                back=back,
            )
        try:
            change = await library.act(action, ids, OWNER)
        except NotFoundError:
            return pages.redirect(back, what="nothing")
        count = sum(1 for op in change.ops if op.kind == "fact")
        # The page of what is forgotten is no more; an undo leads back there.
        gone = action == "forget" and any(back.startswith(f"/memories/{id}") for id in ids)
        target = "/memories" if gone else back
        return pages.redirect(target, what=action, change=change.id, count=count, back=back)

    @routes.get("/memories/{id}")
    async def detail(request: Request, id: Id) -> Response:
        return pages.render(request, "memory.html", detail=await library.fact(id))

    @routes.get("/memories/{id}/edit")
    async def edit(request: Request, id: Id) -> Response:
        found = await library.fact(id)
        return pages.render(request, "memory_edit.html", detail=found, longest=MAX_STATEMENT)

    @routes.post("/memories/{id}/edit")
    async def amend(request: Request, id: Id) -> Response:
        given = await read_form(request)
        words = given.get("statement", "")[: 2 * MAX_STATEMENT]
        old = (await library.fact(id)).line.fact
        try:
            change = await library.amend(id, words, OWNER, mute="mute" in given)
        except NotFoundError:
            return pages.redirect(memory_url(old), what="same")
        new = next(op.id for op in change.ops if op.kind == "fact" and op.id != id)
        back = f"/memories/{id}"
        return pages.redirect(f"/memories/{new}", what="amend", change=change.id, back=back)

    return routes


def _listed(address: str) -> Wanted:
    """The list that an address of the table shows, from its beginning.

    Raises:
        RequestValidationError: There is no such list.
    """
    given = dict(parse_qsl(split(address).query)) | {"cursor": ""}
    try:
        return Wanted.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


def _digest(ids: list[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def _name(wanted: Wanted, lines: list[FactLine], choices: Overview) -> str:
    """What the node that is filtered by is called, from what is on the page anyway."""
    for line in lines:
        if line.fact.subject == wanted.node:
            return line.subject
        if line.fact.object == wanted.node:
            return line.object
    known = (each.name for each in (*choices.people, *choices.things) if each.node == wanted.node)
    return next(known, wanted.node)
