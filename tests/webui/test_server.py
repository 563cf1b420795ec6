"""The server lives in the bot's loop, gives its port back, and leaves signals alone."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from graph_memory.errors import SettingError
from webui.server import WebServer


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """The smallest application."""
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


async def fetch(port: int) -> str:
    async with httpx.AsyncClient() as browser:
        return (await browser.get(f"http://127.0.0.1:{port}/")).text


async def test_it_serves_and_gives_the_port_back() -> None:
    server = WebServer(hello)
    await server.start(0)
    port = server.port
    assert await fetch(port) == "ok"
    await server.stop()
    assert server.port == 0
    with pytest.raises(httpx.ConnectError):
        await fetch(port)


async def test_reloads_keep_one_port() -> None:
    server = WebServer(hello)
    await server.start(0)
    port = server.port
    async with httpx.AsyncClient() as browser:  # its connection stays open meanwhile
        for _ in range(4):
            assert (await browser.get(f"http://127.0.0.1:{port}/")).text == "ok"
            await server.stop()
            server = WebServer(hello)
            await server.start(port)
            assert server.port == port
    await server.stop()


async def test_a_taken_port_is_a_clear_error() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        server = WebServer(hello)
        with pytest.raises(SettingError, match=f"webui_port: port {port} is used by another"):
            await server.start(port)
        assert server.port == 0
        await server.stop()
    await server.start(port)
    assert await fetch(port) == "ok"
    await server.stop()


@pytest.mark.parametrize(
    ("port", "host", "reason"),
    [
        (70_000, "127.0.0.1", "webui_port: there is no port 70000"),
        (0, "203.0.113.9", "webui_host: cannot listen on 203.0.113.9"),
        (0, "2001:db8::9", "webui_host: cannot listen on 2001:db8::9"),
    ],
)
async def test_an_impossible_address_is_a_clear_error(port: int, host: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        await WebServer(hello).start(port, host)


async def test_signals_stay_the_bots() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    server = WebServer(hello)
    await server.start(0)
    during = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    await server.stop()
    assert during == before


async def test_starting_and_stopping_twice_does_no_harm() -> None:
    server = WebServer(hello)
    await server.stop()
    await server.start(0)
    port = server.port
    await server.start(0)
    assert server.port == port
    await asyncio.gather(server.stop(), server.stop())


async def stuck_application(started: asyncio.Event) -> Callable[..., Awaitable[None]]:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    return application


async def test_a_stuck_request_does_not_keep_the_bot_from_stopping() -> None:
    started = asyncio.Event()
    server = WebServer(await stuck_application(started))
    await server.start(0)
    request = asyncio.create_task(fetch(server.port))
    await started.wait()
    await asyncio.wait_for(server.stop(), 60)
    (answer,) = await asyncio.gather(request, return_exceptions=True)
    assert answer == "Internal Server Error" or isinstance(answer, httpx.HTTPError)
