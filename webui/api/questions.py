"""Six questions that people ask of the graph."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from graph_memory.graph import Answer
from graph_memory.service import MemoryService

from ..listing import Id
from .base import Out
from .graph import EdgeOut, NodeOut, edges_of

MOST = 50

Limit = Annotated[int, Query(ge=1, le=200)]


class WayOut(Out):
    """A path."""

    nodes: list[str] = Field(description="Ids, from one end to the other.")
    facts: list[str] = Field(description="Ids of the facts between them.")


class PairOut(Out):
    """Two facts that contradict each other."""

    newer: str
    older: str


class AnswerOut(Out):
    """What was asked for, and what it rests on."""

    nodes: list[NodeOut]
    facts: list[EdgeOut]
    total: int = Field(description="How many there are, shown or not.")
    ways: list[WayOut]
    pairs: list[PairOut]
    neighbours: dict[str, int] = Field(description="With how many others facts join a node.")

    @classmethod
    def of(cls, found: Answer, now: float) -> AnswerOut:
        """From what the graph says."""
        return cls(
            nodes=[NodeOut.of(node) for node in found.nodes],
            facts=edges_of(found.edges, now),
            total=found.total,
            ways=[WayOut(nodes=list(way.nodes), facts=list(way.facts)) for way in found.ways],
            pairs=[PairOut(newer=newer, older=older) for newer, older in found.pairs],
            neighbours=dict(found.counts),
        )


def routes(service: MemoryService) -> APIRouter:
    """``/graph/…``, one for each question."""
    api = APIRouter(prefix="/graph")
    questions = service.graph.questions

    def out(found: Answer) -> AnswerOut:
        return AnswerOut.of(found, service.now())

    @api.get("/path")
    async def path(a: Id, b: Id) -> AnswerOut:
        """The shortest paths between two nodes."""
        return out(await questions.path(a, b))

    @api.get("/shared")
    async def shared(a: Id, b: Id, limit: Limit = MOST) -> AnswerOut:
        """What facts join with both of two nodes: those first, then what they share."""
        return out(await questions.shared(a, b, limit))

    @api.get("/connected")
    async def connected(limit: Limit = MOST) -> AnswerOut:
        """The nodes that facts join with the most others."""
        return out(await questions.connected(limit))

    @api.get("/orphans")
    async def orphans(limit: Limit = MOST) -> AnswerOut:
        """Nodes of which no fact in use tells."""
        return out(await questions.orphans(limit))

    @api.get("/newest")
    async def newest(limit: Limit = MOST) -> AnswerOut:
        """The facts that were learned last."""
        return out(await questions.newest(limit))

    @api.get("/contradicted")
    async def contradicted(limit: Limit = MOST) -> AnswerOut:
        """Facts that newer ones replaced, in pairs, the newest first."""
        return out(await questions.contradicted(limit))

    return api
