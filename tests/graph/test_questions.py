"""The six questions that people ask of a graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.errors import NotFoundError
from graph_memory.graph import Answer, GraphStore
from graph_memory.model import Entity, Fact, Merge, Row, User
from tests.makers import T0, entity, fact, name, user

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, mention, opened, put

WANG, ZHAO, CAT, TEA = user("10003"), user("10004"), entity("年糕"), entity("龙井茶")
LONELY, STRANGER = entity("没人提的事"), user("99999")

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
FACTS = (LIKES, PRACTISES, LEARNS, OWNS, FEEDS, DRINKS, TIRED, HATED, LOVES)
NODES = (ZHANG, LI, WANG, STRANGER), (YOGA, DOCKER, CAT, TEA, LONELY)


def story() -> list[Row]:
    return [
        CHAT,
        GROUP,
        *map(User, NODES[0]),
        *map(Entity, NODES[1]),
        name(CHAT, ZHANG, "张三"),
        name(GROUP, LONELY, "没人提的事"),
        mention(GROUP, LONELY),
        *FACTS,
    ]


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncIterator[GraphStore]:
    async with opened(tmp_path, *story()) as (_, store):
        yield store


def ids(answer: Answer) -> list[str]:
    return [node.id for node in answer.nodes]


def said(facts: Iterable[Fact]) -> set[str]:
    return {fact.id for fact in facts}


async def test_a_path_leads_over_the_facts_between(graph: GraphStore) -> None:
    found = await graph.questions.path(LI, TEA)
    ways = {(way.nodes, way.facts) for way in found.ways}
    assert ways == {
        ((LI, YOGA, ZHANG, CAT, TEA), (LEARNS.id, yoga, OWNS.id, FEEDS.id))
        for yoga in (LIKES.id, PRACTISES.id)
    }
    assert ids(found)[:2] == [LI, TEA]
    assert set(ids(found)) == {LI, YOGA, ZHANG, CAT, TEA}
    assert {edge.id for edge in found.edges} == said((LEARNS, LIKES, PRACTISES, OWNS, FEEDS))
    assert found.total == 2
    assert {way.nodes for way in (await graph.questions.path(TEA, LI)).ways} == {
        (TEA, CAT, ZHANG, YOGA, LI)
    }


async def test_a_path_is_short_or_is_none(graph: GraphStore) -> None:
    for a, b in ((LI, WANG), (ZHANG, STRANGER), (ZHANG, ZHANG)):  # five facts; none; oneself
        found = await graph.questions.path(a, b)
        assert (found.ways, found.edges, found.total) == ((), [], 0)
    # What was archived leads nowhere.
    assert len((await graph.questions.path(LI, DOCKER)).ways) == 1


async def test_what_two_share(graph: GraphStore) -> None:
    found = await graph.questions.shared(ZHANG, LI)
    assert ids(found) == [ZHANG, LI, YOGA]
    assert {edge.id for edge in found.edges} == said((LIKES, PRACTISES, LEARNS))
    assert found.total == 1
    assert (await graph.questions.shared(CAT, WANG)).nodes[2].id == TEA
    assert (await graph.questions.shared(ZHANG, WANG)).total == 0
    assert (await graph.questions.shared(ZHANG, ZHANG)).total == 0


@pytest.mark.parametrize("question", ["path", "shared"])
async def test_a_question_about_nobody(graph: GraphStore, question: str) -> None:
    ask = getattr(graph.questions, question)
    for a, b in ((ZHANG, "e:no"), ("x' OR 1=1 //", ZHANG), ("", "")):
        with pytest.raises(NotFoundError):
            await ask(a, b)


async def test_the_most_connected(graph: GraphStore) -> None:
    found = await graph.questions.connected(3)
    counts = dict(found.counts)
    assert ids(found) == [node for node, _ in found.counts]
    assert len(counts) == 3
    assert counts[ZHANG] == 2  # of four facts two are about one thing, and one about oneself
    assert ids(found)[0] == ZHANG


async def test_orphans_are_those_that_no_fact_in_use_tells_of(graph: GraphStore) -> None:
    found = await graph.questions.orphans()
    assert set(ids(found)) == {LONELY, STRANGER}
    assert found.total == 2
    few = await graph.questions.orphans(1)
    assert (len(few.nodes), few.total) == (1, 2)


async def test_the_newest(graph: GraphStore) -> None:
    found = await graph.questions.newest(3)
    assert [edge.id for edge in found.edges] == [LOVES.id, TIRED.id, DRINKS.id]
    assert [edge.recorded_at for edge in found.edges] == [T0 + 7, T0 + 6, T0 + 5]
    assert set(ids(found)) == {LI, DOCKER, ZHANG, WANG, TEA}


async def test_what_was_contradicted(graph: GraphStore) -> None:
    found = await graph.questions.contradicted()
    assert found.pairs == ((LOVES.id, HATED.id),)  # what was forgotten is no pair
    assert {edge.id: edge.superseded for edge in found.edges} == {LOVES.id: False, HATED.id: True}
    assert found.total == 1
    assert (await graph.questions.contradicted(0)).total == 1


async def test_facts_between_some_nodes(graph: GraphStore) -> None:
    found = await graph.questions.among([LI, YOGA, ZHANG, LI, "e:no"])
    assert ids(found) == [LI, YOGA, ZHANG]
    assert {edge.id for edge in found.edges} == said((LIKES, PRACTISES, LEARNS, TIRED))
    with pytest.raises(NotFoundError):
        await graph.questions.among(["e:no", "e:never"])


async def test_merged_nodes_are_one(tmp_path: Path) -> None:
    async with opened(tmp_path, *story()) as (journal, store):
        await put(journal, Merge("g:1", YOGA, CAT, T0 + 20))
        await store.rebuild()
        await store.settle()
        found = await store.questions.path(YOGA, TEA)
        assert {way.nodes for way in found.ways} == {(CAT, TEA)}
        assert CAT in ids(await store.questions.shared(ZHANG, LI))
