"""Looking something up leads along what the asker sees, whatever the graph offers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from graph_memory.errors import GraphError
from graph_memory.graph.graph_queries import Hop
from graph_memory.identity import Identities
from graph_memory.inspect import lookup
from graph_memory.inspect.lookup import Lookup, LookupResult, Overview
from graph_memory.model import Asker, Fact, Message, Row, asker_of
from graph_memory.privacy.scope import Attendance, Policy, View, view
from graph_memory.recall.index import Index
from graph_memory.recall.query import RecallOptions
from graph_memory.recall.ranking import SearchContext
from graph_memory.recall.search import SearchResult, find, keywords
from graph_memory.recall.visible import VisibleSet
from graph_memory.settings import Settings

from ..makers import CHINA, T0, entity, fact, group, name, private, user
from ..recall.histories import (
    DOES,
    ENTITIES,
    SESSIONS,
    USERS,
    WHAT,
    History,
    histories,
    index_of,
    moments,
    sentences,
)
from ..recall.test_interference import askers, policies, question, shows, views_of

T = TypeVar("T")
NOW = T0 + 90_000
CONTEXT = SimpleNamespace(settings=Settings(), zone=CHINA, now=lambda: NOW)


class Eyes:
    """Recall's doors to an index, for one asker."""

    def __init__(self, index: Index, views: Mapping[str, View]) -> None:
        self._index = index
        self._views = views

    def visible(self, asker: Asker) -> Mapping[str, View]:
        return self._views

    async def inspect(self, asker: Asker, work: Callable[[Index, VisibleSet], T]) -> T:
        return work(self._index, self._index.visible(self._views))

    async def find(
        self,
        asker: Asker,
        text: str,
        limit: int,
        *,
        person: str,
        similar: int,
        exclude: Collection[int] = (),
    ) -> SearchResult:
        wish, context = RecallOptions(limit, exclude=exclude), SearchContext(NOW, CHINA)
        asked = question(asker, f"{person} {text}")
        given = (keywords(text), 0, similar)
        return find(self._index, self._views, asked, wish, context, *given)


class Gossip:
    """A graph that offers everything it ever had, whoever asks, and may lie about ends."""

    def __init__(self, rows: Iterable[Row | Message], *, lies: bool = False) -> None:
        rows = list(rows)
        one = Identities(row for row in rows if not isinstance(row, Message)).canonical
        facts = [row for row in rows if isinstance(row, Fact)]
        self._edges = [(f.id, one(f.subject), one(f.object)) for f in facts]
        self._lies = lies

    async def ask(self, question: Callable[[Gossip], T], fresh: float = 0) -> T:
        return question(self)

    def hops(self, sessions: Collection[str], nodes: Collection[str] | None = None) -> list[Hop]:
        if nodes is None:
            found = [Hop(*edge) for edge in self._edges if edge[1] != edge[2]]
            return found + self._lie({end for _, *pair in self._edges for end in pair})
        both = [(id, *ends) for id, s, o in self._edges for ends in ((s, o), (o, s))]
        found = [Hop(*edge) for edge in both if edge[1] in nodes and edge[1] != edge[2]]
        return found + self._lie(nodes)

    def _lie(self, nodes: Collection[str]) -> list[Hop]:
        if not self._lies:
            return []
        ends = {end for _, *pair in self._edges for end in pair}
        return [
            Hop(id, a, b) for id, *_ in self._edges for a in sorted(nodes) for b in sorted(ends)
        ]


def door(steps: list[Row | Message], graph: object, views: Mapping[str, View]) -> Any:
    return Lookup(CONTEXT, Eyes(index_of(steps), views), graph)  # type: ignore[arg-type]


def look_up(
    steps: list[Row | Message],
    graph: object,
    asker: Asker,
    views: Mapping[str, View],
    query: str,
    **more: str,
) -> LookupResult:
    return asyncio.run(door(steps, graph, views).find(asker, query, **more))


def overview_of(
    steps: list[Row | Message], graph: object, asker: Asker, views: Mapping[str, View]
) -> Overview:
    return asyncio.run(door(steps, graph, views).overview(asker))


CALLED = dict(zip([*USERS, *ENTITIES], ["小红", "张三", *WHAT], strict=True))
"""What each node is called wherever it has a name."""
NODES = list(CALLED)[:4]
"""Few, so that facts join them to each other."""


@st.composite
def webs(draw: st.DrawFn) -> History:
    """A history in which facts hang together, and names are known here and there."""
    history = draw(histories())
    pairs = st.tuples(st.sampled_from(SESSIONS), st.sampled_from(NODES))
    for session, node in draw(st.lists(pairs, min_size=10, max_size=30)):
        history.steps.append(name(session, node, CALLED[node], draw(moments)))
    for number in range(draw(st.integers(8, 20))):
        session, subject = draw(pairs)
        object = draw(st.sampled_from([node for node in NODES if node != subject]))
        text = f"{CALLED[subject]}{draw(st.sampled_from(DOES))}{CALLED[object]}"
        older = [f"web{n}" for n in range(number)]
        replaces = draw(st.lists(st.sampled_from(older), max_size=1)) if older else []
        if draw(st.integers(0, 3)):
            replaces = []
        more = {"at": draw(moments), "id": f"web{number}", "supersedes": tuple(replaces)}
        history.steps.append(fact(session, subject, object, text, **more))
    return history


called = st.sampled_from([CALLED[node] for node in NODES])
queries = st.one_of(
    sentences,
    st.builds(lambda a, b: f"{a}和{b}怎么认识的", called, called),
    st.builds(lambda what: f"还有谁喜欢{what}", called),
    st.builds(lambda what: f"我和{what}", called),
    st.just(""),
)
people = st.one_of(st.sampled_from(["", "", "", "我", "没有这个人"]), called)
times = st.sampled_from(["", "", "", "昨天", "2026-09-21..", "看不懂"])


@pytest.mark.slow
@settings(max_examples=100)
@given(webs(), askers, policies, queries, people, times, st.booleans())
def test_invisible_rows_change_nothing(history, asker, policy, query, person, time, lies):
    """The graph offers all there ever was; without the hidden rows it has none of it."""
    views = views_of(history, asker, policy)
    stripped = [row for row in history.final() if shows(views, row)]
    asked = {"person": person, "time": time}
    gossip = Gossip(history.steps, lies=lies)
    full = look_up(history.steps, gossip, asker, views, query, **asked)
    alone = look_up(stripped, Gossip(stripped), asker, views, query, **asked)
    event(f"{len(full.paths)} paths")
    assert full == alone
    seen = overview_of(history.steps, gossip, asker, views)
    event(f"{len(seen.central)} central, {len(seen.bridges)} bridges")
    assert seen == overview_of(stripped, Gossip(stripped), asker, views)


HONG, LIN, ZHOU = user("hong"), user("lin"), user("zhou")
YOGA, TEA = entity("瑜伽"), entity("龙井")
CLUB, HOME, OTHER = group("1"), private("hong"), private("lin")
CLUB2, CAT = group("2"), entity("猫")
EVERYBODY = [name(CLUB, n, t) for n, t in ((HONG, "小红"), (LIN, "林林"), (ZHOU, "老周"))]
LIKES = fact(CLUB, HONG, YOGA, "小红喜欢瑜伽")
TEACHES = fact(CLUB, LIN, YOGA, "林林教瑜伽", predicate="works_as")
SECRET = fact(OTHER, LIN, ZHOU, "林林和老周在谈恋爱", predicate="partner")
WORLD: list[Row | Message] = [
    *(CLUB, HOME, OTHER, *EVERYBODY, name(CLUB, YOGA, "瑜伽")),
    *(LIKES, TEACHES, SECRET),
]
IN_CLUB = asker_of(CLUB, ZHOU)


def ways(found: LookupResult) -> list[tuple[str, ...]]:
    return [path.nodes for path in found.paths]


def in_club(
    steps: list[Row | Message], query: str, graph: object = None, **more: str
) -> LookupResult:
    seen = {s.id: view(s, IN_CLUB, Policy(), Attendance()) for s in (CLUB, HOME, OTHER)}
    views = {id: each for id, each in seen.items() if each}
    return look_up(steps, graph or Gossip(steps), IN_CLUB, views, query, **more)


def test_two_people_are_joined_by_what_they_share() -> None:
    found = in_club(WORLD, "小红和林林怎么认识的？")
    assert ("小红", "瑜伽", "林林") in ways(found) or ("林林", "瑜伽", "小红") in ways(found)


def test_all_that_two_have_in_common_is_found() -> None:
    both = [
        fact(CLUB, node, TEA, f"{who}爱喝龙井") for node, who in ((HONG, "小红"), (LIN, "林林"))
    ]
    found = in_club([*WORLD, name(CLUB, TEA, "龙井"), *both], "小红和林林有什么共同点？")
    assert {nodes[1] for nodes in ways(found) if {nodes[0], nodes[-1]} == {"小红", "林林"}} == {
        "瑜伽",
        "龙井",
    }


def test_the_overview_is_of_what_the_asker_sees() -> None:
    both = [fact(CLUB, HONG, TEA, "小红爱喝龙井"), fact(CLUB2, HONG, CAT, "小红养猫")]
    more = [CLUB2, name(CLUB, TEA, "龙井"), name(CLUB2, CAT, "猫"), name(CLUB2, HONG, "小红")]
    steps: list[Row | Message] = [*WORLD, *more, *both]
    views = {s.id: view(s, IN_CLUB, Policy(), Attendance()) for s in (CLUB, CLUB2, OTHER)}
    views[CLUB2.id] = views[CLUB.id]
    found = overview_of(steps, Gossip(steps), IN_CLUB, {id: v for id, v in views.items() if v})
    assert found.central == (("小红", 3), ("瑜伽", 2), ("林林", 1), ("猫", 1), ("龙井", 1))
    (bridge,) = found.bridges
    assert (bridge.nodes, len(bridge.facts)) == (("小红",), 2)
    assert "恋爱" not in str(found)
    del views[CLUB2.id]
    found = overview_of(steps, Gossip(steps), IN_CLUB, {id: v for id, v in views.items() if v})
    assert (found.central[0], found.bridges) == (("小红", 2), ())


def test_a_step_that_its_fact_does_not_take_is_not_taken() -> None:
    class Liar(Gossip):
        def hops(
            self, sessions: Collection[str], nodes: Collection[str] | None = None
        ) -> list[Hop]:
            return [Hop(LIKES.id, node, ZHOU) for node in nodes or ()]

    assert ways(in_club(WORLD, "小红和老周怎么认识的？", Liar(WORLD))) == []


def test_a_node_without_a_visible_name_is_not_passed() -> None:
    nameless = [row for row in WORLD if getattr(row, "node", "") != YOGA]
    assert ways(in_club(nameless, "小红和林林怎么认识的？")) == []


def test_a_graph_that_hangs_or_is_away_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "PATIENCE", 0.01)

    class Hanging(Gossip):
        async def ask(self, question: object, fresh: float = 0) -> Any:
            await asyncio.Event().wait()

    class Away(Gossip):
        async def ask(self, question: object, fresh: float = 0) -> Any:
            raise GraphError("away")

    for graph in (Hanging(WORLD), Away(WORLD)):
        found = in_club(WORLD, "小红喜欢什么？", graph)
        assert [item.id for item in found.items] == [LIKES.id]
        assert not found.is_whole
        assert in_club(WORLD, "量子色动力学", graph) == LookupResult(())  # nowhere to walk from
        view_of = {CLUB.id: view(CLUB, IN_CLUB, Policy(), Attendance())}
        assert not overview_of(WORLD, graph, IN_CLUB, view_of).is_whole  # type: ignore[arg-type]
