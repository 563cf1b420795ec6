"""What somebody could be reminded of, what not and why, and what was true at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from graph_memory.recall import Recall
from graph_memory.scope import Barrier
from graph_memory.service import MemoryService
from graph_memory.validity import Standing
from graph_memory.viewpoints import Kept, Outlook

from ..eyes import Eyes
from ..listing import MAX_TEXT
from .base import Out, when
from .facts import FactOut

MOST = 50

Offset = Annotated[str, Query(pattern=r"^o\d{1,9}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
Asking = Annotated[Eyes, Depends()]


class SeenOut(Out):
    """A fact that the asker may be reminded of."""

    fact: FactOut
    standing: str = Field(description="true, replaced, over, later or archived")
    foreign: bool = Field(description="Another persona's, let in by a setting.")


class SeenPage(Out):
    """Facts that the asker may be reminded of."""

    at: datetime | None
    items: list[SeenOut]
    total: int
    standings: dict[str, int] = Field(description="How many stand how.")
    unknown: int = Field(description="Facts that nobody knew yet.")
    next: str | None


class HiddenOut(Out):
    """A fact that the asker is not told."""

    fact: FactOut
    barrier: str = Field(description="audience, absent or persona")


class HiddenPage(Out):
    """Facts that the owner sees and the asker does not."""

    at: datetime | None
    items: list[HiddenOut]
    total: int
    barriers: dict[str, int] = Field(description="How many each reason keeps away.")
    next: str | None


class MemoryOut(Out):
    """A memory that a question brought up."""

    kind: str
    id: str
    text: str
    at: datetime | None
    score: float


class KeptOut(Out):
    """A memory that would have been brought up, had the asker been allowed to know it."""

    kind: str
    id: str
    text: str
    at: datetime | None
    barrier: str

    @classmethod
    def of(cls, kept: Kept) -> KeptOut:
        """From what was compared."""
        return cls(
            kind=kept.kind,
            id=kept.id,
            text=kept.text,
            at=when(kept.at),
            barrier=kept.barrier.value,
        )


class RecallOut(Out):
    """What a question would remind the model of, and what scope keeps away from it."""

    items: list[MemoryOut]
    block: str
    problem: str
    kept: list[KeptOut]

    @classmethod
    def of(cls, told: Recall, kept: list[Kept]) -> RecallOut:
        """From what was compared."""
        items = [
            MemoryOut(kind=i.kind, id=i.id, text=i.text, at=when(i.at), score=i.score)
            for i in told.items
        ]
        return cls(
            items=items,
            block=told.block,
            problem=told.trace.problem,
            kept=[KeptOut.of(each) for each in kept],
        )


def standings_of(outlook: Outlook) -> dict[str, int]:
    """How many of what can be seen stand how."""
    counts = dict.fromkeys((each.value for each in Standing), 0)
    for each in outlook.seen:
        counts[each.standing.value] += 1
    return counts


def barriers_of(outlook: Outlook) -> dict[str, int]:
    """How many facts each barrier keeps away."""
    return {each.value: outlook.barriers[each] for each in Barrier}


def _next(start: int, shown: int, total: int) -> str | None:
    end = start + shown
    return f"o{end}" if shown and end < total else None


def routes(service: MemoryService) -> APIRouter:
    """``/viewas/…``."""
    api = APIRouter(prefix="/viewas")
    viewpoints, library = service.viewpoints, service.library

    async def outlook(eyes: Eyes) -> tuple[Outlook, float]:
        at = eyes.at(service.zone, service.now())
        return await viewpoints.outlook(eyes.asker(viewpoints), at), at

    @api.get("/facts")
    async def seen(
        eyes: Asking,
        standing: Literal["", "true", "replaced", "over", "later", "archived"] = "",
        limit: Limit = MOST,
        cursor: Offset = "o0",
    ) -> SeenPage:
        """Facts that somebody may be reminded of, and how they stood on a day."""
        found, at = await outlook(eyes)
        wanted = [each for each in found.seen if not standing or each.standing.value == standing]
        start = int(cursor[1:])
        page = wanted[start : start + limit]
        lines = await library.lines(each.fact for each in page)
        items = [
            SeenOut(fact=FactOut.of(line), standing=each.standing.value, foreign=each.foreign)
            for line, each in zip(lines, page, strict=True)
        ]
        return SeenPage(
            at=when(at),
            items=items,
            total=len(wanted),
            standings=standings_of(found),
            unknown=found.unknown,
            next=_next(start, len(page), len(wanted)),
        )

    @api.get("/hidden")
    async def hidden(
        eyes: Asking,
        barrier: Literal["", "audience", "absent", "persona"] = "",
        limit: Limit = MOST,
        cursor: Offset = "o0",
    ) -> HiddenPage:
        """Facts that the owner sees and somebody does not, and why not."""
        found, at = await outlook(eyes)
        wanted = [each for each in found.hidden if not barrier or each[1].value == barrier]
        start = int(cursor[1:])
        page = wanted[start : start + limit]
        lines = await library.lines(fact for fact, _ in page)
        items = [
            HiddenOut(fact=FactOut.of(line), barrier=why.value)
            for line, (_, why) in zip(lines, page, strict=True)
        ]
        return HiddenPage(
            at=when(at),
            items=items,
            total=len(wanted),
            barriers=barriers_of(found),
            next=_next(start, len(page), len(wanted)),
        )

    @api.get("/recall")
    async def recall(
        eyes: Asking, q: Annotated[str, Query(min_length=1, max_length=MAX_TEXT)]
    ) -> RecallOut:
        """What a question would remind the model of if somebody asked it now."""
        found = await viewpoints.compare(eyes.asker(viewpoints), q)
        return RecallOut.of(found.told, found.kept)

    return api
