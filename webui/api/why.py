"""What recent replies were reminded of, and what became of each candidate."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from graph_memory.recall import Trace, TracedCandidate
from graph_memory.service import MemoryService

from .base import Out, when


class CandidateOut(Out):
    """A memory that was considered."""

    id: str
    text: str
    score: float
    evidence: float = Field(description="1 is enough to be reminded of it.")
    signals: dict[str, float] = Field(description="What the score is made of.")
    dropped: str | None = Field(description="Why it was left out; null: it was told.")

    @classmethod
    def of(cls, candidate: TracedCandidate) -> CandidateOut:
        """From a trace."""
        return cls(
            id=candidate.id,
            text=candidate.text,
            score=candidate.score,
            evidence=candidate.evidence,
            signals=candidate.signals,
            dropped=candidate.dropped.value if candidate.dropped else None,
        )


class TraceOut(Out):
    """One recall."""

    at: datetime | None
    query: str
    user: str | None
    circle: str
    is_group: bool
    persona: str
    named: dict[str, str]
    visible: int = Field(description="Memories that the asker may be reminded of.")
    embedded: bool = Field(description="Whether the meaning of the question was known in time.")
    candidates: list[CandidateOut]
    block: str
    timing: dict[str, float] = Field(description="Milliseconds.")
    problem: str

    @classmethod
    def of(cls, trace: Trace) -> TraceOut:
        """From what recall kept."""
        return cls(
            at=when(trace.at),
            query=trace.query,
            user=trace.asker.user,
            circle=trace.asker.circle,
            is_group=trace.asker.is_group,
            persona=trace.asker.persona,
            named=trace.named,
            visible=trace.visible,
            embedded=trace.embedded,
            candidates=[CandidateOut.of(each) for each in trace.candidates],
            block=trace.block,
            timing=trace.timing,
            problem=trace.problem,
        )


class TracesOut(Out):
    """Recent recalls, newest first. They are kept in memory only."""

    items: list[TraceOut]
    total: int


def routes(service: MemoryService) -> APIRouter:
    """``/traces``."""
    api = APIRouter()

    @api.get("/traces")
    async def traces(limit: Annotated[int, Query(ge=1, le=100)] = 20) -> TracesOut:
        """What recent replies were reminded of, and why."""
        found = service.recall.recent()
        return TracesOut(items=[TraceOut.of(each) for each in found[:limit]], total=len(found))

    return api
