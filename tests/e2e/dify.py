"""A Dify server that answers on loopback and keeps what it was asked."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from .harness import LoopbackServer

OUTPUT = "astrbot_wf_output"
"""The workflow's output that AstrBot reads unless told otherwise."""


class FakeDify(LoopbackServer):
    """Chat app and workflow at once; each request's JSON is in ``asked``."""

    def __init__(self) -> None:
        super().__init__({"chat-messages": self._chat, "workflows/run": self._workflow})
        self.asked: list[dict[str, Any]] = []

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        conversation = body.get("conversation_id") or f"conversation-{len(self.asked)}"
        return await _events(
            request,
            {"event": "message", "answer": "Dify 的回答", "conversation_id": conversation},
            {"event": "message_end", "conversation_id": conversation},
        )

    async def _workflow(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        outcome = {
            "status": "succeeded", "error": None, "outputs": {OUTPUT: "工作流的回答"}, "files": [],
        }  # fmt: skip
        return await _events(
            request,
            {"event": "workflow_started", "workflow_run_id": "run"},
            {"event": "workflow_finished", "workflow_run_id": "run", "data": outcome},
        )


async def _events(request: web.Request, *events: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        await response.write(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
    await response.write_eof()
    return response
