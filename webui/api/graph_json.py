"""JSON of the graph: a node and what is one fact away, or some nodes."""

from __future__ import annotations

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
        """From a node of the graph."""
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
        """From an edge of the graph; ``now`` in seconds since the epoch."""
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
    """Nodes, of which the centre is the first, and the facts between them."""

    centre: NodeOut
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    shown: int = Field(description="Nodes in this answer besides the centre.")
    total: int = Field(description="Neighbours of the centre there are.")

    @classmethod
    def of(cls, found: graph.Subgraph, now: float) -> GraphOut:
        """From part of the graph."""
        nodes = [NodeOut.of(node) for node in found.nodes]
        return cls(
            centre=nodes[0],
            nodes=nodes,
            edges=[EdgeOut.of(edge, now) for edge in found.edges],
            shown=len(nodes) - 1,
            total=max(found.total, len(nodes) - 1),
        )


def routes(memory: service.MemoryService) -> APIRouter:
    """``/graph`` and ``/graph/among``."""
    api = APIRouter()

    @api.get("/graph")
    async def around(
        node: Id, limit: Annotated[int, Query(ge=1, le=MAX_NODES)] = FIRST_NODES
    ) -> GraphOut:
        """A node and what is one fact away from it."""
        found = await memory.graph.ask(lambda graph: graph.neighbourhood(node, limit))
        return GraphOut.of(found, memory.now())

    @api.get("/graph/among")
    async def among(node: Ids) -> GraphOut:
        """Some nodes and all facts between them; unknown nodes are left out."""
        found = await memory.graph.ask(lambda graph: graph.among(node))
        return GraphOut.of(found, memory.now())

    return api
