"""Door for AstrBot's dashboard: our pages for who is logged in there.

The dashboard says who its owner is and passes on an address, a form or a file; everything else
is as for a browser: the same routes, the same guard, the same proof that a form is ours.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import unquote, urlencode

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .guard import (
    DASHBOARD,
    FLASH_COOKIE,
    LANGUAGE_COOKIE,
    PROOF_HEADER,
    THEME_COOKIE,
    pieces,
    replayed,
    split,
)

TOLD = ("text/html", "application/json", "application/problem+json")
"""What is passed on as a text; for files see :meth:`DashboardDoor.give`."""
COOKIES = {"language": LANGUAGE_COOKIE, "theme": THEME_COOKIE, "flash": FLASH_COOKIE}
_COOKIE = re.compile(r"[\w.=-]*", re.ASCII)


@dataclass
class DashboardDoor:
    """Asks an application for the owner, whose pages outlive a reload of it."""

    app: ASGIApp

    async def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer what the frame asks, by ``status``, ``text``, ``location`` and ``flash``.

        Args:
            asked: ``path`` with its query, ``form`` if something is to be changed (encoded as
                of a form), ``language``, ``theme``, and the ``flash`` of the answer before.
        """
        parts, form = split(str(asked.get("path", "/"))), asked.get("form")
        values = ((name, str(asked.get(key, ""))) for key, name in COOKIES.items())
        cookie = "; ".join(f"{name}={value}" for name, value in values if _COOKIE.fullmatch(value))
        told = {"cookie": cookie, "content-type": "application/x-www-form-urlencoded"}
        path, query = unquote(parts.path) or "/", parts.query.encode()
        scope = self._scope("GET" if form is None else "POST", path, query, told)
        return await self._answer(scope, pieces(str(form or "").encode()))

    async def take(self, name: str, proof: str, body: AsyncIterator[bytes]) -> dict[str, Any]:
        """Take a file for an import; answers as :meth:`ask`.

        Args:
            proof: Of the page that sends it, as forms have it.
        """
        query = urlencode({"name": name}).encode()
        told = {"content-type": "application/octet-stream", PROOF_HEADER: proof}
        scope = self._scope("POST", "/api/v1/imports/files", query, told)
        return await self._answer(scope, body)

    def give(self, name: str) -> Response:
        """The answer with a file that was taken out."""
        return _Passed(self.app, self._scope("GET", f"/data/exports/{name}", b"", {}))

    def _scope(self, method: str, path: str, query: bytes, told: dict[str, str]) -> Scope:
        return {
            "type": "http",
            "method": method,
            "scheme": "http",
            "path": path,
            "query_string": query,
            "headers": Headers({"host": "localhost", **told}).raw,
            "client": ("127.0.0.1", 0),
            DASHBOARD: "dashboard",
        }

    async def _answer(self, scope: Scope, body: AsyncIterator[bytes]) -> dict[str, Any]:
        start, told = dict[str, Any](), list[bytes]()

        async def send(message: Message) -> None:
            start.update(message)
            if Headers(raw=start["headers"]).get("content-type", "").split(";")[0] in TOLD:
                told.append(message.get("body", b""))

        await self.app(scope, replayed(body), send)
        headers = Headers(raw=start["headers"])
        flash = SimpleCookie(headers.get("set-cookie", "")).get(FLASH_COOKIE)
        return {
            "status": start["status"],
            "text": b"".join(told).decode(),
            "location": headers.get("location", ""),
            "flash": flash.value if flash else "",
        }


class _Passed(Response):
    """What an application answers to another request, as it comes."""

    def __init__(self, app: ASGIApp, scope: Scope) -> None:
        super().__init__()
        self._asked = app, scope

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        app, scope = self._asked
        await app(scope, receive, send)
