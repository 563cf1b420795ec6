"""Counts of what is said, learned and recalled, for pages that look for news.

What is new is read by the page anew.
"""

from __future__ import annotations

import json
import secrets

from fastapi import APIRouter, Request
from starlette.responses import Response

from .core import model, service

routes = APIRouter()


class Live:
    """Counts what happens to a memory."""

    def __init__(self, memory: service.MemoryService) -> None:
        self._counts = {"messages": 0, "changes": 0, "recalls": 0}
        self._run = secrets.token_hex(4)  # after a restart everything may be new
        memory.journal.listen(self._follow)
        memory.recall.traces.listen(lambda: self._count("recalls"))

    @property
    def counts(self) -> str:
        """What has happened up to now, as JSON; a page says it and looks for more."""
        return json.dumps({"run": self._run, **self._counts})

    def _follow(self, event: object) -> None:
        self._count("messages" if isinstance(event, model.Message) else "changes")

    def _count(self, what: str) -> None:
        self._counts[what] += 1


@routes.get("/api/v1/events/now")
async def so_far(request: Request) -> Response:
    """What has happened up to now."""
    return Response(request.app.state.live.counts, media_type="application/json")
