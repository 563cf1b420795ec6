"""Other programs ask by MCP: within one person's rights, by HTTP and by stdio, with the key."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from graph_memory import mcp_stdio
from graph_memory.access import Access
from graph_memory.errors import NotFoundError
from graph_memory.locales import explain
from graph_memory.mcp_server import AgentTools, turn_of
from graph_memory.model import Fact, Message, Turn
from graph_memory.service import MemoryService
from tests.cases import tabled
from webui import WebServer
from webui.app import create_app

from .makers import LI, ZHANG, entity, fact, group, private, put
from .sources import ROOT
from .world import SETTINGS, opened

KEY = "open sesame, please"
LINE = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}'
PEANUTS, TEA = entity("花生"), entity("龙井")
MINE = fact(private("zhang"), ZHANG, PEANUTS, "张三对花生过敏", predicate="allergic_to")
HERS = fact(private("li"), LI, TEA, "李四爱喝龙井", speaker=LI)
THEIRS = fact(group("100"), LI, TEA, "李四开了一家茶馆", speaker=LI)
OPEN = replace(SETTINGS, mcp_asker="aiocqhttp:zhang")


@asynccontextmanager
async def remembering(path: Path, settings: Any = OPEN) -> AsyncIterator[MemoryService]:
    async with opened(path, settings) as memory:
        await put(memory.journal, private("zhang"), private("li"), group("100"), MINE, HERS, THEIRS)
        await memory.settle()
        yield memory


@dataclass
class Page:
    """A served memory page."""

    memory: MemoryService
    url: str


@asynccontextmanager
async def served(path: Path, settings: Any) -> AsyncIterator[Page]:
    async with remembering(path, settings) as memory:
        server = WebServer(create_app(memory, Access.open(path, KEY), settings))
        await server.start(0)
        yield Page(memory, f"http://127.0.0.1:{server.port}/mcp")
        await server.stop()


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with served(tmp_path, OPEN) as page:
        yield page


@asynccontextmanager
async def by_http(url: str, key: str = KEY) -> AsyncIterator[ClientSession]:
    async with (
        httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as client,
        streamable_http_client(url, http_client=client) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def by_stdio(url: str, key: str = KEY) -> AsyncIterator[ClientSession]:
    started = StdioServerParameters(
        command=sys.executable,
        args=["-I", str(ROOT / "graph_memory" / "mcp_stdio.py"), url],
        env={mcp_stdio.KEY: key},
    )
    async with stdio_client(started) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def told(session: ClientSession, tool: str, **given: str) -> str:
    done = await session.call_tool(tool, given)
    return "\n".join(part.text for part in done.content if part.type == "text")


@pytest.mark.parametrize("way", [by_http, by_stdio])
async def test_a_program_does_what_the_person_may(page: Page, way: Any) -> None:
    async with way(page.url) as session:
        offered = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(offered) == {f"memory_{n}" for n in ("recall", "remember", "correct", "forget")}
        assert offered["memory_forget"].inputSchema["required"] == ["id"]
        found = await told(session, "memory_recall", query="花生")
        assert "张三对花生过敏" in found
        assert "龙井" not in await told(session, "memory_recall", query="龙井 茶馆")

        short = found.split("[")[1].split("]")[0]
        await told(session, "memory_correct", id=short, text="张三对芒果过敏")
        assert "芒果" in await told(session, "memory_recall", query="过敏")
        await told(session, "memory_remember", text="我养了一只猫叫年糕")
        found = await told(session, "memory_recall", query="年糕")
        assert "年糕" in found
        short = found.split("[")[1].split("]")[0]
        await told(session, "memory_forget", id=short)
        await page.memory.settle()
        assert "年糕" not in await told(session, "memory_recall", query="年糕")


async def test_what_may_not_be_seen_cannot_be_changed(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        tools = AgentTools(memory, await turn_of(memory, OPEN.mcp_asker))
        for id in (HERS.id, THEIRS.id):
            for tool in ("memory_forget", "memory_correct"):
                asked = {"id": id, "text": "李四爱喝咖啡"}
                never = {"id": "f:there-never-was", "text": "李四爱喝咖啡"}
                told = (await tools.use(tool, asked)).replace(id, "")
                assert told == (await tools.use(tool, never)).replace(never["id"], "")
            kept = await memory.journal.read(lambda rows, of=id: rows.get(Fact, of))
            assert kept in (HERS, THEIRS)
        with pytest.raises(NotFoundError) as refused:
            await tools.use("memory_flush", {})
        assert "memory_recall, memory_remember" in explain("zh", refused.value)


async def test_who_is_not_to_be_remembered_is_not(tmp_path: Path) -> None:
    async with remembering(tmp_path, replace(OPEN, never_remember=("zhang",))) as memory:
        tools = AgentTools(memory, await turn_of(memory, OPEN.mcp_asker))
        await tools.use("memory_remember", {"text": "我养了一只猫叫年糕"})
        said = await memory.journal.newest_messages(10)
        assert [each.text for each in said] == []


async def test_what_a_program_has_remembered_gives_nobody_a_name(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        tools = AgentTools(memory, await turn_of(memory, f"{OPEN.mcp_asker}#mei"))
        await tools.use("memory_remember", {"text": "我养了一只猫叫年糕"})
        (said,) = await memory.journal.newest_messages(10)
        assert isinstance(said, Message)
        assert (said.sender, said.name, said.session) == (ZHANG, "", private("zhang").id)


async def test_it_asks_as_the_persona_that_was_spoken_with_last(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        assert (await turn_of(memory, "aiocqhttp:wang")).session.persona == "[%None]"
        for persona, text in (("mei", "我在学吉他"), ("lan", "我在学陶艺"), ("mei", "我在学滑雪")):
            await memory.learning.hear(Turn(private("zhang", persona), ZHANG, "张三", text))
        for asker, persona in ((OPEN.mcp_asker, "mei"), (f"{OPEN.mcp_asker}#lan", "lan")):
            turn = await turn_of(memory, asker)
            assert turn.session.persona == persona
        assert "吉他" not in await AgentTools(memory, turn).use("memory_recall", {"query": "学"})


@tabled
async def test_who_has_no_key_is_told_nothing(page, method, headers, status):
    async with httpx.AsyncClient() as client:
        body = b" " * 70_000 if status == 413 else b"{}"
        answer = await client.request(method, page.url, headers=headers, content=body)
    assert answer.status_code == status
    assert "花生" not in answer.text


async def test_guesses_are_slowed_down(page: Page) -> None:
    async with httpx.AsyncClient(headers={"Authorization": "Bearer wrong, wrong"}) as client:
        found = [(await client.post(page.url, content=b"{}")).status_code for _ in range(8)]
    assert 429 in found


async def test_it_is_off_until_somebody_is_named(tmp_path: Path) -> None:
    async with (
        served(tmp_path, SETTINGS) as page,
        httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}) as client,
    ):
        answer = await client.post(page.url, content=b"{}")
        assert answer.status_code == 303
        assert "/login" in answer.headers["location"]
        said = await asyncio.to_thread(mcp_stdio.forward, page.url, KEY, LINE)
    assert b"mcp_asker" in said


async def test_a_key_may_be_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "KEY", "芝麻开门，芝麻开门")
    async with served(tmp_path, OPEN) as page, by_stdio(page.url, KEY) as session:
        assert "张三对花生过敏" in await told(session, "memory_recall", query="花生")


async def test_stdio_says_what_is_wrong(page: Page) -> None:
    wrong = await asyncio.to_thread(mcp_stdio.forward, page.url, "wrong, wrong", LINE)
    assert b'"id": 7' in wrong
    assert b"401, GRAPH_MEMORY_KEY is not its key" in wrong
    nowhere = await asyncio.to_thread(mcp_stdio.forward, "http://127.0.0.1:9/mcp", KEY, LINE)
    assert b"not reached" in nowhere
    with socket.create_server(("127.0.0.1", 0)) as dying:  # the bot stops before it answers
        url = f"http://127.0.0.1:{dying.getsockname()[1]}/mcp"
        asked = asyncio.create_task(asyncio.to_thread(mcp_stdio.forward, url, KEY, LINE))
        taken, _ = await asyncio.to_thread(dying.accept)
        await asyncio.to_thread(taken.recv, 65_536)
        taken.close()
        assert b"not reached" in await asked
    for line in (b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', b"[1]", b"{"):
        said = await asyncio.to_thread(mcp_stdio.forward, "http://127.0.0.1:9/mcp", KEY, line)
        assert said == b""
    assert b"not reached" in mcp_stdio.forward("http://[::1/mcp", KEY, LINE)
    assert mcp_stdio.main([]) == 2


def test_the_sdk_is_loaded_when_it_is_asked_for() -> None:
    code = "import sys, graph_memory.mcp_server; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
