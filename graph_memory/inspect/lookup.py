"""Lookup by words, person and time, and from there along the graph.

The graph only says where to go: every fact that is used or shown is visible in recall.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..context import Context
from ..dates import past_periods
from ..errors import GraphError
from ..graph import HOPS, GraphStore
from ..graph.graph_queries import Hop, Path, PathSearch
from ..model import Asker, Fact, Message
from ..recall import (
    SIMILAR,
    Excerpt,
    Index,
    Item,
    PersonalIndex,
    Recaller,
    Renderer,
    VisibleSet,
    wording,
)

T = TypeVar("T")
logger = logging.getLogger("graph_memory.inspect")

WIDE = 60
"""Results of a search that are filtered by person and time."""
CHUNK = 2_000
"""Hops checked at a time, on the thread that reminders need as well."""
PATIENCE = 2.0
"""Seconds for walking the graph."""
SEEDS = 4
"""Nodes to walk from."""
PATHS = 6
CENTRAL = 10
BRIDGES = 5


@dataclass(frozen=True, slots=True)
class Route:
    """Facts that lead from node to node, or that one node is known by.

    Attributes:
        nodes: Names in turn; empty where the asker knows none.
    """

    nodes: tuple[str, ...]
    facts: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What was found.

    Attributes:
        items: Best first.
        is_known: Whether anybody is called like the person.
        is_dated: Whether the time was understood; if not, it was ignored.
        is_whole: Whether the graph could be walked to the end.
    """

    items: tuple[Item, ...]
    paths: tuple[Route, ...] = ()
    is_known: bool = True
    is_dated: bool = True
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole graph as an asker sees it.

    Attributes:
        central: Names of nodes with the most neighbours, and how many these are.
        bridges: Nodes of several groups, with a fact from each.
        is_whole: Whether the graph could be asked.
    """

    central: tuple[tuple[str, int], ...] = ()
    bridges: tuple[Route, ...] = ()
    is_whole: bool = True


class Lookup:
    """Lookup in one memory."""

    def __init__(self, context: Context, recall: Recaller, graph: GraphStore) -> None:
        self._context = context
        self._recall = recall
        self._graph = graph
        self._words = wording("", context.settings.language)

    async def find(
        self,
        asker: Asker,
        query: str,
        *,
        person: str = "",
        time: str = "",
        limit: int = 12,
        exclude: Sequence[int] = (),
    ) -> LookupResult:
        """What the asker may know about ``query``.

        Args:
            query: May be empty if there is a person or a time.
            person: Only what is about somebody of this name or was said by them.
            time: Only what was said, or began, at this time (``dates.past_periods``).
            exclude: Ids of messages not to show.

        Raises:
            ClosedError: The memory is closed.
        """
        spans = past_periods(time, self._context.now(), self._context.zone) if time else []
        ranked: tuple[Item, ...] = ()
        if query:
            wide, near = (WIDE, WIDE) if person or spans else (limit, SIMILAR)
            hits = await self._recall.find(
                asker, query, wide, person=person, similar=near, exclude=exclude
            )
            ranked = hits.items + hits.similar
        found = await self._inspect(
            asker, lambda mine: mine.excerpt(ranked, query, person, spans, limit, exclude)
        )
        is_dated = bool(spans) or not time
        if not found.is_known:
            return LookupResult((), is_known=False, is_dated=is_dated)
        paths = () if spans else await self._patiently(self._walk(asker, found))
        whole = paths is not None
        return LookupResult(found.items, paths or (), is_dated=is_dated, is_whole=whole)

    async def overview(self, asker: Asker) -> Overview:
        """The nodes that are central, and those that join groups, for an asker."""
        return await self._patiently(self._survey(asker)) or Overview(is_whole=False)

    async def signed(self, asker: Asker, said: Sequence[Fact | Message]) -> list[str]:
        """Who said each of some facts and messages, as the asker is told."""
        return await self._inspect(asker, lambda mine: mine.signed(said))

    async def _inspect(self, asker: Asker, work: Callable[[PersonalIndex], T]) -> T:
        """Run ``work`` on what an asker sees, on the index's thread."""
        words, zone, now = self._words, self._context.zone, self._context.now()

        def inspect(index: Index, visible: VisibleSet) -> T:
            return work(PersonalIndex(Renderer(index, visible, asker, words, zone, now)))

        return await self._recall.inspect(asker, inspect)

    async def _patiently(self, work: Awaitable[T]) -> T | None:
        """The result of a walk; ``None`` if the graph is away or there was no time."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await work
        except TimeoutError:
            logger.info("the graph was not walked within %g s", PATIENCE)
        except GraphError as error:
            logger.info("nothing was looked up along the graph: %s", error)
        return None

    async def _walk(self, asker: Asker, found: Excerpt) -> tuple[Route, ...]:
        mine = [node for node in found.named if node in asker.accounts]
        others = [node for node in found.named if node not in asker.accounts]
        seeds = (others or [node for node in found.found if node not in asker.accounts])[:SEEDS]
        myself = mine or ([asker.user] if asker.user and found.is_personal else [])
        search = PathSearch([*seeds, *myself])
        for _ in range(HOPS // 2):  # two that meet have gone that far together
            if not search.frontier:
                break  # or a graph would be waited for that has nothing to say
            hops = await self._hops(asker, search.frontier)
            search.advance(await self._seen(asker, hops))
        meetings = search.meetings(HOPS) if others else []
        known = {item.id for item in found.items}
        known.update(fact for path in meetings for fact in path.facts)
        onward = search.onward(seeds, known, asker.accounts)
        paths = [*meetings, *onward][:PATHS]
        return await self._inspect(asker, lambda mine: _routes(mine, paths))

    async def _hops(self, asker: Asker, nodes: Collection[str] | None = None) -> list[Hop]:
        """Unchecked hops from some nodes, or from all."""
        sessions = self._recall.visible(asker).keys()
        return await self._graph.ask(lambda graph: graph.hops(sessions, nodes), fresh=0)

    async def _survey(self, asker: Asker) -> Overview:
        hops = await self._hops(asker)
        both = [*hops, *(Hop(hop.fact, hop.target, hop.source) for hop in hops)]
        seen: list[Hop] = []
        for start in range(0, len(both), CHUNK):  # so that reminders get their turn meanwhile
            seen += await self._seen(asker, both[start : start + CHUNK])
        return await self._inspect(asker, lambda mine: _overview(mine, seen))

    async def _seen(self, asker: Asker, hops: Sequence[Hop]) -> list[Hop]:
        return await self._inspect(asker, lambda mine: _visible_hops(mine, hops))


def _overview(mine: PersonalIndex, seen: Sequence[Hop]) -> Overview:
    beside: dict[str, set[str]] = defaultdict(set)
    groups: dict[str, dict[str, Hop]] = defaultdict(dict)
    known = {hop.target for hop in seen}
    for hop in sorted(seen, key=lambda hop: (-hop.at, hop.fact)):
        if hop.source not in known:
            continue
        beside[hop.source].add(hop.target)
        if hop.group:
            groups[hop.source].setdefault(hop.group, hop)
    called = {node: mine.index.called(node, mine.visible.views) for node in beside}
    order = sorted(filter(called.get, beside), key=lambda n: (-len(beside[n]), called[n]))
    joining = [n for n in order if len(groups[n]) > 1 and n not in mine.asker.accounts]
    joining.sort(key=lambda node: -len(groups[node]))
    bridges = [
        Path((node,), tuple(hop.fact for hop in groups[node].values()))
        for node in joining[:BRIDGES]
    ]
    central = tuple((called[node], len(beside[node])) for node in order[:CENTRAL])
    return Overview(central, _routes(mine, bridges))


def _routes(mine: PersonalIndex, paths: Sequence[Path]) -> tuple[Route, ...]:
    lines = mine.told(sorted({fact for path in paths for fact in path.facts}))
    return tuple(
        Route(
            tuple(mine.index.called(node, mine.visible.views) for node in path.nodes),
            tuple(lines[fact] for fact in path.facts),
        )
        for path in paths
        if all(fact in lines for fact in path.facts)
    )


def _visible_hops(mine: PersonalIndex, hops: Iterable[Hop]) -> list[Hop]:
    """Hops whose fact the asker sees and that lead to a node they know."""
    index, one = mine.index, mine.index.identities.canonical
    facts = mine.standing(dict.fromkeys(hop.fact for hop in hops))
    seen: list[Hop] = []
    for hop in hops:
        fact = facts.get(hop.fact)
        source, target = one(hop.source), one(hop.target)
        if fact is None or {one(fact.subject), one(fact.object)} != {source, target}:
            continue
        if source == target:
            continue
        if target in mine.asker.accounts or index.knows(target, mine.visible.views):
            session = index.sessions.get(fact.session)
            group = session.circle if session and session.is_group else ""
            seen.append(Hop(hop.fact, source, target, fact.said_at, group))
    return seen
