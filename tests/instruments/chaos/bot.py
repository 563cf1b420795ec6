"""One of several bots on one memory, as a process that may be killed at any moment."""

import asyncio
import itertools
import os
import random
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC
from multiprocessing.connection import Connection
from pathlib import Path

from graph_memory.deletion.forget_me import Outcome
from graph_memory.embedding import CachedEmbedder  # noqa: F401  (imported by the fork's parent)
from graph_memory.errors import DamagedError, GraphMemoryError, StorageError
from graph_memory.inference import Answer
from graph_memory.model import Turn, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import journal, postgres, replica, schema

from ...makers import group, user
from .chatter import Line, Model, word
from .victim import SETTINGS

GONE = "zq7gone"
"""What the person says who is forgotten."""
LEAVER, LEFT = user("leaver"), group("g0")
NEWER = (("9999_newer", "ALTER TABLE message ADD COLUMN newer TEXT NOT NULL DEFAULT 'kept'"),)
"""What the first bot's version does not know, but that of the others."""
QUESTIONS = ("谁喜欢什么？", "今天说说什么了？", "w0x0x1")


@dataclass(frozen=True, slots=True)
class Order:
    """What a bot is to do.

    Attributes:
        ahead: Seconds by which its clock is wrong.
        without: The guard that is switched off, if any.
        resend: Words that it sent before and that were not acknowledged.
        is_ending: Not to talk but to bring everything to its end.
    """

    directory: Path
    dsn: str
    number: int
    round: int
    ahead: float = 0.0
    without: str = ""
    resend: tuple[str, ...] = ()
    is_ending: bool = False


def main(order: Order, pipe: Connection) -> None:
    try:
        switch_off(order.without)
        if order.number:
            schema.MIGRATIONS += NEWER
        asyncio.run(Bot(order, pipe).run())
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
        raise SystemExit(1) from None


def switch_off(guard: str) -> None:
    """Do without one of the guards, to see that the campaign notices."""
    head = postgres._head
    match guard:
        case "stamp":  # whatever the server is now, it was followed

            def followed(*args: object) -> postgres.Head:
                return replace(head(*args), is_followed=bool(args[1]))  # type: ignore[arg-type]

            postgres._head = followed
        case "mark":  # up to which message of this bot the journal has them
            journal.was_delivered = lambda _number, _done: False
        case "fields":  # those that only a newer version knows
            postgres._PUT = postgres._PUT.replace("item.body || ", "")
        case "lock":
            postgres.LOCK = "SELECT 1"
        case "lease":
            replica.Replica.lease = lambda *_args: True  # type: ignore[method-assign]
        case "catching up":
            replica.Replica._catch_up = lambda *_args: None  # type: ignore[method-assign]


def reference(word: str) -> str:
    """The platform's id of a line; every other platform has none, and sends nothing again."""
    return word if int(word.rpartition("x")[2]) % 2 else ""


class CountedModel(Model):
    """A model that tells of each call."""

    def __init__(self, rng: random.Random, pipe: Connection) -> None:
        super().__init__(rng, failing=0.05, slowness=0.1)
        self._pipe = pipe

    async def ask(self, *args: object, **more: object) -> Answer:
        self._pipe.send(("call", None))
        try:
            return await super().ask(*args, **more)  # type: ignore[arg-type]
        except GraphMemoryError:
            self._pipe.send(("failed call", None))
            raise


class Bot:
    def __init__(self, order: Order, pipe: Connection) -> None:
        self._order, self._pipe = order, pipe
        self._rng = random.Random(f"{order.number} {order.round}")
        self._words = itertools.count()

    async def run(self) -> None:
        """Talk until killed, or bring everything to its end."""
        order = self._order
        memory = await self._open(replace(SETTINGS, shared_journal=order.dsn, buffer_timeout=2))
        self._pipe.send(("open", os.getpid()))
        if order.is_ending:
            await self._end(memory)
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._talk(memory))
            tasks.create_task(self._obey(memory))

    async def _open(self, settings: Settings) -> MemoryService:
        while True:
            try:
                return await MemoryService.open(
                    self._order.directory,
                    settings,
                    zone=UTC,
                    model=CountedModel(self._rng, self._pipe),
                    now=lambda: time.time() + self._order.ahead,
                )
            except DamagedError:
                raise
            except StorageError:  # the disk is full
                await asyncio.sleep(0.2)

    async def _talk(self, memory: MemoryService) -> None:
        resend = list(self._order.resend)
        while True:
            said = resend.pop(0) if resend else None
            said = said or word(self._order.number, self._order.round, next(self._words))
            line = Line(said)
            self._pipe.send(("sent", said))
            began = time.monotonic()
            turn = Turn(line.session, line.sender, line.account, line.text, ref=reference(said))
            try:
                assert await memory.learning.hear(turn)
            except StorageError:  # the disk is full: nothing was promised
                await asyncio.sleep(0.1)
                continue
            self._pipe.send(("acknowledged", (said, time.monotonic() - began)))
            if self._rng.random() < 0.1:
                await memory.recall.remind(asker_of(line.session, line.sender), line.text)
            await asyncio.sleep(self._rng.random() * 0.12)

    async def _obey(self, memory: MemoryService) -> None:
        while True:
            if not self._pipe.poll():
                await asyncio.sleep(0.02)
                continue
            match self._pipe.recv():
                case "leave a trace":
                    while not (memory.journal.replica and memory.journal.replica.ahead):
                        await asyncio.sleep(0.02)  # else it cannot know that its clock is wrong
                    trace = f"{GONE}{self._order.number}x{self._order.round}"
                    with suppress(StorageError):
                        await memory.learning.hear(Turn(LEFT, LEAVER, "走的人", f"我是{trace}"))
                    self._pipe.send(("traced", None))
                case "forget":
                    while await memory.forget_me.forget(LEAVER) is Outcome.NOTED:
                        await asyncio.sleep(0.2)
                    self._pipe.send(("forgotten", None))

    async def _end(self, memory: MemoryService) -> None:
        """Bring everything to its end, and tell how it stands."""
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            with suppress(GraphMemoryError):
                await memory.learning.revive()
                await memory.learning.flush()
                await memory.learning.settle()
            buffered = await memory.journal.pending()
            queue, unsent = await memory.journal.queue(), memory.journal.waiting_messages
            waiting = memory.forget_me.waiting
            if not (buffered or queue or unsent or waiting):
                break
            await asyncio.sleep(0.3)
        self._pipe.send(("ended", (len(buffered), len(queue), unsent, waiting)))
        await asyncio.to_thread(self._pipe.recv)  # all have ended
        await memory.journal._follow()
        await memory.coordination._job.idle()
        await memory.settle()
        await memory.graph.settle()
        await memory.backups.purge()  # which a kill may have put off to the next day
        found = await memory.doctor()
        line = Line(word(0, 0, 1))
        asker = asker_of(line.session, line.sender)
        blocks = [(await memory.recall.remind(asker, each)).block for each in QUESTIONS]
        self._pipe.send(("stands", ([each.code for each in found.findings], blocks)))
        await memory.close()
        self._pipe.send(("done", None))
