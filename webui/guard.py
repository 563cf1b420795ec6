"""Who gets in, and what headers go out: one middleware around everything.

Closed by default: a route that nobody thought of is behind the key as well, and only the
names in ``site.py`` are served. Every request that changes something must come from our
own pages (``Origin``) and, if a cookie is what lets it in, carry that login's token.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_memory.locales import TEXTS

from .auth import Keyring, Login
from .connections import PATIENCE
from .i18n import LANGUAGES
from .problems import problem
from .site import Site, split

logger = logging.getLogger("graph_memory.webui")

API = "/api/"
PUBLIC_PATHS = frozenset({"/login", "/healthz"})
PUBLIC_PREFIX = "/static/"
MAX_BODY = 64 * 1024
"""Bytes of a request that is read before its handler sees it."""
STREAMED = frozenset({"/api/v1/imports/files"})
"""What may be larger, and is read by its handler piece by piece: its proof is a header."""
MAX_FIELDS = 100
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PROOF_HEADER = "x-csrf-token"
PROOF_FIELD = "csrf"

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
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


class Guard:
    """ASGI middleware: authentication, CSRF, body size, security headers, last resort."""

    def __init__(self, app: ASGIApp, keyring: Keyring, site: Site) -> None:
        self._app = app
        self._keyring = keyring
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _protect(MutableHeaders(scope=message), scope["path"])
            await send(message)

        try:
            refusal = await self._authenticate(scope)
            if refusal is None and scope["method"] not in SAFE_METHODS:
                receive, refusal = await self._check_change(scope, receive)
            await (refusal or self._app)(scope, receive, send_guarded)
        except asyncio.CancelledError:
            pass  # stopping takes too long; uvicorn would log it with all it was about
        except Exception:
            logger.exception("%s %s failed", scope["method"], quote(scope["path"][:200]))
            if not started:
                response = problem(500, "the server failed; its log says why")
                await response(scope, receive, send_guarded)

    # ------------------------------------------------------------ authentication

    async def _authenticate(self, scope: Scope) -> Response | None:
        """Note who asks in the request's state; a response if they may not."""
        headers = Headers(scope=scope)
        if not self._site.serves(headers):
            hint = (TEXTS[language]["error.host"] for language in LANGUAGES)
            return problem(421, " · ".join(hint))
        login: Login | None = None
        if "authorization" in headers:
            if refusal := await self._bearer(headers["authorization"], scope):
                return refusal
            login = Login()
        else:
            cookie = cookie_parser(headers.get("cookie", "")).get(self._keyring.cookie, "")
            login = self._keyring.login(cookie) if cookie else None
        scope.setdefault("state", {})["login"] = login
        if login or is_public(scope["path"]):
            return None
        return _refuse(scope)

    async def _bearer(self, header: str, scope: Scope) -> Response | None:
        scheme, _, key = header.partition(" ")
        key = key.encode("latin-1", "replace").decode("utf-8", "replace")
        given = key if scheme.lower() == "bearer" else ""
        attempt = await self._keyring.attempt(given, self._site.address_of(scope))
        if attempt.is_right:
            return None
        return too_many(attempt.wait) if attempt.wait else _unauthorized("the key is wrong")

    # ---------------------------------------------------------------- changes

    async def _check_change(
        self, scope: Scope, receive: Receive
    ) -> tuple[Receive, Response | None]:
        """Read the body, and refuse what does not come from our own pages."""
        is_streamed = scope["path"] in STREAMED
        try:
            async with asyncio.timeout(PATIENCE):
                body = b"" if is_streamed else await _read(receive)
        except TimeoutError:
            return receive, problem(408, f"the request took longer than {PATIENCE:g} s")
        if body is None:
            return receive, problem(413, f"the request is larger than {MAX_BODY} bytes")
        headers, login = Headers(scope=scope), scope["state"]["login"]
        if login is None or not login.is_bearer:
            if not self._site.sent(headers):
                return receive, problem(403, "the request comes from another site")
            if login and not self._keyring.owns(login, _token(headers, body)):
                return receive, problem(403, "the page is out of date: reload it and try again")
        return _hurried(receive) if is_streamed else _replay(body, receive), None


def is_public(path: str) -> bool:
    """Whether a path answers without the key."""
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIX)


def too_many(wait: float) -> Response:
    """The answer to who has guessed too often."""
    seconds = math.ceil(wait)
    return problem(
        429, f"too many wrong keys; wait {seconds} s", headers={"Retry-After": str(seconds)}
    )


def local_path(wanted: str) -> str:
    """``wanted`` as a path of this server, whatever it was meant to be.

    Browsers read ``//host`` and ``/\\host`` as other servers; neither survives.
    """
    parts = split(wanted.replace("\\", "/"))
    path = "/" + quote(parts.path.lstrip("/"), safe="/:%")
    return f"{path}?{quote(parts.query, safe='=&%+:')}" if parts.query else path


def _refuse(scope: Scope) -> Response:
    if scope["path"].startswith(API):
        return _unauthorized("log in, or send the key as a bearer token")
    if scope["method"] not in SAFE_METHODS:
        return RedirectResponse("/login", status_code=303)
    query = scope["query_string"].decode("latin-1")
    wanted = scope["path"] + (f"?{query}" if query else "")
    here = "" if wanted == "/" else f"?next={quote(wanted, safe='')}"
    return RedirectResponse(f"/login{here}", status_code=303)


def _unauthorized(detail: str) -> Response:
    return problem(401, detail, headers={"WWW-Authenticate": "Bearer"})


def _protect(headers: MutableHeaders, path: str) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    is_static = path.startswith(PUBLIC_PREFIX)
    headers["Cache-Control"] = "no-cache" if is_static else "no-store"


def _token(headers: Headers, body: bytes) -> str:
    if PROOF_HEADER in headers:
        return headers[PROOF_HEADER]
    return form_of(headers, body).get(PROOF_FIELD, [""])[-1]


def form_of(headers: Headers, body: bytes) -> dict[str, list[str]]:
    """The fields of a plain HTML form, each with its values."""
    if not headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    try:
        return parse_qs(body.decode("utf-8", "replace"), True, max_num_fields=MAX_FIELDS)
    except ValueError:
        return {}


async def read_choices(request: Request) -> dict[str, list[str]]:
    """The form that a page of ours sent, in which fields may be repeated."""
    return form_of(request.headers, await request.body())


async def read_form(request: Request) -> dict[str, str]:
    """The form that a page of ours sent; of a repeated field the last value."""
    return {name: values[-1] for name, values in (await read_choices(request)).items()}


async def _read(receive: Receive) -> bytes | None:
    """The whole body; ``None`` if it is too large."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return body
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return body


def _hurried(receive: Receive) -> Receive:
    """A ``receive`` that gives up a client that sends nothing for a while."""

    async def hurried() -> Message:
        try:
            async with asyncio.timeout(PATIENCE):
                return await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}

    return hurried


def _replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that hands out a body that was read already."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
