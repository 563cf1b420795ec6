"""Server-sent events: that something was said, learned or recalled.

They carry counts only; what is new is read by the page anew, with its login.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Callable

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from .auth import Keyring
from .core import model, service
from .guard import problem

MOST = 32
"""Pages that are told at the same time."""
HEARTBEAT = 20.0
PACE = 0.3
"""Least seconds between two events."""

routes = APIRouter()


class Live:
    """Counts what happens to a memory, and tells the pages that are open."""

    lifetime = 300.0
    """Seconds after which a page has to ask again, with a login that still holds."""

    def __init__(self, memory: service.MemoryService) -> None:
        self._counts = {"messages": 0, "changes": 0, "recalls": 0}
        self._run = secrets.token_hex(4)  # after a restart everything may be new
        self._pages: set[asyncio.Event] = set()
        self._closed = False
        memory.journal.listen(self._follow)
        memory.recall.traces.listen(lambda: self._count("recalls"))

    @property
    def is_full(self) -> bool:
        return len(self._pages) >= MOST

    @property
    def counts(self) -> str:
        """What has happened up to now, as JSON: a page says it, and events tell of more."""
        return json.dumps({"run": self._run, **self._counts})

    def close(self) -> None:
        """Let go of the pages, so that the server can stop."""
        self._closed = True
        self.wake()

    async def events(self, may_know: Callable[[], bool]) -> AsyncIterator[str]:
        """Events for one page (``text/event-stream``), while it may know of them."""
        changed = asyncio.Event()
        self._pages.add(changed)
        loop = asyncio.get_running_loop()
        end = loop.time() + self.lifetime
        try:
            yield "retry: 1000\n"
            while not self._closed and may_know():
                changed.clear()
                yield f"data: {self.counts}\n\n"
                while not changed.is_set():
                    if (left := end - loop.time()) <= 0:
                        return
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), min(HEARTBEAT, left))
                    yield ": still here\n\n"
                if not self._closed and may_know():
                    await asyncio.sleep(PACE)
        finally:
            self._pages.discard(changed)

    def _follow(self, event: object) -> None:
        self._count("messages" if isinstance(event, model.Message) else "changes")

    def _count(self, what: str) -> None:
        self._counts[what] += 1
        self.wake()

    def wake(self) -> None:
        """Have every page looked at anew."""
        for page in self._pages:
            page.set()


@routes.get("/api/v1/events/now")
async def so_far(request: Request) -> Response:
    """What has happened up to now, for who cannot be told of more."""
    return Response(request.app.state.live.counts, media_type="application/json")


@routes.get("/api/v1/events")
async def events(request: Request) -> Response:
    """Tell a page when there is something new."""
    live: Live = request.app.state.live
    keyring: Keyring = request.app.state.keyring
    if live.is_full:
        return problem(503, "too many pages are open")
    login: str = request.state.login
    told = live.events(lambda: keyring.access.has(login))
    return StreamingResponse(told, media_type="text/event-stream")
