"""Presentation of the memory as plain data: a sketch, a timeline, the graph.

What pages show, without HTML and without a language.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from ..graph import GraphEdge, GraphMap, GraphNode, MapEdge, Subgraph
from ..library import EntityView, FactLine, Thread, begun
from ..model import SYMMETRIC, Status, is_entity
from ..retention import DAY, initial_half_life, lifetime, retention

LEAST = 1.2
"""Percent of the width that a bar has at least, to be seen."""
MAX_TICKS = 5
HORIZON = 730
"""Days of fading that are drawn."""
WIDTH, HEIGHT = 720.0, 260.0
"""Units of that drawing."""
STEPS = 60

Drawn = dict[str, Any]
"""Nodes, edges, or both, as templates and scripts take them."""
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

    sentences: tuple[FactLine, ...]
    tastes: tuple[FactLine, ...]
    known: tuple[tuple[str, str, FactLine], ...]

    @classmethod
    def of(cls, portrait: EntityView, timeline: Timeline) -> Sketch:
        """Choose from the facts of a timeline."""
        own = {portrait.node, *(each.node for each in (*portrait.members, *portrait.accounts))}
        lines = [row.thread.newest for row in timeline.now]
        lines = [line for line in lines if line.state == "active"]
        lines.sort(key=lambda line: (not line.fact.pinned, -line.fact.importance))
        about = [line for line in lines if line.fact.subject in own]
        said = {line.fact.predicate: line for line in reversed(about)}
        known: dict[str, tuple[str, FactLine]] = {}
        for line in lines:
            fact = line.fact
            ends = ((fact.subject, line.subject), (fact.object, line.object))
            for node, name in ends:
                is_person = not is_entity(node) or fact.predicate in SYMMETRIC
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

    line: FactLine
    x: float
    width: float
    is_over: bool
    start: float
    end: float | None


@dataclass(frozen=True, slots=True)
class ThreadBars:
    """A thread as bars, oldest first."""

    thread: Thread
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
    def of(cls, threads: Iterable[Thread], now: float, zone: tzinfo) -> Timeline:
        """Lay out some threads."""
        some = list(threads)
        starts = [begun(line) for thread in some for line in thread.lines]
        first = min([*filter(math.isfinite, starts), now - 30 * DAY])
        last = max(now, first + DAY)

        def scale(at: float) -> float:
            return 100.0 * min(1.0, max(0.0, (at - first) / (last - first)))

        rows = [ThreadBars(thread, _bars(thread, scale, now)) for thread in some]
        return cls(
            tuple(row for row in rows if not row.is_over),
            tuple(row for row in rows if row.is_over),
            tuple((round(scale(at), 2), y, m) for at, y, m in _ticks(first, last, zone)),
        )


def _bars(thread: Thread, scale: Callable[[float], float], now: float) -> tuple[Bar, ...]:
    made = []
    for number, line in enumerate(thread.lines):
        start, end = begun(line), line.fact.valid_to
        if end is None and line.superseded:
            later = [begun(each) for each in thread.lines[number + 1 :]]
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
    steps = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600)
    step = next((n for n in steps if months / n <= MAX_TICKS), 0)
    if not step:
        return
    count = first.year * 12 + first.month - 1
    for number in range(count + -count % step, last.year * 12 + last.month, step):
        year, month = divmod(number, 12)
        at = datetime(year, month + 1, 1, tzinfo=zone).timestamp()
        if begin <= at <= end:
            yield at, year, month + 1 if step < 12 else 0


# ------------------------------------------------------------------ the graph


def packed(drawn: GraphMap, now: float, rate: float) -> bytes:
    """The map as JSON: rows without names of fields, and numbers for what is repeated."""
    whole, words, sessions = drawn.whole, _Words(), _Words()
    at = whole.places
    edges = [
        (
            each.id,
            at[each.source],
            at[each.target],
            words.number(each.predicate),
            round(each.importance, 3),
            each.strength_count,
            _state(each, now),
            round(each.recorded_at),
            None if each.until is None else round(each.until),
            sessions.number(each.session),
            round(_strength(each, now, rate), 3),
        )
        for each in whole.edges
    ]
    chats = [whole.sessions.get(id, (id, id, False, "")) for id in sessions]
    nodes = [drawn_node(node, drawn) for node in whole.nodes]
    body = {
        "nodes": nodes,
        "edges": edges,
        "predicates": list(words),
        "sessions": [
            {"circle": circle, "title": title, "group": is_group, "persona": persona}
            for circle, title, is_group, persona in chats
        ],
        "now": now,
        "total": whole.total,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class _Words(dict[str, int]):
    """Numbers of texts, in the order of their first appearance."""

    def number(self, text: str) -> int:
        """The number of a text, a new one if it has none."""
        return self.setdefault(text, len(self))


def _strength(edge: MapEdge, now: float, rate: float) -> float:
    age = now - edge.last_used
    return 1.0 if edge.pinned else retention(age, edge.half_life, rate)


def drawn_graph(found: Subgraph, now: float, drawn: GraphMap | None = None) -> Drawn:
    """Nodes, the centre first, facts between them, and how many there are."""
    nodes = [drawn_node(node, drawn) for node in found.nodes]
    return {
        "centre": nodes[0],
        "nodes": nodes,
        "edges": [drawn_edge(edge, now) for edge in found.edges],
        "shown": len(nodes) - 1,
        "total": max(found.total, len(nodes) - 1),
    }


def drawn_node(node: GraphNode, drawn: GraphMap | None = None) -> Drawn:
    """A node, in its place on the map if there is one."""
    place = drawn.places.get(node.id) if drawn else None
    return {
        "id": node.id,
        "kind": node.kind,
        "shape": (node.type or "topic") if node.kind == "entity" else node.kind,
        "name": node.name or node.id,
        "degree": node.degree,
    } | ({"x": place[0], "y": place[1], "group": place[2]} if place else {})


def _state(edge: GraphEdge, now: float) -> str:
    if edge.status != Status.ACTIVE:
        return "archived"
    if edge.superseded:
        return "superseded"
    return "ended" if edge.valid_to is not None and edge.valid_to <= now else "current"


def drawn_edge(edge: GraphEdge, now: float) -> Drawn:
    """A fact between two nodes."""
    return {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "predicate": edge.predicate,
        "statement": edge.statement,
        "importance": edge.importance,
        "times": edge.strength_count,
        "state": _state(edge, now),
        "at": edge.recorded_at,
    }


# ------------------------------------------------------------------ fading


@dataclass(frozen=True, slots=True)
class FadingLine:
    """Fading of facts of one importance unless they are mentioned.

    Attributes:
        points: ``x,y`` of a polyline.
        days: After how many days it fades; ``None`` for never.
        mark: Where that is, or ``None`` if it is off the grid.
    """

    importance: float
    points: str
    days: float | None
    mark: tuple[float, float] | None


def fading_line(importance: float, rate: float, threshold: float) -> FadingLine:
    """The curve of :data:`HORIZON` days."""
    half_life = initial_half_life(importance)
    points = []
    for step in range(STEPS + 1):
        share = (step / STEPS) ** 2  # steep at first: points are nearer to each other there
        kept = retention(share * HORIZON * DAY, half_life, rate)
        points.append(f"{WIDTH * share:.1f},{height_of(kept):.1f}")
    ends = lifetime(half_life, threshold, rate)
    mark = (round(WIDTH * ends / HORIZON, 1), height_of(threshold)) if ends <= HORIZON else None
    return FadingLine(importance, " ".join(points), ends if math.isfinite(ends) else None, mark)


def height_of(kept: float) -> float:
    """Where a clarity is on the drawing, from its top."""
    return round(HEIGHT * (1 - kept), 1)
