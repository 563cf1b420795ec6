"""The memory page in the frame of AstrBot's dashboard, with AstrBot's own bridge."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from graph_memory.service import MemoryService
from tests.webui.conftest import application
from webui import DashboardDoor, WebServer

from .conftest import expect, script
from .test_everywhere import AXE

if TYPE_CHECKING:
    from playwright.async_api import Browser, FrameLocator, Page

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]
VIEW = Path(__file__).resolve().parents[2] / "pages/memory"
HEADERS = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
AROUND = script("around.html")


def dashboard(memory: MemoryService, language: str) -> Starlette:
    """What AstrBot's dashboard does for a page of a plugin, and no more."""
    door = DashboardDoor(application(memory))
    (root,) = importlib.util.find_spec("astrbot").submodule_search_locations  # type: ignore[union-attr]
    told = json.dumps({"locale": language, "i18n": {}, "isDark": False})

    async def around(_: Request) -> Response:
        return HTMLResponse(f"<script>window.told = {told}</script>{AROUND}")

    async def view(request: Request) -> Response:
        path = VIEW / (request.path_params["path"] or "index.html")
        known = path.is_file() and path.resolve().is_relative_to(VIEW)
        return FileResponse(path, headers=HEADERS) if known else Response(status_code=404)

    async def bridge(_: Request) -> Response:
        script = (Path(root) / "dashboard/plugin_page_bridge.js").read_text(encoding="utf-8")
        return Response(script, media_type="text/javascript")

    async def passed(request: Request) -> Response:
        return JSONResponse(await door.ask(await request.json()))

    async def taken(request: Request) -> Response:
        proof = request.path_params["proof"]
        async with request.form() as form:
            sent = form["file"]
            assert isinstance(sent, UploadFile)

            async def pieces() -> AsyncIterator[bytes]:
                yield await sent.read()

            return JSONResponse(await door.take(sent.filename or "", proof, pieces()))

    async def given(request: Request) -> Response:
        found: Response = door.give(request.path_params["name"])
        return found

    return Starlette(routes=[
        Route("/", around), Route("/view/{path:path}", view),
        Route("/api/plugin/page/bridge-sdk.js", bridge),
        Route("/api/plug/web", passed, methods=["POST"]),
        Route("/api/plug/imports/{proof}", taken, methods=["POST"]),
        Route("/api/plug/exports/{name}", given),
    ])  # fmt: skip


@pytest_asyncio.fixture(loop_scope="package")
async def seen(service: MemoryService, browser: Browser, request: Any) -> AsyncIterator[Any]:
    """The frame in a dashboard of a language and a width, in which nothing goes wrong."""
    language, width = request.param
    server = WebServer(dashboard(service, language))
    await server.start(0)
    context = await browser.new_context(viewport={"width": width, "height": 800})
    context.set_default_timeout(15_000)
    page, wrong = await context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: wrong.append(m.text) if m.type in {"error", "warning"} else None)
    await page.goto(f"http://127.0.0.1:{server.port}/")
    yield page.frame_locator("#view"), page, wrong
    await context.close()
    await server.stop()
    assert wrong == []


async def is_wide(page: Page) -> bool:
    """Whether the frame scrolls sideways."""
    frame = page.frames[-1]
    return bool(await frame.evaluate("document.documentElement.scrollWidth > innerWidth + 1"))


@pytest.mark.parametrize("seen", [("zh-CN", 1280), ("en-US", 360)], indirect=True)
async def test_the_pages_work_in_the_frame(seen: tuple[FrameLocator, Page, list[str]]) -> None:
    frame, page, _ = seen
    await frame.locator("nav.places a[href='/memories']").click()
    await frame.locator("table.memories").wait_for()
    assert not await is_wide(page)
    assert await frame.locator(".prefs").count() == 0, "one is logged in to the dashboard"
    await frame.locator("[data-slash]").fill("冥想")
    await frame.locator("[data-slash]").press("Enter")
    await frame.locator("table.memories tbody tr").nth(0).wait_for()
    assert await frame.locator("table.memories tbody tr").count() == 1
    await frame.locator("table.memories tbody a[href^='/memories/']:visible").first.click()
    await frame.locator("a[href$='/edit']").first.click()
    field = frame.locator("textarea[name=statement]")
    was = await field.input_value()
    await field.fill(was + "。")
    await frame.locator("main form button[type=submit]").last.click()
    await frame.locator(".done").wait_for()
    await frame.locator(".done form button").click()  # undone
    await frame.locator("h1").filter(has_text=was).wait_for()
    await frame.locator("nav.places a[href='/graph']").click()
    await frame.locator("#graph[data-ready]").wait_for()
    assert not await is_wide(page)


@pytest.mark.parametrize("seen", [("zh-CN", 1280)], indirect=True)
async def test_what_happens_meanwhile_appears_in_the_frame(seen: Any, service: Any) -> None:
    frame, _, _ = seen
    await frame.locator("nav.places a[href='/why']").click()
    await frame.locator("h1").wait_for()
    asker = service.view_as.asker("telegram:42", "", "default")
    await service.recall.remind(asker, "面板里也看得到吗？")
    await frame.get_by_text("面板里也看得到吗").first.wait_for()


@pytest.mark.parametrize("seen", [("zh-CN", 1280)], indirect=True)
async def test_only_our_own_scripts_run_in_the_frame(seen: Any) -> None:
    frame, page, wrong = seen
    await frame.locator("h1").wait_for()
    ran = await page.frames[-1].evaluate(
        """() => {
          const script = document.createElement("script");
          document.body.append(Object.assign(script, { text: "window.ran = 1" }));
          return fetch("/healthz").then(() => "asked", () => String(window.ran));
        }"""
    )
    assert ran == "undefined"
    assert wrong
    assert all("Content Security Policy" in each for each in wrong)
    wrong.clear()


@pytest.mark.parametrize("seen", [("zh-CN", 1280), ("en-US", 360)], indirect=True)
async def test_files_go_in_and_come_out(seen: Any, service: MemoryService, tmp_path: Path) -> None:
    frame, page, _ = seen
    await frame.locator("nav.places a[href='/data']").click()
    await frame.locator("form[action='/data/export'] button").click()
    async with page.expect_download() as expected:
        await frame.locator("a[download]").first.click()
    file = await (await expected.value).path()
    assert '"type"' in file.read_text(encoding="utf-8").splitlines()[1]
    sent = tmp_path / "again.jsonl"
    sent.write_bytes(file.read_bytes())
    await frame.locator("#file:visible").wait_for()
    await frame.locator("#file").set_input_files(sent)
    await frame.locator("main form[method=post][action='/data/import']").wait_for()
    assert [path.name for path in await service.transfer.waiting()] == ["again.jsonl"]
    await service.transfer.discard("again.jsonl")


@pytest.mark.parametrize("seen", [("zh-CN", 1280)], indirect=True)
async def test_a_form_that_the_plugin_does_not_answer_can_be_sent_again(seen: Any) -> None:
    frame, page, wrong = seen
    await frame.locator("nav.places a[href='/memories']").click()
    await frame.locator("table.memories tbody a[href^='/memories/']:visible").first.click()
    pin = frame.locator("main button[value^='pin ']")
    await pin.wait_for()
    await page.route("**/api/plug/web", lambda route: route.fulfill(status=503, json={}))
    await pin.click()
    await frame.locator("main form p[role=alert]").wait_for()
    await page.unroute_all()
    await expect(frame.locator("main form[data-sent]")).to_have_count(0)
    assert await pin.get_attribute("aria-busy") is None
    await pin.click()
    await frame.locator(".done form button").click()  # undone
    await frame.locator("main button[value^='pin ']").wait_for()
    wrong.clear()


@pytest.mark.parametrize("seen", [("zh-CN", 1280), ("en-US", 360)], indirect=True)
async def test_who_sees_badly_finds_their_way_in_the_frame(seen: Any) -> None:
    frame, page, _ = seen
    import axe_playwright_python

    looks = AXE.replace("resultTypes", "preload: false, resultTypes")  # a frame may fetch nothing
    source = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
    for path in ("/", "/memories", "/people", "/graph", "/viewas", "/why", "/records", "/data"):
        await frame.locator(f"nav.places a[href='{path}']").click()
        await frame.locator(f"nav.places a[href='{path}'][aria-current]").wait_for()
        if path == "/graph":
            await frame.locator("#graph[data-ready]").wait_for()
        inside = page.frames[-1]
        await inside.evaluate(source)
        assert await inside.evaluate(looks) == [], path
        assert not await is_wide(page)
