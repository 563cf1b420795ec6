"""Six questions that people ask of the graph, each a form with its answer below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ..api.graph import EdgeOut, NodeOut, edges_of
from ..core import errors, graph, service
from ..listing import MAX_TEXT
from ..rendering import Pages

ALTERNATIVES = 5
"""Others of a similar name that are offered."""
SUGGESTIONS = 60
MOST = 50
"""Nodes or facts of one answer."""

Question = Literal["path", "shared", "connected", "newest", "contradicted", "orphans"]
QUESTIONS: tuple[Question, ...] = (
    "path", "shared", "connected", "newest", "contradicted", "orphans",
)  # fmt: skip
ABOUT_TWO = frozenset({"path", "shared"})


@dataclass(frozen=True, slots=True)
class End:
    """Somebody or something that a question is about.

    Attributes:
        text: What was typed: an id, or part of a name.
        node: What was taken for it; ``None`` if nothing is called so.
        others: What it might have been as well.
    """

    text: str
    node: NodeOut | None
    others: tuple[NodeOut, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as the page shows it.

    Attributes:
        nodes, facts: By id.
        order: Ids of the nodes that are the answer, or of the facts.
        link: Address of the whole answer in the graph.
    """

    answer: graph.Answer
    nodes: dict[str, NodeOut]
    facts: dict[str, EdgeOut]
    learned: dict[str, float]
    counts: dict[str, int]
    link: str


def router(memory: service.MemoryService, pages: Pages) -> APIRouter:
    """``/graph/ask/…``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/graph/ask/{question}")
    async def ask(
        request: Request,
        question: Question,
        a: Annotated[str, Query(max_length=MAX_TEXT)] = "",
        b: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    ) -> Response:
        try:
            ends = [await _find(memory, each.strip()) for each in (a, b)]
            known = [end.node.id for end in ends if end.node]
            answer = None
            if question not in ABOUT_TWO or len(known) == 2:
                answer = await _ask(memory.graph.questions, question, known)
            names = await memory.graph.nodes("", SUGGESTIONS) if question in ABOUT_TWO else []
        except errors.GraphError:
            return pages.render(request, "graph_away.html", 503, state=memory.graph.state.value)
        return pages.render(
            request,
            "graph_question.html",
            question=question,
            questions=QUESTIONS,
            about_two=ABOUT_TWO,
            a=ends[0],
            b=ends[1],
            shown=_shown(answer, memory.now()) if answer else None,
            names=sorted({node.name for node in names if node.name and node.kind != "session"}),
            hops=graph.HOPS,
            graph_url=graph_url,
        )

    return routes


async def _ask(questions: graph.Questions, question: Question, ends: list[str]) -> graph.Answer:
    match question:
        case "path":
            return await questions.path(ends[0], ends[1])
        case "shared":
            return await questions.shared(ends[0], ends[1], MOST)
        case "connected":
            return await questions.connected(MOST)
        case "newest":
            return await questions.newest(MOST)
        case "contradicted":
            return await questions.contradicted(MOST)
        case "orphans":
            return await questions.orphans(MOST)


async def _find(memory: service.MemoryService, text: str) -> End:
    """What is called so: its id, its very name, else the most connected of a similar name."""
    if not text:
        return End("", None, ())
    found = [node for node in await memory.graph.nodes(text, 40) if node.kind != "session"]
    exact = await _by_id(memory, text)
    exact += [node for node in found if node.name.casefold() == text.casefold()]
    nodes = [NodeOut.of(node) for node in dict.fromkeys((*exact, *found))]
    return End(text, nodes[0] if nodes else None, tuple(nodes[1 : 1 + ALTERNATIVES]))


async def _by_id(memory: service.MemoryService, text: str) -> list[graph.GraphNode]:
    if ":" not in text:
        return []
    try:
        return (await memory.graph.questions.among([text])).nodes
    except errors.NotFoundError:
        return []


def _shown(answer: graph.Answer, now: float) -> Shown:
    nodes = {node.id: NodeOut.of(node) for node in answer.nodes}
    facts = {edge.id: edge for edge in edges_of(answer.edges, now)}
    learned = {edge.id: edge.recorded_at for edge in answer.edges}
    link = graph_url(*nodes) if len(nodes) > 1 else ""
    return Shown(answer, nodes, facts, learned, dict(answer.counts), link)


def graph_url(*nodes: str) -> str:
    """Address of some nodes in the graph, the first in its centre."""
    first, *others = nodes
    return "/graph?" + urlencode([("node", first), *(("beside", other) for other in others[:59])])
