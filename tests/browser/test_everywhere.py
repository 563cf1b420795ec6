"""Every page in every dress: no error, nothing off-host, no sideways scroll, nothing barred.

The pages are the application's own GET routes. A page that nobody listed here fails the
suite; what it shows is a memory that hostile people have been at.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.access import Access
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.makers import last_change
from tests.webui.hostile import FILE, TALKS, besieged
from tests.webui.seed import fact_id
from tests.webui.story import HONG, LI, MALLORY, XSS, ZHANG
from tests.webui.surface import surface
from tests.webui.test_hostile import ELSEWHERE
from webui import WebServer
from webui.app import create_app

from .conftest import KEY, Opener, Visit, missing, script

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="package")]

LOOK = script("look.js")
AXE = script("axe.js")
PLANTED = script("planted.js")
MISBEHAVED = script("misbehaved.js")
STOPS = script("stops.js")
DRESSES = {
    "zh": [
        ("light", 1280, True), ("dark", 1280, False), ("dark", 360, True), ("light", 360, False),
    ],
    "en": [
        ("light", 360, True), ("dark", 360, False), ("dark", 1280, True), ("light", 1280, False),
    ],
}  # fmt: skip
"""Of each language: theme, width, and whether axe looks, which sees each theme at each width.
A page is opened in the first dress and changes into the others while it is open. In English,
axe looks at the first address of each route: the others are the same templates, seen in Chinese."""
LANGUAGES = ["zh", pytest.param("en", marks=pytest.mark.xdist_group("everywhere-en"))]
"""Side by side: each takes as long as all other tests of the browser."""
CHAT, LIFE, GROUP, HOSTILE = TALKS[0].session, TALKS[1].session, TALKS[2].session, TALKS[-1].session


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def memory(tmp_path_factory: Any) -> AsyncIterator[MemoryService]:
    async with besieged(tmp_path_factory.mktemp("besieged")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def application(memory: MemoryService) -> FastAPI:
    async def tune(_: Any) -> None:
        pass

    return create_app(memory, Access.open(memory.directory, KEY), Settings(), tune)


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
    (record, *_) = (await memory.conversations.browse()).items
    change = await last_change(memory.journal)
    shanghai = fact_id(CHAT, "张三住在上海，今年春天刚搬过去")
    hostile = fact_id(HOSTILE, XSS[5])
    found = await memory.graph.ask(lambda graph: graph.nodes("年糕", 5))
    entity = next(node.id for node in found if node.id.startswith("e:"))
    return {
        "/": ["/"],
        "/memories": ["/memories", "/memories?q=zzz", "/memories?q=alert"],
        "/review": ["/review"],
        "/memories/new": ["/memories/new"],
        "/memories/{id}": [f"/memories/{shanghai}", f"/memories/{hostile}"],
        "/memories/{id}/edit": [f"/memories/{shanghai}/edit"],
        "/graph": [
            "/graph", "/graph?q=张", f"/graph?node={HONG}", f"/graph?node={MALLORY}",
            f"/graph?node={LI}&depth=2", f"/graph?way={HONG}&way={ZHANG}&colour=persona",
        ],
        "/graph/ask/{question}": [
            "/graph/ask/connected", "/graph/ask/contradicted", "/graph/ask/newest",
            "/graph/ask/orphans", "/graph/ask/path", f"/graph/ask/path?a={HONG}&b={ZHANG}",
            f"/graph/ask/shared?a={LI}&b={HONG}",
        ],
        "/people": ["/people", "/people?q=张", "/people?q=zzz"],
        "/persona": ["/persona?name=life_advisor", f"/persona?name={quote(XSS[1])}"],
        "/node": [f"/node?id={ZHANG}", f"/node?id={MALLORY}", f"/node?id={entity}"],
        "/node/forget": [f"/node/forget?id={MALLORY}"],
        "/node/merge": [f"/node/merge?id={entity}&q=豆豆"],
        "/viewas": [
            "/viewas", f"/viewas?user={LI}&group={quote(GROUP.circle)}&persona=tech_assistant",
            f"/viewas?user={ZHANG}&persona={LIFE.persona}&day=2025-09-01&q=爬山",
            f"/viewas?user={LI}&group={quote(GROUP.circle)}&persona=~&day=2025-06-01",
        ],
        "/why": ["/why"],
        "/records": ["/records", "/records?persona=life_advisor"],
        "/records/{id}": [f"/records/{record.episode.id}"],
        "/messages/{number}": ["/messages/3"],
        "/changes": ["/changes"],
        "/changes/{number}": [f"/changes/{change}"],
        "/data": ["/data"],
        "/data/checkup": ["/data/checkup"],
        "/data/restore": [f"/data/restore?name={backup.name}"],
        "/data/import": [f"/data/import?name={quote(FILE)}"],
        "/data/import/delete": [f"/data/import/delete?name={quote(FILE)}"],
        "/tuning": ["/tuning", "/tuning?rate=3&threshold=0.4"],
    }  # fmt: skip


async def test_every_page_is_listed(application: FastAPI, memory: MemoryService) -> None:
    shown = {
        route.template
        for route in surface(application)
        if route.method == "GET" and not route.template.startswith(("/api/", "/data/exports/"))
    }
    assert set(await addresses(memory)) == shown - ELSEWHERE


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_in_every_dress(visit, memory, axe, language):
    scheme, width, _ = DRESSES[language][0]
    seen = await visit(width, scheme, language, late=False)
    found: list[str] = []
    await seen.go("/login")
    found += await _looks(seen, "/login", language, axe)
    await seen.log_in()
    pages = (await addresses(memory)).values()
    for path, is_first in [(each, each == some[0]) for some in pages for each in some]:
        answer = await seen.go(path)
        if answer.status != 200:
            found.append(f"{path}: {answer.status}")
        found += await _looks(seen, path, language, axe if is_first or language == "zh" else "")
        await _dress(seen, scheme, width)
    lang = {"zh": "zh-CN", "en": "en"}[language]
    assert await seen.page.get_attribute("html", "lang") == lang
    assert found == [], json.dumps(found, ensure_ascii=False, indent=1)


async def test_what_is_looked_for_would_be_found(visit: Opener, axe: str) -> None:
    """The test of the tests: faults that are planted are told."""
    seen = await visit(at="/memories")
    await seen.page.evaluate(axe)
    assert await _look(seen, "light", with_axe=True) == []
    await seen.page.evaluate(PLANTED)
    told = "\n".join(await _look(seen, "dark", with_axe=True))
    for fault in (
        "sideways", "not dark", "one heading", "label:", "button-name:", "color-contrast:",
    ):  # fmt: skip
        assert fault in told, fault
    await seen.page.evaluate(MISBEHAVED)
    await seen.page.goto(seen.base.replace("127.0.0.1", "localhost") + "/healthz")
    told = "\n".join(seen.wrong)
    for fault in ("console: oh no", "exception: thrown", "dialog: 1", "off-host: http://localhost"):
        assert fault in told, fault
    seen.wrong.clear()


async def test_every_page_by_keyboard_alone(visit: Opener, memory: MemoryService) -> None:
    seen = await visit(late=False)
    await seen.log_in()
    found = []
    for path, *_ in (await addresses(memory)).values():
        # A page of the table is long; what is in a row is in every row.
        await seen.go("/memories?persona=life_advisor" if path == "/memories" else path)
        count = await seen.page.evaluate(STOPS)
        assert count > 10
        for pressed in range(1, 3 * count + 1):  # a date has several stops of its own
            await seen.page.keyboard.press("Tab")
            if pressed >= count and await seen.page.evaluate("stops.left.size === 0"):
                break
        found += [f"{path}: {each}" for each in await seen.page.evaluate("stops.missed()")]
    assert found == [], json.dumps(found, ensure_ascii=False, indent=1)


async def _looks(seen: Visit, path: str, language: str, axe: str) -> list[str]:
    """What is wrong with the page that is open, in any dress; axe's source may be left out."""
    if axe:
        await seen.page.evaluate(axe)
    found = []
    for scheme, width, with_axe in DRESSES[language]:
        await _dress(seen, scheme, width)
        wrong = await _look(seen, scheme, with_axe=bool(axe) and with_axe)
        found += [f"{path} ({scheme}, {width}): {each}" for each in wrong]
    return found


async def _dress(seen: Visit, scheme: str, width: int) -> None:
    await seen.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await seen.page.set_viewport_size({"width": width, "height": 800})


async def _look(seen: Visit, scheme: str, *, with_axe: bool) -> list[str]:
    """What is wrong with the page as it is; axe must be there if it is to look."""
    found = []
    shown = await seen.page.evaluate(LOOK)
    if shown["overflow"] > 0:
        found.append("scrolls sideways")
    if (shown["brightness"] < 0.2) != (scheme == "dark"):
        found.append(f"is not {scheme}")
    if shown["headings"] != 1:
        found.append("has not one heading")
    return found + (await seen.page.evaluate(AXE) if with_axe else [])
