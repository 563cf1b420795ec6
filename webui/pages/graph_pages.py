"""Graph pages: the whole map, the surroundings of a node, and canned questions.

``/api/v1/graph`` answers the pages' scripts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from ..core import errors, graph, presentation
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, Visit
from .inspection import ViewAsQuery

MAX_NODES = 300
FIRST_NODES = 60
"""Neighbours shown at once."""
MAX_AMONG = 60
"""Nodes that one may ask for by their ids, and that a list without scripts has."""
RESULTS = 24
MOST = 50
"""Most answers to a question."""
SLICE = 1 << 18
"""Bytes of the map that are sent at a time."""
ALTERNATIVES = 5
"""Others of a similar name that are offered."""

Question = Literal["path", "shared", "connected", "bridges", "newest", "contradicted", "orphans"]
QUESTIONS = get_args(Question)
ABOUT_TWO = ("path", "shared")
"""Questions about two nodes; the others are about all. ``GraphQueries`` has a method for each."""
Depth = Annotated[int, Query(ge=1, le=graph.HOPS - 1)]
Named = Annotated[str, Query(max_length=MAX_TEXT)]
Ids = Annotated[list[Id], Query(min_length=1, max_length=MAX_AMONG)]
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
    node: presentation.Drawn | None = None
    others: tuple[presentation.Drawn, ...] = ()


@routes.get("/graph")
async def show(
    memory: Memory,
    visit: Visit,
    node: Annotated[Id, Query()] = "",
    beside: Annotated[list[Id], Query(max_length=MAX_AMONG - 1)] = [],  # noqa: B006 - never altered
    depth: Depth = 1,
    q: Named = "",
) -> Response:
    """The map, a node with its neighbours, some nodes, or a search."""
    if text := q.strip():
        return await _search(memory, visit, text)
    if node:
        found = await memory.graph.ask(lambda graph: _around(graph, node, beside, depth))
        drawn = presentation.drawn_graph(found, memory.now())
    else:
        every = await memory.graph.ask(lambda graph: graph.nodes("", MAX_AMONG))
        drawn = {
            "nodes": [presentation.drawn_node(each) for each in every if each.kind != "session"]
        }
    return visit.render(
        "graph.html",
        graph=drawn,
        q="",
        beside=bool(node and beside),
        depth=depth,
        questions=QUESTIONS,
        hops=graph.HOPS,
        now=memory.now(),
    )


async def _search(memory: Memory, visit: Visit, text: str) -> Response:
    found = await memory.graph.ask(lambda graph: graph.nodes(text, MAX_AMONG))
    if len(found) == 1:
        return RedirectResponse(graph_url(found[0].id), 303)
    results = [presentation.drawn_node(node) for node in found[:RESULTS]]
    return visit.render(
        "graph_search.html", results=results, q=text, questions=QUESTIONS, hops=graph.HOPS
    )


def _around(
    queries: graph.GraphQueries, node: str, beside: list[str], depth: int
) -> graph.Subgraph:
    """A node with its surroundings, or with those that were asked for."""
    if not beside:
        return queries.within(node, depth, FIRST_NODES if depth == 1 else MAX_NODES)
    centre = queries.neighbourhood(node, 0).nodes[0]
    some = queries.among([centre.id, *beside])
    return replace(some, nodes=[centre, *(each for each in some.nodes if each.id != centre.id)])


@routes.get("/graph/ask/{question}")
async def ask(
    memory: Memory, visit: Visit, question: Question, a: Named = "", b: Named = ""
) -> Response:
    """A question with a form for its ends, and its answer."""

    def work(queries: graph.GraphQueries) -> tuple[list[PathEnd], graph.Subgraph | None, set[str]]:
        answered: Callable[..., graph.Subgraph] = getattr(queries, question)
        if question not in ABOUT_TWO:
            return [PathEnd(a), PathEnd(b)], answered(MOST), set()
        ends = [_find(queries, a.strip()), _find(queries, b.strip())]
        known = [end.node["id"] for end in ends if end.node]
        found = answered(*known) if len(known) == 2 else None
        nodes = queries.nodes("", FIRST_NODES)
        return ends, found, {node.name for node in nodes if node.name and node.kind != "session"}

    ends, answer, names = await memory.graph.ask(work)
    found = answer or graph.Subgraph([], [], 0)
    return visit.render(
        "graph_question.html",
        question=question,
        questions=QUESTIONS,
        about_two=ABOUT_TWO,
        a=ends[0],
        b=ends[1],
        answer=answer,
        nodes={node.id: presentation.drawn_node(node) for node in found.nodes},
        facts={edge.id: presentation.drawn_edge(edge, memory.now()) for edge in found.edges},
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
    nodes = [presentation.drawn_node(node) for node in dict.fromkeys((*exact, *found))]
    return PathEnd(text, nodes[0] if nodes else None, tuple(nodes[1 : 1 + ALTERNATIVES]))


def graph_url(*nodes: str) -> str:
    """Address of some nodes in the graph, the first in its centre."""
    first, *others = nodes
    beside = [("beside", other) for other in others[: MAX_AMONG - 1]]
    return "/graph?" + urlencode([("node", first), *beside])


@routes.get("/api/v1/graph")
async def around(
    memory: Memory,
    node: Id,
    limit: Annotated[int, Field(ge=1, le=MAX_NODES)] = FIRST_NODES,
    relation: Annotated[str, Field(max_length=40)] = "",
    depth: Depth = 1,
) -> presentation.Drawn:
    """A node and what is one fact away from it, or some."""
    found = await memory.graph.ask(lambda graph: graph.within(node, depth, limit, relation))
    drawn = presentation.drawn_graph(found, memory.now(), await memory.graph.map())
    return drawn | {"relations": dict(found.counts)}


@routes.get("/api/v1/graph/path")
async def path(memory: Memory, a: Id, b: Id) -> presentation.Drawn:
    """The shortest paths between two nodes."""
    found = await memory.graph.ask(lambda graph: graph.path(a, b))
    drawn = presentation.drawn_graph(found, memory.now(), await memory.graph.map())
    return drawn | {"paths": [{"nodes": way.nodes, "facts": way.facts} for way in found.paths]}


@routes.get("/api/v1/graph/among")
async def among(memory: Memory, node: Ids) -> presentation.Drawn:
    """Some nodes and all facts between them; unknown nodes are left out."""
    found = await memory.graph.ask(lambda graph: graph.among(node))
    return presentation.drawn_graph(found, memory.now(), await memory.graph.map())


@routes.get("/api/v1/graph/map")
async def whole(memory: Memory) -> Response:
    """The whole graph, or the best connected part of it, with a place for each node."""
    found, now, rate = await memory.graph.map(), memory.now(), memory.settings.time_decay_rate
    body = await asyncio.to_thread(presentation.packed, found, now, rate)
    return StreamingResponse(_slices(body), media_type="application/json")


async def _slices(body: bytes) -> AsyncIterator[bytes]:
    """A body in pieces, each compressed in a few milliseconds.

    Older versions of Starlette do that on the event loop, with a body as a whole.
    """
    for start in range(0, len(body), SLICE):
        yield body[start : start + SLICE]
        await asyncio.sleep(0)


@routes.get("/api/v1/graph/seen")
async def seen(wanted: Annotated[ViewAsQuery, Query()], memory: Memory) -> Response:
    """How each fact stands that somebody could be told at the end of a day, by its id."""
    outlook = await memory.view_as.outlook(wanted.asker(memory), wanted.moment(memory))
    return JSONResponse(outlook.seen)
