"""Page in AstrBot's dashboard (``pages/memory/``), which shows the web UI.

AstrBot shows the page in a frame without cookies and with a bridge to routes of ours, which it
lets only who is logged in to the dashboard ask. The key never goes this way. AstrBot keeps the
routes when the plugin is switched off, so they answer then, too.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from astrbot.api.web import json_response, request

from ..locales import explain

if TYPE_CHECKING:
    from .runtime import Runtime

NAME = "astrbot_plugin_graph_memory"
"""What AstrBot calls the plugin."""
ROUTE = f"/{NAME}/page"
PASSED = f"/{NAME}/web"
TAKEN, GIVEN = f"/{NAME}/imports/<proof>", f"/{NAME}/exports/<name>"
PIECE = 1 << 16


def address(host: str, port: int) -> str:
    """Where somebody at this machine finds the web UI that listens on ``host``."""
    interface = ipaddress.ip_address(host)
    if interface.is_unspecified:
        return f"http://127.0.0.1:{port}"
    return f"http://[{host}]:{port}" if interface.version == 6 else f"http://{host}:{port}"


def register(runtime: Runtime, context: Any) -> None:
    """Let the dashboard's page ask for ours, and how they are doing.

    Args:
        context: AstrBot's ``Context``; a route that is there already is replaced.
    """

    async def answer(*_: Any, **__: Any) -> Any:
        return json_response(state(runtime))

    async def passed(*_: Any, **__: Any) -> Any:
        asked = await request.json()
        if runtime.web is None or not isinstance(asked, dict):
            return json_response({"status": 503, "text": ""})
        return json_response(await runtime.web.door.ask(asked))

    async def taken(proof: str = "", **_: Any) -> Any:
        sent = (await request.files()).get("file")
        if runtime.web is None or sent is None:
            return json_response({"status": 503, "text": ""})
        name, body = sent.filename or "", _read(sent)
        return json_response(await runtime.web.door.take(name, proof, body))

    async def given(name: str = "", **_: Any) -> Any:
        web = runtime.web
        return json_response({}, status_code=503) if web is None else web.door.give(name)

    context.register_web_api(TAKEN, taken, ["POST"], "GraphMemory: a file for an import")
    context.register_web_api(GIVEN, given, ["GET"], "GraphMemory: an export")
    context.register_web_api(PASSED, passed, ["POST"], "GraphMemory: its memory page")
    context.register_web_api(ROUTE, answer, ["GET"], "GraphMemory: where its memory page is")


async def _read(sent: Any) -> AsyncIterator[bytes]:
    while piece := await sent.read(PIECE):
        yield piece


def state(runtime: Runtime) -> dict[str, Any]:
    """Why there is no page: plain data, without the key and without anybody's words."""
    memory, settings, problem = runtime.memory, runtime.settings, runtime.problem
    if memory and (wrong := memory.problems.get("webui")):
        problem = explain(settings.language, wrong)
    return {"off": not settings.webui_port, "problem": problem}
