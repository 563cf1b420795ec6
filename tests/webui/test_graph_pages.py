"""The questions, the overview, and the graph of some nodes."""

import httpx
import pytest

from tests.cases import rows

from .browsing import PRIVATE, see
from .conftest import BULK
from .seed import fact_id
from .story import LI, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
BEIJING = fact_id(PRIVATE, "张三住在北京")


async def test_the_map_has_everything_with_a_place(owner: httpx.AsyncClient) -> None:
    assert (await see(owner, "/graph")).all("canvas", id="picture")
    drawn = (await owner.get("/api/v1/graph/map")).json()
    nodes, edges = drawn["nodes"], drawn["edges"]
    assert len(nodes) == drawn["total"] > BULK
    assert {"张三", "小红", "年糕"} <= {node["name"] for node in nodes}
    assert all(isinstance(node["group"], int) and node["x"] < 1e4 for node in nodes)
    assert [node["degree"] for node in nodes] == sorted((n["degree"] for n in nodes), reverse=True)
    states = {(nodes[edge[1]]["name"], edge[6]) for edge in edges}
    assert {("张三", "current"), ("张三", "superseded")} <= states
    assert all(0 < edge[10] <= 1 for edge in edges)
    told = {drawn["sessions"][edge[9]]["persona"] for edge in edges}
    assert {"life_advisor", "tech_assistant"} <= told
    (replaced,) = [edge for edge in edges if edge[0] == BEIJING]
    assert replaced[7] < replaced[8], "it was true until another took its place"
    near = (await owner.get("/api/v1/graph", params={"node": ZHANG})).json()["centre"]
    (same,) = [node for node in nodes if node["id"] == ZHANG]
    assert (near["x"], near["y"]) == (same["x"], same["y"])


async def test_neighbours_of_one_relation_and_farther_ones(owner: httpx.AsyncClient) -> None:
    zhang = {"node": ZHANG}
    every = (await owner.get("/api/v1/graph", params=zhang)).json()
    owned = (
        await owner.get("/api/v1/graph", params={**zhang, "relation": "owns", "limit": 300})
    ).json()
    assert owned["total"] == every["total"]
    assert owned["shown"] == owned["relations"]["owns"] == every["relations"]["owns"] >= BULK
    joined = {edge["target"] for edge in owned["edges"] if edge["predicate"] == "owns"}
    assert joined | {ZHANG} == {node["id"] for node in owned["nodes"]}
    shown = [
        {node["id"] for node in found["nodes"]}
        for found in [
            (await owner.get("/api/v1/graph", params={"node": LI, "depth": d, "limit": 300})).json()
            for d in (1, 2, 3)
        ]
    ]
    assert shown[0] < shown[1] <= shown[2]
    page = await see(owner, "/graph", node=LI, depth=2)
    assert f"{len(shown[1]) - 1} / {len(shown[1]) - 1} 个" in page.text


async def test_the_graph_is_one_hop_and_counts_truthfully(owner: httpx.AsyncClient) -> None:
    graph = (await owner.get("/api/v1/graph", params={"node": ZHANG})).json()
    assert graph["nodes"][0] == graph["centre"]
    assert graph["centre"]["name"] == "张三"
    assert graph["shown"] == len(graph["nodes"]) - 1 == 60
    assert graph["total"] > BULK
    ids = {node["id"] for node in graph["nodes"]}
    assert all(ZHANG in (edge["source"], edge["target"]) for edge in graph["edges"])
    assert all({edge["source"], edge["target"]} <= ids for edge in graph["edges"])
    states = {edge["statement"]: edge["state"] for edge in graph["edges"]}
    assert states["张三很爱吃辣"] == states["张三住在北京"] == "superseded"
    assert states["张三肠胃不好，现在不吃辣了"] == "current"
    small = (await owner.get("/api/v1/graph", params={"node": ZHANG, "limit": 5})).json()
    assert (small["shown"], small["total"]) == (5, graph["total"])


@pytest.mark.parametrize(("path", "status"), rows(__file__, "test_odd_questions"))
async def test_odd_questions(owner: httpx.AsyncClient, path: str, status: int) -> None:
    answer = await owner.get(path.replace("long", "x" * 600))
    assert answer.status_code == status
    if path.startswith("/api/"):
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status
        assert "x" * 600 not in answer.text
