"""Why a reply knew what it knew: recent recalls, and what became of every candidate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from graph_memory.recall import Reason, Trace, TracedCandidate
from graph_memory.service import MemoryService

from ..listing import Id
from ..view import Pages

SIGNALS = ("words", "meaning", "near", "retention")
SHOWN = 24
"""Candidates that were left out and are listed without being asked for."""


@dataclass(frozen=True, slots=True)
class Recent:
    """A trace in the list.

    Attributes:
        user: What the asker is called.
        place: What the chat is called.
        told: How many memories it brought up.
    """

    trace: Trace
    user: str
    place: str
    told: int


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/why``."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/why")
    async def why(
        request: Request,
        chat: Annotated[Id, Query()] = "",
        at: Annotated[float | None, Query(allow_inf_nan=False)] = None,
        unscoped: Annotated[bool, Query()] = False,
    ) -> Response:
        traces = service.recall.recent()
        wanted = [each for each in traces if (each.asker.circle, each.at) == (chat, at)]
        is_gone = bool(chat) and not wanted
        trace = next(iter(wanted or traces), None)
        compared = None
        if trace and unscoped and wanted:
            compared = await service.viewpoints.compare(trace.asker, trace.query)
        return pages.render(
            request,
            "why.html",
            recent=await _described(traces),
            trace=trace,
            is_chosen=bool(wanted),
            is_gone=is_gone,
            told=[each for each in trace.candidates if not each.dropped] if trace else [],
            dropped=[each for each in trace.candidates if each.dropped] if trace else [],
            reasons=_reasons(trace) if trace else {},
            compared=compared,
            signals=SIGNALS,
            most=_most(trace) if trace else {},
            shown=SHOWN,
            candidate_url=candidate_url,
        )

    async def _described(traces: list[Trace]) -> list[Recent]:
        choices = await service.viewpoints.choices()
        people, groups = dict(choices.people), dict(choices.groups)
        return [
            Recent(
                trace,
                people.get(trace.asker.user or "", trace.asker.user or ""),
                groups.get(trace.asker.circle, "") if trace.asker.is_group else "",
                sum(not each.dropped for each in trace.candidates),
            )
            for trace in traces
        ]

    return routes


def _reasons(trace: Trace) -> dict[Reason, int]:
    """How many candidates were left out for each reason."""
    return dict(Counter(each.dropped for each in trace.candidates if each.dropped).most_common())


def _most(trace: Trace) -> dict[str, float]:
    """The greatest value of score and of each signal, for bars that can be compared."""
    values = {name: [c.signals.get(name, 0.0) for c in trace.candidates] for name in SIGNALS}
    values["score"] = [candidate.score for candidate in trace.candidates]
    return {name: max([1e-9, *found]) for name, found in values.items()}


def candidate_url(candidate: TracedCandidate) -> str:
    """Address of what a candidate is; empty for episodes."""
    id = candidate.id
    if id.startswith("f:"):
        return f"/memories/{id}"
    return f"/messages/{id[1:]}" if id[:1] == "m" and id[1:].isdecimal() else ""
