"""Pages of people, things and personas, and of merging and splitting."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from ..core import errors, library, model, queries, retention
from ..listing import MAX_TEXT, Id
from ..rendering import Memory, Visit, node_url, or_back

LEAST = 1.2
"""Percent of the width that a bar has at least, to be seen."""
MAX_TICKS = 7

NEWEST = 8
"""Facts that a persona's page shows of each list."""

routes = APIRouter()


@routes.get("/people")
async def people(
    memory: Memory,
    visit: Visit,
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """People who chat, things that are known, and personas; or who is called so."""
    if text := q.strip():
        found = await memory.library.search(text, limit=60)
        return visit.render("people.html", q=text, found=found)
    return visit.render(
        "people.html",
        q="",
        found=None,
        people=await memory.library.people(),
        things=(await memory.library.overview()).things,
        personas=await memory.library.personas(),
    )


@routes.get("/persona")
async def persona(name: Id, memory: Memory, visit: Visit) -> Response:
    """What a persona knows: its chats, and its newest facts."""
    known = {each.persona: each for each in await memory.library.personas()}
    if not name or name not in known:
        raise errors.NotFoundError(f"there is no persona {name}")
    newest = queries.FactFilter(persona=name, limit=NEWEST)
    own = replace(newest, is_own=True)
    return visit.render(
        "persona.html",
        persona=known[name],
        sessions=await memory.library.sessions(name),
        newest=(await memory.library.browse(newest)).items,
        own=(await memory.library.browse(own)).items,
        mode=memory.settings.memory_sharing_mode,
    )


@routes.get("/node")
async def node(id: Id, memory: Memory, visit: Visit) -> Response:
    """Everything about one person or thing."""
    portrait = await memory.library.node(id)
    timeline = Timeline.of(portrait.threads, memory.now(), memory.zone)
    is_paused = memory.learning.pauses.holds("user", portrait.node)
    return visit.render(
        "node.html",
        portrait=portrait,
        sketch=Sketch.of(portrait, timeline),
        timeline=timeline,
        borne=Counter(name.norm for name, _ in portrait.names),
        is_paused=is_paused,
    )


@routes.post("/node/pause")
async def pause(memory: Memory, visit: Visit) -> Response:
    """Remember nothing new that an account says, or remember it again."""
    id, pauses = await _account(memory, visit.form), memory.learning.pauses
    is_paused = pauses.holds("user", id)
    await (pauses.resume if is_paused else pauses.pause)("user", id)
    return visit.redirect(node_url(id), what="resume" if is_paused else "pause")


@routes.get("/node/forget")
async def leave(memory: Memory, visit: Visit) -> Response:
    """What is deleted for good if an account is forgotten, and what stays."""
    id = await _account(memory, visit.query)
    name, messages, facts = await memory.journal.look(lambda db: queries.footprint(db, id))
    others = sorted(memory.identities.accounts(id) - {id})
    return visit.render(
        "node_forget.html", id=id, name=name, messages=messages, facts=facts, others=others
    )


@routes.post("/node/forget")
async def erase(memory: Memory, visit: Visit) -> Response:
    """Delete an account and all that is known of it for good, if that is meant."""
    id = await _account(memory, visit.form)
    if visit.form.get("sure") != "yes":
        return visit.redirect(f"/node/forget?{urlencode({'id': id})}", what="unsure")
    if await memory.forget_me.due_in(id):
        return visit.redirect(node_url(id), what="forgotten_now")
    return visit.redirect("/people", what=f"forgotten_{await memory.forget_me.forget(id)}")


async def _account(memory: Memory, given: Mapping[str, str]) -> str:
    """The account that is asked about, or a ``NotFoundError``."""
    id = given.get("id", "")[:500]
    if model.is_entity(id) or not await memory.journal.look(lambda db: queries.is_known(db, id)):
        raise errors.NotFoundError("nobody chats under this account")
    return id


@routes.get("/node/merge")
async def choose(
    id: Id,
    memory: Memory,
    visit: Visit,
    into: Annotated[Id, Query()] = "",
    q: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """Find what something or an account is one with, and see what saying so does."""
    portrait = await memory.library.node(id, 0)
    other = await memory.library.node(into, 0) if into else None
    own = {portrait.node, *(each.node for each in portrait.members)}
    text = q.strip() or ("" if other else portrait.name)
    found = [
        each.node
        for each in (await memory.library.search(text) if text else [])
        if _alike(each.node, id) and each.node not in own
    ]
    is_linking = other is not None and not model.is_entity(id)
    return visit.render(
        "node_merge.html",
        portrait=portrait,
        other=other,
        cards=await memory.library.cards([portrait.node, other.node] if other else []),
        rivals=await memory.library.rivals(id, into) if is_linking else [],
        found=await memory.library.cards(found),
        q=q.strip(),
    )


@routes.post("/node/merge")
async def merge(memory: Memory, visit: Visit) -> Response:
    """Have one thing go under another, or two accounts be one person's."""
    given = visit.form
    id, into = given.get("id", "")[:500], given.get("into", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        edits = memory.identity_edits
        bond = edits.merge if model.is_entity(id) else edits.link
        change = await bond(id, into, library.OWNER)
    return visit.redirect(node_url(into), what="merge", change=change.id, back=node_url(id))


@routes.post("/node/split")
async def split(memory: Memory, visit: Visit) -> Response:
    """Let a merged thing, or a linked account, be one of its own again."""
    id = visit.form.get("id", "")[:500]
    with or_back(node_url(id), bond=errors.BondError):
        edits = memory.identity_edits
        part = edits.split if model.is_entity(id) else edits.unlink
        change = await part(id, library.OWNER)
    return visit.redirect(node_url(id), what="split", change=change.id)


def _alike(node: str, other: str) -> bool:
    """Whether both are things, or both are accounts."""
    return model.is_entity(node) == model.is_entity(other)


# ------------------------------------------------------------------ portrait

SAID_FIRST = (
    "works_as", "works_at", "studies", "from", "lives_in", "age", "birthday", "partner",
    "family", "has_pet", "health", "allergic_to", "skilled_in",
)  # fmt: skip
"""Relations that say who somebody is, in the order in which one would tell them."""
SENTENCES = 5
TASTES = frozenset({"likes", "dislikes", "habit"})
LISTED = 12


@dataclass(frozen=True, slots=True)
class Sketch:
    """Who somebody is in a few of the facts that are true now.

    Attributes:
        sentences: One fact for each of the first relations there are.
        tastes: What they like, dislike and usually do, the important first.
        known: Whom a fact joins them to: node, name, and the fact.
    """

    sentences: tuple[library.FactLine, ...]
    tastes: tuple[library.FactLine, ...]
    known: tuple[tuple[str, str, library.FactLine], ...]

    @classmethod
    def of(cls, portrait: library.EntityView, timeline: Timeline) -> Sketch:
        """Choose from the facts of a timeline."""
        own = {portrait.node, *(each.node for each in (*portrait.members, *portrait.accounts))}
        lines = [row.thread.newest for row in timeline.now]
        lines = [line for line in lines if line.state == "active"]
        lines.sort(key=lambda line: (not line.fact.pinned, -line.fact.importance))
        about = [line for line in lines if line.fact.subject in own]
        said = {line.fact.predicate: line for line in reversed(about)}
        known: dict[str, tuple[str, library.FactLine]] = {}
        for line in lines:
            fact = line.fact
            ends = ((fact.subject, line.subject), (fact.object, line.object))
            for node, name in ends:
                is_person = not model.is_entity(node) or fact.predicate in model.SYMMETRIC
                if node not in own and name and is_person:
                    known.setdefault(node, (name, line))
        return cls(
            tuple(said[name] for name in SAID_FIRST if name in said)[:SENTENCES],
            tuple(line for line in about if line.fact.predicate in TASTES)[:LISTED],
            tuple((node, *found) for node, found in known.items())[:LISTED],
        )


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
