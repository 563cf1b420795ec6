"""Inspection pages: viewing as somebody else, and why a reply knew what it knew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from ..core import library, model, queries, recall, service, view_as
from ..listing import MAX_TEXT, Day, Id, PageQuery, midnight
from ..rendering import Memory, Visit

SHOWN = 20
"""Facts of each list on one page."""
SHOWN_CANDIDATES = 24
"""Candidates that were left out and are listed without being asked for."""
SIGNALS = ("words", "meaning", "near", "retention")
NONE = "~"
"""Says *nobody* of people, and of personas *one that nobody ever talked to*."""

Offset = Annotated[int, Field(ge=0, le=10**9)]
routes = APIRouter()


# ------------------------------------------------------------------- view as


class ViewAsQuery(PageQuery):
    """An asker, at whose end of a day to look, and what of it to show.

    Attributes:
        user: User id, or :data:`NONE`.
        group: Circle of the group where they ask; empty: in private.
        persona: Whom they ask, or :data:`NONE`.
        day: Empty: now.
        q: What they ask.
        standing, barrier: Only facts that stand so, or that this keeps away.
        seen, hidden: Where the page of each list begins.
    """

    path = "/viewas"
    places = frozenset({"seen", "hidden"})

    user: Id = NONE
    group: Id = ""
    persona: Id = NONE
    day: Day = ""
    q: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    standing: Literal["", "true", "replaced", "over", "later", "archived"] = ""
    barrier: Literal["", "audience", "absent", "confidence", "persona"] = ""
    seen: Offset = 0
    hidden: Offset = 0

    def asker(self, memory: service.MemoryService) -> model.Asker:
        """Who asks; :class:`NotFoundError` if nobody does, in private."""
        user = view_as.NOBODY if self.user == NONE else self.user
        persona = view_as.STRANGER if self.persona == NONE else self.persona
        return memory.view_as.asker(user, self.group, persona)

    def moment(self, memory: service.MemoryService) -> float:
        """When to look: at the end of the day, or now."""
        now = memory.now()
        return min(now, midnight(self.day, memory.zone, 1)) if self.day else now


async def _page(
    memory: service.MemoryService,
    outlook: view_as.Outlook,
    signs: Mapping[str, StrEnum],
    sign: str,
    start: int,
) -> queries.Page[tuple[library.FactLine, StrEnum]]:
    """The page from ``start`` on of those that have a sign, or of all."""
    some = [id for id, each in signs.items() if sign in ("", each)]
    start = min(start, max(0, len(some) - 1) // SHOWN * SHOWN)  # there may be fewer by now
    end = start + SHOWN
    lines = await memory.library.lines(outlook.facts[id] for id in some[start:end])
    items = [(line, signs[line.fact.id]) for line in lines]
    before = queries.Cursor(max(0, start - SHOWN), "") if start else None
    after = queries.Cursor(end, "") if end < len(some) else None
    return queries.Page(items, start + 1, len(some), before, after)


def _counts(found: Mapping[str, StrEnum], signs: Iterable[StrEnum]) -> dict[str, int]:
    counts = Counter[str](found.values())
    return {sign.value: counts[sign] for sign in signs}


def _days(memory: service.MemoryService, since: float, chosen: str) -> dict[str, Any]:
    """The slider: days from the one before the first memory to today, counted from 0."""
    today = datetime.fromtimestamp(memory.now(), memory.zone).date()
    first = min(datetime.fromtimestamp(since, memory.zone).date(), today) - timedelta(days=1)
    day = date.fromisoformat(chosen) if chosen else today
    most = (today - first).days
    number = min(most, max(0, (day - first).days))
    return {"first": first, "last": today, "chosen": day, "most": most, "number": number}


@routes.get("/viewas")
async def look_as(
    wanted: Annotated[ViewAsQuery, Query()], memory: Memory, visit: Visit
) -> Response:
    """What somebody could be reminded of, what not and why, and what was true when."""
    choices = await memory.view_as.choices()
    if not choices.people:
        return visit.render("viewas_empty.html")
    if not wanted.model_fields_set & {"user", "group", "persona"}:  # somebody to begin with
        last = await memory.library.people(1)
        user = last[0].node if last else choices.people[0][0]
        # The first is who knows most.
        known = [each.persona for each in await memory.library.personas()]
        persona = next((each for each in known if each in choices.personas), NONE)
        somebody = {"user": user, "persona": persona}
        wanted = wanted.model_copy(update=somebody)
    shown: dict[str, Any] = {"choices": choices, "none": NONE, "wanted": wanted, "q": wanted.q}
    if wanted.user == NONE and wanted.group.count(":") < 2:  # in whichever private chat
        return visit.render("viewas.html", **shown, outlook=None)
    asker, text = wanted.asker(memory), wanted.q.strip()
    outlook = await memory.view_as.outlook(asker, wanted.moment(memory))
    return visit.render(
        "viewas.html",
        **shown,
        outlook=outlook,
        compared=await memory.view_as.compare(asker, text) if text else None,
        days=_days(memory, outlook.since, wanted.day),
        standings=_counts(outlook.seen, view_as.Standing),
        barriers=_counts(outlook.hidden, view_as.Barrier),
        seen=await _page(memory, outlook, outlook.seen, wanted.standing, wanted.seen),
        hidden=await _page(memory, outlook, outlook.hidden, wanted.barrier, wanted.hidden),
        accounts=sorted(asker.accounts - {wanted.user}),
    )


# ----------------------------------------------------------------------- why


@routes.get("/why")
async def why(
    memory: Memory,
    visit: Visit,
    chat: Annotated[Id, Query()] = "",
    at: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    unscoped: Annotated[bool, Query()] = False,
) -> Response:
    """Recent recalls, and what became of every candidate of one of them."""
    traces = memory.recall.traces.recent()
    wanted = [each for each in traces if (each.asker.circle, each.at) == (chat, at)]
    trace = next(iter(wanted or traces), None)
    compared = None
    if trace and unscoped and wanted:
        compared = await memory.view_as.compare(trace.asker, trace.query)
    told = await memory.recall.retrace(trace) if trace else None
    candidates = told.candidates if told else []
    choices = await memory.view_as.choices()
    return visit.render(
        "why.html",
        recent=traces,
        people=dict(choices.people),
        groups=dict(choices.groups),
        chosen=trace,
        trace=told,
        is_chosen=bool(chat),
        is_gone=bool(chat) and not wanted,
        told=[each for each in candidates if not each.dropped],
        dropped=[each for each in candidates if each.dropped],
        reasons=dict(Counter(each.dropped for each in candidates if each.dropped).most_common()),
        compared=compared,
        signals=SIGNALS,
        most=_most(candidates),
        shown=SHOWN_CANDIDATES,
    )


def _most(candidates: Iterable[recall.TracedCandidate]) -> dict[str, float]:
    """The greatest value of score and of each signal, for bars that can be compared."""
    most = dict.fromkeys(("score", *SIGNALS), 1e-9)
    for each in candidates:
        for name, value in {**each.signals, "score": each.score}.items():
            most[name] = max(most.get(name, 1e-9), value)
    return most
