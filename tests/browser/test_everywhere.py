"""Every page in every dress: no error, nothing off-host, no sideways scroll, nothing barred.

The pages are the application's own GET routes. A page that nobody listed here fails the
suite; what it shows is a memory that hostile people have been at.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.service import MemoryService
from tests.webui.hostile import FILE, TALKS, besieged
from tests.webui.seed import fact_id
from tests.webui.story import HONG, LI, MALLORY, XSS, ZHANG
from tests.webui.surface import surface
from tests.webui.test_hostile import ELSEWHERE
from webui import WebServer, create_app

from .conftest import KEY, Opener, Visit, missing

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BRIGHTNESS = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  canvas.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
  canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data.slice(0, 3).reduce((a, b) => a + b) / 765;
}"""
AXE = """async () => {
  const found = await axe.run(document, {
    resultTypes: ["violations"],
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
  });
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((n) => n.html.slice(0, 160))}`);
}"""
DRESSES = [
    ("zh", "light", 1280, True),
    ("zh", "dark", 360, True),
    ("zh", "light", 360, False),
    ("zh", "dark", 1280, True),
    ("en", "light", 1280, False),
    ("en", "dark", 360, False),
    ("en", "light", 360, True),
    ("en", "dark", 1280, False),
]
"""Language, theme, width, and whether axe looks as well: it sees each theme at each width."""
CHAT, LIFE, GROUP, HOSTILE = TALKS[0].session, TALKS[1].session, TALKS[2].session, TALKS[-1].session


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def memory(tmp_path_factory: Any) -> AsyncIterator[MemoryService]:
    async with besieged(tmp_path_factory.mktemp("besieged")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def application(memory: MemoryService) -> FastAPI:
    async def tune(_: Any) -> None:
        pass

    return create_app(memory, key=KEY, language="zh", tune=tune)


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def base(application: FastAPI) -> AsyncIterator[str]:
    """Address of a web UI of this memory; takes the place of the package's."""
    server = WebServer(application)
    await server.start(0)
    yield f"http://127.0.0.1:{server.port}"
    await server.stop()


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, from the package that brings it."""
    try:
        import axe_playwright_python
    except ImportError:
        missing("axe-playwright-python")
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


async def addresses(memory: MemoryService) -> dict[str, list[str]]:
    """Addresses to look at, by the route they belong to."""
    (backup, *_) = await memory.backups.list()
    (record, *_) = (await memory.chronicle.browse()).items
    change = await memory.journal.last_change()
    shanghai = fact_id(CHAT, "张三住在上海，今年春天刚搬过去")
    hostile = fact_id(HOSTILE, XSS[5])
    entity = next(n.id for n in await memory.graph.nodes("年糕", 5) if n.id.startswith("e:"))
    return {
        "/": ["/"],
        "/memories": ["/memories", "/memories?q=zzz", "/memories?q=alert"],
        "/memories/{id}": [f"/memories/{shanghai}", f"/memories/{hostile}"],
        "/memories/{id}/edit": [f"/memories/{shanghai}/edit"],
        "/graph": ["/graph", "/graph?q=张", f"/graph?node={HONG}", f"/graph?node={MALLORY}"],
        "/graph/ask/{question}": [
            "/graph/ask/connected", "/graph/ask/contradicted", "/graph/ask/newest",
            "/graph/ask/orphans", f"/graph/ask/path?a={HONG}&b={ZHANG}",
            f"/graph/ask/shared?a={LI}&b={HONG}",
        ],
        "/node": [f"/node?id={ZHANG}", f"/node?id={MALLORY}", f"/node?id={entity}"],
        "/node/merge": [f"/node/merge?id={entity}&q=豆豆"],
        "/viewas": [
            "/viewas", f"/viewas?user={LI}&group={quote(GROUP.circle)}&persona=tech_assistant",
            f"/viewas?user={ZHANG}&persona={LIFE.persona}&day=2025-09-01&q=爬山",
        ],
        "/why": ["/why"],
        "/records": ["/records", "/records?persona=life_advisor"],
        "/records/{id}": [f"/records/{record.episode.id}"],
        "/messages/{number}": ["/messages/3"],
        "/changes": ["/changes"],
        "/changes/{number}": [f"/changes/{change}"],
        "/data": ["/data"],
        "/data/restore": [f"/data/restore?name={backup.name}"],
        "/data/import": [f"/data/import?name={quote(FILE)}"],
        "/tuning": ["/tuning", "/tuning?rate=3&threshold=0.4"],
    }  # fmt: skip


async def test_every_page_is_listed(application: FastAPI, memory: MemoryService) -> None:
    shown = {
        route.template
        for route in surface(application)
        if route.method == "GET" and not route.template.startswith(("/api/", "/data/exports/"))
    }
    assert set(await addresses(memory)) == shown - ELSEWHERE


@pytest.mark.parametrize(("language", "scheme", "width", "with_axe"), DRESSES)
async def test_every_page_in_every_dress(
    visit: Opener,
    memory: MemoryService,
    axe: str,
    language: str,
    scheme: str,
    width: int,
    with_axe: bool,
) -> None:
    seen = await visit(width, scheme, language)
    found: list[str] = []
    await seen.go("/login")
    found += await _look(seen, "/login", scheme, axe if with_axe else "")
    await seen.log_in()
    for path in [each for some in (await addresses(memory)).values() for each in some]:
        answer = await seen.page.goto(seen.base + path)
        assert answer
        if answer.status != 200:
            found.append(f"{path}: {answer.status}")
        if path.startswith("/graph?node="):
            await seen.page.wait_for_selector("#graph[data-ready]")
        found += await _look(seen, path, scheme, axe if with_axe else "")
    lang = {"zh": "zh-CN", "en": "en"}[language]
    assert await seen.page.get_attribute("html", "lang") == lang
    assert found == [], json.dumps(found, ensure_ascii=False, indent=1)


async def _look(seen: Visit, path: str, scheme: str, axe: str) -> list[str]:
    """What is wrong with the page that is open."""
    found = []
    page = seen.page
    if await page.evaluate(OVERFLOW) > 0:
        found.append(f"{path}: scrolls sideways")
    if (await page.evaluate(BRIGHTNESS) < 0.2) != (scheme == "dark"):
        found.append(f"{path}: is not {scheme}")
    if await page.locator("h1").count() != 1:
        found.append(f"{path}: has not one heading")
    if axe:
        await page.evaluate(axe)
        found += [f"{path}: {each}" for each in await page.evaluate(AXE)]
    return found
