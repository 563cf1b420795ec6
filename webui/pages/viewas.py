"""Looking through somebody's eyes: what they could be told, what not, and what was true when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from graph_memory.library import FactLine
from graph_memory.service import MemoryService
from graph_memory.viewpoints import Choices, Comparison, Outlook

from ..api.viewas import Offset, barriers_of, standings_of
from ..eyes import NONE, Eyes
from ..listing import MAX_TEXT
from ..view import Pages

SHOWN = 20
"""Facts of each list on one page."""


@dataclass(frozen=True, slots=True)
class Part:
    """A page of one of the two lists.

    Attributes:
        items: Facts, how each stands or what keeps it away, and whether it is another
            persona's, let in by a setting.
    """

    items: list[tuple[FactLine, str, bool]]
    start: int
    total: int

    @property
    def before(self) -> str:
        """Where the page before begins; empty for the first."""
        return f"o{max(0, self.start - SHOWN)}" if self.start else ""

    @property
    def after(self) -> str:
        """Where the next page begins; empty for the last."""
        end = self.start + len(self.items)
        return f"o{end}" if self.items and end < self.total else ""


@dataclass(frozen=True, slots=True)
class Days:
    """The slider: days from the first memory to today."""

    first: date
    last: date
    chosen: date

    @property
    def most(self) -> int:
        """Number of the last day; the first one is 0."""
        return (self.last - self.first).days

    @property
    def number(self) -> int:
        """Number of the chosen day."""
        return min(self.most, max(0, (self.chosen - self.first).days))


def router(service: MemoryService, pages: Pages) -> APIRouter:
    """``/viewas``."""
    routes = APIRouter(include_in_schema=False)
    viewpoints = service.viewpoints

    @routes.get("/viewas")
    async def look(
        request: Request,
        eyes: Annotated[Eyes, Depends()],
        q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
        standing: Literal["", "true", "replaced", "over", "later", "archived"] = "",
        barrier: Literal["", "audience", "absent", "persona"] = "",
        seen: Offset = "o0",
        hidden: Offset = "o0",
    ) -> Response:
        choices = await viewpoints.choices()
        if not choices.people:
            return pages.render(request, "viewas_empty.html")
        if not request.query_params.keys() & {"user", "group", "persona"}:
            eyes = _first(choices, eyes)
        elif eyes.user == NONE and not eyes.group:
            return _render(request, choices, eyes, q, is_nobody=True)
        asker = eyes.asker(viewpoints)
        at = eyes.at(service.zone, service.now())
        outlook = await viewpoints.outlook(asker, at)
        text = q.strip()
        return _render(
            request,
            choices,
            eyes,
            text,
            outlook=outlook,
            standing=standing,
            barrier=barrier,
            seen=await _seen(outlook, standing, seen),
            hidden=await _hidden(outlook, barrier, hidden),
            compared=await viewpoints.compare(asker, text) if text else None,
            accounts=sorted(asker.accounts - {eyes.user}),
        )

    def _render(
        request: Request,
        choices: Choices,
        eyes: Eyes,
        q: str,
        *,
        outlook: Outlook | None = None,
        compared: Comparison | None = None,
        is_nobody: bool = False,
        **more: Any,
    ) -> Response:
        return pages.render(
            request,
            "viewas.html",
            choices=choices,
            eyes=eyes,
            none=NONE,
            q=q,
            is_nobody=is_nobody,
            outlook=outlook,
            compared=compared,
            days=_days(outlook, eyes) if outlook else None,
            standings=standings_of(outlook) if outlook else {},
            barriers=barriers_of(outlook) if outlook else {},
            **more,
        )

    async def _seen(outlook: Outlook, standing: str, offset: str) -> Part:
        wanted = [each for each in outlook.seen if standing in ("", each.standing)]
        start = int(offset[1:])
        page = wanted[start : start + SHOWN]
        lines = await service.library.lines(each.fact for each in page)
        items = [
            (line, str(each.standing), each.foreign) for line, each in zip(lines, page, strict=True)
        ]
        return Part(items, start, len(wanted))

    async def _hidden(outlook: Outlook, barrier: str, offset: str) -> Part:
        wanted = [each for each in outlook.hidden if barrier in ("", each[1])]
        start = int(offset[1:])
        page = wanted[start : start + SHOWN]
        lines = await service.library.lines(fact for fact, _ in page)
        items = [(line, str(why), False) for line, (_, why) in zip(lines, page, strict=True)]
        return Part(items, start, len(wanted))

    def _days(outlook: Outlook, eyes: Eyes) -> Days:
        today = datetime.fromtimestamp(service.now(), service.zone).date()
        first = datetime.fromtimestamp(outlook.since, service.zone).date()
        chosen = date.fromisoformat(eyes.day) if eyes.day else today
        return Days(min(first, today) - timedelta(days=1), today, chosen)

    return routes


def _first(choices: Choices, eyes: Eyes) -> Eyes:
    """Somebody to begin with."""
    persona = choices.personas[0] if choices.personas else NONE
    return Eyes(choices.people[0][0], "", persona, eyes.day)
