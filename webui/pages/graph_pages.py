"""Graph pages: a node and its neighbours, some nodes, and canned questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from ..api.graph_json import FIRST_NODES, MAX_AMONG, EdgeOut, GraphOut, NodeOut
from ..core import errors, graph
from ..icons import SHAPES
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, View

RESULTS = 24
MOST = 50
"""Most answers to a question."""
ALTERNATIVES = 5
"""Others of a similar name that are offered."""

Question = Literal["path", "shared", "connected", "bridges", "newest", "contradicted", "orphans"]
routes = APIRouter()

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


@dataclass(frozen=True, slots=True)
class PathEnd:
    """Person or thing that a question is about.

    Attributes:
        text: What was typed: an id, or part of a name.
        node: What was taken for it; ``None`` if nothing is called so.
        others: What it might have been as well.
    """

    text: str
    node: NodeOut | None = None
    others: tuple[NodeOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its ends and, if there is one, its answer."""

    ends: tuple[PathEnd, PathEnd]
    answer: graph.Subgraph | None
    names: list[str]


@routes.get("/graph")
async def show(
    request: Request,
    memory: Memory,
    pages: View,
    node: Annotated[Id, Query()] = "",
    beside: Annotated[list[Id], Query(max_length=MAX_AMONG - 1)] = [],  # noqa: B006 - never altered
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
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
    shown = GraphOut.of(found, memory.now())
    return pages.render(
        request, "graph.html", graph=shown, outlines=SHAPES, q="", beside=bool(beside)
    )


async def _search(request: Request, memory: Memory, pages: View, text: str) -> Response:
    found = await memory.graph.ask(lambda graph: graph.nodes(text, MAX_AMONG))
    if text and len(found) == 1:
        return RedirectResponse(graph_url(found[0].id), 303)
    whole = [node.id for node in found if node.kind != "session"]
    return pages.render(
        request,
        "graph_search.html",
        results=[NodeOut.of(node) for node in found[:RESULTS]],
        overview=graph_url(*whole) if whole and not text else "",
        q=text,
        questions=QUESTIONS,
        hops=graph.HOPS,
    )


def _away(request: Request, memory: Memory, pages: View) -> Response:
    return pages.render(request, "graph_away.html", 503, state=memory.graph.state.value)


@routes.get("/graph/ask/{question}")
async def ask(
    request: Request,
    memory: Memory,
    pages: View,
    question: Question,
    a: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    b: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """A question with a form for its ends, and its answer."""
    try:
        asked = await memory.graph.ask(lambda graph: _ask(graph, question, a, b))
    except errors.GraphError:
        return _away(request, memory, pages)
    answer = asked.answer or graph.Subgraph([], [], 0)
    nodes = {node.id: NodeOut.of(node) for node in answer.nodes}
    return pages.render(
        request,
        "graph_question.html",
        question=question,
        questions=QUESTIONS,
        about_two=ABOUT_TWO,
        a=asked.ends[0],
        b=asked.ends[1],
        answer=asked.answer,
        nodes=nodes,
        facts={edge.id: EdgeOut.of(edge, memory.now()) for edge in answer.edges},
        learned={edge.id: edge.recorded_at for edge in answer.edges},
        link=graph_url(*nodes) if len(nodes) > 1 else "",
        names=asked.names,
        hops=graph.HOPS,
        graph_url=graph_url,
    )


def _around(queries: graph.GraphQueries, node: str, beside: list[str]) -> graph.Subgraph:
    """A node with its neighbours, or with those that were asked for."""
    if not beside:
        return queries.neighbourhood(node, FIRST_NODES)
    centre = queries.neighbourhood(node, 0).nodes[0]
    some = queries.among([centre.id, *beside])
    return replace(some, nodes=[centre, *(each for each in some.nodes if each.id != centre.id)])


def _ask(queries: graph.GraphQueries, question: Question, a: str, b: str) -> Asked:
    if question in ABOUT_ALL:
        return Asked((PathEnd(a), PathEnd(b)), ABOUT_ALL[question](queries, MOST), [])
    ends = _find(queries, a.strip()), _find(queries, b.strip())
    known = [end.node.id for end in ends if end.node]
    answer = ABOUT_TWO[question](queries, known[0], known[1]) if len(known) == 2 else None
    nodes = queries.nodes("", FIRST_NODES)
    names = sorted({node.name for node in nodes if node.name and node.kind != "session"})
    return Asked(ends, answer, names)


def _find(queries: graph.GraphQueries, text: str) -> PathEnd:
    """The node with this id or name, else the most connected of a similar name."""
    if not text:
        return PathEnd("")
    found = [node for node in queries.nodes(text, 40) if node.kind != "session"]
    exact = _by_id(queries, text)
    exact += [node for node in found if node.name.casefold() == text.casefold()]
    nodes = [NodeOut.of(node) for node in dict.fromkeys((*exact, *found))]
    return PathEnd(text, nodes[0] if nodes else None, tuple(nodes[1 : 1 + ALTERNATIVES]))


def _by_id(queries: graph.GraphQueries, text: str) -> list[graph.GraphNode]:
    try:
        return queries.among([text]).nodes if ":" in text else []
    except errors.NotFoundError:
        return []


def graph_url(*nodes: str) -> str:
    """Address of some nodes in the graph, the first in its centre."""
    first, *others = nodes
    beside = [("beside", other) for other in others[: MAX_AMONG - 1]]
    return "/graph?" + urlencode([("node", first), *beside])
