"""Inspection pages: viewing as somebody else, and why a reply knew what it knew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ..api.base import when
from ..core import library, model, recall, service, validity, view_as
from ..listing import MAX_TEXT, Day, Id
from ..rendering import Memory, View

SHOWN = 20
"""Facts of each list on one page."""
SHOWN_CANDIDATES = 24
"""Candidates that were left out and are listed without being asked for."""
SIGNALS = ("words", "meaning", "near", "retention")
NONE = "~"
"""Says *nobody* of people, and of personas *one that nobody ever talked to*."""

StandingSign = Literal["", "true", "replaced", "over", "later", "archived"]
BarrierSign = Literal["", "audience", "absent", "persona"]
Offset = Annotated[str, Query(pattern=r"^o\d{1,9}$")]
Limit = Annotated[int, Query(ge=1, le=200)]
Sighting = tuple[model.Fact, str, bool]
"""A fact, how it stands or what keeps it away, whether a setting let it in."""

routes = APIRouter()


# ------------------------------------------------------------------- view as


class Eyes:
    """An asker and a day, read from a query string.

    Args:
        user: User id, or :data:`NONE`.
        group: Circle of the group where they ask; empty: in private.
        persona: Whom they ask, or :data:`NONE`.
        day: At whose end to look, ``2025-10-09``; empty: now.
    """

    def __init__(
        self,
        user: Annotated[Id, Query()] = NONE,
        group: Annotated[Id, Query()] = "",
        persona: Annotated[Id, Query()] = NONE,
        day: Annotated[Day, Query()] = "",
    ) -> None:
        self.user, self.group, self.persona, self.day = user, group, persona, day

    def asker(self, memory: service.MemoryService) -> model.Asker:
        """Who asks.

        Raises:
            NotFoundError: Nobody asks in private.
        """
        user = view_as.NOBODY if self.user == NONE else self.user
        persona = view_as.STRANGER if self.persona == NONE else self.persona
        return memory.view_as.asker(user, self.group, persona)

    def at(self, zone: tzinfo, now: float) -> float:
        """The end of the day in seconds since the epoch, which is never later than now."""
        if not self.day:
            return now
        try:
            after = date.fromisoformat(self.day) + timedelta(days=1)
            return min(now, datetime.combine(after, time(), zone).timestamp())
        except (OverflowError, ValueError, OSError):
            return now  # the last day of the calendar

    async def outlook(self, memory: service.MemoryService) -> view_as.Outlook:
        """What they see, and what not."""
        at = self.at(memory.zone, memory.now())
        return await memory.view_as.outlook(self.asker(memory), at)


Asking = Annotated[Eyes, Depends()]


@dataclass(frozen=True, slots=True)
class SightingPage:
    """A page of one of the two lists.

    Attributes:
        items: Facts, how each stands or what keeps it away, and whether it is another
            persona's, let in by a setting.
    """

    items: list[tuple[library.FactLine, str, bool]]
    start: int
    total: int

    @classmethod
    async def of(
        cls,
        memory: service.MemoryService,
        sightings: Iterable[Sighting],
        sign: str,
        offset: str = "o0",
        limit: int = SHOWN,
    ) -> SightingPage:
        """The page from ``offset`` on of those that have a sign, or of all."""
        wanted = [each for each in sightings if sign in ("", each[1])]
        start = int(offset[1:])
        page = wanted[start : start + limit]
        lines = await memory.library.lines(fact for fact, _, _ in page)
        items = [(line, why, by) for line, (_, why, by) in zip(lines, page, strict=True)]
        return cls(items, start, len(wanted))

    @property
    def before(self) -> str:
        """Where the page before begins; empty for the first."""
        return f"o{max(0, self.start - SHOWN)}" if self.start else ""

    @property
    def after(self) -> str:
        """Where the next page begins; empty for the last."""
        end = self.start + len(self.items)
        return f"o{end}" if self.items and end < self.total else ""


def _seen(outlook: view_as.Outlook) -> list[Sighting]:
    return [(each.fact, each.standing.value, each.foreign) for each in outlook.seen]


def _hidden(outlook: view_as.Outlook) -> list[Sighting]:
    return [(fact, barrier.value, False) for fact, barrier in outlook.hidden]


def _standings(outlook: view_as.Outlook) -> dict[str, int]:
    """How many of what can be seen stand how."""
    counts = Counter(each.standing for each in outlook.seen)
    return {each.value: counts[each] for each in validity.Standing}


def _barriers(outlook: view_as.Outlook) -> dict[str, int]:
    """How many facts each barrier keeps away."""
    return {each.value: outlook.barriers[each] for each in view_as.Barrier}


@dataclass(frozen=True, slots=True)
class Days:
    """The slider: days from the first memory to today."""

    first: date
    last: date
    chosen: date

    @classmethod
    def of(cls, memory: service.MemoryService, outlook: view_as.Outlook, day: str) -> Days:
        """Those of a memory, of which one was chosen or else the last."""
        today = datetime.fromtimestamp(memory.now(), memory.zone).date()
        first = datetime.fromtimestamp(outlook.since, memory.zone).date()
        chosen = date.fromisoformat(day) if day else today
        return cls(min(first, today) - timedelta(days=1), today, chosen)

    @property
    def most(self) -> int:
        """Number of the last day; the first one is 0."""
        return (self.last - self.first).days

    @property
    def number(self) -> int:
        """Number of the chosen day."""
        return min(self.most, max(0, (self.chosen - self.first).days))


@routes.get("/viewas")
async def look_as(
    request: Request,
    memory: Memory,
    pages: View,
    eyes: Asking,
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    standing: StandingSign = "",
    barrier: BarrierSign = "",
    seen: Offset = "o0",
    hidden: Offset = "o0",
) -> Response:
    """What somebody could be reminded of, what not and why, and what was true when."""
    choices = await memory.view_as.choices()
    if not choices.people:
        return pages.render(request, "viewas_empty.html")
    if not request.query_params.keys() & {"user", "group", "persona"}:
        eyes = _first(choices, eyes)
    form: Mapping[str, Any] = {"choices": choices, "none": NONE}
    if eyes.user == NONE and not eyes.group:
        return pages.render(
            request, "viewas.html", **form, eyes=eyes, q=q, is_nobody=True,
            outlook=None, compared=None,
        )  # fmt: skip
    asker, outlook, text = eyes.asker(memory), await eyes.outlook(memory), q.strip()
    return pages.render(
        request,
        "viewas.html",
        **form,
        eyes=eyes,
        q=text,
        is_nobody=False,
        outlook=outlook,
        compared=await memory.view_as.compare(asker, text) if text else None,
        days=Days.of(memory, outlook, eyes.day),
        standings=_standings(outlook),
        barriers=_barriers(outlook),
        standing=standing,
        barrier=barrier,
        seen=await SightingPage.of(memory, _seen(outlook), standing, seen),
        hidden=await SightingPage.of(memory, _hidden(outlook), barrier, hidden),
        accounts=sorted(asker.accounts - {eyes.user}),
    )


def _first(choices: view_as.Choices, eyes: Eyes) -> Eyes:
    """Somebody to begin with."""
    persona = choices.personas[0] if choices.personas else NONE
    return Eyes(choices.people[0][0], "", persona, eyes.day)


# ------------------------------------------------ view as, when the slider moves


def _json(page: SightingPage, name: str) -> dict[str, Any]:
    """A page for the script, in which each fact's sign has a name."""
    items = [
        {"fact": _fact_json(line), name: sign, "foreign": foreign}
        for line, sign, foreign in page.items
    ]
    return {"items": items, "total": page.total}


def _fact_json(line: library.FactLine) -> dict[str, Any]:
    return {
        "id": line.fact.id,
        "statement": line.fact.statement,
        "persona": line.session.persona,
        "chat": line.session.circle,
        "chat_title": line.session.title,
        "said_at": when(line.fact.said_at),
    }


@routes.get("/api/v1/viewas/facts")
async def seen_facts(
    memory: Memory, eyes: Asking, standing: StandingSign = "", limit: Limit = SHOWN
) -> dict[str, Any]:
    """The first facts that somebody may be reminded of, as they stood on a day."""
    outlook = await eyes.outlook(memory)
    page = await SightingPage.of(memory, _seen(outlook), standing, limit=limit)
    more = {"standings": _standings(outlook), "unknown": outlook.unknown}
    return _json(page, "standing") | more


@routes.get("/api/v1/viewas/hidden")
async def hidden_facts(
    memory: Memory, eyes: Asking, barrier: BarrierSign = "", limit: Limit = SHOWN
) -> dict[str, Any]:
    """The first facts that the owner sees and somebody does not, and why not."""
    outlook = await eyes.outlook(memory)
    page = await SightingPage.of(memory, _hidden(outlook), barrier, limit=limit)
    return _json(page, "barrier") | {"barriers": _barriers(outlook)}


# ----------------------------------------------------------------------- why


@dataclass(frozen=True, slots=True)
class RecentRecall:
    """A trace in the list.

    Attributes:
        user: What the asker is called.
        place: What the chat is called.
        told: How many memories it brought up.
    """

    trace: recall.Trace
    user: str
    place: str
    told: int


@routes.get("/why")
async def why(
    request: Request,
    memory: Memory,
    pages: View,
    chat: Annotated[Id, Query()] = "",
    at: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    unscoped: Annotated[bool, Query()] = False,
) -> Response:
    """Recent recalls, and what became of every candidate of one of them."""
    traces = memory.recall.recent()
    wanted = [each for each in traces if (each.asker.circle, each.at) == (chat, at)]
    trace = next(iter(wanted or traces), None)
    compared = None
    if trace and unscoped and wanted:
        compared = await memory.view_as.compare(trace.asker, trace.query)
    candidates = trace.candidates if trace else []
    return pages.render(
        request,
        "why.html",
        recent=await _described(memory, traces),
        trace=trace,
        is_chosen=bool(wanted),
        is_gone=bool(chat) and not wanted,
        told=[each for each in candidates if not each.dropped],
        dropped=[each for each in candidates if each.dropped],
        reasons=dict(Counter(each.dropped for each in candidates if each.dropped).most_common()),
        compared=compared,
        signals=SIGNALS,
        most=_most(trace) if trace else {},
        shown=SHOWN_CANDIDATES,
        candidate_url=candidate_url,
    )


async def _described(
    memory: service.MemoryService, traces: list[recall.Trace]
) -> list[RecentRecall]:
    choices = await memory.view_as.choices()
    people, groups = dict(choices.people), dict(choices.groups)
    return [
        RecentRecall(
            trace,
            people.get(trace.asker.user or "", trace.asker.user or ""),
            groups.get(trace.asker.circle, "") if trace.asker.is_group else "",
            sum(not each.dropped for each in trace.candidates),
        )
        for trace in traces
    ]


def _most(trace: recall.Trace) -> dict[str, float]:
    """The greatest value of score and of each signal, for bars that can be compared."""
    values = {name: [c.signals.get(name, 0.0) for c in trace.candidates] for name in SIGNALS}
    values["score"] = [candidate.score for candidate in trace.candidates]
    return {name: max([1e-9, *found]) for name, found in values.items()}


def candidate_url(candidate: recall.TracedCandidate) -> str:
    """Address of what a candidate is; empty for episodes."""
    id = candidate.id
    if id.startswith("f:"):
        return f"/memories/{id}"
    return f"/messages/{id[1:]}" if id[:1] == "m" and id[1:].isdecimal() else ""
