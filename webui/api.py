"""The JSON API under ``/api/v1``: what the pages use, and programs may."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from graph_memory.library import OWNER
from graph_memory.service import MemoryService

from .listing import MAX_TEXT, PAGE_SIZE, Id, WantedQuery
from .schema import (
    ChangeOut,
    FactDetailOut,
    FactOut,
    FactsOut,
    GraphOut,
    HealthOut,
    NodeOut,
    NodesOut,
    Problem,
)

MAX_NODES = 300
FIRST_NODES = 60
"""Neighbours shown at once."""

PROBLEMS = {
    status: {"model": Problem, "content": {"application/problem+json": {}}}
    for status in (401, 403, 404, 409, 413, 422, 429, 503)
}


def router(service: MemoryService) -> APIRouter:
    """The API's routes."""
    api = APIRouter(prefix="/api/v1", responses=PROBLEMS)  # type: ignore[arg-type]

    @api.get("/facts")
    async def facts(
        wanted: WantedQuery,
        limit: Annotated[int, Query(ge=1, le=200)] = PAGE_SIZE,
        cursor: Annotated[str, Query(pattern=r"^o\d{1,9}$")] = "o0",
    ) -> FactsOut:
        """Facts; ``cursor`` is the ``next`` of the page before."""
        offset = int(cursor[1:])
        page = await service.library.browse(wanted.filter(limit, offset))
        end = offset + len(page.items)
        return FactsOut(
            items=[FactOut.of(line) for line in page.items],
            total=page.total,
            next=f"o{end}" if page.items and end < page.total else None,
        )

    @api.get("/facts/{id}")
    async def fact(id: Id) -> FactDetailOut:
        """One fact with its sources and what came before and after."""
        return FactDetailOut.of(await service.library.fact(id))

    @api.delete("/facts/{id}")
    async def forget(id: Id) -> ChangeOut:
        """Forget a fact; undone by undoing the change."""
        return ChangeOut.of(await service.library.forget(id, None, OWNER))

    @api.post("/facts/{id}/archive")
    async def archive(id: Id) -> ChangeOut:
        """Put a fact away."""
        return ChangeOut.of(await service.library.archive(id, OWNER))

    @api.post("/facts/{id}/restore")
    async def restore(id: Id) -> ChangeOut:
        """Bring an archived fact back."""
        return ChangeOut.of(await service.library.restore(id, OWNER))

    @api.post("/changes/{number}/undo")
    async def undo(number: Annotated[int, Field(ge=1, le=2**53)]) -> ChangeOut:
        """Take a change back; 409 if a later one touched the same rows."""
        return ChangeOut.of(await service.library.undo(number, OWNER))

    @api.get("/graph")
    async def graph(
        node: Id, limit: Annotated[int, Query(ge=1, le=MAX_NODES)] = FIRST_NODES
    ) -> GraphOut:
        """A node and what is one fact away from it."""
        return GraphOut.of(await service.graph.neighbourhood(node, limit), time.time())

    @api.get("/nodes")
    async def nodes(
        q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> NodesOut:
        """People and things whose name contains ``q``, most connected first."""
        found = await service.graph.nodes(q.strip(), limit)
        return NodesOut(items=[NodeOut.of(node) for node in found])

    @api.get("/health")
    async def health() -> HealthOut:
        """How the memory is doing."""
        return HealthOut.of(await service.health())

    return api
