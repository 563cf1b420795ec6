"""The six questions, as pages and in the API, and the graph of some nodes."""

from __future__ import annotations

import httpx
import pytest

from .browsing import LIFE, PRIVATE, see
from .conftest import BULK
from .seed import fact_id
from .story import HONG, LI, MING, XSS, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
SHANGHAI = fact_id(PRIVATE, "张三住在上海，今年春天刚搬过去")
BEIJING = fact_id(PRIVATE, "张三住在北京")
QUESTIONS = ("path", "shared", "connected", "newest", "contradicted", "orphans")


async def ask(owner: httpx.AsyncClient, question: str, **query: str | int) -> dict:  # type: ignore[type-arg]
    answer = await owner.get(f"/api/v1/graph/{question}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def test_the_start_of_the_graph_offers_the_questions(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/graph")
    offered = {tag["href"] for tag in page.all("a") if "/graph/ask/" in tag["href"]}
    assert offered == {f"/graph/ask/{question}" for question in QUESTIONS}


async def test_a_path_by_names(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/graph/ask/path", a="李四", b="年糕")
    assert "1 条最短的路径" in page.text
    assert "张三和李四是大学同学 张三 张三养了一只叫年糕的橘猫" in page.text
    (link,) = [t["href"] for t in page.all("a") if "beside=" in t["href"]]
    graph = await see(owner, link)
    assert "显示 3 个节点" in graph.text
    found = await ask(owner, "path", a=LI, b=ZHANG)
    assert [way["nodes"] for way in found["ways"]] == [[LI, ZHANG]]


async def test_no_path_is_said(owner: httpx.AsyncClient) -> None:
    assert "4 步之内没有联系" in (await see(owner, "/graph/ask/path", a=ZHANG, b="王小明")).text
    assert "填入两个名字" in (await see(owner, "/graph/ask/path")).text
    assert "没有叫“火星”的" in (await see(owner, "/graph/ask/path", a="火星", b="张三")).text
    similar = await see(owner, "/graph/ask/shared", a="张", b="小红")
    assert "也可能是" in similar.text
    assert [tag for tag in similar.all("a") if tag["href"].startswith("?a=e%3A")]


async def test_what_two_share(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/graph/ask/shared", a=LI, b=HONG)
    assert "2 个共同点" in page.text
    for text in ("黄山", "晨光设计", "李四提议十一月去黄山看日出", "小红在晨光设计做平面设计师"):
        assert text in page.text
    assert "没有共同点" in (await see(owner, "/graph/ask/shared", a=ZHANG, b=MING)).text


async def test_lists_of_the_most_connected_the_newest_and_the_lonely(
    owner: httpx.AsyncClient,
) -> None:
    connected = await ask(owner, "connected", limit=3)
    assert connected["nodes"][0]["id"] == ZHANG
    assert connected["neighbours"][ZHANG] > BULK
    page = await see(owner, "/graph/ask/connected")
    assert page.text.index("张三") < page.text.index("李四") < page.text.index("小红")
    newest = await ask(owner, "newest", limit=2)
    assert [fact["statement"] for fact in newest["facts"]] == [
        "张三这周在准备项目上线，压力很大",
        "机器人答应下次带一个 FastAPI 的示例项目",
    ]
    orphans = await ask(owner, "orphans")
    names = {node["name"] for node in orphans["nodes"]}
    assert "咖啡" in names  # all that was known of it is archived
    assert "张三" not in names
    assert orphans["total"] == len(orphans["nodes"])
    assert "咖啡" in (await see(owner, "/graph/ask/orphans")).text


async def test_contradictions_come_in_pairs(owner: httpx.AsyncClient) -> None:
    found = await ask(owner, "contradicted")
    assert {"newer": SHANGHAI, "older": BEIJING} in found["pairs"]
    assert found["total"] == 2
    states = {fact["id"]: fact["state"] for fact in found["facts"]}
    assert (states[SHANGHAI], states[BEIJING]) == ("current", "superseded")
    page = await see(owner, "/graph/ask/contradicted")
    assert "张三住在上海，今年春天刚搬过去" in page.text
    assert "张三住在北京" in page.text


async def test_some_nodes_and_what_is_between_them(owner: httpx.AsyncClient) -> None:
    wanted = [("node", LI), ("node", HONG), ("node", "e:no")]
    some = (await owner.get("/api/v1/graph/among", params=wanted)).json()
    assert [node["id"] for node in some["nodes"]] == [LI, HONG]
    assert {edge["statement"] for edge in some["edges"]} == {"李四和小红是同事"}
    none = await owner.get("/api/v1/graph/among", params={"node": "e:no"})
    assert none.status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/graph/ask/cypher", 422), ("/graph/ask/path?a=" + "x" * 201, 422),
        ("/graph?node=" + ZHANG + "&beside=e:no", 200), ("/graph?node=e:no&beside=" + LI, 404),
        ("/api/v1/graph/path?a=1", 422), ("/api/v1/graph/path?a=e:no&b=e:no", 404),
        ("/api/v1/graph/newest?limit=0", 422), ("/api/v1/graph/among", 422),
    ],
)  # fmt: skip
async def test_odd_questions(owner: httpx.AsyncClient, path: str, status: int) -> None:
    assert (await owner.get(path)).status_code == status


async def test_hostile_names_are_text(owner: httpx.AsyncClient) -> None:
    shown = set()
    for question in QUESTIONS:
        page = await see(owner, f"/graph/ask/{question}", a=XSS[0], b="张三")
        assert page.alive() == []
        shown |= {text for text in XSS if text in page.text}
    assert len(shown) > 3
    odd = await see(owner, "/graph/ask/path", a="') RETURN 1 //", b=LIFE.id)
    assert "没有叫“') RETURN 1 //”的" in odd.text
