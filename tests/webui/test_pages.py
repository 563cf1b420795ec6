"""Every page: what it shows, what its buttons do, and that stored text stays text."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from graph_memory.model import session_of
from graph_memory.service import MemoryService
from webui import create_app

from .conftest import BASE, BULK, KEY, client
from .markup import Markup
from .seed import fact_id, seed
from .story import HONG, XSS, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
OURS = {"Origin": BASE}
FACTS = 60 + BULK
PRIVATE = session_of("aiocqhttp", "", "10001", "tech_assistant")
LIFE = session_of("aiocqhttp", "", "10001", "life_advisor")
HOSTILE = session_of("aiocqhttp", "99<b>9", "666", XSS[1])


async def see(browser: httpx.AsyncClient, path: str, status: int = 200, **query: Any) -> Markup:
    answer = await browser.get(path, params=query or None)
    assert answer.status_code == status, answer.text
    return Markup(answer.text)


async def press(browser: httpx.AsyncClient, path: str, **fields: Any) -> Markup:
    """Send a form as a page of ours would, and go where it leads."""
    page = await see(browser, "/memories")
    (token,) = {tag["value"] for tag in page.all("input", name="csrf")}
    answer = await browser.post(path, data={"csrf": token, **fields}, headers=OURS)
    assert answer.status_code == 303, answer.text
    return await see(browser, answer.headers["location"])


def statements(page: Markup) -> list[str]:
    return [tag["href"] for tag in page.all("a", **{"class": "row-link"})]


# ------------------------------------------------------------------- memories


async def test_the_table_shows_facts_a_page_at_a_time(owner: httpx.AsyncClient) -> None:
    first = await see(owner, "/memories")
    assert f"共 {FACTS} 条" in first.text
    assert "第 1 / 3 页" in first.text
    pages = [first, *[await see(owner, "/memories", page=number) for number in (2, 3)]]
    shown = [link for page in pages for link in statements(page)]
    assert len(shown) == len(set(shown)) == FACTS
    beyond = await see(owner, "/memories", page=4)
    assert "这一页已经没有内容了" in beyond.text


async def test_the_table_is_searched_by_text_and_by_name(owner: httpx.AsyncClient) -> None:
    by_text = await see(owner, "/memories", q="橘猫")
    assert statements(by_text) == [f"/memories/{fact_id(LIFE, '张三养了一只叫年糕的橘猫')}"]
    by_name = await see(owner, "/memories", q="年糕")
    assert "年糕有点超重，医生让它减肥" in by_name.text
    nothing = await see(owner, "/memories", q="100%_\\' OR 1=1 --")
    assert "没有符合条件的记忆" in nothing.text
    assert nothing.all("input", name="q")[0]["value"] == "100%_\\' OR 1=1 --"


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"persona": "life_advisor"}, 16),
        ({"chat": "aiocqhttp:group:88001"}, 16),
        ({"predicate": "plans"}, 5),
        ({"state": "archived"}, 1),
        ({"state": "superseded"}, 2),
        ({"node": HONG}, 7),
        ({"persona": "life_advisor", "state": "active", "q": "张三 云南"}, 1),
    ],
)
async def test_the_table_is_filtered(
    owner: httpx.AsyncClient, query: dict[str, str], count: int
) -> None:
    page = await see(owner, "/memories", **query)
    assert len(statements(page)) == count
    assert f"找到 {count} 条" in page.text
    chosen = {tag["value"] for tag in page.tags_selected()}
    assert {value for key, value in query.items() if key != "q"} <= chosen


async def test_the_table_is_sorted(owner: httpx.AsyncClient) -> None:
    strongest = await see(owner, "/memories", sort="strength")
    assert statements(strongest)[0].endswith(fact_id(LIFE, "张三对花生严重过敏"))  # pinned
    newest = await see(owner, "/memories", sort="said")
    assert statements(newest)[0].endswith(fact_id(PRIVATE, "张三这周在准备项目上线，压力很大"))


async def test_sorting_and_paging_keep_the_filters(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/memories", node=ZHANG, sort="importance", page=2)
    links = [tag["href"] for tag in page.all("a") if tag["href"].startswith("/memories?")]
    kept = [link for link in links if "sort=strength" in link or "page=3" in link]
    assert len(kept) == 2
    assert all("node=aiocqhttp%3A10001" in link for link in kept)


@pytest.mark.parametrize(
    "query",
    [{"page": "0"}, {"page": "-1"}, {"page": "9" * 30}, {"page": "x"}, {"sort": "f.id; DROP"},
     {"state": "dead"}, {"q": "x" * 201}, {"node": "x" * 501}, {"predicate": "x" * 41}],
)  # fmt: skip
async def test_nonsense_gets_a_page_that_says_so(
    owner: httpx.AsyncClient, query: dict[str, str]
) -> None:
    page = await see(owner, "/memories", 422, **query)
    assert "这个地址读不懂" in page.text
    assert page.alive() == []


async def test_odd_filters_find_nothing_and_break_nothing(owner: httpx.AsyncClient) -> None:
    for odd in (*XSS, "\x00", "𠮷" * 50, "' UNION SELECT data FROM row --", "%' ESCAPE '"):
        for key in ("q", "node", "persona", "chat", "predicate"):
            page = await see(owner, "/memories", **{key: odd[:40]})
            assert page.alive() == []


# ----------------------------------------------------------------- one memory


async def test_a_memory_shows_its_source_and_its_history(owner: httpx.AsyncClient) -> None:
    newer, older = (
        fact_id(PRIVATE, "张三住在上海，今年春天刚搬过去"),
        fact_id(PRIVATE, "张三住在北京"),
    )
    page = await see(owner, f"/memories/{newer}")
    assert "张三 2025年9月19日 16:53 我搬到上海啦，住在徐汇" in page.text
    assert "此前是 张三住在北京" in page.text
    assert page.all("a", href=f"/memories/{older}")
    before = await see(owner, f"/memories/{older}")
    assert "已被取代" in before.text
    assert "后来变成 张三住在上海" in before.text


async def test_a_memory_says_when_it_fades(owner: httpx.AsyncClient) -> None:
    pinned = await see(owner, f"/memories/{fact_id(LIFE, '张三对花生严重过敏')}")
    assert "不会淡去" in pinned.text
    assert "已置顶" in pinned.text
    archived = await see(owner, f"/memories/{fact_id(LIFE, '张三每天早上要喝一杯美式咖啡')}")
    assert "2025年10月4日归档" in archived.text
    assert archived.all(
        "form", action=f"/memories/{fact_id(LIFE, '张三每天早上要喝一杯美式咖啡')}/restore"
    )


async def test_forgetting_can_be_undone(owner: httpx.AsyncClient, service: MemoryService) -> None:
    id = fact_id(LIFE, "张三喜欢睡前冥想十分钟")
    done = await press(owner, f"/memories/{id}/forget")
    assert "已忘记这条记忆" in done.text
    await see(owner, f"/memories/{id}", 404)
    (undo,) = [tag["action"] for tag in done.all("form") if tag["action"].endswith("/undo")]
    assert "已忘记" not in (await see(owner, "/memories")).text  # said once
    (back,) = [tag["value"] for tag in done.all("input", name="back")]
    again = await press(owner, undo, back=back)
    assert "已撤销" in again.text
    assert "张三喜欢睡前冥想十分钟" in again.text
    change = await service.journal.change(await service.journal.last_change())
    assert change is not None
    assert (change.actor, change.reason) == ("owner", "undo")


async def test_archiving_and_restoring(owner: httpx.AsyncClient) -> None:
    id = fact_id(PRIVATE, "张三有一把静电容机械键盘")
    done = await press(owner, f"/memories/{id}/archive")
    assert "已归档" in done.text
    assert not done.all("form", action=f"/memories/{id}/archive")
    restored = await press(owner, f"/memories/{id}/restore")
    assert "已恢复" in restored.text
    # Undoing the older of two changes is refused in words.
    (undo,) = [tag["action"] for tag in done.all("form") if tag["action"].endswith("/undo")]
    refused = await press(owner, undo, back=f"/memories/{id}")
    assert "无法撤销" in refused.text


async def test_what_was_done_cannot_be_made_up(owner: httpx.AsyncClient) -> None:
    owner.cookies.set("gm_done", "eyJ3aGF0IjoiZm9yZ2V0In0.x.y", domain="memory.test")
    page = await see(owner, "/memories")
    assert not page.all("div", **{"class": "done"})


@pytest.mark.parametrize("path", ["/memories/f:nothing", "/memories/a/b", "/nowhere", "/memories/"])
async def test_what_is_not_there_is_said(owner: httpx.AsyncClient, path: str) -> None:
    page = await see(owner, path, 404)
    assert "这里什么也没有" in page.text


async def test_forgetting_what_is_gone_is_said(owner: httpx.AsyncClient) -> None:
    token = (await see(owner, "/memories")).all("input", name="csrf")[0]["value"]
    for action in ("forget", "archive", "restore"):
        answer = await owner.post(f"/memories/f:no/{action}", data={"csrf": token}, headers=OURS)
        assert answer.status_code == 404


# ----------------------------------------------------------- overview and graph


async def test_the_overview_counts_and_forecasts(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/")
    assert f"{FACTS} 条事实记在心里" in page.text
    assert "图谱 就绪" in page.text
    assert f"将有 {BULK} 条记忆被归档" in page.text
    assert len(page.all("rect", **{"class": "stroke"})) == 120


async def test_retrying_is_a_button_that_answers(owner: httpx.AsyncClient) -> None:
    assert "已重新排队：0 批对话" in (await press(owner, "/retry")).text


async def test_an_empty_memory_says_what_to_do(tmp_path: Any) -> None:
    from zoneinfo import ZoneInfo

    from graph_memory.settings import Settings

    memory = await MemoryService.open(tmp_path, Settings(), zone=ZoneInfo("UTC"))
    try:
        await memory.settle()
        async with client(create_app(memory, key=KEY, language="en")) as browser:
            await browser.post("/login", data={"key": KEY}, headers=OURS)
            for path in ("/", "/memories", "/graph"):
                assert "Chat with the bot" in (await see(browser, path)).text
    finally:
        await memory.close()


async def test_the_graph_starts_from_a_search(owner: httpx.AsyncClient) -> None:
    start = await see(owner, "/graph")
    assert "张三" in start.text
    found = await see(owner, "/graph", q="张")
    assert {"张三", "张妈妈"} <= set(found.text.split())
    only = await owner.get("/graph", params={"q": "年糕"})
    assert only.status_code == 303
    assert (await see(owner, only.headers["location"])).text.count("年糕") > 1
    assert "没有名字里有“火星”的" in (await see(owner, "/graph", q="火星")).text


async def test_the_graph_page_tells_the_truth_about_its_size(owner: httpx.AsyncClient) -> None:
    page = await see(owner, "/graph", node=ZHANG)
    total = re.search(r"显示 (\d+) / (\d+) 个相邻节点", page.text)
    assert total
    assert int(total[1]) == 60
    assert int(total[2]) > BULK
    assert len(page.all("a", **{"class": "neighbour"})) == 61
    await see(owner, "/graph", 404, node="e:nothing")


async def test_while_the_graph_is_away_the_rest_works(tmp_path: Any) -> None:
    from zoneinfo import ZoneInfo

    from graph_memory.settings import Settings

    memory = await MemoryService.open(tmp_path, Settings(), zone=ZoneInfo("UTC"))
    try:
        await seed(memory.journal)
        await memory.graph.close()
        async with client(create_app(memory, key=KEY, language="zh")) as browser:
            await browser.post("/login", data={"key": KEY}, headers=OURS)
            assert "图谱已关闭" in (await see(browser, "/graph", 503)).text
            assert "图谱已关闭" in (await see(browser, "/graph", 503, node=ZHANG)).text
            assert "图谱已关闭" in (await see(browser, "/")).text
            assert "找到 7 条" in (await see(browser, "/memories", node=HONG)).text
            assert (await browser.get("/api/v1/nodes")).status_code == 503
    finally:
        await memory.close()


# -------------------------------------------------------------- hostile text


async def hostile_pages(service: MemoryService) -> list[str]:
    """Addresses of every page that shows what Mallory said."""
    nodes = await service.graph.nodes("", 500)
    found = await service.library.browse()
    mallory = [n.id for n in nodes if "<" in n.name or "alert" in n.name or "<" in n.id]
    facts = [line.fact.id for line in found.items if line.session.id == HOSTILE.id]
    assert len(mallory) >= 5
    assert len(facts) == 6
    return [
        "/", "/memories?page=1", "/memories?q=alert", "/graph", "/graph?q=alert",
        *[str(httpx.URL("/memories", params={"node": id})) for id in mallory],
        *[str(httpx.URL("/graph", params={"node": id})) for id in mallory],
        *[f"/memories/{id}" for id in facts],
    ]  # fmt: skip


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_stored_text_is_never_markup(
    owner: httpx.AsyncClient, service: MemoryService, language: str
) -> None:
    owner.cookies.set("gm_language", language, domain="memory.test")
    shown: set[str] = set()
    for path in await hostile_pages(service):
        page = await see(owner, path)
        assert page.alive() == [], path
        shown |= {text for text in XSS if text in page.text}
    assert shown == set(XSS), "the corpus was not on any page: the test proves nothing"


async def test_pages_have_one_title_one_main_and_labels(owner: httpx.AsyncClient) -> None:
    one = f"/memories/{fact_id(LIFE, '张三喜欢睡前冥想十分钟')}"
    for path in ("/", "/memories", one, "/graph", f"/graph?node={ZHANG}", "/nowhere"):
        page = Markup((await owner.get(path)).text)
        for tag in ("title", "main", "h1"):
            assert len(page.all(tag)) == 1, (path, tag)
        labelled = {tag["for"] for tag in page.all("label")}
        fields = [tag for tag in page.all("input") if tag.get("type") != "hidden"]
        assert {tag["id"] for tag in [*fields, *page.all("select")]} <= labelled
        assert page.all("html", lang="zh-CN")
