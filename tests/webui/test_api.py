"""The JSON API: types, pages, changes, errors."""

from __future__ import annotations

import re

import httpx
import pytest

from graph_memory.model import session_of
from graph_memory.service import MemoryService

from .conftest import BASE, BULK
from .seed import fact_id
from .story import HONG, MALLORY, XSS, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
FACTS = 60 + BULK
LIFE = session_of("aiocqhttp", "", "10001", "life_advisor")


async def changing(owner: httpx.AsyncClient) -> dict[str, str]:
    """Headers that a script of ours sends with a change."""
    page = (await owner.get("/memories")).text
    found = re.search(r'name="csrf-token" content="(\w+)"', page)
    assert found
    return {"Origin": BASE, "X-CSRF-Token": found[1]}


async def test_a_cursor_leads_through_all_facts(owner: httpx.AsyncClient) -> None:
    ids: list[str] = []
    query: dict[str, str | int] = {"limit": 40}
    for _ in range(20):
        page = (await owner.get("/api/v1/facts", params=query)).json()
        assert page["total"] == FACTS
        ids += [fact["id"] for fact in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert len(ids) == len(set(ids)) == FACTS


async def test_a_fact_has_its_sources_and_times(owner: httpx.AsyncClient) -> None:
    id = fact_id(LIFE, "张三肠胃不好，现在不吃辣了")
    detail = (await owner.get(f"/api/v1/facts/{id}")).json()
    assert detail["fact"]["subject_name"] == "张三"
    assert detail["fact"]["persona"] == "life_advisor"
    assert detail["fact"]["said_at"] == "2025-08-30T08:53:20Z"
    assert 0 < detail["fact"]["strength"] < 1
    assert [message["text"] for message in detail["sources"]] == ["医生不让我吃辣了"]
    assert [fact["statement"] for fact in detail["replaces"]] == ["张三很爱吃辣"]
    assert detail["replaces"][0]["state"] == "superseded"


async def test_changes_and_undo(owner: httpx.AsyncClient) -> None:
    headers = await changing(owner)
    path = f"/api/v1/facts/{fact_id(LIFE, '年糕喜欢吃鸡肉冻干')}"
    change = (await owner.delete(path, headers=headers)).json()
    assert (change["actor"], change["reason"]) == ("owner", "forget")
    assert (await owner.get(path)).status_code == 404
    undo = await owner.post(f"/api/v1/changes/{change['id']}/undo", headers=headers)
    assert undo.json()["undoes"] == change["id"]
    assert (await owner.get(path)).status_code == 200
    archived = (await owner.post(f"{path}/archive", headers=headers)).json()
    assert (await owner.get(path)).json()["fact"]["state"] == "archived"
    await owner.post(f"{path}/restore", headers=headers)
    conflict = await owner.post(f"/api/v1/changes/{archived['id']}/undo", headers=headers)
    assert conflict.status_code == 409
    assert conflict.json()["title"] == "Conflict"


async def test_the_graph_is_one_hop_and_counts_truthfully(owner: httpx.AsyncClient) -> None:
    graph = (await owner.get("/api/v1/graph", params={"node": ZHANG})).json()
    assert graph["nodes"][0] == graph["centre"]
    assert graph["centre"]["name"] == "张三"
    assert graph["shown"] == len(graph["nodes"]) - 1 == 60
    assert graph["total"] > BULK
    ids = {node["id"] for node in graph["nodes"]}
    assert all(ZHANG in (edge["source"], edge["target"]) for edge in graph["edges"])
    assert all({edge["source"], edge["target"]} <= ids for edge in graph["edges"])
    chilli = [e for e in graph["edges"] if e["predicate"] in ("likes", "dislikes")]
    states = {e["statement"]: e["state"] for e in chilli}
    assert (states["张三很爱吃辣"], states["张三肠胃不好，现在不吃辣了"]) == (
        "superseded",
        "current",
    )
    moved = {e["statement"]: e["state"] for e in graph["edges"] if e["predicate"] == "lives_in"}
    assert moved == {"张三住在北京": "superseded", "张三住在上海，今年春天刚搬过去": "current"}
    small = (await owner.get("/api/v1/graph", params={"node": ZHANG, "limit": 5})).json()
    assert (small["shown"], small["total"]) == (5, graph["total"])


async def test_a_merged_node_shows_the_survivor(
    owner: httpx.AsyncClient, service: MemoryService
) -> None:
    nodes = (await owner.get("/api/v1/nodes", params={"limit": 40})).json()["items"]
    one, other = [node["id"] for node in nodes if node["id"].startswith("e:")][:2]

    async def facts(node: str) -> set[str]:
        page = (await owner.get("/api/v1/facts", params={"node": node, "limit": 100})).json()
        return {fact["id"] for fact in page["items"]}

    apart = await facts(one), await facts(other)
    change = await service.bonds.merge(one, other, "owner")
    try:
        await service.settle()
        for node in (one, other):
            graph = (await owner.get("/api/v1/graph", params={"node": node})).json()
            assert graph["centre"]["id"] == other
            assert await facts(node) == apart[0] | apart[1]
    finally:
        await service.library.undo(change.id, "owner")
        await service.settle()
    assert (await facts(one), await facts(other)) == apart


async def test_hostile_text_is_data(owner: httpx.AsyncClient) -> None:
    answer = await owner.get("/api/v1/graph", params={"node": MALLORY})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["centre"]["name"] == XSS[0]


async def test_nodes_are_found_by_name(owner: httpx.AsyncClient) -> None:
    found = (await owner.get("/api/v1/nodes", params={"q": "小红"})).json()["items"]
    assert [(node["id"], node["shape"]) for node in found] == [(HONG, "user")]
    most = (await owner.get("/api/v1/nodes", params={"limit": 1})).json()["items"]
    assert [node["id"] for node in most] == [ZHANG]


async def test_health(owner: httpx.AsyncClient) -> None:
    health = (await owner.get("/api/v1/health")).json()
    assert health["graph"] == "ready"
    assert health["counts"]["fact"] == FACTS
    assert health["dead"] == 0


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("facts?limit=0", 422), ("facts?limit=201", 422), ("facts?cursor=5", 422),
        ("facts?cursor=o9999999999", 422), ("facts?since=never", 422), ("facts?sort=%00", 422),
        ("facts/f:no", 404), ("facts/%00", 404), ("facts/" + "x" * 600, 422),
        ("graph", 422), ("graph?node=e:no", 404), ("graph?node=x&limit=1e9", 422),
        ("graph?node=%00", 404), ("nodes?limit=-1", 422), ("nodes?q=" + "x" * 201, 422),
        ("nowhere", 404), ("", 404), ("changes/1/undo", 405),
    ],
)  # fmt: skip
async def test_errors_are_problems(owner: httpx.AsyncClient, path: str, status: int) -> None:
    answer = await owner.get(f"/api/v1/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body["title"]


async def test_what_was_sent_is_not_repeated(owner: httpx.AsyncClient) -> None:
    answer = await owner.get("/api/v1/facts", params={"sort": XSS[0]})
    assert answer.status_code == 422
    assert XSS[0] not in answer.text


async def test_the_schema_describes_what_is_answered(owner: httpx.AsyncClient) -> None:
    schema = (await owner.get("/api/v1/openapi.json")).json()
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert len(operations) >= 40
    for operation in operations:
        assert "$ref" in operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert "application/problem+json" in operation["responses"]["404"]["content"]
        assert operation["description"]
