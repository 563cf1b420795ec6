"""What people say in the chaos, and what a model makes of it.

Every line carries a word that occurs nowhere else. From the word alone follow who says
it, where, and whether it is worth learning: so a line that was not acknowledged can be
sent again by the next process, and what must be in the journal can be told from outside.
"""

import asyncio
import random
import re
import zlib
from dataclasses import dataclass
from typing import Any

from graph_memory.errors import ExtractionError
from graph_memory.inference import Answer, ToolSchema
from graph_memory.model import Session

from ...makers import group, private, user
from ...scripted import answer, said, thing

PERSONAS = ("mei", "lin", "[%None]")
PEOPLE = tuple(f"p{number}" for number in range(8))
GROUPS = tuple(f"g{number}" for number in range(3))
WORD = re.compile(r"\b[wv]\d+x\d+x\d+\b", re.ASCII)
"""Life, round, number; with a ``v`` where remembering was asked for."""
LIKES = re.compile(r"^\[(\d+)\] (?:\d\d:\d\d )?(U\d+)[^:]*: .*?我喜欢(w\d+x\d+x\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of chat; everything follows from ``word``."""

    word: str

    @property
    def _dice(self) -> int:
        return zlib.crc32(self.word.encode())

    @property
    def account(self) -> str:
        return PEOPLE[self._dice % len(PEOPLE)]

    @property
    def sender(self) -> str:
        return user(self.account)

    @property
    def session(self) -> Session:
        persona = PERSONAS[self._dice // 7 % len(PERSONAS)]
        if self._dice // 64 % 2:
            return group(GROUPS[self._dice // 128 % len(GROUPS)], persona)
        return private(self.account, persona)

    @property
    def is_fact(self) -> bool:
        """Whether a model finds something in it."""
        return self.word.startswith("w") and self._dice // 1024 % 3 == 0

    @property
    def text(self) -> str:
        return f"说真的，我喜欢{self.word} 😀" if self.is_fact else f"今天说说 {self.word} 吧"


def word(life: int, round: int, number: int) -> str:
    return f"w{life}x{round}x{number}"


class Model:
    """A language model that understands :class:`Line` and is slow or down at random.

    Args:
        failing: Share of the calls that fail.
        slowness: Seconds a call takes at most.
    """

    def __init__(self, rng: random.Random, failing: float = 0.1, slowness: float = 0.03) -> None:
        self._rng = rng
        self.failing = failing
        self.slowness = slowness
        self.calls = 0

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        self.calls += 1
        await asyncio.sleep(self._rng.random() * self.slowness)
        if self._rng.random() < self.failing:
            raise ExtractionError("the provider is down")
        return Answer("", extract(prompt), len(prompt) // 2, 50)


def extract(prompt: str) -> dict[str, Any]:
    """What is worth remembering in a batch."""
    found = LIKES.findall(prompt.rpartition("<chat>")[2])
    facts = [
        said(who, "likes", f"E{place}", f"喜欢{liked}", int(number), importance=0.5)
        for place, (number, who, liked) in enumerate(found, 500)
    ]
    things = [thing(f"E{place}", liked) for place, (_, _, liked) in enumerate(found, 500)]
    summary = f"聊到{len(found)}样东西" if found else "闲聊"
    return answer(*facts, entities=things, summary=summary, worth=bool(found))
