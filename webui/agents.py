"""Access of other programs by MCP: the key in a header, nothing of a browser's."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from .auth import Keyring
from .core import mcp_server, service

PATH = "/mcp"
SCHEME = "bearer "


async def check(keyring: Keyring, scope: Scope, address: str) -> Response | None:
    """Why a request is not answered; ``None`` if it shows the key."""
    headers = Headers(scope=scope)
    given = headers.get("authorization", "")
    if "origin" in headers:  # only pages of a browser send it, and they have a login
        return Response(status_code=403)
    if scope["method"] != "POST":
        return Response(status_code=405, headers={"Allow": "POST"})
    if not given.lower().startswith(SCHEME):
        return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
    wait = await keyring.attempt(given[len(SCHEME) :], address)
    if wait is None:
        return None
    headers_of = {"WWW-Authenticate": "Bearer", "Retry-After": str(round(wait) or 1)}
    return Response(status_code=429 if wait else 401, headers=headers_of)


class Agents:
    """The address that programs ask, as an ASGI application."""

    def __init__(self, memory: service.MemoryService) -> None:
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body: bytes = scope["state"]["body"]
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                await asyncio.Event().wait()  # until the answer ends it
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await mcp_server.answer(self._memory, scope, replay, send)
