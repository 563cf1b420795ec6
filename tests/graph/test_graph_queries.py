"""What the graph answers."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest
import pytest_asyncio

from graph_memory.errors import NotFoundError
from graph_memory.graph import GraphEdge, GraphNode, GraphQueries, GraphStore, Subgraph
from graph_memory.graph import graph_queries as module
from graph_memory.graph.graph_queries import Hop
from graph_memory.library.identity_edits import IdentityEdits
from graph_memory.model import Entity, Fact, Row, User
from tests.makers import T0, context, entity, fact, group, mention, name, put, user

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, differences, opened, part, world

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def graph(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GraphStore]:
    async with opened(tmp_path_factory.mktemp("graph"), *world()) as (_, store):
        yield store


async def around(store: GraphStore, node: str, limit: int = 60) -> Subgraph:
    return await store.ask(lambda graph: graph.neighbourhood(node, limit))


async def search(store: GraphStore, query: str = "", limit: int = 50) -> list[GraphNode]:
    return await store.ask(lambda graph: graph.nodes(query, limit))


def ids(found: Subgraph | list[GraphNode]) -> list[str]:
    return [node.id for node in (found.nodes if isinstance(found, Subgraph) else found)]


# -------------------------------------------------------------- what there is


async def test_the_neighbourhood_of_a_person(graph: GraphStore) -> None:
    found = await around(graph, ZHANG)
    assert found.nodes == [
        GraphNode(ZHANG, "user", "", "张三", 4),
        # Two current facts before one, an archived one last.
        GraphNode(YOGA, "entity", "topic", "瑜伽", 3),
        GraphNode(LI, "user", "", "李四", 1),
        GraphNode(DOCKER, "entity", "thing", "Docker", 2),
    ]
    assert found.total == 3
    said = {edge.statement: edge for edge in found.edges}
    assert len(found.edges) == len(said) == 4
    liked = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    assert said["张三喜欢瑜伽"] == GraphEdge(
        liked.id, ZHANG, YOGA, "likes", "张三喜欢瑜伽", 0.8, 1, None, "active", T0
    )
    assert said["张三讨厌 Docker"].status == "archived"


async def test_what_a_newer_fact_replaces_is_superseded(tmp_path: Path) -> None:
    old = replace(fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽"), valid_to=T0 + 0.25)
    newer = fact(GROUP, ZHANG, DOCKER, "张三改学 Docker 了", at=T0 + 9, supersedes=(old.id,))
    gone = replace(newer, status="archived", archived_at=T0 + 10)
    for replacing in (newer, gone):  # which does not bring the older one back
        async with opened(tmp_path / replacing.status, old, replacing) as (_, store):
            edges = {edge.id: edge for edge in (await around(store, ZHANG)).edges}
        assert (edges[old.id].superseded, edges[newer.id].superseded) == (True, False)
        assert edges[old.id].valid_to == T0 + 0.25


async def test_what_was_replaced_twice_is_drawn_until_the_first_time(tmp_path: Path) -> None:
    old = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    newer = [
        fact(CHAT, ZHANG, DOCKER, f"张三改学 Docker 了 {day}", at=T0 + day, supersedes=(old.id,))
        for day in (7, 3, 5, 9)
    ]
    async with opened(tmp_path, old, *newer) as (_, store):
        whole = await store.ask(lambda queries: queries.whole(9, 9))
    assert next(edge.until for edge in whole.edges if edge.id == old.id) == T0 + 3


async def test_the_neighbourhood_of_a_session(graph: GraphStore) -> None:
    found = await around(graph, GROUP.id)
    assert found.nodes[0] == GraphNode(GROUP.id, "session", "group", "群700", 3)
    assert found.nodes[1].id == ZHANG  # two messages, the others one
    assert {
        (edge.predicate, edge.source, edge.target, edge.strength_count) for edge in found.edges
    } == {
        ("participated_in", ZHANG, GROUP.id, 2),
        ("participated_in", LI, GROUP.id, 1),
        ("mentioned_in", DOCKER, GROUP.id, 1),
    }
    assert found.total == 3


async def test_a_node_that_does_not_exist(graph: GraphStore) -> None:
    for missing in ("", "e:0", "qq:1", "x' OR 1=1 //"):
        with pytest.raises(NotFoundError):
            await around(graph, missing)
        for question in (GraphQueries.path, GraphQueries.shared):
            with pytest.raises(NotFoundError):
                await graph.ask(partial(question, a=ZHANG, b=missing))
        with pytest.raises(NotFoundError):
            await graph.ask(lambda graph, n=missing: graph.among([n]))  # type: ignore[misc]


@pytest.mark.parametrize("limit", [0, 1, 2, 60])
async def test_totals_are_truthful(tmp_path: Path, limit: int) -> None:
    things = [entity(f"东西{i}") for i in range(7)]
    rows: list[Row] = [User(ZHANG), *map(Entity, things)]
    for i, thing in enumerate(things):
        rows += [fact(CHAT, ZHANG, thing, f"张三有东西{i} 之 {j}") for j in range(i % 3 + 1)]
    rows.append(fact(CHAT, things[0], ZHANG, "东西0 属于张三"))  # both directions: one neighbour
    rows.append(fact(CHAT, ZHANG, ZHANG, "张三觉得自己很累"))  # none at all
    async with opened(tmp_path, *rows) as (_, store):
        found = await around(store, ZHANG, limit)
    assert found.total == 7
    assert len(found.nodes) == 1 + min(limit, 7)
    facts = [row for row in rows if isinstance(row, Fact)]
    shown = {row.id for row in facts if {row.subject, row.object} <= set(ids(found))}
    assert sorted(edge.id for edge in found.edges) == sorted(shown)
    assert found.nodes[0].degree == len(facts) - 1


async def test_the_most_connected_come_first(graph: GraphStore) -> None:
    found = await search(graph)
    assert [node.degree for node in found[:4]] == [4, 3, 2, 1]
    assert [node.kind for node in found] == ["user", "entity", "entity", "user"] + ["session"] * 2
    assert ids(await search(graph, limit=2)) == [ZHANG, YOGA]
    assert await search(graph, limit=0) == []


@pytest.mark.parametrize(("query", "found"), [
    ("三", [ZHANG]), ("瑜", [YOGA]), ("dock", [DOCKER]), ("ＤＯＣＫＥＲ", [DOCKER]),
    ("10002", [LI]), ("群", [GROUP.id]), ("MEI", [GROUP.id, CHAT.id]), (" 李四 ", [LI]),
    ("没有", []), ("' OR true //", []), ("\\", []),
])  # fmt: skip
async def test_nodes_are_found_by_name(graph: GraphStore, query: str, found: list[str]) -> None:
    assert ids(await search(graph, query)) == found


async def test_names_old_missing_and_hostile(tmp_path: Path) -> None:
    text = "<b>\"张'三\"\\\n'; MATCH (n) DETACH DELETE n //"
    rows = [
        *(User(ZHANG), name(CHAT, ZHANG, "小张"), name(GROUP, ZHANG, text, T0 + 1)),
        fact(CHAT, ZHANG, LI, text),
    ]
    async with opened(tmp_path, *rows) as (_, store):
        for query in ("小张", "match (n) detach delete n //"):
            (found,) = await search(store, query)
            assert (found.id, found.name) == (ZHANG, text)
        nameless = await around(store, LI)
        assert nameless.nodes[0].name == ""
        assert [edge.statement for edge in nameless.edges] == [text]


async def test_an_empty_graph_answers(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, store):
        assert await search(store) == []
        for question in ("connected", "bridges", "orphans", "newest", "contradicted"):
            found = await store.ask(lambda graph, q=question: getattr(graph, q)())  # type: ignore[misc]
            assert found == Subgraph([], [], 0)


async def test_merged_nodes_are_one_until_they_are_split(tmp_path: Path) -> None:
    cat, kitty = entity("猫"), entity("喵")
    rows = [
        *(*world(), Entity(cat), Entity(kitty), name(CHAT, cat, "猫")),
        *(name(GROUP, kitty, "喵星人"), mention(CHAT, cat, "animal")),
        fact(CHAT, ZHANG, cat, "张三养猫"),
        fact(GROUP, LI, kitty, "李四喜欢喵星人"),
        fact(GROUP, kitty, cat, "喵星人就是猫", predicate="other"),
    ]
    async with opened(tmp_path, *rows) as (journal, store):
        apart = await around(store, cat)
        bonds = IdentityEdits(context(journal))
        await bonds.merge(kitty, cat, "owner")
        await store.settle()
        found = await around(store, cat)
        assert await around(store, kitty) == found
        assert ids(found)[0] == cat
        assert set(ids(found)[1:]) == {ZHANG, LI}
        assert len(found.edges) == 3
        assert ids(await search(store, "喵星")) == [cat]
        assert cat in ids(await store.ask(lambda graph: graph.shared(ZHANG, LI)))

        # What comes later about either is about the one.
        await put(journal, fact(GROUP, ZHANG, kitty, "张三给喵星人拍照", predicate="did"))
        assert await differences(store) == []
        assert len((await around(store, cat)).edges) == 4

        await bonds.split(kitty, "owner")
        await store.settle()
        left = await around(store, cat)
        assert (left.nodes[0], left.edges) == (apart.nodes[0], apart.edges)
        assert set(ids(await around(store, kitty))) == {kitty, cat, LI, ZHANG}


# -------------------------------------------------------------- questions

WANG, CAT, TEA = user("10003"), entity("年糕"), entity("龙井茶")
LONELY, STRANGER = entity("没人提的事"), user("99999")
OTHERS = group("800")

LIKES = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽", at=T0)
PRACTISES = fact(CHAT, ZHANG, YOGA, "张三每周三练瑜伽", predicate="habit", at=T0 + 1)
LEARNS = fact(GROUP, LI, YOGA, "李四在学瑜伽", at=T0 + 2)
OWNS = fact(CHAT, ZHANG, CAT, "张三养了年糕", predicate="has_pet", at=T0 + 3)
FEEDS = fact(CHAT, CAT, TEA, "年糕打翻过龙井茶", predicate="other", at=T0 + 4)
DRINKS = fact(GROUP, WANG, TEA, "王五爱喝龙井茶", at=T0 + 5)
TIRED = fact(CHAT, ZHANG, ZHANG, "张三觉得自己很累", at=T0 + 6)
HATED = replace(
    fact(CHAT, LI, DOCKER, "李四讨厌 Docker", at=T0 - 1), status="archived", archived_at=T0
)
LOVES = fact(GROUP, LI, DOCKER, "李四现在喜欢 Docker", at=T0 + 7, supersedes=(HATED.id, "f:gone"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def story(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GraphStore]:
    rows: list[Row] = [
        *(CHAT, GROUP, OTHERS, *map(User, (ZHANG, LI, WANG, STRANGER))),
        *map(Entity, (YOGA, DOCKER, CAT, TEA, LONELY)),
        *(name(CHAT, ZHANG, "张三"), name(GROUP, LONELY, "没人提的事"), mention(GROUP, LONELY)),
        *(part(CHAT, ZHANG), part(GROUP, ZHANG), part(GROUP, WANG), part(OTHERS, WANG, 9)),
        *(mention(OTHERS, TEA), mention(GROUP, TEA), mention(CHAT, CAT), mention(GROUP, CAT)),
        *(LIKES, PRACTISES, LEARNS, OWNS, FEEDS, DRINKS, TIRED, HATED, LOVES),
    ]
    async with opened(tmp_path_factory.mktemp("story"), *rows) as (_, store):
        yield store


def said(facts: Iterable[Fact | GraphEdge]) -> set[str]:
    return {fact.id for fact in facts}


async def test_a_path_leads_over_the_facts_between(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.path(LI, TEA))
    assert {(path.nodes, path.facts) for path in found.paths} == {
        ((LI, YOGA, ZHANG, CAT, TEA), (LEARNS.id, yoga, OWNS.id, FEEDS.id))
        for yoga in (LIKES.id, PRACTISES.id)
    }
    assert ids(found)[:2] == [LI, TEA]
    assert set(ids(found)) == {LI, YOGA, ZHANG, CAT, TEA}
    assert said(found.edges) == said((LEARNS, LIKES, PRACTISES, OWNS, FEEDS))
    assert found.total == 2
    back = await story.ask(lambda graph: graph.path(TEA, LI))
    assert {path.nodes for path in back.paths} == {(TEA, CAT, ZHANG, YOGA, LI)}


async def test_a_path_is_short_or_is_none(story: GraphStore) -> None:
    for a, b in ((LI, WANG), (ZHANG, STRANGER), (ZHANG, ZHANG)):  # five facts; none; oneself
        found = await story.ask(partial(GraphQueries.path, a=a, b=b))
        assert (found.paths, found.edges, found.total) == ((), [], 0)
    # What was archived leads nowhere.
    assert len((await story.ask(lambda graph: graph.path(LI, DOCKER))).paths) == 1


async def test_what_two_share(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.shared(ZHANG, LI))
    assert ids(found) == [ZHANG, LI, YOGA]
    assert said(found.edges) == said((LIKES, PRACTISES, LEARNS))
    assert found.total == 1
    for a, b, count in ((CAT, WANG, 1), (ZHANG, WANG, 0), (ZHANG, ZHANG, 0)):
        assert (await story.ask(partial(GraphQueries.shared, a=a, b=b))).total == count


async def test_the_most_connected(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.connected(3))
    assert ids(found) == [node for node, _ in found.counts]
    assert len(found.counts) == 3
    # Of four facts two are about one thing, and one about oneself.
    assert found.counts[0] == (ZHANG, 2)


async def test_who_stands_between_groups(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.bridges())
    assert found.counts == ((WANG, 2), (TEA, 2)), "a private chat is no group"
    assert ids(found) == [WANG, TEA, *sorted((GROUP.id, OTHERS.id))]
    assert {(edge.source, edge.target) for edge in found.edges} == {
        (node, each.id) for node in (WANG, TEA) for each in (GROUP, OTHERS)
    }
    few = await story.ask(lambda graph: graph.bridges(1))
    assert (len(few.counts), few.total) == (1, 2)


async def test_of_many_groups_some_are_named_and_each_once(tmp_path: Path) -> None:
    chats = [group(f"{n}", persona) for n in range(20) for persona in ("mei", "lin")]
    rows = [User(WANG), *chats, *(part(chat, WANG) for chat in chats)]
    async with opened(tmp_path, *rows) as (_, store):
        found = await store.ask(lambda graph: graph.bridges())
    assert found.counts == ((WANG, 20),)
    circles = {chat.id: chat.circle for chat in chats}
    assert len({circles[edge.target] for edge in found.edges}) == len(found.edges) == module.NAMED


async def test_a_group_without_a_title_goes_by_its_number(tmp_path: Path) -> None:
    chats = [replace(group(number), title="") for number in ("700", "800")]
    rows = [User(WANG), *chats, *(part(chat, WANG) for chat in chats)]
    async with opened(tmp_path, *rows) as (_, store):
        found = await store.ask(lambda graph: graph.bridges())
    assert [node.name for node in found.nodes if node.kind == "session"] == ["700", "800"]


async def test_orphans_are_those_that_no_fact_in_use_tells_of(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.orphans())
    assert set(ids(found)) == {LONELY, STRANGER}
    few = await story.ask(lambda graph: graph.orphans(1))
    assert (len(few.nodes), few.total, found.total) == (1, 2, 2)


async def test_the_newest(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.newest(3))
    assert [edge.id for edge in found.edges] == [LOVES.id, TIRED.id, DRINKS.id]
    assert [edge.recorded_at for edge in found.edges] == [T0 + 7, T0 + 6, T0 + 5]
    assert set(ids(found)) == {LI, DOCKER, ZHANG, WANG, TEA}


async def test_what_was_contradicted(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.contradicted())
    assert found.pairs == ((LOVES.id, HATED.id),)  # what was forgotten is no pair
    assert {edge.id: edge.superseded for edge in found.edges} == {LOVES.id: False, HATED.id: True}
    assert found.total == 1
    assert (await story.ask(lambda graph: graph.contradicted(0))).total == 1


async def test_facts_between_some_nodes(story: GraphStore) -> None:
    found = await story.ask(lambda graph: graph.among([LI, YOGA, ZHANG, LI, "e:no"]))
    assert ids(found) == [LI, YOGA, ZHANG]
    assert said(found.edges) == said((LIKES, PRACTISES, LEARNS, TIRED))


async def test_hops_of_some_sessions(graph: GraphStore) -> None:
    friends = fact(GROUP, ZHANG, LI, "张三是李四的同事", predicate="friend_of")
    needs = fact(GROUP, DOCKER, YOGA, "Docker 和瑜伽都需要练习", predicate="other")
    own = {
        Hop(fact(CHAT, ZHANG, YOGA, text).id, ZHANG, YOGA)
        for text in ("张三喜欢瑜伽", "张三每周三练瑜伽")
    }

    async def hops(nodes: list[str], sessions: list[str]) -> set[Hop]:
        return set(await graph.ask(lambda graph: graph.hops(sessions, nodes)))

    both = [CHAT.id, GROUP.id]
    assert await hops([ZHANG], [CHAT.id]) == own, "not the archived one"
    assert await hops([ZHANG], both) == own | {Hop(friends.id, ZHANG, LI)}
    assert await hops([YOGA], [GROUP.id]) == {Hop(needs.id, YOGA, DOCKER)}, "either direction"
    for nodes, sessions in (([], both), ([ZHANG], []), (["e:no'such{}"], ["$s"])):
        assert await hops(nodes, sessions) == set()
    assert set(await graph.ask(lambda graph: graph.hops(both))) == own | {
        Hop(friends.id, ZHANG, LI),
        Hop(needs.id, DOCKER, YOGA),
    }
    assert await graph.ask(lambda graph: graph.hops([])) == []


async def test_questions_never_write() -> None:
    queries = [text for text in module._QUERIES.values() if "MATCH" in text]
    assert len(queries) > 10
    words = {word for text in queries for word in text.replace("(", " ").split()}
    assert not words & {"CREATE", "MERGE", "SET", "DELETE", "COPY", "LOAD", "CALL", "EXPORT"}


async def test_nodes_of_both_kinds_are_asked_for_together(tmp_path: Path) -> None:
    """As much as of each by itself; by key Kùzu gave those of one kind twice."""
    ming, mei, lan = (user(each) for each in "132")
    said = [(lan, YOGA), (mei, YOGA), (ming, YOGA), (lan, mei), (ming, lan)]
    rows = [fact(GROUP, a, b, f"{a}{b}{n}") for n in range(2) for a, b in said]
    async with opened(tmp_path, *map(User, (ming, lan, mei)), Entity(YOGA), *rows) as (_, store):
        one_way = await store.ask(lambda graph: graph.hops([GROUP.id]))
        hops = [*one_way, *(Hop(each.fact, each.target, each.source) for each in one_way)]
        for nodes in permutations([ming, mei, lan, YOGA], 2):
            found = await store.ask(lambda graph, nodes=nodes: graph.hops([GROUP.id], nodes))
            assert sorted(found, key=repr) == sorted(
                (hop for hop in hops if hop.source in nodes), key=repr
            )
            some = await store.ask(lambda graph, nodes=nodes: graph.among(nodes))
            assert {node.id: node.degree for node in some.nodes} == {
                node: sum(hop.source == node for hop in hops) for node in nodes
            }
            assert {edge.id for edge in some.edges} == {
                row.id for row in rows if {row.subject, row.object} == {*nodes}
            }
