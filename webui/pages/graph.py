"""The graph page: a node and what is one fact away from it."""

from __future__ import annotations

import time
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from graph_memory.errors import GraphError, NotFoundError
from graph_memory.service import MemoryService

from ..api import FIRST_NODES
from ..listing import MAX_TEXT, Id
from ..schema import GraphOut, NodeOut
from ..shapes import SHAPES
from ..view import Pages

RESULTS = 24


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/graph``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/graph")
    async def graph(
        request: Request,
        node: Annotated[Id, Query()] = "",
        q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    ) -> Response:
        text = q.strip()
        try:
            if node:
                found = await service.graph.neighbourhood(node, FIRST_NODES)
                return pages.render(
                    request,
                    "graph.html",
                    graph=GraphOut.of(found, time.time()),
                    outlines=SHAPES,
                    q="",
                )
            results = [NodeOut.of(n) for n in await service.graph.nodes(text, RESULTS)]
        except NotFoundError:
            return pages.render(request, "error.html", 404, code=404, detail="")
        except GraphError:
            return pages.render(request, "graph_away.html", 503, state=service.graph.state.value)
        if text and len(results) == 1:
            return RedirectResponse(f"/graph?{urlencode({'node': results[0].id})}", 303)
        return pages.render(request, "graph_search.html", results=results, q=text)

    return routes
