"""Tools of the chat model, used on behalf of the person who speaks.

A model may never do more than that person, has no admin's rights, and changes only what it
was shown for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import NotFoundError
from ..graph import GraphState
from ..inspect.lookup import Route
from ..library import worded
from ..locales import say
from ..model import Fact, Turn
from ..recall import Item, framed
from ..references import Reference
from ..settings import Settings
from ..text import fenced, one_line
from .memory_commands import MESSAGE, Commands
from .usage import NOW, Answers

FOUND = 12
"""Memories that one look-up shows at most, besides paths."""
MAX_TEXT = 120
MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Tool:
    """What the model may call; its ``arguments`` are texts, some ``required``."""

    name: str
    arguments: tuple[str, ...]
    required: tuple[str, ...]

    def description(self, language: str) -> str:
        """What it is for."""
        return say(language, self._key)

    def about(self, language: str, argument: str) -> str:
        """What an argument is for."""
        return say(language, f"{self._key}_{argument}")

    def schema(self, language: str) -> dict[str, Any]:
        """What it takes, as a JSON schema."""
        texts = {
            name: {"type": "string", "description": self.about(language, name)}
            for name in self.arguments
        }
        return {"type": "object", "properties": texts, "required": list(self.required)}

    @property
    def _key(self) -> str:
        return self.name.replace("memory_", "tool_")


RECALL = Tool("memory_recall", ("query", "person", "time_range"), ())
REMEMBER = Tool("memory_remember", ("text",), ("text",))
CORRECT = Tool("memory_correct", ("id", "text"), ("id", "text"))
FORGET = Tool("memory_forget", ("id", "day"), ("id",))
SEARCH = Tool("search_history", ("keyword", "person", "time"), ())
OPEN_RECORD = Tool("open_record", ("id", "page"), ("id",))
TOOLS = (RECALL, REMEMBER, CORRECT, FORGET)
RECORD_TOOLS = (SEARCH, OPEN_RECORD)


def offered(settings: Settings) -> tuple[Tool, ...]:
    """The tools that the settings turn on."""
    if not settings.enable_function_calling:
        return ()
    return TOOLS + (RECORD_TOOLS if "records" in settings.companion else ())


class Tools(Answers):
    """The tools of one open memory, beside its commands."""

    def __init__(self, commands: Commands) -> None:
        super().__init__(commands.memory)
        self._commands = commands

    async def use(self, turn: Turn, tool: str, given: Mapping[str, object]) -> str:
        """Do what the model asks for, which is hostile text."""
        wanted = next((each for each in TOOLS + RECORD_TOOLS if each.name == tool), None)
        if wanted is None:
            raise NotFoundError(f"there is no tool {tool}")
        first, *more = (str(given.get(name) or "").strip() for name in wanted.arguments)
        match wanted.name:
            case REMEMBER.name:
                said = Turn(turn.session, turn.user, turn.name, first, message=turn.message)
                return await self._commands.remember(said)
            case CORRECT.name:
                return await self.correct(turn, first, *more)
            case FORGET.name:
                return await self.forget(turn, first, *more)
            case SEARCH.name:
                return await self._commands.companion.search(turn, first, *more)
            case OPEN_RECORD.name:
                return await self._commands.companion.open(turn, first, more[0].removesuffix(".0"))
            case _:
                return await self.recall(turn, first, *more)

    async def recall(self, turn: Turn, query: str, person: str = "", time_range: str = "") -> str:
        """What the speaker may know about something, fenced as data."""
        if not (query or person or time_range):
            return await self._overview(turn)
        found = await self.memory.lookup.find(
            turn.asker,
            query,
            person=one_line(person, MAX_NAME),
            time=one_line(time_range, MAX_NAME),
            limit=FOUND,
            exclude=turn.ids,
        )
        if not found.is_known:
            return self._say("found_nobody")
        notes = [] if found.is_dated else [self._say("found_undated")]
        notes += [] if found.is_whole else [self._partly()]
        if not found.items and not found.paths:
            return "\n".join([self._say("found_nothing"), *notes])
        lines = [f"- {self._cited(turn, item)}" for item in found.items]
        if found.paths:
            lines.append(self._say("found_paths"))
            lines += [self._path(turn, path) for path in found.paths]
        return "\n".join([framed(lines, self._say("found_note")), *notes])

    async def _overview(self, turn: Turn) -> str:
        """The whole graph as the speaker may know it, fenced as data."""
        found = await self.memory.lookup.overview(turn.asker)
        if not found.is_whole:
            return self._partly()
        if not found.central:
            return self._say("found_nothing")
        central = (
            self._say("found_degree", name=fenced(name, MAX_NAME), count=count)
            for name, count in found.central
        )
        lines = [self._say("found_central"), self._say("list_comma").join(central)]
        if found.bridges:
            lines.append(self._say("found_bridges"))
            lines += [self._path(turn, path) for path in found.bridges]
        return framed(lines, self._say("found_note"))

    def _partly(self) -> str:
        """Why the graph was not walked."""
        is_absent = self.memory.graph.state is GraphState.ABSENT
        return self._say("found_without" if is_absent else "found_partly")

    def _path(self, turn: Turn, path: Route) -> str:
        facts = " → ".join(self._cited(turn, item) for item in path.facts)
        if not all(path.nodes):
            return f"- {facts}"
        return f"- {' – '.join(fenced(name, MAX_NAME) for name in path.nodes)}: {facts}"

    def _cited(self, turn: Turn, item: Item) -> str:
        """A line with the short id by which it can be meant."""
        short = self.memory.references.cite(turn, Reference(item.kind, item.id, item.text))
        return f"[{short}] {item.text}"

    async def correct(self, turn: Turn, id: str, text: str) -> str:
        """Replace a fact that was shown by what the speaker said just now."""
        memory = self.memory.references.cited(turn, id)
        unknown = self._say("tool_unknown", id=one_line(id, MAX_NAME))
        if memory is None or memory.kind != Fact.kind or not text:
            return unknown
        if refusal := self.refusal(turn):
            return refusal
        if not turn.message:
            return self._say("tool_speechless")
        try:
            await self._commands.put_right(turn, memory, text)
        except NotFoundError:
            return unknown
        return self._done("tool_corrected", text)

    async def forget(self, turn: Turn, id: str, day: str = "") -> str:
        """Forget a memory that was shown and is the speaker's, maybe once a day is over."""
        memory = self.memory.references.cited(turn, id)
        unknown = self._say("tool_unknown", id=one_line(id, MAX_NAME))
        if memory is None or memory.kind not in (Fact.kind, MESSAGE):
            return unknown
        try:
            if day and day.casefold() not in NOW:
                return await self._commands.forget_later(turn, memory, day, turn.asker)
            await self._commands.drop(turn, [memory], turn.asker)
        except NotFoundError:
            return unknown
        return self._done("tool_forgotten", memory.text)

    def _done(self, key: str, text: str) -> str:
        told = self._say(key, text=fenced(worded(text, MAX_TEXT), MAX_TEXT))
        return f"{told}\n{self._say('tool_undo')}"
