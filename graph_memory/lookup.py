"""Looking something up: deeper than a reminder, and along the graph.

What is found by words, person and time is recall's; from there facts lead on to what
belongs to it: how two people know each other, who else likes it. The graph says where a
fact leads, and nothing more: every fact that is walked over or shown has been seen by
recall's own eyes as the asker's (``Recaller.inspect``), so what the graph has too much,
or what it has not dropped yet, is never told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial

from .dates import periods
from .errors import GraphError
from .graph import GraphStore, Step
from .model import Asker, Fact, Message
from .recall import (
    Excerpt,
    Index,
    Inquiry,
    Item,
    Recaller,
    Telling,
    VisibleSet,
    excerpt,
    signed,
    standing,
    told,
    wording,
)
from .settings import Settings
from .walk import Stride, Trail, Walk

logger = logging.getLogger("graph_memory.lookup")

WIDE = 60
"""Memories of a search that are looked through for a person and a time."""
PATIENCE = 2.0
"""Seconds for walking the graph; then it is done without."""
HOPS = 3
"""Facts of a path at most."""
SEEDS = 4
"""Nodes that are walked from."""
PATHS = 5
"""Paths that are shown."""


@dataclass(frozen=True, slots=True)
class Path:
    """Facts that lead from one node to another.

    Attributes:
        nodes: What they are called in turn; empty where the asker knows no name.
    """

    nodes: tuple[str, ...]
    facts: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found.

    Attributes:
        items: Best first.
        is_known: Whether anybody is called as the person is said to be.
        is_dated: Whether the time was understood; if not, any time was looked through.
        is_whole: Whether the graph could be walked to the end.
    """

    items: tuple[Item, ...]
    paths: tuple[Path, ...] = ()
    is_known: bool = True
    is_dated: bool = True
    is_whole: bool = True


class Lookup:
    """Looks things up in one memory."""

    def __init__(
        self,
        recall: Recaller,
        graph: GraphStore,
        settings: Settings,
        *,
        zone: tzinfo,
        now: Callable[[], float],
    ) -> None:
        self._recall = recall
        self._graph = graph
        self._telling = Telling(wording("", settings.language), zone)
        self._zone = zone
        self._now = now

    async def find(
        self,
        asker: Asker,
        query: str,
        *,
        person: str = "",
        time: str = "",
        limit: int = 12,
        exclude: Sequence[int] = (),
    ) -> Findings:
        """What the asker may know about ``query``.

        Args:
            query: A question or some words; may be empty if there is a person or a time.
            person: Only what is about somebody of this name or was said by them.
            time: Only what was said, or began, at this time (``dates.periods``).
            exclude: Ids of messages not to show.

        Raises:
            ClosedError: The memory is closed.
        """
        spans = periods(time, self._now(), self._zone) if time else []
        asked = query if person in query else f"{person} {query}"
        wide = WIDE if person or spans else limit
        ranked: tuple[Item, ...] = ()
        if query:
            ranked = (await self._recall.search(asker, asked, wide, exclude=exclude)).items
        inquiry = Inquiry(asker, query, person, spans, limit, exclude)

        def choose(index: Index, visible: VisibleSet) -> Excerpt:
            return excerpt(index, visible, inquiry, ranked, self._telling)

        found = await self._recall.inspect(asker, choose)
        is_dated = bool(spans) or not time
        if not found.is_known:
            return Findings((), is_known=False, is_dated=is_dated)
        paths, is_whole = await self._lead_on(asker, found) if not spans else ((), True)
        return Findings(found.items, paths, is_dated=is_dated, is_whole=is_whole)

    async def signed(self, asker: Asker, said: Sequence[Fact | Message]) -> list[str]:
        """Who said each of some facts and messages, as the asker is told.

        Raises:
            ClosedError: The memory is closed.
        """
        return await self._recall.inspect(
            asker, lambda index, visible: signed(index, visible, asker, said, self._telling)
        )

    async def _lead_on(self, asker: Asker, found: Excerpt) -> tuple[tuple[Path, ...], bool]:
        """Paths from what was found, and whether there was time to look for all."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._walk(asker, found), True
        except TimeoutError:
            logger.info("the graph was not walked within %g s", PATIENCE)
        except GraphError as error:
            logger.info("nothing was looked up along the graph: %s", error)
        return (), False

    async def _walk(self, asker: Asker, found: Excerpt) -> tuple[Path, ...]:
        mine = [node for node in found.named if node in asker.accounts]
        others = [node for node in found.named if node not in asker.accounts]
        seeds = (others or [node for node in found.found if node not in asker.accounts])[:SEEDS]
        myself = mine or ([asker.user] if asker.user and found.is_personal else [])
        walk = Walk([*seeds, *myself])
        for _ in range(HOPS - 1):  # two that meet have gone that far together
            sessions = self._recall.visible(asker).keys()
            reached = await self._graph.steps(walk.frontier, sessions)
            walk.go(await self._recall.inspect(asker, partial(_seen, asker, reached)))
        meetings = walk.meetings(HOPS) if others else []
        known = {item.id for item in found.items}
        known.update(fact for trail in meetings for fact in trail.facts)
        onward = walk.onward(seeds, known, asker.accounts)
        trails = [*meetings, *onward][:PATHS]
        return await self._recall.inspect(asker, partial(self._told, asker, trails))

    def _told(
        self, asker: Asker, trails: Sequence[Trail], index: Index, visible: VisibleSet
    ) -> tuple[Path, ...]:
        ids = {fact for trail in trails for fact in trail.facts}
        lines = told(index, visible, asker, sorted(ids), self._telling)
        return tuple(
            Path(
                tuple(index.called(node, visible.views) for node in trail.nodes),
                tuple(lines[fact] for fact in trail.facts),
            )
            for trail in trails
            if all(fact in lines for fact in trail.facts)
        )


def _seen(asker: Asker, steps: Iterable[Step], index: Index, visible: VisibleSet) -> list[Stride]:
    """The steps that may be taken: over a fact that the asker sees, which leads there,
    to a node that exists for the asker."""
    steps = list(steps)
    facts = standing(index, visible, dict.fromkeys(step.fact for step in steps))
    one = index.identities.canonical
    strides: list[Stride] = []
    for step in steps:
        fact = facts.get(step.fact)
        source, target = one(step.source), one(step.target)
        if fact is None or {one(fact.subject), one(fact.object)} != {source, target}:
            continue
        if target in asker.accounts or index.knows(target, visible.views):
            strides.append(Stride(step.fact, source, target, fact.said_at))
    return strides
