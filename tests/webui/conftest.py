"""A real memory behind the real application, without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.access import Access
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from webui import create_app

from .seed import NOW, seed

KEY = "correct-horse-battery-电池"
BASE = "http://memory.test"
BULK = 90


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def service(tmp_path_factory) -> AsyncIterator[MemoryService]:
    """A seeded memory; whoever changes it puts it back."""
    directory: Path = tmp_path_factory.mktemp("memory")
    zone = ZoneInfo("Asia/Shanghai")
    memory = await MemoryService.open(directory, Settings(), zone=zone, now=lambda: NOW)
    await seed(memory.journal, BULK)
    await memory.settle()
    yield memory
    await memory.close()


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def app(service: MemoryService) -> FastAPI:
    return application(service)


@pytest_asyncio.fixture(loop_scope="package")
async def stranger(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has not logged in."""
    async with client(app) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="package")
async def owner(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has logged in."""
    async with client(app) as browser:
        answer = await browser.post("/login", data={"key": KEY}, headers={"Origin": BASE})
        assert answer.status_code == 303
        yield browser


def application(memory: MemoryService, key: str = KEY, **more: Any) -> FastAPI:
    """The application of a memory that a key opens."""
    access = Access.open(memory.directory, key)
    tune = more.pop("tune", None)
    return create_app(memory, access, Settings(**{"webui_public_url": BASE} | more), tune)


def client(app: FastAPI, address: str = "203.0.113.5") -> httpx.AsyncClient:
    """A client at an address."""
    transport = httpx.ASGITransport(app=app, client=(address, 4711), raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url=BASE)
