"""Every page there is, full of hostile text: found by following every link and form."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.service import MemoryService

from .conftest import BASE, KEY, application, client
from .hostile import besieged
from .markup import Markup
from .story import MALLORY, XSS, ZHANG
from .surface import STYLE, Route, surface

pytestmark = pytest.mark.asyncio(loop_scope="module")
BEARER = {b"Authorization": b"Bearer " + KEY.encode()}
OURS = {"Origin": BASE}
STARTS = (
    "/", "/memories?q=alert", "/graph?q=alert", f"/graph?node={MALLORY}", f"/node?id={MALLORY}",
    f"/graph/ask/path?a={MALLORY}&b={ZHANG}", "/viewas", f"/viewas?user={MALLORY}&q=alert",
    "/why", "/records", "/changes", "/data", "/tuning",
)  # fmt: skip
"""Where the crawl begins: the main pages, and searches that nobody links to."""
ELSEWHERE = {"/login", "/healthz", STYLE}
"""Routes that show nothing that is stored."""
MOST = 14
"""Addresses looked at of each route and set of parameters."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(tmp_path_factory: Any) -> AsyncIterator[MemoryService]:
    async with besieged(tmp_path_factory.mktemp("besieged")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def besieged_app(memory: MemoryService) -> FastAPI:
    return application(memory)


@dataclass
class Crawl:
    """What following every link and reading every form found.

    Attributes:
        pages: The markup of every address.
        forms: Names of the fields of each form, by the address it is sent to.
    """

    browser: httpx.AsyncClient
    routes: list[Route]
    pages: dict[str, Markup] = field(default_factory=dict)
    forms: dict[str, set[str]] = field(default_factory=dict)
    seen: Counter[tuple[str, ...]] = field(default_factory=Counter)

    async def follow(self, *starts: str) -> None:
        """Look at these addresses and at all they lead to."""
        waiting = list(starts)
        while waiting:
            address = waiting.pop(0)
            if address in self.pages or not self._wanted(address):
                continue
            answer = await self.browser.get(httpx.URL(BASE + address))
            if answer.is_redirect:
                waiting.append(answer.headers["location"])
                continue
            assert answer.status_code == 200, f"a dead link: {address}"
            if not answer.headers["content-type"].startswith("text/html"):
                continue
            page = self.pages[address] = Markup(answer.text)
            links = [tag["href"] for tag in page.all("a") if "href" in tag]
            waiting += [urljoin(address, link) for link in links if link[:1] in "/?"]
            for action, names in page.forms():
                self.forms.setdefault(action or address, set()).update(names)

    def route(self, path: str, method: str = "GET") -> Route | None:
        found = [r for r in self.routes if r.method == method and r.fits(urlsplit(path).path)]
        return min(found, key=lambda route: len(route.path_names), default=None)

    def _wanted(self, address: str) -> bool:
        parts = urlsplit(address)
        route = self.route(address)
        if route is None or route.template in ELSEWHERE or route.template.startswith("/api/"):
            assert route, f"a link that leads nowhere: {address}"
            return False
        kind = (route.template, *sorted({name for name, _ in parse_qsl(parts.query)}))
        self.seen[kind] += 1
        return self.seen[kind] <= MOST


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crawl(besieged_app: FastAPI) -> AsyncIterator[Crawl]:
    async with client(besieged_app) as browser:
        answer = await browser.post("/login", data={"key": KEY}, headers=OURS)
        assert answer.status_code == 303
        found = Crawl(browser, surface(besieged_app))
        await found.follow(*STARTS)
        yield found


async def test_stored_text_is_markup_on_no_page(crawl: Crawl) -> None:
    for address, page in crawl.pages.items():
        assert page.alive() == [], address
    shown = {text for text in XSS for page in crawl.pages.values() if text in page.text}
    assert shown == set(XSS), "the corpus was not shown: the test proves nothing"


async def test_no_page_was_left_out(crawl: Crawl) -> None:
    visited = {route.template for address in crawl.pages if (route := crawl.route(address))}
    pages = {
        route.template
        for route in crawl.routes
        if route.method == "GET" and not route.template.startswith("/api/")
    }
    files = {template for template in pages if template.startswith("/data/exports/")}
    assert pages - ELSEWHERE - files == visited - ELSEWHERE


async def test_every_form_of_every_page_leads_somewhere_and_carries_the_token(
    crawl: Crawl,
) -> None:
    posts = {tag for page in crawl.pages.values() for tag in page.posts()}
    assert len(posts) > 8
    for action, has_token in posts:
        assert crawl.route(action, "POST"), action
        assert has_token, action


async def test_hostile_text_in_the_api_is_data(crawl: Crawl) -> None:
    answers = [
        await crawl.browser.get(route.path())
        for route in crawl.routes
        if route.method == "GET" and route.template.startswith("/api/")
    ]
    for answer in answers:
        kind = answer.headers["content-type"]
        assert kind in {"application/json", "application/problem+json"}
        assert answer.headers["x-content-type-options"] == "nosniff"
