"""The dashboard's door: the owner's pages by the same routes and guard, nothing else."""

import re
from typing import Any

import pytest
from fastapi import FastAPI

from webui.dashboard import DashboardDoor
from webui.guard import DASHBOARD

from .conftest import application, opened
from .surface import surface

pytestmark = pytest.mark.asyncio(loop_scope="package")


def token(page: str) -> str:
    return re.findall(r'name="csrf" value="(\w+)"', page)[-1]


async def test_the_owner_sees_the_same_pages(app: FastAPI) -> None:
    door = DashboardDoor(app)
    for path in ("/", "/memories?q=猫", "/graph", "/data", "/viewas", "/people"):
        shown = await door.ask({"path": path, "language": "en", "theme": "dark"})
        assert (shown["status"], shown["location"]) == (200, "")
        assert '<html lang="en" data-theme="dark">' in shown["text"]
        assert "/logout" not in shown["text"], "one is logged in to the dashboard"
    assert (await door.ask({"path": "/nowhere"}))["status"] == 404
    assert (await door.ask({"path": "/api/v1/graph/map"}))["text"].startswith("{")


async def test_a_form_needs_the_proof_of_the_page(tmp_path_factory: Any) -> None:
    async with opened(tmp_path_factory.mktemp("own")) as memory:
        door = DashboardDoor(application(memory))
        page = (await door.ask({"path": "/data"}))["text"]
        others = (await DashboardDoor(door.app).ask({"path": "/data"}))["text"]
        for proof in ("", "00" * 64, token(others)):
            refused = await door.ask({"path": "/data/backup", "form": f"csrf={proof}"})
            assert refused["status"] == 403
        assert await memory.backups.list() == []
        done = await door.ask({"path": "/data/backup", "form": f"csrf={token(page)}"})
        assert (done["status"], done["location"]) == (303, "/data")
        assert len(await memory.backups.list()) == 1
        said = await door.ask({"path": "/data", "flash": done["flash"]})
        assert "已做好一份备份" in said["text"]


async def test_neither_streams_nor_files_come_this_way(tmp_path_factory: Any) -> None:
    async with opened(tmp_path_factory.mktemp("own")) as memory:
        door = DashboardDoor(application(memory))
        file = (await memory.transfer.export()).path
        assert (await door.ask({"path": "/api/v1/events"}))["status"] == 404
        sent = await door.ask({"path": f"/data/exports/{file.name}"})
        assert (sent["status"], sent["text"]) == (200, "")
        large = await door.ask({"path": "/data/backup", "form": "x" * 70_000})
        assert large["status"] == 413


@pytest.mark.parametrize(
    "asked",
    [
        {"path": "//evil.example/"},
        {"path": "http://evil.example/memories"},
        {"path": "/memories", "language": "zh; gm_theme=dark\r\nX-A: b", "flash": "a=b;c"},
        {"path": "/memories", "language": "汉", "theme": None},
        {"path": "/%00%ff"},
        {"path": 17},
        {"path": "http://[", "form": None},
        {},
    ],
)
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
