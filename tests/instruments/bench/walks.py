"""Walks: the functions of the product that one message and one question pass.

Real hooks, journal, index and graph, an embedder of hashes, a model that is scripted; warm, so
that nothing is counted that is done once. Nested functions count as the one they stand in.
"""

# isort: skip_file
import asyncio
import itertools
import sys
import tempfile
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import tests.astrbot_root  # noqa: F401 - before AstrBot is imported
from astrbot.api.provider import ProviderRequest

from graph_memory.astrbot import Runtime, hooks
from graph_memory.settings import Settings
from tests.astrbot.test_host import Event, host
from tests.world import World, living
from tests.scripted import answer, said
from tests.scripted import HashEmbedder
from tests.sources import ROOT

FOLLOWED = 0.2
"""Seconds after which the index has taken in what happened; vectors are made later."""
Walk = set[tuple[str, str]]
"""File and function."""
GOALS = {"overheard": (90, 28), "whole message": (320, 45), "question": (230, 35)}
"""Functions and modules that a walk should pass at the most."""


@contextmanager
def walked() -> Iterator[Walk]:
    """What is called meanwhile, on all threads."""
    found: Walk = set()
    product = (str(ROOT / "graph_memory"), str(ROOT / "main.py"))

    def note(frame: FrameType, happened: str, _: object) -> None:
        code = frame.f_code
        if happened == "call" and code.co_filename.startswith(product):
            function = code.co_qualname.split(".<locals>")[0]
            if function != "<module>":
                found.add((code.co_filename.removeprefix(f"{ROOT}/"), function))

    threading.setprofile_all_threads(note)
    try:
        yield found
    finally:
        threading.setprofile_all_threads(None)
        sys.setprofile(None)


class _Chat:
    """A group whose messages come in by AstrBot's hooks."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._runtime: Any = SimpleNamespace(
            host=host(), memory=world.memory, report=self._refuse, settings=world.memory.settings
        )
        self._number = 0

    def _refuse(self, where: str, error: Exception) -> None:
        raise AssertionError(where) from error

    async def hears(self, text: str, *, asked: bool = False) -> Any:
        self._number += 1
        event: Any = Event(group="42")
        event.message_str, event.is_at_or_wake_command = text, asked
        event.message_obj.message_id = str(self._number)
        self._world.later(20)
        await self._attend(hooks.hear, event)
        return event

    async def answers(self, event: Any, text: str) -> None:
        await self._attend(hooks.remind, event, ProviderRequest(prompt=text))

    def _attend(self, hook: Any, *given: Any) -> Awaitable[None]:
        return Runtime.attend(self._runtime, hook, *given)


async def measure_walks() -> dict[str, Walk]:
    """The walks by name: an overheard message, it with its learning, a question."""
    found: dict[str, Walk] = {}
    with tempfile.TemporaryDirectory() as directory:
        async with living(
            Path(directory), Settings(local_embedding_model="none", recall_deadline=10_000)
        ) as world:
            await world.memory.upkeep.close()  # which looks around when a slow machine gets here
            world.memory.recall.use(HashEmbedder())
            chat = _Chat(world)
            for round in ("warming", "counted"):
                del round  # the last is what counts
                await _round(world, chat, found)
    return found


async def _round(world: World, chat: _Chat, found: dict[str, Walk]) -> None:
    number = len(world.model.calls)
    with walked() as overheard:
        await chat.hears(f"我周末去爬了第{number}座山")
        await asyncio.sleep(FOLLOWED)
    await world.memory.settle()
    statement = f"小红爬了第{number}座山"
    world.model.script.append(answer(said("U1", "did", f"第{number}座山", statement, 1)))
    with walked() as learned:
        await world.memory.learning.flush()
        await asyncio.sleep(FOLLOWED)
    await world.memory.settle()
    text = f"我爬了第{number}座山吗？"
    event = await chat.hears(text, asked=True)
    await world.memory.settle()
    with walked() as question:
        await chat.answers(event, text)
    found |= {"overheard": overheard, "learned": learned, "question": question}
    found["whole message"] = overheard | learned


def size(walk: Walk) -> tuple[int, int]:
    """How many functions, in how many modules."""
    return len(walk), len({file for file, _ in walk})


def show_walks() -> None:
    """Print how long the walks are, what they should be, and what they pass."""
    for name, walk in asyncio.run(measure_walks()).items():
        functions, modules = size(walk)
        goal = " / ".join(map(str, GOALS[name])) if name in GOALS else "-"
        print(f"{name}: {functions} functions in {modules} modules (goal {goal})")
        for file, passed in itertools.groupby(sorted(walk), key=lambda each: each[0]):
            print(f"  {file}: {', '.join(function for _, function in passed)}")
