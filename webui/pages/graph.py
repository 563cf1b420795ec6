"""The graph page: a node and what is one fact away from it, or some nodes that belong together."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from ..api.graph import FIRST_NODES, MAX_AMONG, GraphOut, NodeOut, SomeOut
from ..core import errors, service
from ..icons import SHAPES
from ..listing import MAX_TEXT, Id
from ..rendering import Pages
from .questions import QUESTIONS

RESULTS = 24


def router(memory: service.MemoryService, pages: Pages) -> APIRouter:
    """``/graph``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/graph")
    async def graph(
        request: Request,
        node: Annotated[Id, Query()] = "",
        beside: Annotated[list[Id], Query(max_length=MAX_AMONG - 1)] = [],  # noqa: B006 - never altered
        q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    ) -> Response:
        text = q.strip()
        try:
            if node:
                return await around(request, node, beside)
            results = [NodeOut.of(n) for n in await memory.graph.nodes(text, RESULTS)]
        except errors.NotFoundError:
            return pages.render(request, "error.html", 404, code=404, detail="")
        except errors.GraphError:
            return pages.render(request, "graph_away.html", 503, state=memory.graph.state.value)
        if text and len(results) == 1:
            return RedirectResponse(f"/graph?{urlencode({'node': results[0].id})}", 303)
        return pages.render(
            request, "graph_search.html", results=results, q=text, questions=QUESTIONS
        )

    async def around(request: Request, node: str, beside: list[str]) -> Response:
        """A node with its neighbours, or with those that were asked for."""
        found = await memory.graph.neighbourhood(node, 0 if beside else FIRST_NODES)
        graph = GraphOut.of(found, memory.now())
        if beside:
            wanted = list(dict.fromkeys((graph.centre.id, *beside)))
            some = SomeOut.of(await memory.graph.questions.among(wanted), memory.now())
            nodes = [graph.centre, *(each for each in some.nodes if each.id != graph.centre.id)]
            graph = graph.model_copy(update={"nodes": nodes, "edges": some.edges})
        return pages.render(
            request, "graph.html", graph=graph, outlines=SHAPES, q="", beside=bool(beside)
        )

    return routes
