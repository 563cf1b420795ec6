"""Hostile values through every parameter of every route: refused or found nothing, never a 5xx."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.service import MemoryService

from .conftest import BASE, KEY, application, client
from .hostile import besieged
from .markup import Markup
from .story import XSS, ZHANG
from .surface import Route, surface

pytestmark = pytest.mark.asyncio(loop_scope="module")
BEARER = {b"Authorization": b"Bearer " + KEY.encode()}
CORPUS = (
    "",
    "' OR 1=1 --",
    "x'; DROP TABLE row; --",
    "%' ESCAPE '\\",
    "e:x'}) DETACH DELETE n //",
    "$limit RETURN n UNION MATCH (m) RETURN m",
    "../../../../etc/passwd",
    "/etc/passwd",
    "..%2f..%5cjournal.sqlite3",
    "a\r\nSet-Cookie: owned=1",
    "a\x00b",
    "-1",
    "0",
    "9" * 30,
    "o-1",
    "o99999999999999999999",
    "1e309",
    "nan",
    "2025-02-30",
    "\u202e\ufeff\ud7ff𠮷🧶é",
    "x" * 5_000,
    XSS[0],
    "{{7*7}}${7*7}<%= 7*7 %>",
    "__class__",
)
"""SQL, Cypher, paths, header splitting, NUL, numbers out of range, odd and huge text."""
FIELDS = {
    **dict.fromkeys(("id", "node", "into", "name", "back", "run", "person", "statement"), ZHANG),
    "action": "pin", "only": "", "every": "",
}  # fmt: skip
"""What forms are filled with, of which one field at a time is hostile."""
SLOW = {"/healthz"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(tmp_path_factory: Any) -> AsyncIterator[MemoryService]:
    async with besieged(tmp_path_factory.mktemp("besieged")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def besieged_app(memory: MemoryService) -> FastAPI:
    async def tune(values: Any) -> None:
        pass

    return application(memory, tune=tune)


@pytest_asyncio.fixture(loop_scope="module")
async def program(besieged_app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client(besieged_app) as browser:
        browser.headers.update(BEARER)
        yield browser


def check(answer: httpx.Response, what: str) -> None:
    """An answer that gives nothing away and breaks nothing."""
    assert answer.status_code < 500 or answer.status_code == 503, (what, answer.text)
    assert "set-cookie" not in answer.headers or "owned" not in answer.headers["set-cookie"], what
    assert "root:x:0:0" not in answer.text, what
    assert "SQLite format 3" not in answer.text, what
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert Markup(answer.text).alive() == [], what


def addresses(route: Route, value: str) -> Iterator[str]:
    """The route's address with ``value`` in each of its parameters in turn."""
    told = quote(value, safe="")
    for name in route.path_names:
        yield route.path(**{name: told})
    required = f"node={quote(ZHANG)}&id={quote(ZHANG)}"
    for name in route.query_names:
        yield f"{route.path()}?{name}={told}"
        yield f"{route.path()}?{required}&{name}={told}"


async def test_every_parameter_of_every_address(
    besieged_app: FastAPI, program: httpx.AsyncClient, memory: MemoryService
) -> None:
    asked = 0
    for route, value in itertools.product(surface(besieged_app), CORPUS):
        for address in addresses(route, value):
            url = httpx.URL(BASE + address)
            answer = await program.request(route.method, url)
            check(answer, f"{route.method} {address[:200]}")
            asked += 1
    assert asked > 1_000
    assert (await memory.doctor()).is_well


def fields_of(app: FastAPI) -> dict[str, dict[str, Any]]:
    """Properties of the JSON body of every API operation, by ``METHOD template``."""
    schema = app.openapi()
    found = {}
    for template, methods in schema["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            if body := content.get("application/json"):
                named = body["schema"]["$ref"].rsplit("/", 1)[1]
                known = schema["components"]["schemas"][named].get("properties", {})
                found[f"{method.upper()} {template}"] = known
    return found


async def test_every_field_of_every_body(
    besieged_app: FastAPI, program: httpx.AsyncClient, memory: MemoryService
) -> None:
    bodies = fields_of(besieged_app)
    changing = [route for route in surface(besieged_app) if route.is_change]
    assert bodies
    for route, value in itertools.product(changing, CORPUS):
        known = bodies.get(f"{route.method} {route.template}", {})
        if route.template in {"/login", "/logout"}:
            continue
        for name in known or FIELDS:
            if route.template.startswith("/api/"):
                given = dict.fromkeys(known, ZHANG) | {name: value}
                answers = [
                    await program.request(route.method, route.path(), json=given),
                    await program.request(route.method, route.path(), json={name: [value, {}]}),
                ]
            else:
                given = FIELDS | {name: value}
                answers = [await program.request(route.method, route.path(), data=given)]
            for answer in answers:
                check(answer, f"{route.method} {route.template} {json.dumps(given)[:300]}")
    await memory.settle()
    assert (await memory.doctor()).is_well


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 2_000, b"[" * 60_000, b'{"x":1e999}'],
)
async def test_bodies_that_are_none(
    besieged_app: FastAPI, program: httpx.AsyncClient, content: bytes
) -> None:
    for route in surface(besieged_app):
        if route.is_change and route.template != "/login":
            for kind in ("application/json", "application/x-www-form-urlencoded", "text/plain"):
                headers = {"Content-Type": kind}
                answer = await program.request(
                    route.method, route.path(), content=content, headers=headers
                )
                check(answer, f"{route.method} {route.template} {content[:20]!r} {kind}")
