"""The dashboard's door: the owner's pages by the same routes and guard, nothing else."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_memory.service import MemoryService
from tests.cases import rows
from webui.dashboard import DashboardDoor
from webui.guard import DASHBOARD

from .conftest import application
from .surface import surface

pytestmark = pytest.mark.asyncio(loop_scope="package")


def token(page: str) -> str:
    return re.findall(r'name="csrf" value="([^"]+)"', page)[-1]


async def test_the_owner_sees_the_same_pages(app: FastAPI) -> None:
    door = DashboardDoor(app)
    for path in ("/", "/memories?q=猫", "/graph", "/data", "/viewas", "/people"):
        shown = await door.ask({"path": path, "language": "en", "theme": "dark"})
        assert (shown["status"], shown["location"]) == (200, "")
        assert '<html lang="en" data-theme="dark">' in shown["text"]
        assert "/logout" not in shown["text"], "one is logged in to the dashboard"
    assert (await door.ask({"path": "/nowhere"}))["status"] == 404
    assert (await door.ask({"path": "/api/v1/graph/map"}))["text"].startswith("{")


async def test_a_form_needs_the_proof_of_the_page(own, mine):
    door = DashboardDoor(application(own))
    page = (await door.ask({"path": "/data"}))["text"]
    others = (await mine.get("/data")).text
    for proof in ("", "00" * 64, token(others)):
        refused = await door.ask({"path": "/data/backup", "form": f"csrf={proof}"})
        assert refused["status"] == 403
    assert await own.backups.list() == []
    done = await door.ask({"path": "/data/backup", "form": f"csrf={token(page)}"})
    assert (done["status"], done["location"]) == (303, "/data")
    assert len(await own.backups.list()) == 1
    said = await door.ask({"path": "/data", "flash": done["flash"]})
    assert "已做好一份备份" in said["text"]


async def test_a_page_outlives_a_restart(own: MemoryService) -> None:
    """AstrBot reloads the plugin whenever a setting is saved, under whatever page is open."""
    page = (await DashboardDoor(application(own)).ask({"path": "/data"}))["text"]
    door = DashboardDoor(application(own))
    done = await door.ask({"path": "/data/backup", "form": f"csrf={token(page)}"})
    assert (done["status"], done["location"]) == (303, "/data")
    changed = DashboardDoor(application(own, "another key altogether"))
    refused = await changed.ask({"path": "/data/backup", "form": f"csrf={token(page)}"})
    assert refused["status"] == 403


async def pieces(*some: bytes) -> AsyncIterator[bytes]:
    for piece in some:
        yield piece


async def test_a_file_goes_in_with_the_proof_of_the_page(own: MemoryService) -> None:
    door = DashboardDoor(application(own))
    proof = token((await door.ask({"path": "/data"}))["text"])
    for wrong in ("", "00" * 64, f"{proof}\r\nX-A: b"):
        assert (await door.take("chat.jsonl", wrong, pieces(b"{}")))["status"] == 403
    assert await own.transfer.waiting() == []
    done = await door.take("闲聊 ../chat.jsonl", proof, pieces(b"{}", b"\n", b"{}"))
    assert done["status"] == 200
    (file,) = await own.transfer.waiting()
    assert (file.name, file.read_bytes()) == (json.loads(done["text"])["name"], b"{}\n{}")
    assert file.parent == own.directory / "imports"


async def test_a_file_comes_out_as_it_is(own: MemoryService) -> None:
    file = (await own.transfer.export()).path
    door = DashboardDoor(application(own))
    outside = httpx.ASGITransport(door.give(file.name))
    async with httpx.AsyncClient(transport=outside, base_url="http://localhost") as dashboard:
        sent = await dashboard.get("/anything")
    assert sent.content == file.read_bytes()
    assert file.name in sent.headers["content-disposition"]
    for name in ("", "..", "../erased.json", "../../journal.sqlite3", "no.jsonl"):
        transport = httpx.ASGITransport(door.give(name))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as other:
            assert (await other.get("/")).status_code == 404


async def test_files_are_not_shown_this_way(own: MemoryService) -> None:
    door = DashboardDoor(application(own))
    async with asyncio.timeout(20):  # files are not shown, but asking for one ends
        shown = await door.ask({"path": "/static/css/base.css"})
    assert (shown["status"], shown["text"]) == (200, "")
    assert (await door.ask({"path": "/data/backup", "form": "x" * 70_000}))["status"] == 413


@pytest.mark.parametrize("asked", rows(__file__, "test_odd_questions_are_answered_calmly"))
async def test_odd_questions_are_answered_calmly(app: FastAPI, asked: dict[str, Any]) -> None:
    found = await DashboardDoor(app).ask(asked)
    assert found["status"] in {200, 307, 404}
    assert "evil" not in found["location"]


async def test_no_request_can_say_that_it_is_the_dashboard(app: FastAPI, stranger: Any) -> None:
    for route in surface(app):
        answer = await stranger.request(
            route.method, route.path(), headers={DASHBOARD: "x", "X-" + DASHBOARD: "x"}
        )
        is_public = route.path().startswith(("/static", "/login", "/healthz"))
        assert is_public or answer.status_code != 200


JUNK = st.text(max_size=40) | st.sampled_from(["..", "%2e%2e%2f", "1", "-1", "f:1", "e:1", "\0"])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0),
    st.lists(JUNK, min_size=4, max_size=4),
    st.none() | st.dictionaries(JUNK, JUNK, max_size=3),
    st.none() | JUNK | st.integers(),
)
async def test_whatever_is_asked_nothing_fails(app, place, words, form, cookie) -> None:
    """Every route, with any values, as a page and as a form without proof."""
    routes = [each for each in surface(app) if each.template != "/mcp"]
    route = routes[place % len(routes)]
    path = route.path(**{name: quote(words[0], safe="") for name in route.path_names})
    query = urlencode([(name, words[1]) for name in (*route.query_names, words[2])])
    asked: dict[str, Any] = {"path": f"{path}?{query}", "language": cookie, "flash": cookie}
    if form is not None:
        asked["form"] = urlencode(form)
    answer = await DashboardDoor(app).ask(asked)
    assert answer["status"] < 500
    assert form is None or answer["status"] in {403, 404, 405, 307, 303}
    assert answer["location"].startswith("/") or not answer["location"]
