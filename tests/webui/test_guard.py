"""Nobody gets in without the key, nothing changes without a token, headers are strict.

The page is served under known names only, and knows when a proxy encrypts.
"""

import asyncio
import logging
import re
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from graph_memory.access import FREE, FREE_FOR_ALL, Access
from graph_memory.locales import say
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.cases import rows
from tests.makers import last_change
from webui import guard
from webui.app import create_app
from webui.guard import HEADERS, MAX_BODY, Site, local_path, split

from .browsing import OURS, send
from .conftest import BASE, KEY, application, client
from .markup import Markup
from .surface import STYLE, surface

pytestmark = pytest.mark.asyncio(loop_scope="package")
PUBLIC = {"/login", STYLE, "/healthz", "/preferences"}


async def test_every_route_is_behind_the_key(app: FastAPI, stranger: httpx.AsyncClient) -> None:
    seen = {(route.method, route.path()) for route in surface(app)}
    assert {tuple(each) for each in rows(__file__, "some_routes")} <= seen
    for method, path in seen | {("GET", "/docs"), ("GET", "/redoc"), ("GET", "/nowhere")}:
        answer = await stranger.request(method, path, headers=OURS)
        if path in PUBLIC:
            # The key is missing, or there is no such method.
            assert answer.status_code in {200, 401} or path == "/preferences", path
        elif path.startswith("/api/"):
            assert answer.status_code == 401, path
            assert answer.headers["content-type"] == "application/problem+json"
        else:
            assert answer.status_code == 303, path
            assert answer.headers["location"].startswith("/login"), path
        assert "张三" not in answer.text


async def test_there_are_no_websockets(app: FastAPI) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    for path in ("/", "/api/v1/graph", "/healthz"):
        await app({"type": "websocket", "path": path, "headers": []}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}] * 3


@pytest.mark.parametrize("path", rows(__file__, "test_no_path_slips_past"))
async def test_no_path_slips_past(stranger: httpx.AsyncClient, path: str) -> None:
    answer = await stranger.get(httpx.URL(BASE + path))
    assert answer.status_code in {303, 404}
    assert "def create_app" not in answer.text
    assert "张三" not in answer.text


async def test_every_answer_has_the_headers(owner: httpx.AsyncClient) -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    for path in ("/", "/nowhere", "/api/v1/work", "/api/v1/nowhere", "/login", "/healthz"):
        answer = await owner.get(path)
        assert {name: answer.headers[name] for name in HEADERS} == dict(HEADERS), path
        assert answer.headers["cache-control"] == "no-store"
    assert (await owner.get("/static/css/base.css")).headers["cache-control"] == "no-cache"


async def test_a_crash_is_logged_once_and_has_the_headers_too(service, caplog):
    app = application(service)

    @app.get("/crash\n")
    async def crash() -> None:
        raise RuntimeError("secret of the house")

    async with client(app) as browser:
        await browser.post("/login", data={"key": KEY}, headers=OURS)
        with caplog.at_level(logging.ERROR, "graph_memory.webui"):
            answer = await browser.get("/crash%0A")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert say("zh", "error.500.hint") in answer.text
    assert answer.headers["x-frame-options"] == "DENY"
    (record,) = caplog.records
    assert record.getMessage() == "GET /crash%0A failed"
    assert record.exc_info, (
        "of which the log's bridge tells where, see tests/astrbot/test_secrets.py"
    )


async def test_the_key_itself_opens_nothing(app: FastAPI) -> None:
    async with client(app) as program:
        for header in ("Bearer {key}", "Basic {key}", "{key}"):
            value = header.format(key=KEY).encode()
            answer = await program.get("/memories", headers={b"Authorization": value})
            assert answer.status_code == 303


# ---------------------------------------------------------------------- log in


async def test_logging_in_and_out(stranger: httpx.AsyncClient) -> None:
    asked = await stranger.get("/memories?q=猫")
    assert asked.headers["location"].startswith("/login?next=%2Fmemories")
    answer = await stranger.post(
        "/login", data={"key": f" {KEY} ", "next": "/memories?q=猫"}, headers=OURS
    )
    assert answer.status_code == 303
    assert answer.headers["location"] == "/memories?q=%E7%8C%AB"
    cookies = answer.headers.get_list("set-cookie")
    assert len(cookies) == 2  # the login's, and one by which the browser is known
    for cookie in cookies:
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "Secure" not in cookie
        assert KEY not in cookie
    kept = dict(stranger.cookies)
    page = await stranger.get("/memories")
    assert page.status_code == 200
    token = re.search(r'name="csrf" value="([^"]+)"', page.text)
    left = await stranger.post("/logout", data={"csrf": token[1]}, headers=OURS)
    assert left.headers["location"] == "/login"
    assert len(stranger.cookies) == 1
    stranger.cookies.update(kept)  # a copy made before
    assert (await stranger.get("/memories")).status_code == 303


@pytest.mark.parametrize("word", ["key", "link", "nonsense", "1"])
async def test_an_address_says_nothing_of_a_key_that_nobody_typed(stranger, word):
    page = Markup((await stranger.get("/login", params={"wrong": word})).text)
    assert not page.all("p", role="alert")


async def test_a_link_from_the_chat_logs_in_once_and_waits_for_nobody(service, stranger):
    access = Access.open(service.directory, KEY)
    app = create_app(service, access, Settings(webui_public_url=BASE))
    for number in range(FREE_FOR_ALL + 1):
        async with client(app, f"198.51.{number}.1") as guesser:
            await guesser.post("/login", data={"key": "wrong-guess"}, headers=OURS)
    code = access.link()
    async with client(app) as browser:
        late = await browser.post("/login", data={"key": KEY}, headers=OURS)
        assert late.status_code == 429, "strangers keep the key from this browser"
        for _ in range(2):  # chats look at links, too
            page = Markup((await browser.get("/login", params={"link": code})).text)
            assert page.all("input", name="link", value=code)
            assert not page.all("input", name="key")
        foreign = {"Origin": "https://evil.test"}
        assert (
            await browser.post("/login", data={"link": code}, headers=foreign)
        ).status_code == 403
        entered = await browser.post("/login", data={"link": code}, headers=OURS)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert (await browser.get("/memories")).status_code == 200
        known = dict(browser.cookies)
    async with client(app) as thief:
        again = await thief.post("/login", data={"link": code}, headers=OURS)
        assert again.status_code == 401
        assert "用过了" in again.text
        assert not thief.cookies
        kept = {name: value for name, value in known.items() if name.endswith("_known")}
        thief.cookies.update(kept)
        assert (await thief.post("/login", data={"key": KEY}, headers=OURS)).status_code == 303


@pytest.mark.parametrize(
    ("referer", "location"), rows(__file__, "test_who_sends_a_form_logged_out")
)
async def test_who_sends_a_form_logged_out_comes_back_to_it(stranger, referer, location):
    headers = OURS | {"Referer": referer}
    answer = await stranger.post("/memories/f:1/edit", data={"statement": "x"}, headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (303, location)


async def test_https_cookies_stay_on_https(app: FastAPI) -> None:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="https://memory.test") as browser:
        answer = await browser.post("/login", data={"key": KEY})
    assert "Secure" in answer.headers["set-cookie"]


async def test_guessing_is_slowed_down_per_address(app: FastAPI, owner: httpx.AsyncClient) -> None:
    async with client(app, "198.51.100.7") as guesser:
        answers = [
            await guesser.post("/login", data={"key": f"guess-{n}"}, headers=OURS)
            for n in range(FREE)
        ]
        assert [answer.status_code for answer in answers] == [401] * (FREE - 1) + [429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        # Even the right key has to wait now.
        assert (await guesser.post("/login", data={"key": KEY}, headers=OURS)).status_code == 429
        # But not for who has logged in before, be it behind the same proxy.
        guesser.cookies.update(owner.cookies)
        known = await guesser.post("/login", data={"key": KEY}, headers=OURS)
        assert known.status_code == 403, "logged in: the token is missing"
        await guesser.post("/logout", data={"csrf": await token_of(guesser)}, headers=OURS)
        known = await guesser.post("/login", data={"key": KEY}, headers=OURS)
        assert known.status_code == 303
    async with client(app, "198.51.100.8") as other:
        answer = await other.post("/login", data={"key": KEY}, headers=OURS)
        assert answer.status_code == 303


@pytest.mark.parametrize(
    ("wanted", "local"), rows(__file__, "test_there_is_no_way_to_another_site")
)
async def test_there_is_no_way_to_another_site(wanted: str, local: str) -> None:
    assert local_path(wanted) == local


@given(wanted=st.text() | st.from_regex(r"(https?:)?[/\\\\]*[\\[\\]@:#?.\\w]*", fullmatch=True))
async def test_whatever_is_asked_for_is_a_path_of_ours(wanted: str) -> None:
    found = local_path(wanted)
    assert found.startswith("/")
    assert found[1:2] not in {"/", "\\"}
    assert found.isascii()
    assert found.isprintable()


async def test_an_address_that_is_none_is_no_error(stranger, caplog):
    bad = "http://[::1"
    assert (await stranger.get("/login", params={"next": bad})).status_code == 200
    forged = await stranger.post("/login", data={"key": KEY}, headers={"Origin": bad})
    assert forged.status_code == 403
    entered = await stranger.post("/login", data={"key": KEY, "next": bad}, headers=OURS)
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    page = await stranger.post(
        "/memories/act",
        data={"action": "pin", "every": bad, "back": bad, "csrf": await token_of(stranger)},
        headers=OURS,
    )
    assert page.status_code in {200, 303}
    assert caplog.records == []


async def test_a_language_chosen_after_a_wrong_key_leads_on_as_before(stranger):
    typed = {"key": "wrong-guess", "next": "/memories?q=猫&own=yes"}
    page = Markup((await stranger.post("/login", data=typed, headers=OURS)).text)
    (english,) = page.all("a", hreflang="en")
    chosen = await stranger.get(english["href"])
    page = Markup((await stranger.get(chosen.headers["location"])).text)
    (kept,) = page.all("input", name="next")
    assert unquote(kept["value"]) == typed["next"]


async def test_login_changes_and_preferences_stay_here(stranger, owner):
    answer = await stranger.post("/login", data={"key": KEY, "next": "//evil.test/x"}, headers=OURS)
    assert answer.headers["location"] == "/x"
    assert (await send(owner, "/memories/act", back="//evil.test/x")).headers["location"] == "/x"
    answer = await owner.get("/preferences?theme=dark&back=//evil.test/")
    assert answer.headers["location"] == "/"
    answer = await owner.get("/preferences?language=en&back=/memories?q=%E7%8C%AB")
    assert answer.headers["location"] == "/memories?q=%E7%8C%AB"
    assert 'lang="en" data-theme="dark"' in (await owner.get("/memories")).text
    await owner.get("/preferences?theme=<b>&language=xx")
    assert 'lang="en" data-theme="dark"' in (await owner.get("/memories")).text


# -------------------------------------------------------------------- changes


async def token_of(browser: httpx.AsyncClient) -> str:
    found = re.search(r'name="csrf-token" content="([^"]+)"', (await browser.get("/nowhere")).text)
    return found[1]


@pytest.mark.parametrize(("headers", "token"), rows(__file__, "test_other_sites"))
async def test_other_sites_and_wrong_tokens_change_nothing(owner, headers, token):
    """Another port is another site to us."""
    data = {"csrf": await token_of(owner) if token is None else token}
    for path in ("/logout", "/retry", "/changes/1/undo", "/memories/act", "/login"):
        assert (await owner.post(path, data=data, headers=headers)).status_code == 403, path
    headers = {**headers, "X-CSRF-Token": data["csrf"].encode()}
    assert (await owner.post("/api/v1/imports/files", headers=headers)).status_code == 403


async def test_a_form_of_another_login_gets_a_page_that_says_so(app, owner, service):
    async with client(app, "198.51.100.9") as other:
        await other.post("/login", data={"key": KEY}, headers=OURS)
        token = await token_of(other)
    page = await owner.post("/memories/act", data={"csrf": token}, headers=OURS)
    assert "这一页过期了" in Markup(page.text).text
    # What was being asked when a login ended is no address to come back to.
    assert "这一页过期了" in Markup((await owner.get("/memories/act")).text).text


async def test_every_change_needs_our_page_and_the_token(app, owner, service):
    changing = [route for route in surface(app) if route.is_change]
    assert len(changing) > 15
    before = await last_change(service.journal)
    token = await token_of(owner)
    for route in changing:
        path = route.path()
        theirs = {"Origin": "http://evil.test", "X-CSRF-Token": token}
        answer = await owner.request(route.method, path, headers=theirs)
        assert answer.status_code == 403, path
        if path != "/login":  # nobody is logged in yet
            answer = await owner.request(route.method, path, headers=OURS)
            assert answer.status_code == 403, path
    assert await last_change(service.journal) == before


async def test_looking_changes_nothing(app, owner, service):
    before = await last_change(service.journal)
    for route in surface(app):
        if not route.is_change:
            await owner.request(route.method, route.path())
    assert await last_change(service.journal) == before


async def test_a_token_in_the_address_does_not_count(owner: httpx.AsyncClient) -> None:
    token = await token_of(owner)
    assert (await owner.post(f"/changes/1/undo?csrf={token}", headers=OURS)).status_code == 403
    right = {**OURS, "X-CSRF-Token": token}
    assert (await owner.post("/changes/999999/undo", headers=right)).status_code == 303


@pytest.mark.parametrize(
    ("address", "headers", "is_warned"), rows(__file__, "test_whoever_comes_unencrypted")
)
async def test_whoever_comes_unencrypted_is_warned(app, address, headers, is_warned):
    async with client(app, address) as browser:
        browser.headers.update(headers)
        assert ("连接没有加密" in (await browser.get("/login")).text) == is_warned
        await browser.post("/login", data={"key": KEY}, headers=OURS)
        assert ("连接没有加密" in (await browser.get("/")).text) == is_warned


async def test_slow_bodies_are_given_up(owner, monkeypatch):
    async def dripping() -> Any:
        yield b"x"
        await asyncio.Event().wait()

    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    answer = await owner.post("/login", content=dripping(), headers=OURS)
    assert answer.status_code == 408
    sent = {**OURS, "X-CSRF-Token": await token_of(owner)}
    answer = await owner.post("/api/v1/imports/files?name=a.json", content=dripping(), headers=sent)
    assert answer.status_code == 422
    assert "文件不完整" in answer.text


async def test_large_bodies_are_refused(owner: httpx.AsyncClient) -> None:
    async def parts() -> Any:
        for _ in range(MAX_BODY // 1024 + 1):
            yield b"x" * 1024

    for content in (b"x" * (MAX_BODY + 1), parts()):
        assert (await owner.post("/login", content=content, headers=OURS)).status_code == 413


@pytest.mark.parametrize(
    "content", [b"\xff\xfe=\x00", b"&".join([b"a=1"] * 500), b"csrf", b"key=%ZZ&csrf=%E4"]
)
async def test_odd_forms_are_refused_calmly(owner: httpx.AsyncClient, content: bytes) -> None:
    headers = {**OURS, "Content-Type": "application/x-www-form-urlencoded"}
    assert (await owner.post("/logout", content=content, headers=headers)).status_code == 403


# ----------------------------------------------------------------------- site

HTTPS = "https://memory.example.com"


@pytest.mark.parametrize(("host", "is_warned"), [("memory.example.com", False), ("10.0.0.2", True)])
async def test_by_the_public_name_one_comes_encrypted(service, host, is_warned):
    """Though the proxy, in a container of its own, does not say so."""
    async with client(application(service, webui_public_url=HTTPS), "172.18.0.2") as proxy:
        shown = await proxy.get("/login", headers={"Host": host})
    assert ("连接没有加密" in shown.text) == is_warned


def at(app: FastAPI, base: str = "http://127.0.0.1:6190") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 4711))
    return httpx.AsyncClient(transport=transport, base_url=base)


def scope(client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    raw = [
        (name.replace("_", "-").encode(), value.encode("latin-1", "replace"))
        for name, value in headers.items()
    ]
    return {"type": "http", "scheme": "http", "client": (client, 1), "headers": raw}


@pytest.mark.parametrize("host", rows(__file__, "test_addresses_localhost_and_the_public_name"))
async def test_addresses_localhost_and_the_public_name_are_served(host: str) -> None:
    assert Site(HTTPS).serves(Headers(scope=scope(host=host)))


@pytest.mark.parametrize("host", rows(__file__, "test_other_names_are_not"))
async def test_other_names_are_not(host: str) -> None:
    assert not Site(HTTPS).serves(Headers(scope=scope(host=host)))
    assert not Site().serves(Headers(scope=scope(host=host)))
    assert not Site().serves(Headers(scope=scope(host="memory.example.com")))
    assert not Site().serves(Headers(scope=scope()))


@given(text=st.text())
async def test_no_host_and_no_origin_is_an_error(text: str) -> None:
    headers = scope(host=text, origin=text, x_forwarded_for=text)
    Site(HTTPS).serves(Headers(scope=headers))
    Site(HTTPS).sent(Headers(scope=headers))
    Site(HTTPS).is_encrypted(headers)
    Site(HTTPS).address_of(headers)
    split(text)


async def test_another_name_is_told_what_to_do(app: FastAPI) -> None:
    async with at(app, "http://evil.test") as rebound:
        for path in ("/login", "/", "/healthz", "/static/css/base.css", "/api/v1/graph"):
            answer = await rebound.get(path)
            assert answer.status_code == 421, path
            assert "webui_public_url" in answer.text
            assert "evil.test" not in answer.text
            assert answer.headers["x-frame-options"] == "DENY"
        answer = await rebound.post(
            "/login", data={"key": KEY}, headers={"Origin": "http://evil.test"}
        )
        assert answer.status_code == 421


async def test_behind_a_declared_proxy_cookies_stay_on_https(service: MemoryService) -> None:
    app = application(service, webui_public_url=HTTPS)
    # A proxy passes Host on, or (nginx unless told otherwise) puts its own upstream there.
    for base in ("http://memory.example.com", "http://127.0.0.1:6190"):
        async with at(app, base) as proxied:
            answer = await proxied.post("/login", data={"key": KEY}, headers={"Origin": HTTPS})
        assert answer.status_code == 303
        assert all("; Secure" in cookie for cookie in answer.headers.get_list("set-cookie"))
    async with at(app) as beside:  # by an SSH tunnel, past the proxy
        mine = {"Origin": "http://127.0.0.1:6190"}
        answer = await beside.post("/login", data={"key": KEY}, headers=mine)
        assert "; Secure" not in answer.headers["set-cookie"]
        for origin in ("https://memory.example.com.evil.test", "http://memory.example.com:81"):
            beside.cookies.clear()
            forged = await beside.post("/login", data={"key": KEY}, headers={"Origin": origin})
            assert forged.status_code == 403


@pytest.mark.parametrize(("client", "told", "address"), rows(__file__, "test_a_declared_proxy"))
async def test_a_declared_proxy_says_for_whom_it_asks(client: str, told: str, address: str) -> None:
    asked = scope(client, x_forwarded_for=told)
    assert Site(HTTPS).address_of(asked) == address
    assert Site().address_of(asked) == client
