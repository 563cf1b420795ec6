"""Walks: one message and one question pass no more functions than they did.

Real hooks, journal, index and graph, an embedder of hashes, a model that is scripted; warm, so
that nothing is counted that is done once. Nested functions count as the one they stand in.
"""

# isort: skip_file
import asyncio
import sys
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import tests.astrbot_root  # noqa: F401 - before AstrBot is imported
from astrbot.api.provider import ProviderRequest
from astrbot.core.db.po import Conversation

from graph_memory.astrbot import Runtime, hooks
from graph_memory.settings import Settings
from tests.astrbot.test_host import Event, host
from tests.world import World, living
from tests.scripted import HashEmbedder, answer, said
from tests.sources import ROOT

FOLLOWED = 0.2
"""Seconds after which the index has taken in what happened; vectors are made later."""
Walk = set[tuple[str, str]]
"""File and function."""
MOST = {"overheard": (101, 27), "whole message": (389, 47), "question": (255, 35)}
"""Functions and modules; who shortens a walk lowers them. What runs beside one makes it one or two
longer in some runs."""


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
        request = ProviderRequest(
            prompt=text, conversation=Conversation("qq", "u", "c", persona_id=None)
        )
        await self._attend(hooks.remind, event, request)

    def _attend(self, hook: Any, *given: Any) -> Awaitable[None]:
        return Runtime.attend(self._runtime, hook, *given)


async def measure_walks(directory: Path) -> dict[str, Walk]:
    """The walks by name: an overheard message, it with its learning, a question."""
    found: dict[str, Walk] = {}
    settings = Settings(local_embedding_model="none", recall_deadline=10_000)
    async with living(directory, settings) as world:
        await world.memory.upkeep.close()  # which looks around when a slow machine gets here
        world.memory.recall.use(HashEmbedder())
        chat = _Chat(world)
        for _ in ("warming", "still", "counted"):  # the last counts, when texts are cached
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
    return len(walk), len({file for file, _ in walk})


async def test_walks_grow_no_longer(tmp_path: Path) -> None:
    walks = await measure_walks(tmp_path)
    longer = {
        name: (size(walks[name]), sorted(walks[name]))
        for name, (functions, modules) in MOST.items()
        if size(walks[name])[0] > functions or size(walks[name])[1] > modules
    }
    assert not longer
    assert ("graph_memory/recall/recaller.py", "Recaller.remind") in walks["question"]
    assert ("graph_memory/store/journal.py", "Journal.append") in walks["overheard"]
    assert ("graph_memory/learning/extractor.py", "Extractor.learn") in walks["learned"]
