"""Pages are told that there is something new, and of nothing else."""

import asyncio
import html
import json
import re
import time
from collections.abc import AsyncIterator

import httpx
import pytest

from graph_memory.access import Access
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.makers import message, private
from webui import live
from webui.app import create_app
from webui.server import WebServer

from .conftest import KEY

HOME = private("zhang")
Counts = dict[str, object]


@pytest.fixture
async def server(memory: MemoryService) -> AsyncIterator[WebServer]:
    served = WebServer(create_app(memory, Access.open(memory.directory, KEY), Settings()))
    await served.start(0)
    yield served
    await served.stop()


@pytest.fixture
async def browser(server: WebServer) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has logged in."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as entered:
        headers = {"Origin": str(entered.base_url)}
        assert (await entered.post("/login", data={"key": KEY}, headers=headers)).status_code == 303
        yield entered


async def told(answer: httpx.Response) -> AsyncIterator[Counts]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def test_who_is_not_logged_in_is_not_told_how_much_happens(server):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as stranger:
        assert "data-counts" not in (await stranger.get("/login")).text


async def test_a_page_says_what_had_happened_before_it_was_read(memory, browser):
    async def said() -> Counts:
        written = (await browser.get("/")).text
        return json.loads(html.unescape(re.search('data-counts="([^"]+)"', written)[1]))

    before = await said()
    await memory.journal.append(message(HOME, "qq:zhang", "我喜欢猫"), HOME)
    async with browser.stream("GET", "/api/v1/events") as answer:
        now = await anext(told(answer))
    assert now["messages"] == before["messages"] + 1
    assert await said() == now


async def test_a_page_is_told_at_once_and_no_words(memory, browser):
    async with browser.stream("GET", "/api/v1/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        counts = told(answer)
        first = await anext(counts)
        assert set(first) == {"run", "messages", "changes", "recalls"}
        started = time.monotonic()
        await memory.journal.append(message(HOME, "qq:zhang", "我喜欢猫"), HOME)
        while (now := await anext(counts))["messages"] == first["messages"]:
            pass
        assert time.monotonic() - started < 1
        assert "猫" not in str(now)


async def test_logging_out_ends_the_streams_of_that_login_only(memory, server, browser):
    async with httpx.AsyncClient(base_url=browser.base_url) as other:
        headers = {"Origin": str(other.base_url)}
        await other.post("/login", data={"key": KEY}, headers=headers)
        async with (
            browser.stream("GET", "/api/v1/events") as answer,
            other.stream("GET", "/api/v1/events") as stays,
        ):
            counts, others = told(answer), told(stays)
            first = await anext(counts)
            await anext(others)
            token = re.search(r'name="csrf" value="([^"]+)"', (await browser.get("/changes")).text)
            left = await browser.post("/logout", data={"csrf": token[1]}, headers=headers)
            assert left.status_code == 303
            async with asyncio.timeout(5):
                assert [each async for each in counts] == []
            await memory.journal.append(message(HOME, "qq:zhang", "我喜欢猫"), HOME)
            while (await anext(others))["messages"] == first["messages"]:
                pass


async def test_the_server_stops_at_once_though_a_page_listens(server, browser):
    async with browser.stream("GET", "/api/v1/events") as answer:
        counts = told(answer)
        await anext(counts)
        started = time.monotonic()
        await server.stop()
        assert time.monotonic() - started < 1
        assert [each async for each in counts] == []


async def test_only_so_many_pages_are_told(browser, monkeypatch):
    monkeypatch.setattr(live, "MOST", 1)
    async with browser.stream("GET", "/api/v1/events") as answer:
        await anext(told(answer))
        assert (await browser.get("/api/v1/events")).status_code == 503
    for _ in range(200):  # the server learns a little later that the page is gone
        async with browser.stream("GET", "/api/v1/events") as answer:
            if answer.status_code == 200:
                await anext(told(answer))
                break
        await asyncio.sleep(0.02)
    else:
        pytest.fail("the place of a page that was closed is not free")
