"""The page in AstrBot's dashboard: what it may know, also while there is no memory."""

import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from astrbot.api.web import PluginRequest, bind_request_context
from starlette.requests import Request

from graph_memory.astrbot.page import NAME, PASSED, ROUTE, address
from tests.instruments.dev import release

from .test_runtime import started

KEY = "correct-horse-battery"


class Dashboard(SimpleNamespace):
    """AstrBot's ``Context``, as far as a page needs it."""

    def __init__(self) -> None:
        super().__init__(
            routes={}, get_all_providers=lambda: ["p"], get_all_embedding_providers=list,
            get_config=lambda umo=None: {"timezone": "Asia/Shanghai"},
        )  # fmt: skip

    def register_web_api(self, route: str, handler: Any, methods: list[str], about: str) -> None:
        self.routes[route] = handler

    async def ask(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads((await self.routes[ROUTE]()).body)
        return answer

    async def pass_on(self, asked: Any) -> dict[str, Any]:
        scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []}
        request = Request(scope)
        request._json = asked
        with bind_request_context(PluginRequest(request)):
            answer: dict[str, Any] = json.loads((await self.routes[PASSED]()).body)
        return answer


class Served:
    """A web UI that is being served, and its own door."""

    port = 6190

    @property
    def door(self) -> Any:
        return self

    async def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"status": 200, "text": asked["path"]}

    async def stop(self) -> None:
        pass


@asynccontextmanager
async def plugin(dashboard: Dashboard, directory: Path, **more: Any) -> AsyncIterator[None]:
    async def serve(*_: Any) -> Any:
        return Served()

    usual = {"local_embedding_model": "none", "enable_function_calling": False, "webui_key": KEY}
    async with started(directory, usual | more, serve, dashboard):
        yield


async def test_the_dashboard_asks_for_pages_as_long_as_there_are_some(tmp_path: Path) -> None:
    dashboard = Dashboard()
    async with plugin(dashboard, tmp_path):
        assert await dashboard.ask() == {"off": False, "problem": ""}
        asked = {"path": "/memories", "language": "en"}
        assert await dashboard.pass_on(asked) == {"status": 200, "text": "/memories"}
        assert (await dashboard.pass_on(["/"]))["status"] == 503
    # AstrBot keeps the routes of a plugin that is switched off.
    assert await dashboard.pass_on(asked) == {"status": 503, "text": ""}


async def test_a_page_for_everybody_is_warned_about(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "graph_memory.plugin"):
        async with plugin(Dashboard(), tmp_path, webui_host="0.0.0.0"):
            assert "listens on 0.0.0.0 and is not encrypted" in caplog.text


async def test_why_there_is_no_page_is_said(tmp_path: Path) -> None:
    dashboard = Dashboard()
    async with plugin(dashboard, tmp_path, webui_port=0):
        assert (await dashboard.ask())["off"]
    (tmp_path / "file").write_text("in the way")
    async with plugin(dashboard, tmp_path / "file"):
        assert (await dashboard.ask())["problem"]


@pytest.mark.parametrize(("host", "found"), [
    ("127.0.0.1", "http://127.0.0.1:80"), ("0.0.0.0", "http://127.0.0.1:80"),
    ("::", "http://127.0.0.1:80"), ("::1", "http://[::1]:80"), ("192.0.2.7", "http://192.0.2.7:80"),
])  # fmt: skip
def test_the_address_is_one_that_can_be_opened(host: str, found: str) -> None:
    assert address(host, 80) == found


def test_the_page_is_part_of_the_plugin() -> None:
    assert release.metadata("name") == NAME
    shipped = {path.as_posix() for path in release.runtime_files()}
    assert {f"pages/memory/{name}" for name in ("index.html", "page.js", "style.css")} <= shipped


def test_everything_the_page_says_is_said_in_both_languages() -> None:
    script = (release.ROOT / "pages/memory/page.js").read_text(encoding="utf-8")
    for language in ("zh-CN", "en-US"):
        path = release.ROOT / f".astrbot-plugin/i18n/{language}.json"
        words = json.loads(path.read_text(encoding="utf-8"))["pages"]["memory"]
        assert set(re.findall(r'say\("(\w+)"', script)) == words.keys() - {"title"}
