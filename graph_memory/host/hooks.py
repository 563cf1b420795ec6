"""What the plugin's hooks do: hear what is said, remind the model, keep its answer."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from ..chat.commands import Caller, Commands
from ..errors import JournalError
from ..service import MemoryService
from .astrbot import Host
from .control import decorate, go_on, heed, prepare, settle, stands, teach
from .speech import speech

__all__ = ["decorate", "go_on", "hear", "remind", "reply", "settle"]


async def hear(host: Host, memory: MemoryService, event: Any) -> None:
    """Keep a message that is neither a command nor a notice."""
    if recalled := await host.recalled(event):
        await memory.library.retract(*recalled)
        return
    caller = await host.caller(event)
    if caller is None or host.is_command(event):
        return
    prepare(host, memory, event, caller)
    if host.is_departure(event):
        await memory.journal.leave(caller.session.circle, caller.user, time.time())
    elif event.message_str.strip():
        await memory.companion.attend(caller.session)
        said = speech(event)
        message = await memory.learning.hear(
            caller.session,
            caller.user,
            caller.name,
            said.text,
            ref=host.reference(event),
            to=said.to,
            quote=said.quote,
        )
        event.set_extra("graph_memory_message", message)


async def remind(
    host: Host, memory: MemoryService, commands: Commands, event: Any, request: Any
) -> None:
    """Put what is relevant before the model."""
    caller = await host.caller(event, request)
    if caller is None:
        return
    event.set_extra("graph_memory_caller", caller)
    teach(memory, event, request, caller)
    message = event.get_extra("graph_memory_message")
    if message and message.session != caller.session.id:
        await memory.companion.attend(caller.session)
        with contextlib.suppress(JournalError):  # which is no reason not to remember
            await memory.journal.retag(message.id, caller.session)
    text = speech(event).text or request.prompt or ""
    context, previous = host.context_of(request)
    recall = await memory.recall.remind(
        caller.asker,
        text,
        context=context,
        previous=previous,
        exclude=(message.id,) if message else (),
        where=caller.session.umo,
        lead=commands.keepsakes.lead(caller, text, message),
        profile=not memory.companion.has_profile(caller.asker, caller.session),
    )
    if recall.block:
        host.inject(event, request, recall.block)


async def reply(memory: MemoryService, event: Any, response: Any) -> None:
    """Keep the bot's answer as context; a run of AstrBot's own (cron) asked nothing."""
    caller: Caller | None = event.get_extra("graph_memory_caller")
    said = heed(event, response)
    if caller is None or response.role != "assistant" or not await stands(memory, event):
        return
    if said.text and not said.is_silent:
        await memory.learning.reply(caller.session, said.text, to=caller.user)
    if said.intent:
        await memory.companion.care.plan(caller.session, caller.user, said.intent)
