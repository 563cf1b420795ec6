"""Merged entities are one node, and come apart again."""

from __future__ import annotations

from pathlib import Path

from graph_memory.graph import check
from graph_memory.identity_edits import IdentityEdits
from graph_memory.model import Entity
from tests.makers import entity, fact, name

from .support import CHAT, DOCKER, GROUP, LI, YOGA, ZHANG, mention, opened, put, world

CAT, KITTY = entity("猫"), entity("喵")


async def test_a_merged_pair_is_one_node_until_it_is_split(tmp_path: Path) -> None:
    rows = [
        *world(),
        Entity(CAT),
        Entity(KITTY),
        name(CHAT, CAT, "猫"),
        name(GROUP, KITTY, "喵星人"),
        mention(CHAT, CAT, "animal"),
        mention(GROUP, KITTY, "animal"),
        fact(CHAT, ZHANG, CAT, "张三养猫"),
        fact(GROUP, LI, KITTY, "李四喜欢喵星人"),
        fact(GROUP, KITTY, CAT, "喵星人就是猫", predicate="other"),
    ]
    async with opened(tmp_path, *rows) as (journal, store):
        apart = await store.statistics(), await store.neighbourhood(CAT)
        edits = IdentityEdits(journal)
        await edits.merge(KITTY, CAT, "owner")
        await store.settle()
        assert await check(store, journal) == []
        assert (await store.statistics())["entities"] == apart[0]["entities"] - 1
        assert (await store.statistics())["related_to"] == apart[0]["related_to"]
        found = await store.neighbourhood(CAT)
        assert await store.neighbourhood(KITTY) == found
        assert found.centre.id == CAT
        assert {node.id for node in found.nodes} == {ZHANG, LI}
        assert {edge.statement for edge in found.edges} == {
            "张三养猫",
            "李四喜欢喵星人",
            "喵星人就是猫",
        }
        assert [node.id for node in await store.nodes("喵星")] == [CAT]

        # What comes later about either is about the one.
        await put(journal, fact(GROUP, ZHANG, KITTY, "张三给喵星人拍照", predicate="did"))
        await store.settle()
        assert await check(store, journal) == []
        assert len((await store.neighbourhood(CAT)).edges) == 4

        await edits.split(KITTY, "owner")
        await store.settle()
        assert await check(store, journal) == []
        left = await store.neighbourhood(CAT)
        assert (left.centre, left.edges) == (apart[1].centre, apart[1].edges)
        assert (await store.statistics())["entities"] == apart[0]["entities"]
        assert {node.id for node in (await store.neighbourhood(KITTY)).nodes} == {CAT, LI, ZHANG}


async def test_a_merge_is_there_after_a_restart_and_one_made_meanwhile_too(tmp_path: Path) -> None:
    async with opened(tmp_path, *world()) as (journal, store):
        await IdentityEdits(journal).merge(DOCKER, YOGA, "owner")
        await store.settle()
    async with opened(tmp_path) as (journal, store):  # opens the sealed file
        assert (await store.neighbourhood(DOCKER)).centre.id == YOGA
        await put(journal, fact(CHAT, ZHANG, DOCKER, "张三又试了 Docker", predicate="did"))
        await store.settle()
        assert await check(store, journal) == []
        await store.close()
        await IdentityEdits(journal).split(DOCKER, "owner")  # the sealed file does not know of it
    async with opened(tmp_path) as (journal, store):
        assert (await store.neighbourhood(DOCKER)).centre.id == DOCKER
        assert await check(store, journal) == []
