"""A real memory, a real server, a real Chromium that is watched while it looks."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
import pytest_asyncio

from graph_memory.access import Access
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.webui.conftest import BULK, KEY, opened
from webui import WebServer
from webui.app import create_app

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, LocatorAssertions, Page, Route

LATE = 0.1  # seconds
WATCHED = ("console", "pageerror", "request", "dialog")
DRAWN = ("/graph?node=", "/graph?way=", "/graph?view=")
"""How addresses begin, beside the map's, where a picture is drawn."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def script(name: str) -> str:
    """What a page is asked to run or to be, from a file of its own."""
    return (Path(__file__).parent / "scripts" / name).read_text("utf-8")


PLACES = script("places.js")
"""A canvas has no elements: its own module says where what is."""


def missing(what: str) -> None:
    """Skip where somebody has no browser; CI must have one."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


@dataclass
class Visit:
    """A page, and what must not happen on it.

    Attributes:
        wrong: Console errors, exceptions, dialogs, failed and off-host requests.
    """

    page: Page
    base: str
    wrong: list[str] = field(default_factory=list)

    def watch(self) -> None:
        for event in WATCHED:
            self.page.on(event, getattr(self, f"_{event}"))  # type: ignore[call-overload]

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _pageerror(self, error: Any) -> None:
        self.wrong.append(f"exception: {error}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith(self.base):
            self.wrong.append(f"off-host: {request.url}")

    async def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    async def go(self, path: str) -> Any:
        """Open a page of ours, and wait until its graph is drawn if it has one."""
        answer = await self.page.goto(self.base + path)
        if path == "/graph" or path.startswith(DRAWN):
            await self.page.wait_for_selector("#graph[data-ready]")
        return answer

    async def log_in(self) -> None:
        """Type the key and press Enter."""
        await self.go("/login")
        await self.page.fill("#key", KEY)
        await self.page.press("#key", "Enter")
        await self.page.wait_for_url(self.base + "/")

    async def let_in(self) -> None:
        """Log in as `log_in` does, without the pages."""
        sent: dict[str, Any] = {"form": {"key": KEY}, "headers": {"Origin": self.base}}
        answer = await self.page.request.post(f"{self.base}/login", max_redirects=0, **sent)
        assert answer.status == 303

    async def leave(self) -> bool:
        """Forget all that was done; whether the page is as good as new."""
        context = self.page.context
        if context.pages != [self.page]:
            await context.close()
            return False
        for event in WATCHED:
            self.page.remove_listener(event, getattr(self, f"_{event}"))
        await self.page.unroute_all(behavior="ignoreErrors")
        await self.page.goto(self.base + "/healthz")
        await self.page.evaluate("sessionStorage.clear()")
        await context.clear_cookies()
        return True

    async def says(self, text: str) -> None:
        """Wait until a page says ``text`` and listens to keys."""
        await self.page.get_by_text(text).wait_for()
        await self.page.wait_for_load_state("load")

    async def places(self) -> dict[str, list[float]]:
        """Where each node of the picture is, from the corner of the window, by its name."""
        found: dict[str, list[float]] = await self.page.evaluate(PLACES)
        return found

    async def touch(self, name: str, times: int = 1) -> None:
        """Click a node of the picture, as fast as people do."""
        x, y = (await self.places())[name]
        await self.page.mouse.click(x, y, click_count=times, delay=100)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def service(tmp_path_factory: Any) -> AsyncIterator[MemoryService]:
    async with opened(tmp_path_factory.mktemp("memory"), BULK) as memory:
        await memory.settle()
        yield memory


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def base(service: MemoryService) -> AsyncIterator[str]:
    """Address of a running web UI."""
    server = WebServer(create_app(service, Access.open(service.directory, KEY), Settings()))
    await server.start(0)
    yield f"http://127.0.0.1:{server.port}"
    await server.stop()


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def browser() -> AsyncIterator[Browser]:
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        missing("playwright")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        missing("Chromium")
    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(executable_path=found, args=FLAGS)
        yield chromium
        await chromium.close()


Opener = Callable[..., Awaitable[Visit]]


async def _late(route: Route) -> None:
    """Styles and scripts come late, so that what does not wait for them never passes by luck."""
    await asyncio.sleep(LATE)
    await route.continue_()


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def left(browser: Browser) -> list[Page]:
    """Pages that visits have left, as good as new: to make one takes half a second."""
    return []


async def _new(browser: Browser) -> Page:
    # It is yesterday there, by AstrBot's clock.
    context = await browser.new_context(timezone_id="Pacific/Honolulu")
    context.set_default_timeout(30_000)
    return await context.new_page()


@pytest_asyncio.fixture(loop_scope="package")
async def visit(base: str, browser: Browser, left: list[Page]) -> AsyncIterator[Opener]:
    """Opens browsers that know nothing; in the end nothing may have gone wrong."""
    visits: list[Visit] = []

    async def enter(
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        language: str = "zh",
        motion: Literal["reduce", "no-preference"] = "reduce",
        at: str = "",
        node: str = "",
        late: bool = True,
    ) -> Visit:
        """A browser; logged in if it is to be at a page, or at a node of the graph.

        Args:
            late: Whether styles and scripts are; not where every page is only looked at.
        """
        page = left.pop() if left else await _new(browser)
        await page.set_viewport_size({"width": width, "height": 800})
        await page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        await page.context.add_cookies([{"name": "gm_language", "value": language, "url": base}])
        if late:
            await page.route("**/static/**", _late)
        found = Visit(page, base)
        found.watch()
        visits.append(found)
        if at or node:
            await found.let_in()
            await found.go(f"/graph?node={node}" if node else at)
        return found

    yield enter
    left += [found.page for found in visits if await found.leave()]
    assert [wrong for found in visits for wrong in found.wrong] == []


def expect(found: Locator) -> LocatorAssertions:
    """Playwright's own waiting: ``wait_for_function`` would need eval, which pages forbid."""
    from playwright.async_api import expect as expecting

    return expecting(found)
