"""A memory with a companion, people who talk to it, and a clock that a test sets."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from itertools import chain
from pathlib import Path
from typing import Any

from graph_memory.commands.memory_commands import Commands
from graph_memory.commands.tools import Tools
from graph_memory.companion.parts import Lead
from graph_memory.inference import LanguageModel
from graph_memory.model import Message, Row, Session, Turn
from graph_memory.recall import Recall, RecallOptions
from graph_memory.service import MemoryService
from graph_memory.settings import PARTS, Settings

from .makers import (  # noqa: F401 - who is in it
    CHINA,
    CLUB,
    HERS,
    HOME,
    LI,
    OTHER,
    T0,
    ZHANG,
    li,
    li_in_club,
    zhang,
    zhang_in_club,
    zhang_to_lan,
)
from .scripted import ScriptedModel, Voice

DEFAULTS = Settings()
SETTINGS = replace(DEFAULTS, companion=PARTS, recall_deadline=10_000)


@dataclass
class World:
    """One memory; see :func:`living`."""

    memory: MemoryService
    model: ScriptedModel
    clock: list[float]
    commands: Commands = field(init=False)
    tools: Tools = field(init=False)

    def __post_init__(self) -> None:
        self.commands = Commands(self.memory)
        self.tools = Tools(self.commands)

    def later(self, seconds: float) -> None:
        self.clock[0] += seconds

    async def say(self, caller: Turn, text: str, *, wait: float = 20.0) -> Message:
        """Somebody says something, as the plugin hears it."""
        said = await self.memory.learning.hear(Turn(caller.session, caller.user, caller.name, text))
        assert said
        await self.memory.recall.settle()  # the graph is built when it is asked
        self.later(wait)
        return said

    async def answer(self, session: Session, text: str) -> None:
        """The bot says something."""
        await self.memory.learning.reply(session, text)
        self.later(20)

    async def lead(self, caller: Turn, text: str, message: Message | None = None) -> str:
        """What goes before everything that is recalled."""
        lead = await self.leading(caller, text, message)
        return "\n".join(chain(*lead.paragraphs, lead.records))

    async def leading(self, turn: Turn, text: str, message: Message | None = None) -> Lead:
        """As :meth:`lead`, as the companion gives it."""
        cite = self.memory.references.citing(turn)
        return await self.memory.companion.lead(replace(turn, text=text, message=message), cite)

    async def ask(self, caller: Turn, text: str) -> tuple[Recall, str]:
        """Say something to the bot; what it is reminded of, and the companion's part."""
        said = await self.say(caller, text, wait=0)
        lead = await self.leading(caller, text, said)
        found = await self.memory.recall.remind(caller.asker, text, RecallOptions(
            exclude=(said.id,), lead=lead.paragraphs, records=lead.records,
            profile=not lead.has_profile, message=said.id,
        ))  # fmt: skip
        self.later(20)
        return found, "\n".join(chain(*lead.paragraphs, lead.records))

    async def learn(self, answer: dict[str, Any] | None = None) -> None:
        """Learn what is buffered; the model gives ``answer``."""
        if answer is not None:
            self.model.script.append(answer)
        await self.memory.learning.flush()
        await self.memory.recall.settle()

    def speak(self, voice: Voice) -> None:
        """Let the companion speak first, in the words of a model."""
        learning = self.memory.learning
        self.memory.companion.proactive.start(voice, self.model, learning)

    async def rows(self, cls: type[Row]) -> list[Any]:
        """All rows of a kind."""
        return await self.memory.journal.read(lambda rows: list(rows.scan(cls)))


@asynccontextmanager
async def opened(
    directory: Path,
    settings: Settings = DEFAULTS,
    *,
    zone: tzinfo = UTC,
    model: LanguageModel | None = None,
    now: Callable[[], float] = time.time,
) -> AsyncIterator[MemoryService]:
    """A memory, until it is not needed any more."""
    memory = await MemoryService.open(directory, settings, zone=zone, model=model, now=now)
    try:
        yield memory
    finally:
        await memory.close()


@asynccontextmanager
async def living(
    path: Path, settings: Settings = SETTINGS, clock: list[float] | None = None
) -> AsyncIterator[World]:
    """A memory that learns when it is told to."""
    time, model = clock or [T0], ScriptedModel()
    patient = {"buffer_size_private": 200, "buffer_size_group": 200, "buffer_timeout": 86_400}
    settings = replace(settings, **patient)  # type: ignore[arg-type]
    async with opened(path, settings, zone=CHINA, model=model, now=lambda: time[0]) as memory:
        memory.learning._buffers._grace = 86_400  # however slow the machine is
        await memory.recall.settle()  # the graph is built when it is asked
        yield World(memory, model, time)
