"""The first page, the graph, and what all pages have in common."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph_memory.errors import GraphMemoryError
from graph_memory.model import Episode, Message
from graph_memory.service import MemoryService
from graph_memory.store import Draft
from graph_memory.store.queries import FactFilter
from tests.makers import claim_all
from webui.pages import data

from .browsing import LIFE, press, see, send
from .conftest import BULK, application, entered, opened
from .markup import Markup
from .seed import fact_id
from .story import XSS, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
FACTS = 60 + BULK


async def test_the_overview_draws_kinds_strength_tokens_and_times(owner, service):
    service.spending.add("learn", 1_200, 34)
    await service.recall.remind(service.view_as.asker(ZHANG, "", "life_advisor"), "猫叫什么？")
    page = await see(owner, "/")
    known = await service.library.overview()
    archived = (await service.library.browse(FactFilter(status="archived"))).total
    assert sum(known.strengths) == FACTS - archived
    assert "最近 60 天共 1,234" in page.text
    assert "毫秒，最慢" in page.text
    drawn = page.all("svg", **{"class": "columns"})
    assert len(drawn) == 3
    assert all(each["aria-label"] for each in drawn)


async def test_the_overview_begins_with_what_was_learned_and_recalled(owner, service):
    asked = "猫叫什么？"
    await service.recall.remind(service.view_as.asker(ZHANG, "", "life_advisor"), asked)
    page = await see(owner, "/")
    newest, *_ = (await service.library.browse()).items
    places = [page.text.find(text) for text in (newest.fact.statement, asked, "一切正常")]
    assert -1 not in places
    assert places == sorted(places)
    (works,) = page.all("details", id="works")
    assert "open" not in works
    service.problems["hook"] = GraphMemoryError("x").told("hook")
    page = await see(owner, "/")
    assert "处理消息时出了错" in page.text
    assert "open" in page.all("details", id="works")[0]
    assert "有地方要看看" in page.text
    del service.problems["hook"]


@asynccontextmanager
async def visited(
    directory: Path, **more: Any
) -> AsyncIterator[tuple[MemoryService, httpx.AsyncClient]]:
    """An empty memory, and a browser that has logged in to it."""
    async with opened(directory, None) as memory, entered(application(memory, **more)) as browser:
        yield memory, browser


@pytest.mark.parametrize(
    ("language", "name", "hint"),
    [("zh", "小林", "和机器人聊几句"), ("en", "Lin", "Chat with the bot")],
)
async def test_an_empty_memory_says_what_to_do_and_is_shown_with_a_sample(
    tmp_path, monkeypatch, language, name, hint
):
    async with visited(tmp_path, language=language) as (memory, browser):
        for path in ("/", "/memories", "/memories/new", "/graph"):
            page = await see(browser, path)
            assert hint in page.text
            assert not page.all("p", id="shown") + page.all("a", href="#ask-title"), "no picture"
            assert not page.all("form", method="post", **{"class": "edit"}), "no chat to choose"
            scripts = {tag.get("src", "").split("/")[-1] for tag in page.all("script")}
            assert not scripts & {"main.js", "typed.js"}, "of what is not there"
        page = await see(browser, "/")
        assert page.all("form", action="/sample")
        assert page.all("ol", **{"class": "steps"})
        page = await press(browser, "/sample")
        assert not page.all("form", action="/sample")
        assert name in page.text
        assert name in (await see(browser, "/people")).text
        monkeypatch.setattr(data, "TOLD", data.TOLD - 60)
        await press(browser, "/sample")  # a minute later, in a window that was open before
        assert len(await memory.transfer.runs()) == 1
        newest = (await memory.library.browse(FactFilter(order="said"))).items[0]
        assert 0 < memory.now() - newest.fact.said_at < 7 * 86_400
        assert await memory.transfer.waiting() == []
        (memory.directory / "imports" / "real.jsonl").write_text(
            '{"time": 1, "sender": "1", "text": "x"}'
        )
        plan = await see(browser, "/data/import", name="real.jsonl")
        assert plan.all("input", id="platform")[0]["value"] == "aiocqhttp", "not the sample's"
        (run,) = [tag["value"] for tag in page.all("input", name="run")]
        await press(browser, "/data/import/undo", run=run)
        assert (await memory.library.browse()).total == 0
        assert (await see(browser, "/")).all("form", action="/sample")


async def test_the_overview_counts_records_and_what_upkeep_let_go(tmp_path: Any) -> None:
    async with visited(tmp_path) as (memory, browser):
        talk = Episode("ep:1", LIFE.id, 1.0, 2.0, 1, 2, 2, "聊了搬家", (ZHANG,))
        records = [replace(talk, id=f"ep:{level}", level=level) for level in ("day", "week")]
        draft = Draft("upkeep", "records", [LIFE, talk, *records])
        await memory.journal.commit(lambda _: draft)
        await memory.journal.set_note("thinned messages", "1234")
        page = await see(browser, "/")
        assert "对话片段 1 摘要 2" in page.text
        assert "已删去的旧消息 1,234 条" in page.text
        await see(browser, "/preferences", 303, language="en")
        page = await see(browser, "/")
        assert "Conversations 1 Summaries 2" in page.text
        assert "Old messages deleted 1,234" in page.text


async def test_what_failed_is_said_and_tried_again_at_a_press(tmp_path: Any) -> None:
    async with visited(tmp_path) as (memory, browser):
        await memory.journal.append(Message(0, LIFE.id, ZHANG, "张三", "我搬家了", 1.0), LIFE)
        claimed = await memory.journal.claim(LIFE.id, claim_all)
        await memory.journal.fail(claimed[0].id, f"模型坏了 {XSS[0]}", None)  # as once kept
        page = await see(browser, "/")
        assert page.all("section", role="alert")
        assert "失败的批次 1" in page.text
        assert f"第 {claimed[0].id} 批，意外的错误，详情见日志" in page.text
        assert "模型坏了" not in page.text
        assert page.alive() == []
        assert "已重新排队：1 批对话" in (await press(browser, "/retry")).text
        assert "失败的批次 0" in (await see(browser, "/")).text
        there = await send(browser, "/retry", back="/review")
        assert there.headers["location"] == "/review", "where it was pressed"
        assert "已重新排队：0 批对话" in (await see(browser, "/review")).text


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


async def test_what_is_sent_is_compressed_for_who_can_read_that(owner: httpx.AsyncClient) -> None:
    for path in ("/memories", "/static/css/base.css"):
        plain = await owner.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        packed = await owner.get(path, headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
        assert packed.num_bytes_downloaded < len(plain.content) / 2


async def test_a_file_that_is_known_is_not_sent_again(owner: httpx.AsyncClient) -> None:
    answer = await owner.get("/static/js/graph/main.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    known = {"If-None-Match": answer.headers["etag"], "Accept-Encoding": "gzip"}
    assert (await owner.get("/static/js/graph/main.js", headers=known)).status_code == 304
    small = await owner.get("/static/css/chevron.svg", headers={"Accept-Encoding": "gzip"})
    assert small.headers.get("content-encoding", "") in {"", "gzip"}
    assert small.text.startswith("<svg")
