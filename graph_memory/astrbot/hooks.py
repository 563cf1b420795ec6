"""AstrBot's hooks: store messages, add memories to requests, obey control words.

What a model wrote is in the history before any hook is asked, so each place is cleaned by
itself: the response, the result, and the history when the run is done. AstrBot saves no
turn without an answer, so a silent reply is a remark in the history.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from typing import Any

from astrbot.api.event import MessageChain
from astrbot.api.message_components import Plain
from astrbot.core.agent.message import TextPart

from ..companion import Reply, Word, neutral, read, unasked
from ..errors import JournalError
from ..locales import in_all, say
from ..model import BOT, Turn
from ..recall import RecallOptions
from ..retention import DAY
from ..service import MemoryService
from ..transfer.sources.astrbot_history import is_said
from .adapter import DEPARTURE, RETRACTIONS, EventState, Host, state_of
from .handlers import is_command, is_off
from .providers import answer_of
from .speech import speech

logger = logging.getLogger("graph_memory.plugin")

PURPOSE = "continue"
ASK_TIMEOUT = 60.0
"""Seconds for which a user's next message may wait for the end of this one's answer."""
LOOK_TIMEOUT = 1.0
"""Seconds for which an answer may wait for a disk that does not move."""


def about(hook: Callable[..., object]) -> str:
    """What a hook does, in both languages, as AstrBot lists it."""
    return " · ".join(in_all(f"hook.{hook.__name__}").values())


async def hear(host: Host, memory: MemoryService, event: Any) -> None:
    """Keep a message that is neither a command nor a notice."""
    own = event.get_platform_name(), str(event.get_self_id() or "")
    if memory.now() - memory.instances.seen.get(own, 0.0) > DAY:
        with contextlib.suppress(JournalError):  # which is no reason not to hear
            await memory.instances.register(*own)
    notice = host.notice(event)
    if notice in RETRACTIONS and (retracted := await host.retracted(event)):
        await memory.library.retract(*retracted)
        return
    if event.get_extra("handlers_parsed_params"):  # a command of some plugin
        return
    if event.is_at_or_wake_command and memory.recall.embeds_beside:
        memory.recall.expect(speech(event, ours=host.ours.get(own[0], ())).text)
    turn = await host.turn(event)
    if turn is None or (
        turn.is_shared and _is_for_another(event, turn) and is_command(event, turn.text)
    ):
        return
    prepare(host, memory, event, turn)
    if notice == DEPARTURE:
        await memory.journal.leave(turn.session.circle, turn.user, time.time())
    elif event.message_str.strip():
        message = await memory.hear(turn)
        state_of(event).turn = replace(turn, message=message)
        if message is None:
            await memory.companion.proactive.overtake(turn.session)
    elif event.get_messages():
        await memory.companion.proactive.overtake(turn.session)


def _is_for_another(event: Any, turn: Turn) -> bool:
    """Whether another bot of ours is mentioned, and not the one that hears it."""
    return not event.is_at_or_wake_command and any(one.user == BOT for one in turn.to)


async def remind(host: Host, memory: MemoryService, event: Any, request: Any) -> None:
    """Put what is relevant before the model."""
    turn = None if is_off(event) else await host.turn(event, request)
    if turn is None:
        return
    prompt = request.prompt or ""  # of a file alone it is AstrBot's, not said by anybody
    turn = replace(turn, text=turn.text or (prompt if is_said(prompt) else ""))
    memory.recall.expect(turn.text)
    host.offer_tools(request)
    teach(memory, event, request, turn)
    message = turn.message
    if message and message.session != turn.session.id:
        with contextlib.suppress(JournalError):  # which is no reason not to remember
            await memory.journal.retag(message.id, turn.session)
    context, previous = host.context_of(request)
    lead = await memory.companion.lead(turn, memory.references.citing(turn))
    recall = await memory.recall.remind(
        turn.asker,
        turn.text,
        RecallOptions(
            context=context,
            previous=previous,
            exclude=turn.ids,
            lead=lead.paragraphs,
            records=lead.records,
            profile=not lead.has_profile,
            message=message.id if message else 0,
        ),
    )
    if recall.block:
        host.inject(event, request, recall.block)


async def reply(host: Host, memory: MemoryService, event: Any, response: Any) -> None:
    """Keep the bot's answer as context; a run of AstrBot's own (cron) asked nothing.

    Of a run that was stopped AstrBot makes a line of its own the answer, and sends nothing.
    """
    turn, said = state_of(event).turn, heed(event, response)
    if turn is None or response.role != "assistant" or not await stands(memory, turn):
        return
    if said.text and not said.is_silent and is_said(said.text):
        await memory.learning.reply(turn.session, said.text, to=turn.user)
    if said.intent:
        await memory.companion.proactive.plan(turn.session, turn.user, said.intent)


def prepare(host: Host, memory: MemoryService, event: Any, turn: Turn) -> None:
    """Have the answer whole before any of it is sent, if it may hold control words."""
    if memory.companion.words(turn.session) and host.is_local(event.unified_msg_origin):
        event.set_extra("enable_streaming", False)
        state_of(event).is_whole = True


def teach(memory: MemoryService, event: Any, request: Any, turn: Turn) -> None:
    """Tell the model of the words that are on; what others typed is made plain text."""
    state = state_of(event)
    # Somebody else may have turned streaming on again.
    is_whole = state.is_whole and event.get_extra("enable_streaming") is False
    words = memory.companion.words(turn.session) if is_whole else None
    if not words or event.get_extra("action_type") == "live":
        return
    # A reply of nothing but words is a silent one, whichever they are.
    state.words = words | {Word.SILENCE}
    language = memory.settings.language
    state.silent = say(language, "control_silent")
    lines = [say(language, "control_intro")]
    lines += [say(language, f"control_{word.name.lower()}") for word in Word if word in words]
    request.system_prompt = "\n\n".join(filter(None, [request.system_prompt, "\n".join(lines)]))
    request.prompt = request.prompt and neutral(request.prompt)
    for part in request.extra_user_content_parts:
        if isinstance(part, TextPart):
            part.text = neutral(part.text)


def heed(event: Any, response: Any) -> Reply:
    """What the model says and wants; the response is left with what it says."""
    text, state = response.completion_text or "", state_of(event)
    if not state.words or response.role != "assistant":
        return Reply(text)
    state.reply = reply = read(text, state.words)
    if reply.words:
        response.completion_text = reply.text or Word.SILENCE.value
    return reply


async def settle(host: Host, memory: MemoryService, event: Any, run: Any, *_: Any) -> None:
    """Take control words out of the history."""
    state = state_of(event)
    if not state.words:
        return
    state.run = run
    for message in takewhile(lambda each: each.role != "user", reversed(run.messages)):
        if message.role == "assistant":
            content = message.content
            if isinstance(content, str):
                message.content = _left(content, state)
            for part in content if isinstance(content, list) else ():
                if isinstance(part, TextPart):
                    part.text = _left(part.text, state)


def _left(text: str, state: EventState) -> str:
    """What the history holds of what the model said."""
    reply = read(text, state.words)
    return reply.text or state.silent if reply.words else text


async def decorate(host: Host, memory: MemoryService, event: Any) -> None:
    """Let no control word be sent, and nothing where nothing is left."""
    words, result = state_of(event).words, event.get_result()
    if not words or result is None:
        return
    kept: list[Any] = []
    for part in result.chain:
        if isinstance(part, Plain):
            reply = read(part.text, words)
            if reply.is_silent:
                continue
            part.text = reply.text
        kept.append(part)
    result.chain = kept


async def stands(memory: MemoryService, turn: Turn) -> bool:
    """Whether what is answered is there still, and was to be kept."""
    message = turn.message
    if not message:
        return memory.declines(turn) is None
    try:
        async with asyncio.timeout(LOOK_TIMEOUT):
            return await memory.journal.read(lambda rows: rows.has_messages([message.id]))
    except TimeoutError:
        return True  # it was there when it was heard; storing the answer has a limit of its own


async def go_on(host: Host, memory: MemoryService, event: Any) -> None:
    """Let the model add one message if it wants to; what was said is sent by now."""
    state = state_of(event)
    turn, reply, run = state.turn, state.reply, state.run
    if not turn or not reply or not run or Word.WANT_MORE not in reply.words:
        return
    state.reply = None  # once
    if reply.is_silent or memory.spending.blocked_for or not await stands(memory, turn):
        return
    if not (more := await _more(host, memory, event, run)):
        return
    await event.send(MessageChain().message(more))
    _append(run, more)
    await memory.learning.reply(turn.session, more, to=turn.user)


async def _more(host: Host, memory: MemoryService, event: Any, run: Any) -> str:
    """What the model adds; empty if nothing."""
    provider = await host.current_chat_provider(event.unified_msg_origin)
    nudge = say(memory.settings.language, "control_more")
    said = [
        message.model_copy(deep=True)
        for message in run.messages
        if message.role != "tool" and not message.tool_calls
    ]
    try:
        async with asyncio.timeout(ASK_TIMEOUT):
            answer = await host.generate(provider, "", nudge, after=said)
    except Exception as error:  # whatever the provider's SDK raises: one message fewer
        logger.info("the model could not be asked to go on: %r", error)
        return ""
    told = answer_of(answer)
    memory.spending.add(PURPOSE, told.tokens_in, told.tokens_out)
    return unasked(told.text) if answer.role == "assistant" else ""


def _append(run: Any, more: str) -> None:
    """Make both messages one in the history; two answers in a row upset some models."""
    last = run.messages[-1]
    if isinstance(last.content, str):
        last.content = f"{last.content}\n\n{more}"
        return
    parts = [part for part in last.content or () if isinstance(part, TextPart)]
    if parts:
        parts[-1].text = f"{parts[-1].text}\n\n{more}"
