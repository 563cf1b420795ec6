"""What AstrBot knows that an import needs, and files that are sent to people."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from astrbot.api.message_components import File, Plain
from astrbot.core.utils.astrbot_path import get_astrbot_data_path

from ..commands.memory_commands import Commands
from ..commands.transfers import ExportAnswer, ImportEnvironment
from ..model import NO_PERSONA
from ..turn import Turn

logger = logging.getLogger("graph_memory.astrbot")

DATABASE = "data_v4.db"
SEND_FILES = frozenset({"aiocqhttp", "telegram", "discord", "slack", "lark", "webchat"})
"""Platforms on which AstrBot can send a file."""

Ask = Callable[[Any, Callable[[Commands, Turn], Awaitable[str]]], Awaitable[str]]


async def surroundings(context: Any, event: Any) -> ImportEnvironment:
    """What AstrBot knows about its platforms, its history and its personas."""
    metas = [each.meta() for each in context.platform_manager.platform_insts]
    umo = f"{event.get_platform_id()}:FriendMessage:"
    persona, *_ = await context.persona_manager.resolve_selected_persona(
        umo=umo,
        conversation_persona_id=None,
        platform_name=event.get_platform_name(),
        provider_settings=context.get_config(umo).get("provider_settings", {}),
    )
    path = Path(get_astrbot_data_path()) / DATABASE
    own = str(event.get_self_id() or "")
    return ImportEnvironment(
        astrbot=path if path.is_file() else None,
        platforms={str(meta.id): str(meta.name) for meta in metas},
        persona=persona or NO_PERSONA,
        bots=frozenset({own} if own else ()),
    )


async def hand_over(ask: Ask, event: Any, what: str) -> str:
    """Answer ``/memory export`` and send the file, which is deleted then.

    Returns:
        What is left to say; empty if nothing is.
    """
    taken = ExportAnswer("")

    async def export(commands: Commands, turn: Turn) -> str:
        nonlocal taken
        taken = await commands.exports.export(turn, what)
        return taken.text

    text = await ask(event, export)
    path = taken.path
    if path is None:
        return text
    if event.get_platform_name() in SEND_FILES:
        try:
            await event.send(
                event.chain_result([Plain(text), File(name=path.name, file=str(path))])
            )
        except Exception as error:  # whatever an adapter makes of it
            logger.warning("a file could not be sent: %s", error)
        else:
            await asyncio.to_thread(path.unlink, True)
            return ""
    return await ask(event, lambda commands, turn: commands.exports.unsent(turn, path))
