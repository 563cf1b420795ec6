"""The graph: a node and what is one fact away from it, or some nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from ..core import graph, model, service
from ..icons import shape_of
from ..listing import Id
from .base import Out

MAX_NODES = 300
FIRST_NODES = 60
"""Neighbours shown at once."""
MAX_AMONG = 60
"""Nodes that one may ask for by their ids."""

Ids = Annotated[list[Id], Query(min_length=1, max_length=MAX_AMONG)]


class NodeOut(Out):
    """A person or a thing that facts are about."""

    id: str
    kind: str
    type: str
    shape: str
    name: str
    degree: int = Field(description="How many facts join it to others.")

    @classmethod
    def of(cls, node: graph.GraphNode) -> NodeOut:
        """From what the graph says."""
        return cls(
            id=node.id,
            kind=node.kind,
            type=node.type,
            shape=shape_of(node.kind, node.type),
            name=node.name or node.id,
            degree=node.degree,
        )


class EdgeOut(Out):
    """A fact, as an edge."""

    id: str
    source: str
    target: str
    predicate: str
    statement: str
    importance: float
    times: int = Field(description="How often it was said.")
    state: str = Field(description="current, ended, superseded or archived")

    @classmethod
    def of(cls, edge: graph.GraphEdge, now: float) -> EdgeOut:
        """From what the graph says; ``now`` in seconds since the epoch."""
        return cls(
            id=edge.id,
            source=edge.source,
            target=edge.target,
            predicate=edge.predicate,
            statement=edge.statement,
            importance=edge.importance,
            times=edge.strength_count,
            state=state_of(edge, now),
        )


def state_of(edge: graph.GraphEdge, now: float) -> str:
    """``archived``, ``superseded``, ``ended`` or ``current``, the first that holds."""
    if edge.status != model.Status.ACTIVE:
        return "archived"
    if edge.superseded:
        return "superseded"
    return "ended" if edge.valid_to is not None and edge.valid_to <= now else "current"


class GraphOut(Out):
    """A node, what is one fact away from it, and the facts between them."""

    centre: NodeOut
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    shown: int = Field(description="Neighbours in this answer.")
    total: int = Field(description="Neighbours there are.")

    @classmethod
    def of(cls, found: graph.Neighbourhood, now: float) -> GraphOut:
        """From what the graph says; the centre is the first node."""
        others = [node for node in found.nodes if node.id != found.centre.id]
        return cls(
            centre=NodeOut.of(found.centre),
            nodes=[NodeOut.of(node) for node in (found.centre, *others)],
            edges=edges_of(found.edges, now),
            shown=len(others),
            total=max(found.total, len(others)),
        )


class SomeOut(Out):
    """Some nodes and the facts between them."""

    nodes: list[NodeOut]
    edges: list[EdgeOut]

    @classmethod
    def of(cls, found: graph.Answer, now: float) -> SomeOut:
        """From what the graph says."""
        nodes = [NodeOut.of(node) for node in found.nodes]
        return cls(nodes=nodes, edges=edges_of(found.edges, now))


def edges_of(edges: Iterable[graph.GraphEdge], now: float) -> list[EdgeOut]:
    """Facts as edges."""
    return [EdgeOut.of(edge, now) for edge in edges]


def routes(memory: service.MemoryService) -> APIRouter:
    """``/graph``."""
    api = APIRouter()

    @api.get("/graph")
    async def neighbourhood(
        node: Id, limit: Annotated[int, Query(ge=1, le=MAX_NODES)] = FIRST_NODES
    ) -> GraphOut:
        """A node and what is one fact away from it."""
        return GraphOut.of(await memory.graph.neighbourhood(node, limit), memory.now())

    @api.get("/graph/among")
    async def among(node: Ids) -> SomeOut:
        """Some nodes and all facts between them; unknown nodes are left out."""
        return SomeOut.of(await memory.graph.questions.among(node), memory.now())

    return api
