"""Graph pages: a node and its neighbours, some nodes, and canned questions.

``/api/v1/graph`` answers the pages' scripts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response

from ..core import errors, graph, model
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, View

MAX_NODES = 300
FIRST_NODES = 60
"""Neighbours shown at once."""
MAX_AMONG = 60
"""Nodes that one may ask for by their ids."""
RESULTS = 24
MOST = 50
"""Most answers to a question."""
ALTERNATIVES = 5
"""Others of a similar name that are offered."""

Question = Literal["path", "shared", "connected", "bridges", "newest", "contradicted", "orphans"]
QUESTIONS = get_args(Question)
ABOUT_TWO: dict[str, Callable[[graph.GraphQueries, str, str], graph.Subgraph]] = {
    "path": graph.GraphQueries.path,
    "shared": lambda queries, a, b: queries.shared(a, b, MOST),
}
ABOUT_ALL: dict[str, Callable[[graph.GraphQueries, int], graph.Subgraph]] = {
    "connected": graph.GraphQueries.connected,
    "bridges": graph.GraphQueries.bridges,
    "newest": graph.GraphQueries.newest,
    "contradicted": graph.GraphQueries.contradicted,
    "orphans": graph.GraphQueries.orphans,
}
Named = Annotated[str, Query(max_length=MAX_TEXT)]
Ids = Annotated[list[Id], Query(min_length=1, max_length=MAX_AMONG)]
Drawn = dict[str, Any]
"""Nodes, edges, or both, as templates and scripts take them."""

routes = APIRouter()


@dataclass(frozen=True, slots=True)
class PathEnd:
    """Person or thing that a question is about.

    Attributes:
        text: What was typed: an id, or part of a name.
        node: What was taken for it; ``None`` if nothing is called so.
        others: What it might have been as well.
    """

    text: str
    node: Drawn | None = None
    others: tuple[Drawn, ...] = ()


@routes.get("/graph")
async def show(
    request: Request,
    memory: Memory,
    pages: View,
    node: Annotated[Id, Query()] = "",
    beside: Annotated[list[Id], Query(max_length=MAX_AMONG - 1)] = [],  # noqa: B006 - never altered
    q: Named = "",
) -> Response:
    """A node with its neighbours, some nodes, or a search."""
    try:
        if not node:
            return await _search(request, memory, pages, q.strip())
        found = await memory.graph.ask(lambda graph: _around(graph, node, beside))
    except errors.NotFoundError:
        return pages.render(request, "error.html", 404, code=404, detail="")
    except errors.GraphError:
        return _away(request, memory, pages)
    drawn = _graph(found, memory.now())
    return pages.render(request, "graph.html", graph=drawn, q="", beside=bool(beside))


async def _search(request: Request, memory: Memory, pages: View, text: str) -> Response:
    found = await memory.graph.ask(lambda graph: graph.nodes(text, MAX_AMONG))
    if text and len(found) == 1:
        return RedirectResponse(graph_url(found[0].id), 303)
    whole = [node.id for node in found if node.kind != "session"]
    return pages.render(
        request,
        "graph_search.html",
        results=[_node(node) for node in found[:RESULTS]],
        overview=graph_url(*whole) if whole and not text else "",
        q=text,
        questions=QUESTIONS,
        hops=graph.HOPS,
    )


def _away(request: Request, memory: Memory, pages: View) -> Response:
    return pages.render(request, "graph_away.html", 503, state=memory.graph.state.value)


def _around(queries: graph.GraphQueries, node: str, beside: list[str]) -> graph.Subgraph:
    """A node with its neighbours, or with those that were asked for."""
    if not beside:
        return queries.neighbourhood(node, FIRST_NODES)
    centre = queries.neighbourhood(node, 0).nodes[0]
    some = queries.among([centre.id, *beside])
    return replace(some, nodes=[centre, *(each for each in some.nodes if each.id != centre.id)])


@routes.get("/graph/ask/{question}")
async def ask(
    request: Request, memory: Memory, pages: View, question: Question, a: Named = "", b: Named = ""
) -> Response:
    """A question with a form for its ends, and its answer."""

    def work(queries: graph.GraphQueries) -> tuple[list[PathEnd], graph.Subgraph | None, set[str]]:
        if question in ABOUT_ALL:
            return [PathEnd(a), PathEnd(b)], ABOUT_ALL[question](queries, MOST), set()
        ends = [_find(queries, a.strip()), _find(queries, b.strip())]
        known = [end.node["id"] for end in ends if end.node]
        found = ABOUT_TWO[question](queries, known[0], known[1]) if len(known) == 2 else None
        nodes = queries.nodes("", FIRST_NODES)
        return ends, found, {node.name for node in nodes if node.name and node.kind != "session"}

    try:
        ends, answer, names = await memory.graph.ask(work)
    except errors.GraphError:
        return _away(request, memory, pages)
    found = answer or graph.Subgraph([], [], 0)
    return pages.render(
        request,
        "graph_question.html",
        question=question,
        questions=QUESTIONS,
        about_two=ABOUT_TWO,
        a=ends[0],
        b=ends[1],
        answer=answer,
        nodes={node.id: _node(node) for node in found.nodes},
        facts={edge.id: _edge(edge, memory.now()) for edge in found.edges},
        names=sorted(names),
        hops=graph.HOPS,
        graph_url=graph_url,
    )


def _find(queries: graph.GraphQueries, text: str) -> PathEnd:
    """The node with this id or name, else the most connected of a similar name."""
    if not text:
        return PathEnd("")
    found = [node for node in queries.nodes(text, 40) if node.kind != "session"]
    exact = [node for node in found if node.name.casefold() == text.casefold()]
    if ":" in text:
        with contextlib.suppress(errors.NotFoundError):
            exact = [*queries.among([text]).nodes, *exact]
    nodes = [_node(node) for node in dict.fromkeys((*exact, *found))]
    return PathEnd(text, nodes[0] if nodes else None, tuple(nodes[1 : 1 + ALTERNATIVES]))


def graph_url(*nodes: str) -> str:
    """Address of some nodes in the graph, the first in its centre."""
    first, *others = nodes
    beside = [("beside", other) for other in others[: MAX_AMONG - 1]]
    return "/graph?" + urlencode([("node", first), *beside])


@routes.get("/api/v1/graph")
async def around(
    memory: Memory, node: Id, limit: Annotated[int, Field(ge=1, le=MAX_NODES)] = FIRST_NODES
) -> Drawn:
    """A node and what is one fact away from it."""
    found = await memory.graph.ask(lambda graph: graph.neighbourhood(node, limit))
    return _graph(found, memory.now())


@routes.get("/api/v1/graph/among")
async def among(memory: Memory, node: Ids) -> Drawn:
    """Some nodes and all facts between them; unknown nodes are left out."""
    found = await memory.graph.ask(lambda graph: graph.among(node))
    return _graph(found, memory.now())


def _graph(found: graph.Subgraph, now: float) -> Drawn:
    """Nodes, the centre first, facts between them, and how many there are."""
    nodes = [_node(node) for node in found.nodes]
    return {
        "centre": nodes[0],
        "nodes": nodes,
        "edges": [_edge(edge, now) for edge in found.edges],
        "shown": len(nodes) - 1,
        "total": max(found.total, len(nodes) - 1),
    }


def _node(node: graph.GraphNode) -> Drawn:
    return {
        "id": node.id,
        "kind": node.kind,
        "shape": (node.type or "topic") if node.kind == "entity" else node.kind,
        "name": node.name or node.id,
        "degree": node.degree,
    }


def _edge(edge: graph.GraphEdge, now: float) -> Drawn:
    if edge.status != model.Status.ACTIVE:
        state = "archived"
    elif edge.superseded:
        state = "superseded"
    else:
        state = "ended" if edge.valid_to is not None and edge.valid_to <= now else "current"
    return {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "predicate": edge.predicate,
        "statement": edge.statement,
        "importance": edge.importance,
        "times": edge.strength_count,
        "state": state,
        "at": edge.recorded_at,
    }
