"""What the graph answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.errors import NotFoundError
from graph_memory.graph import GraphEdge, GraphNode, GraphStore
from graph_memory.model import Entity, Row, User
from tests.makers import T0, entity, fact, name, user

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, opened, world


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncIterator[GraphStore]:
    async with opened(tmp_path, *world()) as (_, store):
        yield store


async def test_the_neighbourhood_of_a_person(graph: GraphStore) -> None:
    found = await graph.neighbourhood(ZHANG)
    assert found.centre == GraphNode(ZHANG, "user", "", "张三", 4)
    # Two current facts before one, an archived one last.
    assert found.nodes == [
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


async def test_edges_point_from_subject_to_object(graph: GraphStore) -> None:
    found = await graph.neighbourhood(YOGA)
    assert {(edge.source, edge.target) for edge in found.edges} == {(ZHANG, YOGA), (DOCKER, YOGA)}
    assert {node.id for node in found.nodes} == {ZHANG, DOCKER}


async def test_what_a_newer_fact_replaces_is_superseded(tmp_path: Path) -> None:
    old = fact(CHAT, ZHANG, YOGA, "张三喜欢瑜伽")
    newer = fact(GROUP, ZHANG, DOCKER, "张三改学 Docker 了", at=T0 + 9, supersedes=(old.id,))
    gone = replace(newer, status="archived", archived_at=T0 + 10)
    for replacing in (newer, gone):  # which does not bring the older one back
        async with opened(tmp_path / replacing.status, old, replacing) as (_, store):
            edges = {edge.id: edge for edge in (await store.neighbourhood(ZHANG)).edges}
        assert (edges[old.id].superseded, edges[newer.id].superseded) == (True, False)


async def test_the_neighbourhood_of_a_session(graph: GraphStore) -> None:
    found = await graph.neighbourhood(GROUP.id)
    assert found.centre == GraphNode(GROUP.id, "session", "group", "群700", 3)
    assert found.nodes[0].id == ZHANG  # two messages, the others one
    assert {edge.predicate for edge in found.edges} == {"participated_in", "mentioned_in"}
    assert {(edge.source, edge.target, edge.strength_count) for edge in found.edges} == {
        (ZHANG, GROUP.id, 2),
        (LI, GROUP.id, 1),
        (DOCKER, GROUP.id, 1),
    }
    assert found.total == 3


async def test_a_node_that_does_not_exist(graph: GraphStore) -> None:
    for missing in ("", "e:0", "qq:1", "x' OR 1=1 //"):
        with pytest.raises(NotFoundError):
            await graph.neighbourhood(missing)


@pytest.mark.parametrize("limit", [0, 1, 2, 60])
async def test_totals_are_truthful(tmp_path: Path, limit: int) -> None:
    things = [entity(f"东西{i}") for i in range(7)]
    rows: list[Row] = [User(ZHANG), *map(Entity, things)]
    for i, thing in enumerate(things):
        rows += [fact(CHAT, ZHANG, thing, f"张三有东西{i} 之 {j}") for j in range(i % 3 + 1)]
    rows.append(fact(CHAT, things[0], ZHANG, "东西0 属于张三"))  # both directions: one neighbour
    rows.append(fact(CHAT, ZHANG, ZHANG, "张三觉得自己很累"))  # none at all
    async with opened(tmp_path, *rows) as (_, store):
        found = await store.neighbourhood(ZHANG, limit)
    assert found.total == 7
    assert len(found.nodes) == min(limit, 7)
    shown = {node.id for node in found.nodes}
    wanted = {
        row.id
        for row in rows
        if hasattr(row, "statement") and {row.subject, row.object} <= shown | {ZHANG}
    }
    assert {edge.id for edge in found.edges} == wanted
    assert len(found.edges) == len(wanted)
    assert found.centre.degree == len([r for r in rows if hasattr(r, "statement")]) - 1


async def test_the_most_connected_come_first(graph: GraphStore) -> None:
    found = await graph.nodes()
    assert [node.degree for node in found[:4]] == [4, 3, 2, 1]
    assert [node.kind for node in found] == ["user", "entity", "entity", "user"] + ["session"] * 2
    assert [node.id for node in await graph.nodes(limit=2)] == [ZHANG, YOGA]
    assert await graph.nodes(limit=0) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("三", [ZHANG]),
        ("瑜", [YOGA]),
        ("dock", [DOCKER]),
        ("ＤＯＣＫＥＲ", [DOCKER]),
        ("10002", [LI]),
        ("群", [GROUP.id]),
        ("MEI", [GROUP.id, CHAT.id]),
        (" 李四 ", [LI]),
        ("没有", []),
        ("' OR true //", []),
        ("\\", []),
    ],
)
async def test_nodes_are_found_by_name(graph: GraphStore, query: str, found: list[str]) -> None:
    assert [node.id for node in await graph.nodes(query)] == found


async def test_an_old_name_still_finds(tmp_path: Path) -> None:
    rows = [User(ZHANG), name(CHAT, ZHANG, "小张"), name(GROUP, ZHANG, "张总", T0 + 1)]
    async with opened(tmp_path, *rows) as (_, store):
        (found,) = await store.nodes("小张")
        assert (found.id, found.name) == (ZHANG, "张总")


async def test_a_node_without_a_name_has_an_empty_one(tmp_path: Path) -> None:
    async with opened(tmp_path, fact(CHAT, user("1"), user("2"), "一认识二")) as (_, store):
        assert {node.name for node in await store.nodes()} == {""}
        assert (await store.neighbourhood(user("1"))).total == 1


async def test_statistics_count_everything(graph: GraphStore) -> None:
    assert await graph.statistics() == {
        "users": 2,
        "entities": 2,
        "sessions": 2,
        "episodes": 1,
        "knows": 4,
        "related_to": 1,
        "mentioned_in": 2,
        "participated_in": 3,
        "part_of": 1,
        "archived": 1,
    }


async def test_an_empty_graph_answers(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, store):
        assert await store.nodes() == []
        assert set((await store.statistics()).values()) == {0}


async def test_hostile_names_come_back_as_they_are(tmp_path: Path) -> None:
    text = "<b>\"张'三\"\\\n'; MATCH (n) DETACH DELETE n //"
    rows = [User(ZHANG), name(CHAT, ZHANG, text), fact(CHAT, ZHANG, LI, text)]
    async with opened(tmp_path, *rows) as (_, store):
        (found,) = await store.nodes("match (n) detach delete n //")
        assert found.name == text
        assert [edge.statement for edge in (await store.neighbourhood(ZHANG)).edges] == [text]


async def test_a_fact_that_ended_says_so(tmp_path: Path) -> None:
    row = replace(fact(CHAT, ZHANG, LI, "张三认识李四"), valid_to=T0 + 0.25)
    async with opened(tmp_path, row) as (_, store):
        (edge,) = (await store.neighbourhood(LI)).edges
    assert edge.valid_to == T0 + 0.25
