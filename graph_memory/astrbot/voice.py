"""Speaking first: AstrBot's chats as the companion's ``Voice``."""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager
from typing import Any

from astrbot.api.event import MessageChain
from astrbot.core.utils.session_lock import session_lock_manager

from ..locales import say
from ..model import Session
from .adapter import Host

logger = logging.getLogger("graph_memory.plugin")


class AstrBotVoice:
    """Sends messages that answer nothing.

    Args:
        context: AstrBot's ``Context``.
        language: Of what stands in the history for a user who said nothing.
    """

    def __init__(self, context: Any, host: Host, language: str) -> None:
        self._context = context
        self._host = host
        self._language = language

    async def persona(self, session: Session) -> str | None:
        """The prompt of a Session's persona; ``None`` if another one is on there now."""
        await self._host.providers_ready()
        platform = session.circle.split(":", 1)[0]
        persona, prompt = await self._host.persona_at(session.umo, platform)
        return prompt if persona == session.persona else None

    def turn(self, session: Session) -> AbstractAsyncContextManager[None]:
        """AstrBot's own lock: it reads and writes the history of a chat under it."""
        lock: AbstractAsyncContextManager[None] = session_lock_manager.acquire_lock(session.umo)
        return lock

    async def say(self, session: Session, text: str) -> bool:
        """Send a message and let it be part of AstrBot's conversation."""
        try:
            sent = await self._context.send_message(session.umo, MessageChain().message(text))
        except Exception as error:  # whatever an adapter raises
            logger.info("a message could not be sent: %r", error)
            return False
        if sent:
            await self._note(session, text)
        return bool(sent)

    async def _note(self, session: Session, text: str) -> None:
        manager = self._context.conversation_manager
        try:
            current = await manager.get_curr_conversation_id(session.umo)
            if current:
                await manager.add_message_pair(
                    current,
                    {"role": "user", "content": say(self._language, "care_turn")},
                    {"role": "assistant", "content": text},
                )
        except Exception as error:  # it is said, and in the journal
            logger.warning("AstrBot's history does not have what was said first: %r", error)
