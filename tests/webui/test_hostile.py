"""Hostile text on every page there is, and through every parameter of every route.

Pages are found by following every link and form; what is hostile is shown as text, and
refused or found nowhere when it is sent, never a 5xx.
"""

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from graph_memory.service import MemoryService
from tests.cases import rows
from tests.views import assert_views_follow
from webui.rendering import PageRequest

from .browsing import OURS
from .conftest import BASE, application, entered
from .hostile import besieged
from .markup import Markup
from .story import MALLORY, XSS, ZHANG
from .surface import STYLE, Route, surface

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]
STARTS = (
    "/", "/memories?q=alert", "/graph?q=alert", f"/graph?node={MALLORY}", f"/node?id={MALLORY}",
    f"/graph/ask/path?a={MALLORY}&b={ZHANG}", "/viewas", f"/viewas?user={MALLORY}&q=alert",
    "/why", "/records", "/changes", "/data", "/tuning",
)  # fmt: skip
"""Where the crawl begins: the main pages, and searches that nobody links to."""
ELSEWHERE = {"/login", "/preferences", "/healthz", STYLE, "/stale", "/memories/act"}
"""Routes that show nothing that is stored."""
MOST = 14
"""Addresses looked at of each route and set of parameters."""


CORPUS = [
    {"long": "x" * 5_000, "XSS0": XSS[0]}.get(each, each) for each in rows(__file__, "corpus")
]
"""SQL, Cypher, paths, header splitting, NUL, numbers out of range, odd and huge text."""
FIELDS = {
    **dict.fromkeys(("id", "node", "into", "name", "back", "run", "person", "statement"), ZHANG),
    "action": "pin", "only": "", "every": "",
}  # fmt: skip
"""What forms are filled with, of which one field at a time is hostile."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(tmp_path_factory: Any) -> AsyncIterator[MemoryService]:
    async with besieged(tmp_path_factory.mktemp("besieged")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def besieged_app(memory: MemoryService) -> FastAPI:
    async def tune(values: Any) -> None:
        pass

    return application(memory, tune=tune)


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
    async with entered(besieged_app) as browser:
        found = Crawl(browser, surface(besieged_app))
        await found.follow(*STARTS)
        yield found


async def test_stored_text_is_markup_on_no_page(crawl: Crawl) -> None:
    for address, page in crawl.pages.items():
        assert page.alive() == [], address
    shown = {text for text in XSS for page in crawl.pages.values() if text in page.text}
    assert shown == set(XSS), "the corpus was not shown: the test proves nothing"


async def test_elements_stand_only_where_html_has_a_place_for_them(crawl: Crawl) -> None:
    for address, page in crawl.pages.items():
        assert page.misplaced == [], address
    for address in ("/login", "/login?link=x", "/nowhere", "/memories/new?about=x"):
        assert Markup((await crawl.browser.get(address)).text).misplaced == [], address
    assert crawl.pages["/records"].all("a", **{"class": "record-link"})


@pytest.mark.parametrize(("wrong", "count"), rows(__file__, "test_wrong_nesting_would_be_seen"))
async def test_wrong_nesting_would_be_seen(wrong: str, count: int) -> None:
    assert len(Markup(wrong).misplaced) == count


async def test_no_page_was_left_out(crawl: Crawl) -> None:
    visited = {route.template for address in crawl.pages if (route := crawl.route(address))}
    pages = {
        route.template
        for route in crawl.routes
        if route.method == "GET" and not route.template.startswith("/api/")
    }
    files = {template for template in pages if template.startswith("/data/exports/")}
    assert pages - ELSEWHERE - files == visited - ELSEWHERE


async def test_every_form_of_every_page_leads_somewhere_and_carries_the_token(crawl: Crawl) -> None:
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
        assert answer.headers["content-type"].partition(";")[0] in {
            "application/json",
            "application/problem+json",
        }
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest_asyncio.fixture(loop_scope="module")
async def program(besieged_app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that has logged in and proves each change to be ours."""
    async with entered(besieged_app) as browser:
        page = Markup((await browser.get("/memories")).text)
        (token,) = {tag["value"] for tag in page.all("input", name="csrf")}
        browser.headers.update({**OURS, "X-CSRF-Token": token})
        yield browser


def check(answer: httpx.Response, what: str, sent: str = "<") -> None:
    """An answer that gives nothing away and breaks nothing; markup only of what could be some."""
    assert answer.status_code < 500 or answer.status_code == 503, (what, answer.text)
    assert "set-cookie" not in answer.headers or "owned" not in answer.headers["set-cookie"], what
    assert "root:x:0:0" not in answer.text, what
    assert "SQLite format 3" not in answer.text, what
    html = answer.headers.get("content-type", "").startswith("text/html")
    if html and not {*"<>&'\""}.isdisjoint(sent):
        assert Markup(answer.text).alive() == [], what


def addresses(route: Route, value: str) -> Iterator[str]:
    """The route's address with ``value`` in each of its parameters in turn."""
    told = quote(value, safe="")
    for name in route.path_names:
        yield route.path(**{name: told})
    required = {"node", "id"} & set(route.query_names)
    more = "&".join(f"{name}={quote(ZHANG)}" for name in sorted(required))
    for name in route.query_names:
        yield f"{route.path()}?{name}={told}"
        if more:
            yield f"{route.path()}?{more}&{name}={told}"


async def test_every_parameter_of_every_address(besieged_app, program, memory):
    asked = 0
    for route, value in itertools.product(surface(besieged_app), CORPUS):
        if route.template == "/logout":
            continue
        for address in addresses(route, value):
            answer = await program.request(route.method, httpx.URL(BASE + address))
            check(answer, f"{route.method} {address[:200]}", value)
            asked += 1
    assert asked > 1_000
    await assert_views_follow(memory)


class Noted(dict[str, Any]):
    """A form that notes which of its fields are asked for."""

    def __init__(self, given: dict[str, Any], names: set[str]) -> None:
        super().__init__(given)
        self._names = names

    def __contains__(self, name: object) -> bool:
        self._names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        self._names.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._names.add(name)
        return super().get(name, default)

    def items(self) -> Any:
        self._names.update(self)
        return super().items()


async def test_every_field_of_every_form(besieged_app, program, memory, crawl, monkeypatch):
    names: set[str] = set()
    sent_with = PageRequest.choices.fget
    last = property(lambda visit: Noted({k: v[-1] for k, v in sent_with(visit).items()}, names))
    monkeypatch.setattr(PageRequest, "form", last)
    monkeypatch.setattr(
        PageRequest, "choices", property(lambda visit: Noted(sent_with(visit), names))
    )
    shown = [(crawl.route(action, "POST"), fields) for action, fields in crawl.forms.items()]
    sent = 0
    for route in (route for route in surface(besieged_app) if route.is_change):
        if route.template in {"/login", "/logout"}:
            continue
        fields = {name for its, found in shown if its == route for name in found}
        usual = dict.fromkeys(fields, "1") | FIELDS
        names.clear()
        await program.request(route.method, route.path(), data=usual)
        for name, value in itertools.product(usual, CORPUS):
            if name in names:  # what is not asked for changes nothing
                given = usual | {name: value}
                answer = await program.request(route.method, route.path(), data=given)
                check(answer, f"{route.method} {route.template} {given}", value)
                sent += 1
    assert sent > 500
    await memory.settle()
    await assert_views_follow(memory)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 2_000, b"[" * 60_000, b'{"x":1e999}'],
)
async def test_bodies_that_are_none(besieged_app, program, content):
    for route in surface(besieged_app):
        if route.is_change and route.template not in {"/login", "/logout"}:
            for kind in ("application/json", "application/x-www-form-urlencoded", "text/plain"):
                answer = await program.request(
                    route.method, route.path(), content=content, headers={"Content-Type": kind}
                )
                check(answer, f"{route.method} {route.template} {content[:20]!r} {kind}")
