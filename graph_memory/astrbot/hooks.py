"""AstrBot's hooks: store messages, add memories to requests, store replies."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import Any

from ..errors import JournalError
from ..recall import RecallOptions
from ..service import MemoryService
from ..turn import Turn
from .adapter import TURN, Host
from .control import decorate, go_on, heed, prepare, settle, stands, teach

__all__ = ["decorate", "go_on", "hear", "remind", "reply", "settle"]


async def hear(host: Host, memory: MemoryService, event: Any) -> None:
    """Keep a message that is neither a command nor a notice."""
    if retracted := await host.retracted(event):
        await memory.library.retract(*retracted)
        return
    turn = None if host.is_command(event) else await host.turn(event)
    if turn is None:
        return
    prepare(host, memory, event, turn)
    if host.is_departure(event):
        await memory.journal.leave(turn.session.circle, turn.user, time.time())
    elif event.message_str.strip():
        message = await memory.learning.hear(turn)
        event.set_extra(TURN, replace(turn, message=message))


async def remind(host: Host, memory: MemoryService, event: Any, request: Any) -> None:
    """Put what is relevant before the model."""
    turn = await host.turn(event, request)
    if turn is None:
        return
    teach(memory, event, request, turn)
    message = turn.message
    if message and message.session != turn.session.id:
        with contextlib.suppress(JournalError):  # which is no reason not to remember
            await memory.journal.retag(message.id, turn.session)
    turn = replace(turn, text=turn.text or request.prompt or "")
    context, previous = host.context_of(request)
    lead = await memory.companion.lead(turn, memory.references.citing(turn))
    recall = await memory.recall.remind(
        turn.asker,
        turn.text,
        RecallOptions(
            context=context,
            previous=previous,
            exclude=(message.id,) if message else (),
            where=turn.session.umo,
            lead=lead.lines,
            profile=not lead.has_profile,
        ),
    )
    if recall.block:
        host.inject(event, request, recall.block)


async def reply(memory: MemoryService, event: Any, response: Any) -> None:
    """Keep the bot's answer as context; a run of AstrBot's own (cron) asked nothing."""
    turn: Turn | None = event.get_extra(TURN)
    said = heed(event, response)
    if turn is None or response.role != "assistant" or not await stands(memory, turn):
        return
    if said.text and not said.is_silent:
        await memory.learning.reply(turn.session, said.text, to=turn.user)
    if said.intent:
        await memory.companion.proactive.plan(turn.session, turn.user, said.intent)
