"""The server lives in the bot's loop, gives its port back, leaves signals alone.

However many connect, and however slowly they speak, few are kept and not for long.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from graph_memory.errors import SettingError
from webui import server as server_module
from webui.server import MAX_CONNECTIONS, MAX_FROM_ONE, WebServer

from ..waiting import until

LARGE = 32 << 20


async def answering(scope: Any, receive: Any, send: Any) -> None:
    """Answers ``/`` with two bytes, and ``/large`` with more than any buffer holds."""
    body = b"x" * LARGE if scope["path"] == "/large" else b"ok"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for start in range(0, len(body), 1 << 20):
        piece = {"type": "http.response.body", "body": body[start : start + (1 << 20)]}
        await send(piece | {"more_body": start + (1 << 20) < len(body)})


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    server = WebServer(answering)
    await server.start(0)
    yield server
    await server.stop()


async def fetch(port: int) -> str:
    async with httpx.AsyncClient() as browser:
        return (await browser.get(f"http://127.0.0.1:{port}/")).text


async def test_it_serves_and_gives_the_port_back(server: WebServer) -> None:
    port = server.port
    assert await fetch(port) == "ok"
    await server.stop()
    assert server.port == 0
    with pytest.raises(httpx.ConnectError):
        await fetch(port)


async def test_pages_are_made_when_they_are_first_asked_for(monkeypatch) -> None:
    made: list[Any] = []

    def create_app(*given: Any) -> Any:
        made.append(given)
        return answering

    monkeypatch.setattr("webui.app.create_app", create_app)
    app = server_module.LateApp("memory", "access")
    server = WebServer(app)
    await server.start(0)
    assert made == []
    assert await asyncio.gather(*(fetch(server.port) for _ in range(3))) == ["ok"] * 3
    assert made == [("memory", "access")]
    await server.stop()


async def test_reloads_keep_one_port() -> None:
    server = WebServer(answering)
    await server.start(0)
    port = server.port
    async with httpx.AsyncClient() as browser:  # its connection stays open meanwhile
        for _ in range(4):
            assert (await browser.get(f"http://127.0.0.1:{port}/")).text == "ok"
            await server.stop()
            server = WebServer(answering)
            await server.start(port)
            assert server.port == port
    await server.stop()


async def test_a_taken_port_is_a_clear_error() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        server = WebServer(answering)
        with pytest.raises(SettingError, match=f"webui_port: port {port} is used by another"):
            await server.start(port)
        assert server.port == 0
        await server.stop()
    await server.start(port)
    assert await fetch(port) == "ok"
    await server.stop()


@pytest.mark.parametrize(("port", "host", "reason"), [
    (70_000, "127.0.0.1", "webui_port: there is no port 70000"),
    (0, "203.0.113.9", "webui_host: cannot listen on 203.0.113.9"),
    (0, "2001:db8::9", "webui_host: cannot listen on 2001:db8::9"),
])  # fmt: skip
async def test_an_impossible_address_is_a_clear_error(port: int, host: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        await WebServer(answering).start(port, host)


async def test_signals_stay_the_bots() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    server = WebServer(answering)
    await server.start(0)
    during = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    await server.stop()
    assert during == before


async def test_starting_and_stopping_twice_does_no_harm() -> None:
    server = WebServer(answering)
    await server.stop()
    await server.start(0)
    port = server.port
    await server.start(0)
    assert server.port == port
    await asyncio.gather(server.stop(), server.stop())


async def test_a_stuck_request_does_not_keep_the_bot_from_stopping() -> None:
    started = asyncio.Event()

    async def stuck(scope: Any, receive: Any, send: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    server = WebServer(stuck)
    await server.start(0)
    request = asyncio.create_task(fetch(server.port))
    await started.wait()
    await asyncio.wait_for(server.stop(), 60)
    (answer,) = await asyncio.gather(request, return_exceptions=True)
    assert answer == "Internal Server Error" or isinstance(answer, httpx.HTTPError)


needs_addresses = pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is not everywhere")
HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(server: WebServer, address: str, data: bytes) -> Pair:
    pair = await asyncio.open_connection("127.0.0.1", server.port, local_addr=(address, 0))
    pair[1].write(data)
    return pair


def open_now(server: WebServer) -> int:
    """Connections that the server holds."""
    return len(server._server.server_state.connections)


async def empty(server: WebServer) -> None:
    """Wait until the server holds no connection."""
    await until(lambda: not open_now(server), 4)  # less than it keeps an idle one


async def is_dropped(pair: Pair) -> bool:
    """Whether the other side ends the connection within moments."""
    try:
        async with asyncio.timeout(5):
            return await pair[0].read(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@needs_addresses
async def test_one_address_has_its_share_and_others_theirs(server: WebServer) -> None:
    flood = [await connect(server, "127.0.0.2", HALF) for _ in range(MAX_FROM_ONE * 3)]
    assert all(await asyncio.gather(*map(is_dropped, flood[MAX_FROM_ONE:])))
    assert open_now(server) == MAX_FROM_ONE
    assert await fetch(server.port) == "ok"
    for _, writer in flood:
        writer.close()
    await empty(server)
    again = await connect(server, "127.0.0.2", WHOLE)
    assert await again[0].readline() == b"HTTP/1.1 200 OK\r\n"
    again[1].close()


@needs_addresses
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
    assert await fetch(server.port) == "ok"


@pytest.mark.parametrize(
    "data", [b"", HALF, WHOLE + HALF, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1"]
)
async def test_who_does_not_finish_a_request_is_dropped(server, monkeypatch, data):
    monkeypatch.setattr(server_module, "PATIENCE", 0.1)
    reader, writer = await connect(server, "127.0.0.1", data)
    async with asyncio.timeout(4):  # less than the server keeps an idle connection
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"1")  # a little now and then is not enough
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1 << 16), 0.03)
    writer.close()
    await empty(server)


async def test_who_does_not_read_on_is_dropped(server, monkeypatch):
    monkeypatch.setattr(server_module, "PATIENCE", 0.1)
    reader, writer = await connect(server, "127.0.0.1", WHOLE.replace(b"/ ", b"/large ", 1))
    await reader.readline()
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    await empty(server)
    writer.close()


async def test_who_reads_is_not_dropped(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "PATIENCE", 2.0)
    async with httpx.AsyncClient() as browser:
        for _ in range(2):
            found = await browser.get(f"http://127.0.0.1:{server.port}/large")
            assert len(found.content) == LARGE
