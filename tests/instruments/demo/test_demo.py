"""``./dev up``, as a person uses it: start it, chat, look, stop it with Ctrl-C."""

import asyncio
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientTimeout

from tests.e2e.harness import FakeOpenAI, wait_until
from tests.instruments.demo.astrbot import DemoAstrBot, Model, model_of
from tests.instruments.demo.standin import LABEL, memory_lines
from tests.sources import ROOT

STARTED = 240.0


def test_the_model_is_the_environments_if_it_is_complete() -> None:
    llm = FakeOpenAI()
    complete = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://localhost/v1"}
    model, why = model_of(complete, llm)
    assert model.stand_in
    assert why.endswith("set OPENAI_MODEL for one")
    model, why = model_of(complete | {"OPENAI_MODEL": "m"}, llm)
    assert model == Model("k", "http://localhost/v1", "m", stand_in=False)
    assert why == "m (http://localhost/v1)"


def test_only_the_injected_block_is_read_out() -> None:
    block = "<memories>\n以下是资料\n相关的事:\n- 2026-11-22 小明喜欢爬山\n</memories>"
    assert memory_lines(block) == ["2026-11-22 小明喜欢爬山"]
    assert memory_lines("<system_reminder>\n- now\n</system_reminder>") == []


async def start(folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, *("-m", "tests.instruments.demo", "--folder", str(folder)), cwd=ROOT,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


async def output(process: asyncio.subprocess.Process, until: str) -> str:
    """What a run says, up to and including a line with ``until``."""
    said = ""
    assert process.stdout is not None
    async with asyncio.timeout(STARTED):
        while until not in said:
            line = await process.stdout.readline()
            assert line, f"it ended without saying {until!r}:\n{said}"
            said += line.decode()
    return said


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, Path]]:
    process = await start(tmp_path)
    yield process, tmp_path
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.communicate(), 60)


@pytest.mark.e2e
async def test_the_whole_path_can_be_seen(run: tuple[asyncio.subprocess.Process, Path]) -> None:
    process, folder = run
    said = await output(process, "--fresh")
    chat, memory = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)/", said)][:2]
    assert "示例对话" in said

    bot = DemoAstrBot(folder / "astrbot", FakeOpenAI(), Model("", "", "", stand_in=True))
    bot.dashboard_port = chat
    timeout = ClientTimeout(total=60)
    async with ClientSession(f"http://127.0.0.1:{chat}", timeout=timeout) as bot._http:
        await bot.login()
        assert LABEL["zh"] in await bot.web_chat("我叫小明，喜欢爬山", "visit")
        await bot.web_chat("/new", "visit")
        answer = await bot.web_chat("我喜欢什么？", "visit")
        assert "爬山" in answer
        assert "小红" not in answer, "the sample's people are others, and were not there"

        async def is_learned() -> bool:
            return "小明喜欢爬山" in await bot.web_chat("/memory mine", "visit")

        await wait_until(is_learned, 60, "the stand-in's facts")
        assert bot.key in said
        async with ClientSession() as page, page.get(f"http://127.0.0.1:{memory}/") as response:
            assert response.status == 200
            assert "login" in str(response.url)

    second = await start(folder)
    again, _ = await asyncio.wait_for(second.communicate(), 60)
    assert second.returncode == 1
    assert "already" in again.decode()
    assert f":{memory}/" in again.decode(), "a second run says where the first one is"

    process.send_signal(signal.SIGINT)
    rest, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, rest.decode()
    # One process serves both pages, and the port of the other one may be somebody else's by now:
    # it is the default of every installation, of which another test makes some.
    with socket.socket() as sock:
        assert sock.connect_ex(("127.0.0.1", chat)) != 0, f"something still serves {chat}"
