"""How the memory is doing."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from graph_memory.health import Health
from graph_memory.service import MemoryService

from .base import Out


class BreakerOut(Out):
    """Whether a model is left alone because it keeps failing."""

    state: str
    failures: int
    retry_in: float = Field(description="Seconds until it is asked again.")
    reason: str


class CostOut(Out):
    """Calls and tokens of one purpose."""

    calls: int
    tokens: int


class HealthOut(Out):
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
    storage: str = Field(description="ready, degraded (nothing can be written) or failed.")
    storage_kind: str = Field(description="Why nothing can be written; empty if it can.")
    breakers: dict[str, BreakerOut] = Field(description="Models that may be left alone.")
    spent: dict[str, CostOut] = Field(description="What models were asked for today.")
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
            storage=health.storage.value,
            storage_kind=health.storage_kind,
            breakers={
                key: BreakerOut(
                    state=breaker.state.value,
                    failures=breaker.failures,
                    retry_in=breaker.retry_in,
                    reason=breaker.reason,
                )
                for key, breaker in health.breakers.items()
            },
            spent={
                purpose: CostOut(calls=cost.calls, tokens=cost.tokens)
                for purpose, cost in health.spending.costs.items()
            },
            problems=health.problems,
        )


def routes(service: MemoryService) -> APIRouter:
    """``/health``."""
    api = APIRouter()

    @api.get("/health")
    async def health() -> HealthOut:
        """How the memory is doing."""
        return HealthOut.of(await service.health())

    return api
