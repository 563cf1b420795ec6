"""The page is served under known names only, and knows when a proxy encrypts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from graph_memory.service import MemoryService
from webui.site import Site, split

from .conftest import BASE, KEY, application

HTTPS = "https://memory.example.com"
pytestmark = pytest.mark.asyncio(loop_scope="package")


def browser(app: FastAPI, base: str = "http://127.0.0.1:6190") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 4711))
    return httpx.AsyncClient(transport=transport, base_url=base)


def scope(client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    raw = [
        (name.replace("_", "-").encode(), value.encode("latin-1", "replace"))
        for name, value in headers.items()
    ]
    return {"type": "http", "scheme": "http", "client": (client, 1), "headers": raw}


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:6190", "192.0.2.7:80", "[::1]:6190", "[2001:db8::7]", "localhost",
     "LOCALHOST:6190", "memory.example.com", "Memory.Example.com:443"],
)  # fmt: skip
async def test_addresses_localhost_and_the_public_name_are_served(host: str) -> None:
    assert Site(HTTPS).serves(Headers(scope=scope(host=host)))


@pytest.mark.parametrize(
    "host",
    ["", "evil.test", "evil.test:6190", "memory.example.com.evil.test", "a.memory.example.com",
     "127.0.0.1.evil.test", "localhost.evil.test", "evil.test@127.0.0.1", "127.0.0.1/evil.test",
     "127.0.0.1#@evil.test", "[::1", "[evil]", "localhost:x", "1.2.3", "127.0.0.1 evil.test"],
)  # fmt: skip
async def test_other_names_are_not(host: str) -> None:
    assert not Site(HTTPS).serves(Headers(scope=scope(host=host)))
    assert not Site().serves(Headers(scope=scope(host=host)))


async def test_without_a_public_name_there_is_none() -> None:
    assert not Site().serves(Headers(scope=scope(host="memory.example.com")))
    assert not Site().serves(Headers(scope=scope()))


@given(text=st.text())
async def test_no_host_and_no_origin_is_an_error(text: str) -> None:
    headers = scope(host=text, origin=text, x_forwarded_for=text)
    Site(HTTPS).serves(Headers(scope=headers))
    Site(HTTPS).sent(Headers(scope=headers))
    Site(HTTPS).is_encrypted(headers)
    Site(HTTPS).address_of(headers)
    split(text)


async def test_another_name_is_told_what_to_do(app: FastAPI) -> None:
    async with browser(app, "http://evil.test") as rebound:
        for path in ("/login", "/", "/healthz", "/static/css/base.css", "/api/v1/facts"):
            answer = await rebound.get(path)
            assert answer.status_code == 421, path
            assert "webui_public_url" in answer.text
            assert "evil.test" not in answer.text
            assert answer.headers["x-frame-options"] == "DENY"
        answer = await rebound.post(
            "/login", data={"key": KEY}, headers={"Origin": "http://evil.test"}
        )
        assert answer.status_code == 421


async def test_behind_a_declared_proxy_cookies_stay_on_https(service: MemoryService) -> None:
    app = application(service, webui_public_url=HTTPS)
    # A proxy passes Host on, or (nginx unless told otherwise) puts its own upstream there.
    for base in ("http://memory.example.com", "http://127.0.0.1:6190"):
        async with browser(app, base) as proxied:
            answer = await proxied.post("/login", data={"key": KEY}, headers={"Origin": HTTPS})
        assert answer.status_code == 303
        assert all("; Secure" in cookie for cookie in answer.headers.get_list("set-cookie"))
    async with browser(app) as beside:  # by an SSH tunnel, past the proxy
        mine = {"Origin": "http://127.0.0.1:6190"}
        answer = await beside.post("/login", data={"key": KEY}, headers=mine)
        assert "; Secure" not in answer.headers["set-cookie"]
        for origin in ("https://memory.example.com.evil.test", "http://memory.example.com:81"):
            beside.cookies.clear()
            forged = await beside.post("/login", data={"key": KEY}, headers={"Origin": origin})
            assert forged.status_code == 403


async def test_a_plain_public_name_promises_no_encryption(app: FastAPI) -> None:
    async with browser(app, BASE) as named:
        answer = await named.post("/login", data={"key": KEY}, headers={"Origin": BASE})
    assert "; Secure" not in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    ("client", "told", "address"),
    [
        ("127.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("172.17.0.1", "1.2.3.4, 198.51.100.7", "198.51.100.7"),
        ("127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "browser:x", "127.0.0.1"),
        ("8.8.8.8", "198.51.100.7", "8.8.8.8"),
    ],
)
async def test_a_declared_proxy_says_for_whom_it_asks(client: str, told: str, address: str) -> None:
    asked = scope(client, x_forwarded_for=told)
    assert Site(HTTPS).address_of(asked) == address
    assert Site().address_of(asked) == client
