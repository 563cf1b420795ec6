"""A language model that says what a test wants: the one thing here that is not real."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graph_memory.inference.ports import Answer, ToolSchema

NOTHING: dict[str, Any] = {"worth": False}


@dataclass
class Call:
    system: str
    prompt: str
    tool: ToolSchema | None
    where: str


Line = dict[str, Any] | str | Exception | Callable[[Call], Any]


@dataclass
class ScriptedModel:
    """Answers with the lines of its script, then with "nothing worth remembering".

    Attributes:
        script: A tool call's arguments, plain text, what is raised, or a function of the
            call that returns one of these.
        gate: If given, answers wait for it.
        most: How many calls were under way at the same time, at most.
    """

    script: list[Line] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    gate: asyncio.Event | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    most: int = 0
    _now: int = 0

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        call = Call(system, prompt, tool, where)
        self.calls.append(call)
        line = self.script.pop(0) if self.script else NOTHING
        self._now += 1
        self.most = max(self.most, self._now)
        self.asked.set()
        try:
            if self.gate:
                await self.gate.wait()
        finally:
            self._now -= 1
        if callable(line):
            line = line(call)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            return Answer(line, tokens_in=100, tokens_out=10)
        return Answer("", line, 100, 10)


def said(subject: str, predicate: str, object: str, statement: str, *evidence: int, **more: Any):
    """A fact as a model writes it."""
    return {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "statement": statement,
        "evidence": list(evidence),
        **more,
    }


def thing(id: str, name: str, type: str = "thing", *aliases: str) -> dict[str, Any]:
    """An entity as a model writes it."""
    return {"id": id, "name": name, "type": type, "aliases": list(aliases)}


def answer(*facts: dict[str, Any], entities: list[dict[str, Any]] | None = None, **more: Any):
    """A whole answer."""
    return {"worth": True, "facts": list(facts), "entities": entities or [], **more}
