"""Page in AstrBot's dashboard (``pages/memory/``) that leads to the web UI.

AstrBot shows the page in a frame that may open no windows, so it is a signpost: the
address, whether the web UI is there, and how much is remembered. The key never goes this
way. AstrBot keeps the route when the plugin is switched off, so it answers then, too.
"""

from __future__ import annotations

import ipaddress
import logging
from typing import TYPE_CHECKING, Any

from astrbot.api.web import json_response

if TYPE_CHECKING:
    from .runtime import Runtime

logger = logging.getLogger("graph_memory.plugin")

NAME = "astrbot_plugin_graph_memory"
"""What AstrBot calls the plugin."""
ROUTE = f"/{NAME}/page"
SHOWN = ("fact", "messages")
"""What is counted on the page."""


def address(host: str, port: int) -> str:
    """Where somebody at this machine finds the web UI that listens on ``host``."""
    interface = ipaddress.ip_address(host)
    if interface.is_unspecified:
        return f"http://127.0.0.1:{port}"
    return f"http://[{host}]:{port}" if interface.version == 6 else f"http://{host}:{port}"


def register(runtime: Runtime, context: Any) -> None:
    """Let the dashboard's page ask how the memory page is doing.

    Args:
        context: AstrBot's ``Context``; a route that is there already is replaced.
    """

    async def answer(*_: Any, **__: Any) -> Any:
        return json_response(await state(runtime))

    if hasattr(context, "register_web_api"):
        context.register_web_api(ROUTE, answer, ["GET"], "GraphMemory: where its memory page is")


async def state(runtime: Runtime) -> dict[str, Any]:
    """What the page shows: plain data, without the key and without anybody's words."""
    memory, settings = runtime.memory, runtime.settings
    counts: dict[str, int] = {}
    if memory:
        try:
            known = (await memory.health()).counts
            counts = {name: known.get(name, 0) for name in SHOWN}
        except Exception as error:  # it is being closed, or the disk is stuck
            logger.debug("no figures for the dashboard's page: %s", error)
    return {
        "address": runtime.page,
        "exposed": settings.is_page_exposed,
        "off": not settings.webui_port,
        "problem": memory.problems.get("webui", "") if memory else runtime.problem,
        "counts": counts,
    }
