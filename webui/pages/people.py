"""Pages of people, things and personas, and of merging and splitting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ..core import errors, library, model, queries, retention
from ..guard import read_form
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, View, node_url, or_back

LEAST = 1.2
"""Percent of the width that a bar has at least, to be seen."""
MAX_TICKS = 7

NEWEST = 8
"""Facts that a persona's page shows."""

routes = APIRouter()


@routes.get("/people")
async def people(
    request: Request,
    memory: Memory,
    pages: View,
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """People who chat, things that are known, and personas; or who is called so."""
    text = q.strip()
    return pages.render(
        request,
        "people.html",
        q=text,
        found=await memory.library.search(text, limit=60) if text else None,
        people=await memory.library.people(),
        things=(await memory.library.overview()).things,
        personas=await memory.library.personas(),
    )


@routes.get("/persona")
async def persona(request: Request, name: Id, memory: Memory, pages: View) -> Response:
    """What a persona knows: its chats, and its newest facts."""
    known = {each.persona: each for each in await memory.library.personas()}
    if not name or name not in known:
        raise errors.NotFoundError(f"there is no persona {name}")
    newest = queries.FactFilter(persona=name, limit=NEWEST)
    return pages.render(
        request,
        "persona.html",
        persona=known[name],
        sessions=[each for each in await memory.library.sessions() if each.persona == name],
        newest=(await memory.library.browse(newest)).items,
        mode=memory.settings.memory_sharing_mode,
    )


@routes.get("/node")
async def node(request: Request, id: Id, memory: Memory, pages: View) -> Response:
    """Everything about one person or thing."""
    portrait = await memory.library.node(id)
    timeline = Timeline.of(portrait.threads, memory.now(), memory.zone)
    return pages.render(request, "node.html", portrait=portrait, timeline=timeline)


@routes.get("/node/merge")
async def choose(
    request: Request,
    id: Id,
    memory: Memory,
    pages: View,
    into: Annotated[Id, Query()] = "",
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """Find what something or an account is one with, and see what saying so does."""
    portrait = await memory.library.node(id)
    other = await memory.library.node(into) if into else None
    own = {portrait.node, *(each.node for each in portrait.members)}
    text = q.strip() or ("" if other else portrait.name)
    found = [
        each.node
        for each in (await memory.library.search(text) if text else [])
        if _alike(each.node, id) and each.node not in own
    ]
    is_linking = other is not None and not model.is_entity(id)
    return pages.render(
        request,
        "node_merge.html",
        portrait=portrait,
        other=other,
        cards=await memory.library.cards([portrait.node, other.node] if other else []),
        rivals=await memory.library.rivals(id, into) if is_linking else [],
        found=await memory.library.cards(found),
        q=q.strip(),
    )


@routes.post("/node/merge")
async def merge(request: Request, memory: Memory, pages: View) -> Response:
    """Have one thing go under another, or two accounts be one person's."""
    given = await read_form(request)
    id, into = given.get("id", "")[:500], given.get("into", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        edits = memory.identity_edits
        bond = edits.merge if model.is_entity(id) else edits.link
        change = await bond(id, into, library.OWNER)
    return pages.redirect(node_url(into), what="merge", change=change.id, back=node_url(id))


@routes.post("/node/split")
async def split(request: Request, memory: Memory, pages: View) -> Response:
    """Let a merged thing, or a linked account, be one of its own again."""
    id = (await read_form(request)).get("id", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        edits = memory.identity_edits
        part = edits.split if model.is_entity(id) else edits.unlink
        change = await part(id, library.OWNER)
    return pages.redirect(node_url(id), what="split", change=change.id)


def _alike(node: str, other: str) -> bool:
    """Whether both are things, or both are accounts."""
    return model.is_entity(node) == model.is_entity(other)


# ------------------------------------------------------------------ timeline


@dataclass(frozen=True, slots=True)
class Bar:
    """A fact from when to when it is true; ``x`` and ``width`` in percent."""

    line: library.FactLine
    x: float
    width: float
    is_over: bool
    start: float
    end: float | None


@dataclass(frozen=True, slots=True)
class ThreadBars:
    """A thread as bars, oldest first."""

    thread: library.Thread
    bars: tuple[Bar, ...]

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is true and in use any more."""
        return all(bar.is_over or bar.line.fact.archived_at is not None for bar in self.bars)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Threads of facts on one axis, which ends now.

    Attributes:
        ticks: Beginnings of months or years: percent, year, month (0: only the year counts).
    """

    now: tuple[ThreadBars, ...]
    before: tuple[ThreadBars, ...]
    ticks: tuple[tuple[float, int, int], ...]

    @classmethod
    def of(cls, threads: Iterable[library.Thread], now: float, zone: tzinfo) -> Timeline:
        """Lay out some threads."""
        some = list(threads)
        starts = [library.begun(line) for thread in some for line in thread.lines]
        first = min([*filter(math.isfinite, starts), now - 30 * retention.DAY])
        last = max(now, first + retention.DAY)

        def scale(at: float) -> float:
            return 100.0 * min(1.0, max(0.0, (at - first) / (last - first)))

        rows = [ThreadBars(thread, _bars(thread, scale, now)) for thread in some]
        return cls(
            tuple(row for row in rows if not row.is_over),
            tuple(row for row in rows if row.is_over),
            tuple((round(scale(at), 2), y, m) for at, y, m in _ticks(first, last, zone)),
        )


def _bars(thread: library.Thread, scale: Callable[[float], float], now: float) -> tuple[Bar, ...]:
    made = []
    for number, line in enumerate(thread.lines):
        start, end = library.begun(line), line.fact.valid_to
        if end is None and line.superseded:
            later = [library.begun(each) for each in thread.lines[number + 1 :]]
            end = max(start, min(later, default=now))
        x = min(scale(start), 100.0 - LEAST)
        width = max(LEAST, scale(now if end is None else end) - x)
        is_over = line.superseded or (end is not None and end <= now)
        made.append(Bar(line, round(x, 2), round(width, 2), is_over, start, end))
    return tuple(made)


def _ticks(begin: float, end: float, zone: tzinfo) -> Iterable[tuple[float, int, int]]:
    """When which months begin, or years (month 0), at most :data:`MAX_TICKS` or so."""
    try:
        first, last = datetime.fromtimestamp(begin, zone), datetime.fromtimestamp(end, zone)
    except (OverflowError, ValueError, OSError):
        return
    months = (last.year - first.year) * 12 + last.month - first.month
    step = next((n for n in (1, 2, 3, 6, 12, 24, 60, 120) if months / n <= MAX_TICKS), 0)
    if not step:
        return
    count = first.year * 12 + first.month - 1
    for number in range(count + -count % step, last.year * 12 + last.month, step):
        year, month = divmod(number, 12)
        at = datetime(year, month + 1, 1, tzinfo=zone).timestamp()
        if begin <= at <= end:
            yield at, year, month + 1 if step < 12 else 0
