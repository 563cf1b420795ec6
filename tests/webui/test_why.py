"""Why: recent recalls, each with all of its candidates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx
import pytest
import pytest_asyncio

from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from .browsing import HOSTILE, OURS, PRIVATE, see
from .conftest import KEY, application, client
from .seed import NOW, fact_id, seed
from .story import LI, MALLORY, XSS, ZHANG

pytestmark = pytest.mark.asyncio(loop_scope="package")
GROUP = "aiocqhttp:group:88001"


@pytest_asyncio.fixture(loop_scope="package")
async def memory(tmp_path: Path) -> AsyncIterator[MemoryService]:
    """A memory of its own: recalls of other tests are none of it."""
    zone = ZoneInfo("Asia/Shanghai")
    service = await MemoryService.open(tmp_path, Settings(), zone=zone, now=lambda: NOW)
    await seed(service.journal)
    await service.settle()
    yield service
    await service.close()


@pytest_asyncio.fixture(loop_scope="package")
async def browser(memory: MemoryService) -> AsyncIterator[httpx.AsyncClient]:
    async with client(application(memory)) as found:
        await found.post("/login", data={"key": KEY}, headers=OURS)
        yield found


async def test_nothing_was_recalled_yet(browser: httpx.AsyncClient) -> None:
    assert "还没有回忆的记录" in (await see(browser, "/why")).text
    assert (await browser.get("/api/v1/traces")).json() == {"items": [], "total": 0}
    gone = await see(browser, "/why", chat=GROUP, at="1.5")
    assert "这条记录已经不在了" in gone.text


async def test_a_reply_is_explained(memory: MemoryService, browser: httpx.AsyncClient) -> None:
    eyes = memory.viewpoints
    await memory.recall.remind(eyes.asker(LI, GROUP, "tech_assistant"), "十一月去黄山看日出吗？")
    await memory.recall.remind(eyes.asker(ZHANG, "", "tech_assistant"), "我住在哪里？")
    traces = (await browser.get("/api/v1/traces")).json()
    assert traces["total"] == 2
    home = next(trace for trace in traces["items"] if trace["user"] == ZHANG)
    fates = {each["id"]: each["dropped"] for each in home["candidates"]}
    assert fates[fact_id(PRIVATE, "张三住在上海，今年春天刚搬过去")] is None
    assert {"words", "meaning", "near", "retention"} == set(home["candidates"][0]["signals"])
    page = await see(browser, "/why", chat=home["circle"], at=str(NOW))
    assert "我住在哪里？" in page.text
    assert "十一月去黄山看日出吗？" in page.text  # in the list of recent ones
    assert "想起的" in page.text
    assert home["block"].split("\n")[0] in page.text
    assert page.all("a", href=f"/memories/{fact_id(PRIVATE, '张三住在上海，今年春天刚搬过去')}")
    bars = page.all("rect", **{"class": "ink-fill"})
    assert len(bars) > len(home["candidates"])


async def test_the_owner_sees_what_scope_removed(
    memory: MemoryService, browser: httpx.AsyncClient
) -> None:
    asker = memory.viewpoints.asker(LI, GROUP, "tech_assistant")
    await memory.recall.remind(asker, "张三养的橘猫叫什么？")
    plain = await see(browser, "/why", chat=GROUP, at=str(NOW))
    assert "张三养了一只叫年糕的橘猫" not in plain.text
    again = await see(browser, "/why", chat=GROUP, at=str(NOW), unscoped="true")
    assert "不在场的聊天" in again.text
    assert "张三养了一只叫年糕的橘猫" in again.text
    # Which leaves no trace where the people of the chat would find it.
    assert len(memory.recall.recent()) == 1


async def test_hostile_questions_are_text(
    memory: MemoryService, browser: httpx.AsyncClient
) -> None:
    asker = memory.viewpoints.asker(MALLORY, HOSTILE.circle, XSS[1])
    await memory.recall.remind(asker, f"{XSS[3]} 喜欢什么")
    for query in ({}, {"chat": HOSTILE.circle, "at": str(NOW), "unscoped": "true"}):
        page = await see(browser, "/why", **query)
        assert page.alive() == []
        assert XSS[3] in page.text
    assert (await browser.get("/why", params={"at": "inf"})).status_code == 422
