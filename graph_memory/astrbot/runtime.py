"""Lifecycle of the plugin: opens and closes the memory and its web UI.

Whatever goes wrong here, the bot goes on without a memory and says so when asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astrbot.api.message_components import File, Plain

from ..access import Access
from ..commands.memory_commands import Command, Commands
from ..commands.offline_commands import UNSET, BackupCommands, PersonaCommands
from ..commands.tools import Tools
from ..commands.transfers import ExportAnswer
from ..commands.usage import help_text, unknown
from ..errors import (
    ClosedError,
    DamagedError,
    GraphMemoryError,
    JournalError,
    SettingError,
    StorageError,
    brief,
)
from ..locales import explain, say
from ..model import Turn
from ..service import MemoryService
from ..settings import SETTINGS, TUNABLE, Settings, read, replaced
from ..supervisor import LogOnce, Supervisor
from .adapter import Host
from .handlers import PersonaNamed, is_off, memory_tools
from .log import LogBridge
from .page import address, register
from .providers import AstrBotVoice, ProviderModel, ProviderReranker, load_embedder, wrong_choices

if TYPE_CHECKING:  # not loaded before somebody wants it
    from webui import WebServer

logger = logging.getLogger("graph_memory.plugin")

RETRY = (5.0, 15.0, 60.0)
"""Seconds until the memory is opened again if its directory is locked (a bot that is
being restarted holds the lock for a moment), full or read-only; the last one repeats."""

REPEAT_AFTER = 600.0
"""Seconds for which the same trouble is not logged again."""
SEND_FILES = frozenset({"aiocqhttp", "telegram", "discord", "slack", "lark", "webchat"})
"""Platforms on which AstrBot can send a file."""
ANSWERING = 2.0
"""Seconds until the memory is closed that is to be opened anew: the page that waits for it loads
its script meanwhile, without which it would wait for ever."""
CLOSING = 20.0
"""Seconds for which a reload waits for the memory to close. A disk that is stuck may take
longer; the lock on the directory is held until then, and opening is tried again."""


EXPOSED = (
    "the memory page listens on %s and is not encrypted: put it behind a reverse proxy with "
    "HTTPS, or whoever is on the way can read the key and all memories"
)
APART = (
    Command("restore", "恢复"), Command("export", "导出"), Command("import", "导入", "import_"),
)  # fmt: skip
"""Commands that need AstrBot, or no memory: the runtime's own methods answer them."""


Ask = Callable[[Commands, Turn], Awaitable[str]]
"""A command, given who speaks: what it answers."""
Hook = Callable[..., Coroutine[Any, Any, None]]
"""A hook, given the host, the memory, the event and what AstrBot gives besides."""
Tune = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Keeps some settings and goes by them from now on."""
Reopen = Callable[[], None]
"""Closes the memory and opens it again, with its web UI, a moment later."""
Serve = Callable[[MemoryService, Access, Settings, Tune | None, Reopen], Awaitable["WebServer"]]
"""Serves the web UI of a memory; settings can be changed if AstrBot keeps them."""


class Runtime:
    """The plugin while it is loaded.

    Args:
        context: AstrBot's ``Context``.
        config: The settings' values by name.
        directory: Makes the place where the memory is kept, and says where it is.
        serve: Starts the web UI; raises whatever prevents it.
    """

    def __init__(
        self, context: Any, config: Mapping[str, Any], directory: Callable[[], Path], serve: Serve
    ) -> None:
        self._context, self._config = context, config
        self.settings, self._wrong = read(config)
        self.host = Host(context, by_account=self.settings.private_chats == "by_account")
        self._personas = PersonaCommands(self.host, self.settings.language)
        PersonaNamed.known = staticmethod(lambda: (UNSET, *self.host.personas()))
        self.memory: MemoryService | None = None
        self.commands: Commands | None = None
        self._directory = directory
        self._serve = serve
        self.web: WebServer | None = None
        self._opening = Supervisor("gm-open", self._try_once, logger, "the memory stays closed")
        self._checking = Supervisor(
            "gm-choices", self._check_choices, logger, "the settings are not checked"
        )
        self._reopening: asyncio.Task[None] | None = None
        self._pauses: Iterator[float] = iter(())
        self.page = ""
        """Where the web UI is; empty while it is not served."""
        self.problem = ""
        """Why the memory is not open; empty while it is."""
        self._log = LogOnce(logger, logging.ERROR, again_after=REPEAT_AFTER)
        self._bridge: LogBridge | None = None

    async def start(self, log: logging.Logger) -> None:
        """Open the memory; never raises.

        Args:
            log: AstrBot's logger, which shows this package's log from now on.
        """
        self._bridge = LogBridge(log).install()
        register(self, self._context)
        for problem in self._wrong:
            logger.error("setting %s; %r is used instead", problem, problem.used)
        if hasattr(self._config, "save_config") and (values := replaced(self._config)):
            with contextlib.suppress(SettingError):  # then it is done at the next start
                await self._save(values)
        await self._try_to_open()

    async def _try_to_open(self) -> None:
        """Open the memory, in the background again and again if that may yet come to work."""
        self._pauses = chain(RETRY, repeat(RETRY[-1]))
        pause = await self._try_once()
        if pause is not None:
            self._opening.start(after=pause)

    async def stop(self) -> None:
        """Close everything; what was said is on disk already."""
        if self._reopening:
            await asyncio.gather(self._reopening, return_exceptions=True)
        try:
            await self._close()
        finally:
            if self._bridge:
                self._bridge.remove()

    def reopen(self) -> None:
        """Close the memory and open it again, once who asks for it has been answered."""
        self._reopen_once(ANSWERING)

    def _reopen_once(self, after: float) -> asyncio.Task[None]:
        if self._reopening is None or self._reopening.done():
            self._reopening = asyncio.create_task(self._reopen(after), name="gm-reopen")
        return self._reopening

    async def _reopen(self, after: float) -> None:
        await asyncio.sleep(after)
        try:
            await self._close()
        except Exception as error:  # whatever is left of it, the memory is wanted
            self.report("close", error)
        await self._try_to_open()

    async def _close(self) -> None:
        memory, self.memory, self.commands = self.memory, None, None
        web, self.web, self.page = self.web, None, ""
        await self._checking.close()
        await self._opening.close()
        try:
            if web:
                await web.stop()
        finally:
            if memory:
                await self._close_in_time(memory)

    async def _close_in_time(self, memory: MemoryService) -> None:
        closing = asyncio.create_task(memory.close(), name="gm-close")
        done, _ = await asyncio.wait({closing}, timeout=CLOSING)
        if done:
            closing.result()
            return
        _unfinished.add(closing)
        closing.add_done_callback(_closed)
        logger.error(
            "the memory does not close within %g s (is the disk stuck?); it goes on closing in "
            "the background, and whatever opens it next waits for that",
            CLOSING,
        )

    async def _open(self) -> None:
        try:
            directory = self._directory()
        except RuntimeError as error:  # AstrBot's, if it cannot be made
            raise StorageError(str(error)) from error
        memory = await MemoryService.open(
            directory,
            self.settings,
            model=ProviderModel(self.host, self.settings),
            zone=self.host.zone,
        )
        self.problem = ""
        self.commands, self.memory = Commands(memory), memory
        self.host.accounts = memory.identities.accounts
        self.host.ours = memory.instances.accounts
        memory.transfer.platforms = self.host.platforms
        for problem in self._wrong:
            memory.problems[problem.name] = problem
        self._load_embedder()
        self._checking.start()
        memory.companion.proactive.start(
            AstrBotVoice(self._context, self.host, self.settings.language),
            ProviderModel(self.host, replace(self.settings, llm_provider_id="")),
            memory.learning,
        )
        if self.settings.enable_function_calling and not self.host.tools:
            self.host.tools = memory_tools(self.settings, self._use)
            self.host.list_tools()
        if self.settings.webui_port:
            await self._start_web(memory)

    async def _try_once(self) -> float | None:
        """Try to open; the seconds until the next attempt, if there is to be one."""
        before = self.problem
        try:
            await self._open()
        except Exception as error:
            self.problem = explain(self.settings.language, error)
            if self.problem != before:
                key = f"start {type(error).__name__}"
                self._log.report("the memory did not start", error, key=key)
            is_lasting = isinstance(error, DamagedError) or not isinstance(error, StorageError)
            return None if is_lasting else next(self._pauses)
        if before:
            logger.info("the memory is open now")
        return None

    async def _start_web(self, memory: MemoryService) -> None:
        access = None
        try:
            access = await memory.access()
            tune = self._tune if hasattr(self._config, "save_config") else None
            self.web = await self._serve(memory, access, self.settings, tune, self.reopen)
        except Exception as error:
            where = f"{self.settings.webui_host}:{self.settings.webui_port}"
            memory.problems["webui"] = GraphMemoryError(brief(error)).told("webui", where=where)
            self._log.report("no web UI", error)
            if access and access.new_key:  # which is kept nowhere
                logger.warning("key of the memory page, shown only now: %s", access.new_key)
            return
        self.page = self.settings.webui_public_url or address(
            self.settings.webui_host, self.web.port
        )
        if self.commands:
            self.commands.web, self.commands.access = self.page, access
        logger.info(
            "memory page: %s%s", self.page, f"  key: {access.new_key}" if access.new_key else ""
        )
        if self.settings.is_page_exposed:
            logger.warning(EXPOSED, self.settings.webui_host)

    async def _tune(self, values: Mapping[str, Any]) -> None:
        """Keep settings where AstrBot keeps them, and go by them without a reload.

        AstrBot reloads a plugin only when its own dashboard saves. A reload would take
        down the page that asks, so the open memory is told instead.

        Args:
            values: Some of :data:`TUNABLE` by name.

        Raises:
            SettingError: A value cannot be used, or AstrBot could not keep it.
        """
        checked = {
            s.name: s.check(values[s.name]) for s in SETTINGS if s.name in TUNABLE & {*values}
        }
        await self._save(checked)
        self.settings = replace(self.settings, **checked)
        if self.memory:
            self.memory.retune(**checked)

    async def _save(self, values: dict[str, Any]) -> None:
        before = {name: self._config.get(name) for name in values}
        try:
            await asyncio.to_thread(self._config.save_config, values)  # type: ignore[attr-defined]
        except OSError as error:
            self._config.update(before)  # type: ignore[attr-defined]
            wrong = SettingError(", ".join(values), f"could not be saved: {error}")
            raise wrong.told("unsaved") from error

    async def _check_choices(self) -> None:
        """Name the models that the settings choose and there are not."""
        await self.host.providers_ready()
        for error in wrong_choices(self.host, self.settings):
            logger.error("setting %s; the default is used instead", error)
            if self.memory:
                self.memory.problems[error.name] = error

    def _load_embedder(self) -> None:
        if self.memory:
            kept, changed = (self.memory.journal, self.memory.directory), self._load_embedder
            self.memory.use_embedder(
                lambda: load_embedder(self.host, self.settings, *kept, changed)
            )
            if id := self.settings.rerank_provider_id:
                self.memory.recall.reranker = ProviderReranker(self.host, id)

    # ------------------------------------------------------- hooks and commands

    async def attend(self, hook: Hook, event: Any, *given: Any) -> None:
        """Call a hook, if there is a memory; never fails."""
        memory, name = self.memory, hook.__name__
        if memory is None:
            return
        try:
            await hook(self.host, memory, event, *given)
            memory.problems.pop(name, None)
        except ClosedError:
            pass  # the plugin was unloaded meanwhile
        except Exception as error:
            self.report(name, error)

    def report(self, where: str, error: Exception) -> None:
        """Log what went wrong while the memory is open, and show it in the status.

        Trouble with the disk is told by the journal already.
        """
        if isinstance(error, JournalError) and error.kind:
            return
        self._log.report(where, error, key=f"{where} {type(error).__name__}")
        if self.memory:
            wrong = GraphMemoryError(f"{where}: {brief(error)}")
            self.memory.problems[where] = wrong.told("hook")

    async def ask(self, event: Any, ask: Ask, text: str | None = None) -> str:
        """What a command says, or why it cannot.

        Args:
            text: What is said behind the command; the whole message by default.
        """
        language, commands = self.settings.language, self.commands
        if commands is None:
            return say(language, "away_admin" if _is_owner(event) else "away", reason=self.problem)

        async def answer() -> str:
            turn = await self.host.turn(event, text=text)
            return await ask(commands, turn) if turn else say(language, "unknown_sender")

        return await self._answered(answer())

    async def _answered(self, answer: Awaitable[str]) -> str:
        """An answer, or that there is none; never raises."""
        try:
            return await answer
        except Exception as error:
            if isinstance(error, JournalError) and error.kind:
                return say(self.settings.language, f"storage_{error.kind}")
            self.report("command", error)
            return say(self.settings.language, "failed")

    async def command(self, event: Any, command: Command, words: str) -> str:
        """What a command of the group answers; empty if nothing is left to say."""
        words = words.strip()  # in full width, too
        if command in APART:
            answer: Callable[[Any, str], Awaitable[str]] = getattr(
                self, command.method or command.name
            )
            return await answer(event, words)
        return await self.ask(
            event, lambda commands, turn: command.answer(commands, turn, words), words
        )

    async def import_(self, event: Any, what: str) -> str:
        """What ``/memory import`` answers."""

        async def ask(commands: Commands, turn: Turn) -> str:
            return await commands.transfers.import_(turn, what, await self.host.surroundings(event))

        return await self.ask(event, ask)

    async def export(self, event: Any, what: str) -> str:
        """Answer ``/memory export`` and send the file, which is deleted then.

        Returns:
            What is left to say; empty if nothing is.
        """
        taken = ExportAnswer("")

        async def ask(commands: Commands, turn: Turn) -> str:
            nonlocal taken
            taken = await commands.transfers.export(turn, what)
            return taken.text

        text = await self.ask(event, ask)
        path = taken.path
        if path is None:
            return text
        if event.get_platform_name() in SEND_FILES:
            file = File(name=path.name, file=str(path))
            try:
                await event.send(event.chain_result([Plain(text), file]))
            except Exception as error:  # whatever an adapter makes of it
                logger.warning("a file could not be sent: %s", error)
            else:
                await asyncio.to_thread(path.unlink, True)
                return ""
        return await self.ask(event, lambda commands, turn: commands.transfers.unsent(turn, path))

    async def choose_persona(self, event: Any, name: str) -> str:
        """What ``/persona`` answers; with or without a memory."""
        return await self._answered(self._switched(event, self._personas.choose(event, name)))

    async def begin_conversation(self, event: Any, name: str) -> str:
        """What ``/new`` with a persona answers; with or without a memory."""
        return await self._answered(self._switched(event, self._personas.begin(event, name)))

    async def _switched(self, event: Any, answer: Awaitable[str]) -> str:
        """What a switch of persona answers; what was said to the last one is learned now."""
        told = await answer
        if self.memory and (turn := await self.host.turn(event)):
            self.memory.learning.turn_to(turn.session)
        return told

    def mistyped(self, event: Any) -> str:
        """What is said to a command that there is not."""
        language = self.settings.language
        usage = help_text(language, self.settings.companion, admin=_is_owner(event))
        group, given, known = event.get_extra("graph_memory_mistyped")
        return unknown(language, group, given, known, usage)

    async def restore(self, event: Any, text: str) -> str:
        """List backups, preview one or put it in place; also while the memory is closed."""
        language = self.settings.language
        if not _is_owner(event):
            return say(language, "restore_private")
        try:
            backups = self.memory.backups if self.memory else None
            restores = BackupCommands(self._directory(), language, self.host.zone, backups)
            answer, is_prepared = await restores.answer(text)
            if is_prepared:
                await asyncio.shield(self._reopen_once(0.0))
        except Exception as error:
            self.report("restore", error)
            return say(language, "failed")
        if is_prepared and self.memory is None:
            return say(language, "away_admin", reason=self.problem)
        return answer

    async def _use(self, event: Any, tool: str, given: Mapping[str, Any]) -> str:
        if is_off(event):
            return say(self.settings.language, "away")
        return await self.ask(event, lambda commands, turn: Tools(commands).use(turn, tool, given))


def _is_owner(event: Any) -> bool:
    return bool(event.is_admin() and event.is_private_chat())


_unfinished: set[asyncio.Task[None]] = set()


def _closed(closing: asyncio.Task[None]) -> None:
    _unfinished.discard(closing)
    if not closing.cancelled() and (error := closing.exception()):
        logger.error("the memory was not closed cleanly: %s", error)
