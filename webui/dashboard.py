"""Door for AstrBot's dashboard: our pages for who is logged in there.

The dashboard says who its owner is and passes on an address or a form; everything else is as
for a browser: the same routes, the same guard, the same proof that a form is ours.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message

from .guard import DASHBOARD, split
from .rendering import FLASH_COOKIE, LANGUAGE_COOKIE, THEME_COOKIE

TOLD = ("text/html", "application/json", "application/problem+json")
"""What is passed on; files are fetched from the memory page itself."""
COOKIES = {"language": LANGUAGE_COOKIE, "theme": THEME_COOKIE, "flash": FLASH_COOKIE}
_COOKIE = re.compile(r"[\w.=-]*", re.ASCII)


@dataclass
class DashboardDoor:
    """Asks an application for the owner, by one login for as long as it is there."""

    app: ASGIApp
    login: str = field(default_factory=lambda: secrets.token_urlsafe(18))

    async def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer what the frame asks, by ``status``, ``text``, ``location`` and ``flash``.

        Args:
            asked: ``path`` with its query, ``form`` if something is to be changed (encoded as
                of a form), ``language``, ``theme``, and the ``flash`` of the answer before.
        """
        parts, form = split(str(asked.get("path", "/"))), asked.get("form")
        values = ((name, str(asked.get(key, ""))) for key, name in COOKIES.items())
        cookie = "; ".join(f"{name}={value}" for name, value in values if _COOKIE.fullmatch(value))
        told = {
            "host": "localhost",
            "cookie": cookie,
            "content-type": "application/x-www-form-urlencoded",
        }
        scope = {
            "type": "http",
            "method": "GET" if form is None else "POST",
            "scheme": "http",
            "path": unquote(parts.path) or "/",
            "query_string": parts.query.encode(),
            "headers": Headers(told).raw,
            "client": ("127.0.0.1", 0),
            DASHBOARD: self.login,
        }
        received = iter([{"type": "http.request", "body": str(form or "").encode()}])
        start, pieces = dict[str, Any](), list[bytes]()

        async def receive() -> Message:
            return next(received, {"type": "http.disconnect"})

        async def send(message: Message) -> None:
            start.update(message)
            if Headers(raw=start["headers"]).get("content-type", "").split(";")[0] in TOLD:
                pieces.append(message.get("body", b""))

        if parts.path == "/api/v1/events":  # which has no end
            return {"status": 404, "text": ""}
        await self.app(scope, receive, send)
        headers = Headers(raw=start["headers"])
        flash = SimpleCookie(headers.get("set-cookie", "")).get(FLASH_COOKIE)
        return {
            "status": start["status"],
            "text": b"".join(pieces).decode(),
            "location": headers.get("location", ""),
            "flash": flash.value if flash else "",
        }
