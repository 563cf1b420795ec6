"""What the JSON API says, as types."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from graph_memory.graph import GraphEdge, GraphNode, Neighbourhood
from graph_memory.library import FactDetail, FactLine
from graph_memory.model import Change, Message, Status
from graph_memory.service import Health

from .shapes import shape_of


def when(at: float | None) -> datetime | None:
    """Seconds since the epoch as a time in UTC; ``None`` for never and out of range."""
    if at is None or not math.isfinite(at):
        return None
    try:
        return datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        return None


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Problem(_Model):
    """An error (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class NodeOut(_Model):
    """A person or a thing that facts are about."""

    id: str
    kind: str
    type: str
    shape: str
    name: str
    degree: int = Field(description="How many facts join it to others.")

    @classmethod
    def of(cls, node: GraphNode) -> NodeOut:
        """From what the graph says."""
        return cls(
            id=node.id,
            kind=node.kind,
            type=node.type,
            shape=shape_of(node.kind, node.type),
            name=node.name or node.id,
            degree=node.degree,
        )


class EdgeOut(_Model):
    """A fact, as an edge."""

    id: str
    source: str
    target: str
    predicate: str
    statement: str
    importance: float
    times: int = Field(description="How often it was said.")
    current: bool = Field(description="In use, and true as far as is known.")

    @classmethod
    def of(cls, edge: GraphEdge, now: float) -> EdgeOut:
        """From what the graph says; ``now`` in seconds since the epoch."""
        ended = edge.valid_to is not None and edge.valid_to <= now
        return cls(
            id=edge.id,
            source=edge.source,
            target=edge.target,
            predicate=edge.predicate,
            statement=edge.statement,
            importance=edge.importance,
            times=edge.strength_count,
            current=edge.status == Status.ACTIVE and not ended,
        )


class GraphOut(_Model):
    """A node, what is one fact away from it, and the facts between them."""

    centre: NodeOut
    nodes: list[NodeOut]
    edges: list[EdgeOut]
    shown: int = Field(description="Neighbours in this answer.")
    total: int = Field(description="Neighbours there are.")

    @classmethod
    def of(cls, found: Neighbourhood, now: float) -> GraphOut:
        """From what the graph says; the centre is the first node."""
        others = [node for node in found.nodes if node.id != found.centre.id]
        return cls(
            centre=NodeOut.of(found.centre),
            nodes=[NodeOut.of(node) for node in (found.centre, *others)],
            edges=[EdgeOut.of(edge, now) for edge in found.edges],
            shown=len(others),
            total=max(found.total, len(others)),
        )


class NodesOut(_Model):
    """Nodes that were searched for, most connected first."""

    items: list[NodeOut]


class FactOut(_Model):
    """Something known."""

    id: str
    statement: str
    predicate: str
    subject: str
    subject_name: str
    object: str
    object_name: str
    persona: str
    chat: str
    chat_title: str
    said_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    fades_at: datetime | None = Field(description="None: never.")
    strength: float = Field(ge=0, le=1)
    importance: float
    times: int = Field(description="How often it was said.")
    pinned: bool
    state: str = Field(description="active, superseded or archived")

    @classmethod
    def of(cls, line: FactLine) -> FactOut:
        """From what the library says."""
        fact = line.fact
        return cls(
            id=fact.id,
            statement=fact.statement,
            predicate=fact.predicate,
            subject=fact.subject,
            subject_name=line.subject,
            object=fact.object,
            object_name=line.object,
            persona=line.session.persona,
            chat=line.session.circle,
            chat_title=line.session.title,
            said_at=when(fact.said_at),
            valid_from=when(fact.valid_from),
            valid_to=when(fact.valid_to),
            fades_at=when(line.fades_at),
            strength=line.strength,
            importance=fact.importance,
            times=fact.use_count,
            pinned=fact.pinned,
            state=state_of(line),
        )


def state_of(line: FactLine) -> str:
    """``archived``, ``superseded`` or ``active``."""
    if line.fact.status == Status.ARCHIVED:
        return "archived"
    return "superseded" if line.superseded else "active"


class FactsOut(_Model):
    """One page of facts."""

    items: list[FactOut]
    total: int
    next: str | None = Field(description="Cursor of the next page.")


class MessageOut(_Model):
    """A line of chat."""

    id: int
    sender: str
    name: str
    text: str
    at: datetime | None

    @classmethod
    def of(cls, message: Message) -> MessageOut:
        """From what the journal says."""
        return cls(
            id=message.id,
            sender=message.sender,
            name=message.name,
            text=message.text,
            at=when(message.at),
        )


class FactDetailOut(_Model):
    """A fact, what it rests on, and what came before and after."""

    fact: FactOut
    sources: list[MessageOut]
    replaces: list[FactOut]
    replaced_by: list[FactOut]

    @classmethod
    def of(cls, detail: FactDetail) -> FactDetailOut:
        """From what the library says."""
        return cls(
            fact=FactOut.of(detail.line),
            sources=[MessageOut.of(message) for message in detail.sources],
            replaces=[FactOut.of(line) for line in detail.replaces],
            replaced_by=[FactOut.of(line) for line in detail.replaced_by],
        )


class ChangeOut(_Model):
    """What was done; its number undoes it."""

    id: int
    at: datetime | None
    actor: str
    reason: str
    undoes: int | None

    @classmethod
    def of(cls, change: Change) -> ChangeOut:
        """From what the journal says."""
        return cls(
            id=change.id,
            at=when(change.at),
            actor=change.actor,
            reason=change.reason,
            undoes=change.undoes,
        )


class HealthOut(_Model):
    """How the memory is doing."""

    counts: dict[str, int]
    graph: str
    recall_ready: bool
    embedder: str
    index_items: int
    index_vectors: int
    buffered: int
    waiting: int
    dead: int
    problems: list[str]

    @classmethod
    def of(cls, health: Health) -> HealthOut:
        """From what the service says."""
        return cls(
            counts=health.counts,
            graph=health.graph,
            recall_ready=health.recall_ready,
            embedder=health.embedder,
            index_items=health.index_items,
            index_vectors=health.index_vectors,
            buffered=health.learning.buffered,
            waiting=health.learning.waiting,
            dead=health.learning.dead,
            problems=health.problems,
        )
