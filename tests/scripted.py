"""What may be scripted in a test: a model, a chat to speak in, vectors that need no model."""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from graph_memory.errors import ExtractionError
from graph_memory.inference import Answer, ToolSchema, Vectors
from graph_memory.model import Session

NOTHING: dict[str, Any] = {"worth": False}
WIDTH = 64
"""Of vectors."""


@dataclass
class Call:
    """What a model is asked."""

    system: str
    prompt: str
    tool: ToolSchema | None
    where: str


Line = dict[str, Any] | str | Exception | Callable[[Call], Any] | None


@dataclass
class ScriptedModel:
    """Answers with the lines of its script, then with "nothing worth remembering".

    Attributes:
        script: A tool call's arguments, plain text, what is raised (``None``: it is down),
            or a function of the call that returns one of these. A function alone answers all.
        gate: If given, answers wait for it.
        most: How many calls were under way at the same time, at most.
        cost: Tokens in and out of each answer.
    """

    script: list[Line] | Callable[[Call], Line] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    gate: asyncio.Event | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    most: int = 0
    cost: tuple[int, int] = (100, 10)
    _now: int = 0

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        call = Call(system, prompt, tool, where)
        self.calls.append(call)
        line: Any = self.script
        if isinstance(line, list):
            line = line.pop(0) if line else NOTHING
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
        if line is None:
            raise ExtractionError("the scripted model is down")
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            return Answer(line, None, *self.cost)
        return Answer("", line, *self.cost)


@dataclass
class Voice:
    """A chat that remembers what was said in it.

    Attributes:
        works: Whether messages arrive.
        personas: Prompts of the personas that are on.
        meanwhile: Happens while somebody else's turn is waited for.
    """

    said: list[tuple[str, str]] = field(default_factory=list)
    works: bool = True
    personas: dict[str, str] = field(default_factory=lambda: {"mei": "你是小梅。"})
    meanwhile: AbstractAsyncContextManager[None] | None = None

    async def persona(self, session: Session) -> str | None:
        return self.personas.get(session.persona)

    def turn(self, session: Session) -> AbstractAsyncContextManager[None]:
        return self.meanwhile or nullcontext()

    async def say(self, session: Session, text: str) -> bool:
        if self.works:
            self.said.append((session.id, text))
        return self.works


def said(subject: str, predicate: str, object: str, statement: str, *evidence: int, **more: Any):
    """A fact as a model writes it."""
    return {
        "subject": subject, "predicate": predicate, "object": object, "statement": statement,
        "evidence": list(evidence), **more,
    }  # fmt: skip


def thing(id: str, name: str, type: str = "thing", *aliases: str) -> dict[str, Any]:
    """An entity as a model writes it."""
    return {"id": id, "name": name, "type": type, "aliases": list(aliases)}


def answer(*facts: dict[str, Any], entities: list[dict[str, Any]] | None = None, **more: Any):
    return {"worth": True, "facts": list(facts), "entities": entities or []} | more


class HashEmbedder:
    """Vectors made of a text alone; fast and deterministic.

    Other ones are made by :meth:`vector` of a subclass.
    """

    name = "hash-64"
    floor = 0.1
    width = WIDTH
    parallel = True

    @classmethod
    async def load(cls) -> Self:
        return cls()

    def vector(self, text: str) -> Vectors:
        """A vector in which shared character bigrams mean similarity."""
        return hashed(text)

    async def query(self, text: str) -> Vectors:
        return self.vector(text)

    async def questions(self, texts: list[str]) -> Vectors:
        return np.stack([self.vector(text) for text in texts])

    async def passages(self, texts: list[str]) -> Vectors:
        found = [self.vector(text) for text in texts]
        return np.stack(found) if texts else np.zeros((0, WIDTH), np.float32)

    async def close(self) -> None:
        pass


def hashed(text: str, width: int = WIDTH) -> Vectors:
    """A unit vector in which shared character bigrams mean similarity."""
    vector = np.full(width, 1e-3, np.float32)
    for left, right in zip(text, text[1:] + " ", strict=False):
        digest = hashlib.blake2b((left + right).encode(), digest_size=4).digest()
        vector[int.from_bytes(digest, "big") % width] += 1.0
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
