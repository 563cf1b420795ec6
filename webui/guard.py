"""Access guard: who gets in, what may change something, what headers go out.

One middleware around everything, closed by default. Every request that changes something
must come from our own pages (``Origin``) and carry the token of the login that lets it in.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qs, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request, cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .core import access, locales
from .server import PATIENCE

logger = logging.getLogger("graph_memory.webui")

API = "/api/"
DASHBOARD = "graph_memory.dashboard"
"""Where a scope says by which login the dashboard asks; no request can say so."""
LANGUAGE_COOKIE = "gm_language"
THEME_COOKIE = "gm_theme"
FLASH_COOKIE = "gm_done"
AGENTS = "/mcp"
"""Where other programs ask: they show the key in a header, nothing of a browser's."""
SCHEME = "bearer "
STALE = "/stale"
"""The page that says that a form was of another login."""
PUBLIC_PATHS = frozenset({"/login", "/preferences", "/healthz"})
PUBLIC_PREFIX = "/static/"
MAX_BODY = 64 * 1024
"""Bytes of a request that is read before its handler sees it."""
STREAMED = frozenset({"/api/v1/imports/files"})
"""What may be larger, and is read by its handler piece by piece: its proof is a header."""
MAX_FIELDS = 100
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PROOF_HEADER = "x-csrf-token"
PROOF_FIELD = "csrf"

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: with that, browsers hide the Origin of our own forms from us.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
}


def split(url: str) -> SplitResult:
    """The parts of an address that somebody sent; all are empty if it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # is looked at only now
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


@dataclass(frozen=True, slots=True)
class Site:
    """Addresses under which the memory page is served, and those that ask for it.

    Other names are refused: any page of the web can let its own name lead here (DNS
    rebinding) and would be ours to the owner's browser.

    Attributes:
        public_url: What a proxy serves the page as, or a name of this machine; may be empty.
    """

    public_url: str = ""

    def serves(self, headers: Headers) -> bool:
        """Whether a request's ``Host`` is an IP address, localhost or the public name."""
        host = headers.get("host", "")
        parts = split(f"//{host}")
        name = parts.hostname or ""
        if parts.netloc != host or "@" in host:
            return False
        return name == "localhost" or is_ip(name) or (name != "" and name == self._name)

    def sent(self, headers: Headers) -> bool:
        """Whether a change comes from a page of ours."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in {"same-origin", "none"}
        netloc = split(origin).netloc.lower()
        return netloc == headers.get("host", "").lower() != "" or self._is_public(origin)

    def is_encrypted(self, scope: Scope) -> bool:
        """Whether a browser that asks so comes by HTTPS, to the proxy if there is one."""
        headers = Headers(scope=scope)
        if scope["scheme"] == "https":
            return True
        by_name = split(f"//{headers.get('host', '')}").hostname == self._name
        is_public = by_name or self._is_public(headers.get("origin", ""))
        return is_public and self.public_url.startswith("https://")

    def address_of(self, scope: Scope) -> str:
        """Address of who asks, or for whom the proxy asks.

        Who reaches the port past it may claim any; the limit for everybody holds then.
        """
        address = str((scope.get("client") or ("",))[0])
        told = Headers(scope=scope).get("x-forwarded-for", "").rpartition(",")[2].strip()
        is_near = is_ip(address) and ip_address(address).is_private
        return told if self.public_url and is_near and is_ip(told) else address

    @property
    def _name(self) -> str:
        return split(self.public_url).hostname or ""

    def _is_public(self, origin: str) -> bool:
        return bool(self.public_url) and origin.lower() == self.public_url


def is_ip(text: str) -> bool:
    """Whether a text is the address of a machine."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


class Guard:
    """ASGI middleware: authentication, CSRF, body size, security headers, last resort.

    Args:
        failed: Makes the page that says that something failed.
        agents: Whether other programs may ask by MCP.
    """

    def __init__(
        self,
        app: ASGIApp,
        keyring: access.Keyring,
        site: Site,
        failed: Callable[[Scope], Response],
        agents: bool = False,
    ) -> None:
        self._app, self._failed = app, failed
        self._agents = agents
        self._keyring = keyring
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # nor is there a lifespan: the server asks for none
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                is_static = scope["path"].startswith(PUBLIC_PREFIX)
                headers["Cache-Control"] = "no-cache" if is_static else "no-store"
            await send(message)

        try:
            is_agent = self._agents and scope["path"] == AGENTS
            refusal = self._authenticate(scope, is_public=is_agent)
            if refusal is None and (is_agent or scope["method"] not in SAFE_METHODS):
                check = self._check_agent if is_agent else self._check_change
                receive, refusal = await check(scope, receive)
            await (refusal or self._app)(scope, receive, send_guarded)
        except asyncio.CancelledError:
            pass  # stopping takes too long; uvicorn would log it with all it was about
        except Exception:
            logger.exception("%s %s failed", scope["method"], quote(scope["path"][:200]))
            if not started:
                response = problem(500, "the server failed; its log says why")
                if scope.get("state", {}).get("login") and not scope["path"].startswith(API):
                    with contextlib.suppress(Exception):  # what failed may fail here, too
                        response = self._failed(scope)
                await response(scope, receive, send_guarded)

    def _authenticate(self, scope: Scope, is_public: bool) -> Response | None:
        """Note the login in the request's state; a response if one is missing."""
        headers = Headers(scope=scope)
        if not self._site.serves(headers):
            return problem(421, " · ".join(locales.in_all("error.host").values()))
        cookie = cookie_parser(headers.get("cookie", "")).get(self._keyring.cookie, "")
        login = scope.get(DASHBOARD) or (self._keyring.login(cookie) if cookie else "")
        scope.setdefault("state", {})["login"] = login
        path = scope["path"]
        is_public = is_public or path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIX)
        return None if login or is_public else _refuse(scope)

    async def _check_agent(self, scope: Scope, receive: Receive) -> tuple[Receive, Response | None]:
        """Let a program in that shows the key, whatever cookie comes along; read its body."""
        body = await self._check_key(scope) or await _read_in_time(receive)
        if isinstance(body, Response):
            return receive, body
        return replayed(pieces(body)), None

    async def _check_key(self, scope: Scope) -> Response | None:
        """Why a program is not answered; ``None`` if it shows the key."""
        headers = Headers(scope=scope)
        given = headers.get("authorization", "")
        if "origin" in headers:  # only pages of a browser send it, and they have a login
            return Response(status_code=403)
        if scope["method"] != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        if not given.lower().startswith(SCHEME):
            return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
        key = given[len(SCHEME) :].encode("latin-1").decode("utf-8", "replace")
        wait = await self._keyring.attempt(key, self._site.address_of(scope))
        if wait is None:
            return None
        headers_of = {"WWW-Authenticate": "Bearer", "Retry-After": str(round(wait) or 1)}
        return Response(status_code=429 if wait else 401, headers=headers_of)

    async def _check_change(
        self, scope: Scope, receive: Receive
    ) -> tuple[Receive, Response | None]:
        """Read the body, and refuse what does not come from our own pages."""
        body = b"" if scope["path"] in STREAMED else await _read_in_time(receive)
        if isinstance(body, Response):
            return receive, body
        headers, login = Headers(scope=scope), scope["state"]["login"]
        if not self._site.sent(headers):
            return receive, problem(403, " · ".join(locales.in_all("error.host").values()))
        form = scope["state"]["form"] = _form_of(headers, body)
        token = headers.get(PROOF_HEADER, form.get(PROOF_FIELD, [""])[-1])
        if login and not self._keyring.owns(login, token):
            if scope["path"].startswith(API):
                return receive, problem(403, "the page is out of date: reload it and try again")
            scope.update(method="GET", path=STALE)  # says so, and does nothing
        return _hurried(receive), None


def problem(status: int, detail: str) -> Response:
    """Error response for scripts and strangers (problem+json, RFC 9457)."""
    body = {
        "type": "about:blank",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return JSONResponse(body, status, media_type="application/problem+json")


def local_path(wanted: str) -> str:
    """``wanted`` as a path of this server, be it meant as ``//host`` or ``/\\host``."""
    parts = split(wanted.replace("\\", "/"))
    path = "/" + quote(parts.path.lstrip("/"), safe="/:%")
    return f"{path}?{quote(parts.query, safe='=&%+:')}" if parts.query else path


def _refuse(scope: Scope) -> Response:
    if scope["path"].startswith(API):
        return problem(401, "log in first")
    query = scope["query_string"].decode("latin-1")
    wanted = {"next": scope["path"] + (f"?{query}" if query else "")}
    if scope["method"] not in SAFE_METHODS:  # back to the form, which still has what was typed
        headers = Headers(scope=scope)
        form = split(headers.get("referer", ""))
        is_ours = form.netloc != "" and form.netloc == headers.get("host")
        back = local_path(f"{form.path}?{form.query}")
        wanted = {"next": back, "wrong": "ended"} if is_ours else {"next": "/"}
    here = "" if wanted == {"next": "/"} else f"?{urlencode(wanted)}"
    return RedirectResponse(f"/login{here}", status_code=303)


def _form_of(headers: Headers, body: bytes) -> dict[str, list[str]]:
    """The fields of a plain HTML form, each with its values."""
    if not headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    try:
        return parse_qs(body.decode("utf-8", "replace"), True, max_num_fields=MAX_FIELDS)
    except ValueError:
        return {}


async def _read_in_time(receive: Receive) -> bytes | Response:
    """The whole body, or why it is not read; what came, if the client leaves."""
    body = b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in Request({"type": "http"}, receive).stream():
                body += piece
                if len(body) > MAX_BODY:
                    return problem(413, f"the request is larger than {MAX_BODY} bytes")
    except TimeoutError:
        return problem(408, f"the request took longer than {PATIENCE:g} s")
    except ClientDisconnect:
        pass
    return body


async def pieces(*some: bytes) -> AsyncIterator[bytes]:
    """A body that is there already, as one that comes in pieces."""
    for piece in some:
        yield piece


def replayed(body: AsyncIterator[bytes]) -> Receive:
    """A ``receive`` that gives a body."""
    is_read = False

    async def receive() -> Message:
        nonlocal is_read
        if is_read:  # what is asked now is whether the client has gone, which nobody tells
            await asyncio.Event().wait()
        piece = await anext(body, None)
        is_read = piece is None
        return {"type": "http.request", "body": piece or b"", "more_body": not is_read}

    return receive


def _hurried(receive: Receive) -> Receive:
    """A ``receive`` that gives up a client that sends nothing for a while."""

    async def hurried() -> Message:
        try:
            async with asyncio.timeout(PATIENCE):
                return await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}

    return hurried
