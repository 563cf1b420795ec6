"""Adapter for AstrBot: who speaks where, and what can be asked of it.

Everything is read from AstrBot when it is needed, because providers come and go: there
are none yet when the plugin starts together with the bot, and saving one in the
dashboard replaces it.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from astrbot.api import FunctionTool, ToolSet
from astrbot.core.agent.message import TextPart
from astrbot.core.star.session_llm_manager import SessionServiceManager
from astrbot.core.star.session_plugin_manager import SessionPluginManager
from astrbot.core.utils.active_event_registry import active_event_registry
from astrbot.core.utils.astrbot_path import get_astrbot_data_path

from ..commands.transfers import ImportEnvironment
from ..companion import Reply, Word
from ..inference import ToolSchema
from ..model import NO_PERSONA, Session, Turn, persona_id, session_of, user_id, whole
from ..text import clean_name
from ..transfer.sources.astrbot_history import is_said
from .page import NAME
from .speech import speech

logger = logging.getLogger("graph_memory.astrbot")

T = TypeVar("T", bound=FunctionTool)

STATE = "graph_memory"
"""Where an event of AstrBot's keeps its :class:`EventState`."""
ATTEMPTS = 2
"""Requests per question to a chat model; learning has its own, patient retries."""
GET_TIMEOUT = 5.0
"""Seconds for asking the platform what a message said."""
LOOK_UPS = 3
"""Attempts to learn a chat's persona: a message is not heard without, and each waits half a minute
for a connection."""
PROVIDERS_TIMEOUT = 90.0
"""Seconds after the plugin's start in which AstrBot has its providers ready."""
COMMON_IDS = ("discord", "kook", "mattermost", "slack")
"""Platforms on which a message has one id, whichever account hears it."""
DATABASE = "data_v4.db"
_COMMAND = re.compile(r"(?<![\w/])/(?=(?:memory|记忆|persona|new|reset)\b)")
RETRACTIONS = ("group_recall", "friend_recall")
"""Notices that a message was taken back (撤回)."""
DEPARTURE = "group_decrease"
"""The notice that its sender left the group."""
READS_SYSTEM_PROMPT = ("deerflow",)
"""Runners besides AstrBot's own whose model is shown the system prompt of every request.

Coze is sent that of a conversation's first request, Dashscope none at all.
"""


@dataclass(slots=True)
class EventState:
    """What is known of one of AstrBot's events, from its message to the answer.

    Attributes:
        persona: Which one its conversation has, and which one answers for that.
        is_whole: Whether the answer comes in one piece, not streamed.
        words: The control words that the model was taught.
        silent: What stands in the history for an answer of nothing else.
        reply: What the model said, and ``run``, in which run of AstrBot's agent.
    """

    turn: Turn | None = None
    persona: tuple[str | None, str] = None, ""
    is_whole: bool = False
    words: frozenset[Word] = frozenset()
    silent: str = ""
    reply: Reply | None = None
    run: Any = None


def state_of(event: Any) -> EventState:
    """The state of an event, which keeps it."""
    state: EventState | None = event.get_extra(STATE)
    if state is None:
        state = EventState()
        event.set_extra(STATE, state)
    return state


@dataclass(eq=False)
class LookUp:
    """The last look-up of a chat's persona.

    Attributes:
        began: Its place in the order of all.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    began: int = -1
    found: tuple[Any, str, Any] = None, NO_PERSONA, None


class Host:
    """One AstrBot.

    Attributes:
        accounts: All accounts of the person whose account a user id is; who opens a memory
            puts its ``Identities.accounts`` here, and its ``Instances.accounts`` into ``ours``.
        ours: Accounts of bots that share the memory, by platform type.
        tools: What chat models are offered, first the one by which a persona chooses them.

    Args:
        context: AstrBot's ``Context``.
        by_account: Whether each account of ours has its private chats for itself.
    """

    def __init__(self, context: Any, *, by_account: bool = False) -> None:
        self._context = context
        self._by_account = by_account
        self.accounts: Callable[[str], frozenset[str]] = lambda user: frozenset((user,))
        self.ours: Mapping[str, Collection[str]] = {}
        self.tools: list[FunctionTool] = []
        self._lists = False
        self._order = count()
        self._looks = WeakValueDictionary[tuple[str, str], LookUp]()  # while anybody waits
        self._loaded = asyncio.Event()
        if context.get_all_providers() or context.get_all_embedding_providers():
            self._loaded.set()  # a hot reload: AstrBot has been up for long

    def loaded(self) -> None:
        """AstrBot has finished loading."""
        self._loaded.set()

    async def providers_ready(self) -> None:
        """Wait until AstrBot has its providers; at most ``PROVIDERS_TIMEOUT`` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PROVIDERS_TIMEOUT):
                await self._loaded.wait()
        self._loaded.set()

    @property
    def zone(self) -> tzinfo:
        """The time zone in AstrBot's settings, else the machine's."""
        name = self._context.get_config().get("timezone") or ""
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            if name:
                logger.warning("unknown time zone %r in AstrBot's settings", name)
            return datetime.now(UTC).astimezone().tzinfo or UTC

    def prefixed(self, event: Any, text: str) -> str:
        """A text whose commands begin as they have to where AstrBot is not woken by ``/``."""
        known = self._context.get_config(event.unified_msg_origin).get("wake_prefix", ["/"]) or [""]
        return text if "/" in known else _COMMAND.sub(lambda _: str(known[0]), text)

    # ------------------------------------------------------------ who and where

    async def turn(self, event: Any, request: Any = None, text: str | None = None) -> Turn | None:
        """The conversational turn of ``event``; worked out once, and kept with the event.

        Args:
            request: AstrBot's request to the model, which knows the persona best.
            text: The part of what is said that counts (behind a command, say).

        Returns:
            ``None`` if nobody speaks: a bot of ours, or a sender without an account.
        """
        turn = state_of(event).turn or await self._turn(event, request, text)
        if turn and request:
            persona = await self.persona(event, request)
            if persona != turn.session.persona:
                turn = replace(turn, session=self._session(event, persona))
        state_of(event).turn = turn
        return turn

    async def _turn(self, event: Any, request: Any, text: str | None) -> Turn | None:
        account, platform = event.get_sender_id(), event.get_platform_name()
        own, ours = str(event.get_self_id() or ""), self.ours.get(platform, ())
        if not account or account == own or account in ours:
            return None
        message = event.message_obj
        id = getattr(message, "message_id", None)
        user = user_id(platform, account)
        said = speech(event, text, ours)
        session = self._session(event, await self.persona(event, request))
        return Turn(
            session,
            user,
            clean_name(event.get_sender_name() or account),
            said.text,
            said.to,
            said.quote,
            whole(f"{id}@{getattr(message, 'timestamp', '')}") if id else "",
            own if own in ours and platform not in COMMON_IDS else "",
            session.is_group and len(ours) > 1,
            event.is_admin(),
            self.accounts(user),
        )

    def _session(self, event: Any, persona: str) -> Session:
        group, platform = str(event.get_group_id() or ""), event.get_platform_name()
        own = str(event.get_self_id() or "")
        title = getattr(getattr(event.message_obj, "group", None), "group_name", None)
        umo = str(event.unified_msg_origin)
        if group and event.get_session_id().endswith((f"_{group}", f"%{group}")):
            # Under ``unique_session`` AstrBot's own differs by sender.
            umo = f"{event.get_platform_id()}:{event.get_message_type().value}:{group}"
        return session_of(
            platform,
            group,
            event.get_sender_id(),
            persona,
            own if self._by_account and own in self.ours.get(platform, ()) else "",
            title=str((title if group else event.get_sender_name()) or ""),
            umo=umo,
        )

    async def persona(self, event: Any, request: Any = None) -> str:
        """Id of the persona that answers in this chat; ``[%None]`` if none does."""
        umo, platform = event.unified_msg_origin, event.get_platform_name()
        request = request or event.get_extra("provider_request")
        conversation = getattr(request, "conversation", None)
        wanted, persona = state_of(event).persona
        if not conversation:
            conversation, persona, _ = await self._look_up(umo, platform)
            wanted = conversation and conversation.persona_id
        elif not persona or wanted != conversation.persona_id:
            wanted = conversation.persona_id
            persona, _, _ = await self._resolve(umo, platform, wanted)
        state_of(event).persona = wanted, persona
        return persona

    async def speaks_at(self, umo: str) -> bool:
        """Whether the owner lets the model, and this plugin, speak in a chat."""
        config = self._context.get_config(umo)
        return (
            config.get("provider_settings", {}).get("enable", True)
            and not {"*", NAME}.isdisjoint(config.get("plugin_set", "*"))
            and await SessionServiceManager.is_session_enabled(umo)
            and await SessionServiceManager.is_llm_enabled_for_session(umo)
            and await SessionPluginManager.is_plugin_enabled_for_session(umo, NAME)
        )

    async def persona_at(self, umo: str, platform: str) -> tuple[str, str]:
        """Id and prompt of the persona of a chat in which nobody speaks now."""
        _, persona, about = await self._look_up(umo, platform)
        return persona, str((about or {}).get("prompt") or "")

    async def _look_up(self, umo: str, platform: str) -> tuple[Any, str, Any]:
        """A chat's conversation, the persona in effect, and its definition.

        All who wait are answered by the first look-up that begins after they came: in a flood
        AstrBot's database has no connection left for a second one each.
        """
        came, look = next(self._order), self._looks.setdefault((umo, platform), LookUp())
        attempts = 0
        while True:
            attempts += 1
            try:
                async with look.lock:
                    if look.began < came:
                        began, manager = next(self._order), self._context.conversation_manager
                        current = await manager.get_curr_conversation_id(umo)
                        found = await manager.get_conversation(umo, current) if current else None
                        wanted = found and found.persona_id
                        persona, _, about = await self._resolve(umo, platform, wanted)
                        look.began, look.found = began, (found, persona, about)
                    return look.found
            except Exception:  # whatever its database raises while it is busy
                if attempts == LOOK_UPS:
                    raise

    async def _resolve(self, umo: str, platform: str, wanted: str | None) -> tuple[str, bool, Any]:
        """The persona in effect, whether a session rule fixed it, and its definition."""
        found = await self._context.persona_manager.resolve_selected_persona(
            umo=umo,
            conversation_persona_id=wanted,
            platform_name=platform,
            provider_settings=self._context.get_config(umo).get("provider_settings", {}),
        )
        persona, definition, forced, *_ = found
        id = persona_id(persona) if persona and definition else persona or NO_PERSONA
        return id, bool(forced), definition

    def platforms(self) -> dict[str, str]:
        """Type of each of AstrBot's platforms, by its id."""
        metas = (each.meta() for each in self._context.platform_manager.platform_insts)
        return {str(meta.id): str(meta.name) for meta in metas}

    async def surroundings(self, event: Any) -> ImportEnvironment:
        """What AstrBot knows about its history, its personas and this bot."""
        umo = f"{event.get_platform_id()}:FriendMessage:"
        persona, _, _ = await self._resolve(umo, event.get_platform_name(), None)
        path = Path(get_astrbot_data_path()) / DATABASE
        own = {str(event.get_self_id() or ""), *self.ours.get(event.get_platform_name(), ())}
        return ImportEnvironment(
            astrbot=path if path.is_file() else None,
            persona=persona,
            bots=frozenset(own - {""}),
        )

    def notice(self, event: Any) -> str:
        """What the platform reports, :data:`DEPARTURE` say; empty if somebody speaks."""
        raw = getattr(event.message_obj, "raw_message", None)
        return str(raw.get("notice_type") or "") if isinstance(raw, Mapping) else ""

    async def retracted(self, event: Any) -> tuple[str, str, str, str] | None:
        """The message that a notice (撤回) says was taken back.

        Returns:
            Its chat window, the platform's id of it, and what it said if it was the
            bot's own, whose ids nobody knows; and whose id it is (see :class:`Turn`).
            ``None`` if this is no such notice.
        """
        kind = self.notice(event)
        id = event.message_obj.raw_message.get("message_id") if kind in RETRACTIONS else None
        if id is None:
            return None
        account, circle = event.get_sender_id(), self._session(event, NO_PERSONA).circle
        own, ours = str(event.get_self_id()), self.ours.get(event.get_platform_name(), ())
        is_own = kind == "friend_recall" or account == own
        words = await self._own_words(event, id) if is_own else ""
        return circle, whole(str(id)), words, own if own in ours else ""

    async def _own_words(self, event: Any, id: Any) -> str:
        """What a message of the bot's said, if the platform still knows."""
        try:
            async with asyncio.timeout(GET_TIMEOUT):
                own = str(event.get_self_id())
                found = await event.bot.call_action("get_msg", message_id=id, self_id=own)
            if str(found["sender"]["user_id"]) != own:
                return ""
            segments = [part for part in found["message"] if part.get("type") == "text"]
            return "".join(str(part["data"]["text"]) for part in segments)
        except Exception as error:  # whatever an adapter makes of it
            logger.debug("a retracted message of the bot's is not known any more: %s", error)
            return ""

    # ----------------------------------------------------------------- personas

    def personas(self) -> list[str]:
        """Ids of all personas."""
        return [persona["name"] for persona in self._context.persona_manager.personas_v3]

    async def set_persona(self, event: Any, persona: str) -> str | None:
        """Give the current conversation a persona (making one if there is none).

        Returns:
            The persona a session rule puts in its place; ``None`` if it took effect.
        """
        manager, umo = self._context.conversation_manager, event.unified_msg_origin
        conversation, _, _ = await self._look_up(umo, event.get_platform_name())
        if conversation is None:
            return await self.new_conversation(event, persona)
        await manager.update_conversation(umo, persona_id=persona)
        return await self._overruled(event, persona)

    async def new_conversation(self, event: Any, persona: str) -> str | None:
        """Start a conversation with a persona, as AstrBot's own ``/new`` does.

        Returns:
            As :meth:`set_persona`.
        """
        active_event_registry.stop_all(event.unified_msg_origin, exclude=event)
        # The group chat context of the old conversation goes with it.
        event.set_extra("_clean_group_context_session", True)
        await self._context.conversation_manager.new_conversation(
            event.unified_msg_origin, event.get_platform_id(), persona_id=persona
        )
        return await self._overruled(event, persona)

    async def _overruled(self, event: Any, persona: str) -> str | None:
        where = event.unified_msg_origin, event.get_platform_name()
        actual, forced, _ = await self._resolve(*where, persona)
        return actual if forced and actual != persona else None

    # ---------------------------------------------------------------- requests

    def inject(self, event: Any, request: Any, block: str) -> None:
        """Put ``block`` into a request, neither cached nor stored if possible."""
        runner, settings = self._runner(event.unified_msg_origin)
        if runner in READS_SYSTEM_PROMPT or (runner == "dify" and _takes_system_prompt(settings)):
            request.system_prompt = f"{request.system_prompt or ''}\n\n{block}".strip()
            return
        if runner != "local":
            # What the platform keeps of it stays in this chat, before the same people.
            # Without a text AstrBot asks about the picture, which must not be replaced.
            if request.prompt:
                request.prompt = f"{request.prompt}\n\n{block}"
            return
        request.extra_user_content_parts.append(TextPart(text=block).mark_as_temp())

    def list_tools(self) -> None:
        """Have AstrBot list the first of our tools, once a persona chooses its tools.

        It validates each that it lists anew for each request, which takes 5 to 10 ms.
        """
        personas = self._context.persona_manager.personas_v3
        if not self._lists and any(persona["tools"] is not None for persona in personas):
            self._context.add_llm_tools(self.tools[0])
            self._lists = True

    def offer_tools(self, request: Any) -> None:
        """Add our tools to a request; if AstrBot lists the first, where that is offered."""
        offered = request.func_tool
        if not self.tools or offered is None:
            return
        self.list_tools()
        first, *others = self.tools
        if not self._lists or offered.get_tool(first.name):
            for tool in others if self._lists else self.tools:
                offered.add_tool(tool)

    def is_local(self, umo: str) -> bool:
        """Whether AstrBot itself talks to the model, rather than Dify and the like."""
        return self._runner(umo)[0] == "local"

    def _runner(self, umo: str) -> tuple[str, Mapping[str, Any]]:
        """What runs the requests of a chat (``local``, ``dify``, …), and its settings."""
        config = self._context.get_config(umo)
        if runner := config.get("agent_runner"):
            return runner.get("runner_type") or "local", runner.get("config") or {}
        # In older versions of AstrBot a runner is one of the providers.
        settings = config.get("provider_settings") or {}
        kind = settings.get("agent_runner_type") or "local"
        id = settings.get(f"{kind}_agent_runner_provider_id")
        providers = self._context.get_config().get("provider") or ()
        return kind, next((each for each in providers if id and each.get("id") == id), {})

    def context_of(self, request: Any) -> tuple[list[str], str]:
        """The texts a request contains already, and the user's previous one."""
        turns = [(turn, _said(turn.get("content"))) for turn in request.contexts or ()]
        # What a persona's examples say, which AstrBot does not save, the user did not say.
        own = (
            t
            for turn, t in reversed(turns)
            if turn.get("role") == "user" and not turn.get("_no_save")
        )
        return [text for _, text in turns if text], next(own, "")

    # ---------------------------------------------------------------- providers

    def chat_providers(self) -> set[str]:
        """Ids of all chat providers."""
        return {str(provider.meta().id) for provider in self._context.get_all_providers()}

    async def current_chat_provider(self, umo: str) -> str:
        """Id of the provider that answers in a chat; empty if there is none."""
        if hasattr(self._context, "get_using_provider_async"):  # since AstrBot 4.27.3
            provider = await self._context.get_using_provider_async(umo or None)
        else:
            provider = self._context.get_using_provider(umo or None)
        return str(provider.meta().id) if provider else ""

    async def generate(
        self,
        provider: str,
        system: str,
        prompt: str,
        tool: ToolSchema | None = None,
        after: list[Any] | None = None,
    ) -> Any:
        """Ask a chat provider once; how long that may take is the caller's to say.

        Args:
            tool: What the model has to answer with.
            after: What was said before, as AstrBot's messages.
        """
        how: dict[str, Any] = {"request_max_retries": ATTEMPTS}
        if after:
            how["contexts"] = after
        if tool:
            wanted = another(_any_tool(), tool.name, tool.description, tool.parameters)
            how |= {"tools": ToolSet([wanted]), "tool_choice": "required"}
        return await self._context.llm_generate(
            chat_provider_id=provider, system_prompt=system, prompt=prompt, **how
        )

    def embedding_provider(self, id: str) -> Any:
        """AstrBot's embedding provider with this id, or ``None``."""
        found = (p for p in self._context.get_all_embedding_providers() if p.meta().id == id)
        return next(found, None)

    def rerank_provider(self, id: str) -> Any:
        """AstrBot's rerank provider with this id, or ``None``."""
        found = self._context.get_provider_by_id(id)
        return found if hasattr(found, "rerank") else None


@cache
def _any_tool() -> FunctionTool:
    return FunctionTool(name="", description="", parameters={})


def another(tool: T, name: str, description: str, parameters: dict[str, Any]) -> T:
    """Another tool of a kind, without the 5 to 10 ms that validation takes."""
    other = copy.copy(tool)
    other.name, other.description, other.parameters = name, description, parameters
    return other


def _takes_system_prompt(settings: Mapping[str, Any]) -> bool:
    """Whether a Dify app is said to have an input for the system prompt.

    AstrBot always sends one, and Dify drops inputs the app does not declare: an app that
    does is told by an entry of this name among the variables in AstrBot's settings.
    """
    return "system_prompt" in (settings.get("variables") or {})


def _said(content: Any) -> str:
    parts = [{"text": content}] if isinstance(content, str) else content or []
    texts = [str(p["text"]) for p in parts if isinstance(p, dict) and p.get("text")]
    return "\n".join(filter(is_said, texts))
