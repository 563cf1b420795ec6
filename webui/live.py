"""Marks of what was said, learned and recalled last, for pages that look for news.

What is new is read by the page anew.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter

from fastapi import APIRouter, Request
from starlette.responses import Response

from .core import queries, service

routes = APIRouter()


class Live:
    """Knows what happened last to a memory."""

    def __init__(self, memory: service.MemoryService) -> None:
        self._memory, self._run, self._recalls = memory, secrets.token_hex(4), Counter[str]()
        memory.recall.traces.listen(lambda: self._recalls.update(["all"]))

    async def marks(self) -> str:
        """What happened last, as JSON; a restart alters ``run``, and ``recalls`` with it."""
        newest = await self._memory.journal.look(queries.newest)
        recalls = f"{self._run} {self._recalls.total()}"
        return json.dumps({"run": self._run, **newest, "recalls": recalls})


@routes.get("/api/v1/events/now")
async def so_far(request: Request) -> Response:
    """What has happened up to now."""
    return Response(await request.app.state.live.marks(), media_type="application/json")
