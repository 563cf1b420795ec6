"""However many connect, and however slowly they speak, few are kept and not for long."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from webui import connections
from webui.connections import MAX_CONNECTIONS, MAX_FROM_ONE
from webui.server import WebServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is not everywhere")

HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = 32 << 20

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers ``/`` with two bytes, and ``/large`` with more than any buffer holds."""
    body = b"x" * LARGE if scope["path"] == "/large" else b"ok"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for start in range(0, len(body), 1 << 20):
        piece = {"type": "http.response.body", "body": body[start : start + (1 << 20)]}
        await send(piece | {"more_body": start + (1 << 20) < len(body)})


@pytest_asyncio.fixture
async def server() -> AsyncIterator[WebServer]:
    server = WebServer(application)
    await server.start(0)
    yield server
    await server.stop()


async def connect(server: WebServer, address: str, data: bytes) -> Pair:
    pair = await asyncio.open_connection("127.0.0.1", server.port, local_addr=(address, 0))
    pair[1].write(data)
    return pair


def open_now(server: WebServer) -> int:
    """Connections that the server holds."""
    assert server._server is not None
    return len(server._server.server_state.connections)


async def empty(server: WebServer) -> None:
    """Wait until the server holds no connection."""
    async with asyncio.timeout(4):  # less than it keeps an idle one
        while open_now(server):
            await asyncio.sleep(0.01)


async def is_dropped(pair: Pair) -> bool:
    """Whether the other side ends the connection within moments."""
    try:
        async with asyncio.timeout(5):
            return await pair[0].read(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


async def fetch(server: WebServer) -> str:
    async with httpx.AsyncClient() as browser:
        return (await browser.get(f"http://127.0.0.1:{server.port}/")).text


async def test_one_address_has_its_share_and_others_theirs(server: WebServer) -> None:
    flood = [await connect(server, "127.0.0.2", HALF) for _ in range(MAX_FROM_ONE * 3)]
    late = flood[MAX_FROM_ONE:]
    assert all(await asyncio.gather(*map(is_dropped, late)))
    assert open_now(server) == MAX_FROM_ONE
    assert await fetch(server) == "ok"
    for _, writer in flood:
        writer.close()
    await empty(server)
    again = await connect(server, "127.0.0.2", WHOLE)
    assert await again[0].readline() == b"HTTP/1.1 200 OK\r\n"
    again[1].close()


async def test_all_addresses_together_take_few_descriptors(server: WebServer) -> None:
    before = len(os.listdir("/proc/self/fd"))
    flood = [await connect(server, f"127.0.1.{n % 200 + 1}", HALF) for n in range(300)]
    refused = flood[MAX_CONNECTIONS:]
    assert all(await asyncio.gather(*map(is_dropped, refused)))
    assert open_now(server) == MAX_CONNECTIONS
    for _, writer in refused:
        writer.close()
        await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])
    # The remaining ones are ours on both sides.
    assert len(os.listdir("/proc/self/fd")) - before <= 2 * MAX_CONNECTIONS
    for _, writer in flood:
        writer.close()
    await empty(server)
    assert await fetch(server) == "ok"


@pytest.mark.parametrize(
    "data",
    [b"", HALF, WHOLE + HALF, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1"],
)
async def test_who_does_not_finish_a_request_is_dropped(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.1)
    reader, writer = await connect(server, "127.0.0.1", data)
    async with asyncio.timeout(4):  # less than the server keeps an idle connection
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"1")  # a little now and then is not enough
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1 << 16), 0.03)
    writer.close()
    await empty(server)


async def test_who_does_not_read_on_is_dropped(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.1)
    reader, writer = await connect(server, "127.0.0.1", WHOLE.replace(b"/ ", b"/large ", 1))
    await reader.readline()
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    await empty(server)
    writer.close()


async def test_who_reads_is_not_dropped(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 2.0)
    async with httpx.AsyncClient() as browser:
        for _ in range(2):
            found = await browser.get(f"http://127.0.0.1:{server.port}/large")
            assert len(found.content) == LARGE
