"""AstrBot's way of handling a message, in this process, down to the bytes that go out.

Event, request, tool loop and the adapter that speaks to the model are AstrBot's own; the
network ends at a transport that notes what it is handed. Handlers are called as they are
registered, in AstrBot's order.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
from astrbot.api.event import MessageChain, MessageEventResult
from astrbot.api.message_components import At, Plain
from astrbot.core.agent.hooks import BaseAgentRunHooks
from astrbot.core.agent.message import dump_messages_with_checkpoints
from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.agent.runners.tool_loop_agent_runner import ToolLoopAgentRunner
from astrbot.core.agent.tool import ToolSet
from astrbot.core.astr_agent_tool_exec import FunctionToolExecutor
from astrbot.core.db.po import Conversation
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.platform.astrbot_message import AstrBotMessage, MessageMember
from astrbot.core.platform.message_type import MessageType
from astrbot.core.platform.platform_metadata import PlatformMetadata
from astrbot.core.provider.entities import LLMResponse, ProviderRequest
from astrbot.core.provider.sources.openai_source import ProviderOpenAIOfficial
from astrbot.core.star.context import Context
from astrbot.core.star.star_handler import EventType, star_handlers_registry
from openai import AsyncOpenAI

from ..e2e.harness import ChatCall, ToolCall

BOT = "10000"
PLATFORM = PlatformMetadata("aiocqhttp", "", "qq")
PERSONA = "你是小梅，说话简短。"
CHAT, LEARN = "chat", "learn"
CIRCLES = ("aiocqhttp:private:1", "aiocqhttp:private:3", "aiocqhttp:group:100")
"""Where is talked."""
Answers = Callable[[ChatCall], str | ToolCall]


class Wire(httpx.AsyncBaseTransport):
    """The end of the line: notes every request, and answers it.

    Attributes:
        sent: All there was of each request, in order.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.sent: list[bytes] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        head = "".join(f"{name}: {value}\n" for name, value in sorted(request.headers.items()))
        self.sent.append(f"{request.method} {request.url}\n{head}\n".encode() + body)
        call = ChatCall(json.loads(body))
        message = self._message(self._answers(call))
        if not call.stream:
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return httpx.Response(200, json=self._completion(choices=[choice]))
        delta = {**message, "tool_calls": [{"index": 0, **c} for c in message["tool_calls"]]}
        lines = [
            self._completion(choices=[{"index": 0, "delta": each, "finish_reason": reason}])
            for each, reason in ((delta, None), ({}, "stop"))
        ]
        text = "".join(f"data: {json.dumps(line)}\n\n" for line in lines)
        return httpx.Response(
            200,
            headers={"Content-Type": "text/event-stream"},
            content=f"{text}data: [DONE]\n\n".encode(),
        )

    def _completion(self, **more: Any) -> dict[str, Any]:
        kind = "chat.completion.chunk" if "delta" in more["choices"][0] else "chat.completion"
        return {"id": "1", "created": 1, "model": "m", "object": kind, **more}

    def _message(self, answer: str | ToolCall) -> dict[str, Any]:
        if isinstance(answer, str):
            return {"role": "assistant", "content": answer, "tool_calls": []}
        function = {
            "name": answer.name,
            "arguments": json.dumps(answer.arguments, ensure_ascii=False),
        }
        call = {"id": f"call_{len(self.sent)}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def provider(id: str, wire: Wire) -> ProviderOpenAIOfficial:
    """AstrBot's adapter for models behind OpenAI's interface, at the end of a wire."""
    url = f"http://{id}.test/v1"
    found = ProviderOpenAIOfficial(
        {"id": id, "type": "openai_chat_completion", "key": ["k"], "api_base": url, "model": id},
        {},
    )
    found.client = AsyncOpenAI(
        api_key="k", base_url=url, max_retries=0, http_client=httpx.AsyncClient(transport=wire)
    )
    return found


class Event(AstrMessageEvent):  # type: ignore[misc]
    """A message that somebody writes; notes what is sent in answer."""

    def __init__(self, message: AstrBotMessage, sent: list[str]) -> None:
        super().__init__(message.message_str, message, PLATFORM, message.session_id)
        self.is_wake = self.is_at_or_wake_command = True
        self._sent = sent

    async def send(self, message: MessageChain) -> None:
        self._sent.append(message.get_plain_text())


@dataclass
class Pipeline:
    """One AstrBot with the plugin; see :func:`running`.

    Attributes:
        main: The plugin's ``main.py``.
        sent: What people were sent, in order.
        histories: What AstrBot keeps of each conversation.
        is_streaming: Whether answers are wanted as streams.
    """

    main: ModuleType
    plugin: Any
    wire: Wire
    chat: ProviderOpenAIOfficial
    tools: list[Any]
    clock: list[float]
    sent: list[str] = field(default_factory=list)
    histories: dict[str, list[Any]] = field(default_factory=dict)
    is_streaming: bool = True
    _messages: int = 0

    def event(self, account: str, name: str, text: str, group: str = "") -> Event:
        """Somebody writes to the bot."""
        self._messages += 1
        message = AstrBotMessage()
        message.type = MessageType.GROUP_MESSAGE if group else MessageType.FRIEND_MESSAGE
        message.self_id, message.message_id = BOT, str(self._messages)
        message.session_id = group or account
        message.sender = MessageMember(account, name)
        message.message_str = text
        message.message = [*([At(qq=BOT)] if group else []), Plain(text)]
        message.raw_message = {}
        message.group_id = group
        return Event(message, self.sent)

    async def say(self, account: str, name: str, text: str, group: str = "") -> None:
        """Somebody says something, and the model answers."""
        event = self.event(account, name, text, group)
        await self._call(EventType.AdapterMessageEvent, event, only="hear")
        await self.settled()
        umo = event.unified_msg_origin
        request = ProviderRequest(
            prompt=text,
            session_id=umo,
            system_prompt=PERSONA,
            contexts=json.loads(json.dumps(self.histories.setdefault(umo, []))),
            func_tool=ToolSet(list(self.tools)),
            conversation=Conversation("qq", umo, f"c-{umo}", persona_id="mei"),
        )
        event.set_extra("provider_request", request)
        await self._call(EventType.OnLLMRequestEvent, event, request)
        await self._run(event, request)
        await self.settled()
        self.clock[0] += 30

    async def _run(self, event: Event, request: ProviderRequest) -> None:
        wanted = event.get_extra("enable_streaming")
        is_streamed = self.is_streaming if wanted is None else wanted
        runner: Any = ToolLoopAgentRunner()
        await runner.reset(
            provider=self.chat,
            request=request,
            run_context=ContextWrapper(context=SimpleNamespace(event=event)),
            tool_executor=FunctionToolExecutor(),
            agent_hooks=_Hooks(self._call),
            streaming=is_streamed,
        )
        async for _ in runner.step_until_done(5):
            pass
        response = runner.get_final_llm_resp()
        assert response.role == "assistant", response.completion_text
        await self._send(event, response, is_streamed)
        kept = [m for m in runner.run_context.messages if m.role != "system"]
        self.histories[event.unified_msg_origin] = dump_messages_with_checkpoints(kept)

    async def _send(self, event: Event, response: LLMResponse, is_streamed: bool) -> None:
        if is_streamed:
            self.sent.append(response.completion_text)
            return
        event.set_result(MessageEventResult(chain=[Plain(response.completion_text)]))
        await self._call(EventType.OnDecoratingResultEvent, event)
        if chain := event.get_result().chain:
            await event.send(MessageChain(chain))
            await self._call(EventType.OnAfterMessageSentEvent, event)

    async def command(self, account: str, name: str, command: str, text: str) -> None:
        """Somebody gives a command of the plugin's."""
        event = self.event(account, name, text)
        event.set_extra("handlers_parsed_params", {"text": text})
        await self._call(EventType.AdapterMessageEvent, event, only="hear")
        async for result in getattr(self.plugin, command)(event, text):
            self.sent.append(result.get_plain_text())
        await self.settled()

    async def learn(self) -> None:
        """Learn what was said, of one chat after the other."""
        memory = self.plugin.runtime.memory
        for circle in CIRCLES:
            await memory.learning.flush(circle)
        await memory.settle()

    async def settled(self) -> None:
        """Wait until what was said can be recalled."""
        await self.plugin.runtime.memory.settle()

    async def _call(self, type: EventType, event: Event, *given: Any, only: str = "") -> None:
        for handler in star_handlers_registry.get_handlers_by_module_name(self.main.__name__):
            if handler.event_type == type and only in ("", handler.handler_name):
                await handler.handler(self.plugin, event, *given)


class _Hooks(BaseAgentRunHooks):  # type: ignore[misc]
    """AstrBot's own, for the handlers of one plugin."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    async def on_agent_done(self, run_context: Any, llm_response: LLMResponse) -> None:
        event = run_context.context.event
        await self._call(EventType.OnLLMResponseEvent, event, llm_response)
        await self._call(EventType.OnAgentDoneEvent, event, run_context, llm_response)


@contextlib.asynccontextmanager
async def running(
    main: ModuleType,
    directory: Path,
    answers: Answers,
    clock: list[float],
    settings: dict[str, Any],
) -> AsyncIterator[Pipeline]:
    """The plugin in AstrBot.

    Args:
        main: Its ``main.py``.
        directory: Where its memory is.
        answers: What both models say.
        clock: What time it is, in seconds; ``time.time`` is to read it.
        settings: The plugin's.
    """
    wire = Wire(answers)
    models = {id: provider(id, wire) for id in (CHAT, LEARN)}
    tools: list[Any] = []
    plugin = main.GraphMemory(_context(models, tools), settings)
    plugin.runtime = main.host.Runtime(plugin.context, settings, lambda: directory, main.serve)
    await plugin.runtime.start(plugin.logger)
    assert plugin.runtime.memory, plugin.runtime.problem
    try:
        await plugin.loaded()
        pipeline = Pipeline(main, plugin, wire, models[CHAT], tools, clock)
        await pipeline.settled()
        yield pipeline
        assert plugin.runtime.memory.problems == {}
    finally:
        await plugin.terminate()
        for each in models.values():
            await each.client.close()


def _context(models: dict[str, ProviderOpenAIOfficial], tools: list[Any]) -> Any:
    """AstrBot's context, as far as the plugin asks it."""

    async def persona(**_: Any) -> tuple[str, dict[str, str], None, bool]:
        return "mei", {"prompt": PERSONA}, None, False

    async def nothing(*_: Any) -> None: ...

    async def by_id(id: str) -> Any:
        return models[id]

    async def using(_umo: str | None) -> Any:
        return models[CHAT]

    config = {
        "timezone": "Asia/Shanghai",
        "provider_settings": {},
        "agent_runner": {"runner_type": "local", "config": {}},
    }
    context = SimpleNamespace(
        get_all_providers=lambda: list(models.values()),
        get_all_embedding_providers=list,
        get_using_provider_async=using,
        get_config=lambda umo=None: config,
        add_llm_tools=lambda *given: tools.extend(given),
        persona_manager=SimpleNamespace(resolve_selected_persona=persona),
        conversation_manager=SimpleNamespace(get_curr_conversation_id=nothing),
        provider_manager=SimpleNamespace(get_provider_by_id=by_id),
    )
    context.llm_generate = lambda **asked: Context.llm_generate(context, **asked)
    return context
