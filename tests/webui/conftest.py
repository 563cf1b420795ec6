"""A real memory behind the real application, without a socket."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.access import Access
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Journal
from webui.app import create_app

from .. import world
from .seed import NOW, seed

KEY = "correct-horse-battery-电池"
BASE = "http://memory.test"
BULK = 90


@asynccontextmanager
async def opened(directory: Path, bulk: int | None = 0) -> AsyncIterator[MemoryService]:
    """A memory of its own with the story in it, or with nothing if ``bulk`` is ``None``."""
    zone = ZoneInfo("Asia/Shanghai")
    if bulk is not None:
        await tell(directory / "journal.sqlite3", bulk)
    async with world.opened(directory, zone=zone, now=lambda: NOW) as memory:
        await memory.recall.settle()  # the graph is built when it is asked
        yield memory


_TOLD: dict[int, bytes] = {}
"""Journals that hold the story, which takes long to tell, by how much is in them besides."""


async def tell(path: Path, bulk: int) -> None:
    """Make a journal with the story in it."""
    if bulk not in _TOLD:
        journal = await Journal.open(path, lambda: NOW)
        await seed(journal, bulk)
        await journal.close()
        _TOLD[bulk] = path.read_bytes()
    path.write_bytes(_TOLD[bulk])


@asynccontextmanager
async def entered(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has logged in."""
    async with client(app) as browser:
        answer = await browser.post("/login", data={"key": KEY}, headers={"Origin": BASE})
        assert answer.status_code == 303
        yield browser


@pytest.fixture(scope="package", autouse=True)
def _quick_keys() -> Iterator[None]:
    """Keys are hashed at once: that it takes long is the matter of ``test_access.py``."""

    def hashed(key: str, salt: bytes) -> bytes:
        return sha256(salt + key.encode("utf-8", "surrogatepass")).digest()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graph_memory.access._slow", hashed)
        yield


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def service(tmp_path_factory) -> AsyncIterator[MemoryService]:
    """A seeded memory; whoever changes it puts it back."""
    async with opened(tmp_path_factory.mktemp("memory"), BULK) as memory:
        await memory.settle()
        yield memory


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
    async with entered(app) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="package")
async def own(tmp_path: Path) -> AsyncIterator[MemoryService]:
    """A memory with the story in it that only this test changes."""
    async with opened(tmp_path) as memory:
        yield memory


@pytest_asyncio.fixture(loop_scope="package")
async def mine(own: MemoryService) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has logged in to that memory."""
    async with entered(application(own)) as browser:
        yield browser


def application(memory: MemoryService, key: str = KEY, **more: Any) -> FastAPI:
    """The application of a memory that a key opens."""
    access = Access.open(memory.directory, key)
    given = more.pop("tune", None), more.pop("reopen", None)
    return create_app(memory, access, Settings(**{"webui_public_url": BASE} | more), *given)


def client(app: FastAPI, address: str = "203.0.113.5") -> httpx.AsyncClient:
    """A client at an address."""
    transport = httpx.ASGITransport(app=app, client=(address, 4711), raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url=BASE)
