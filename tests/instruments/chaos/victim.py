"""The process that gets killed: a bare memory under traffic, telling what it does.

It tells its parent through a pipe, one small message each, so that whatever it told
before a kill has arrived: what it is about to send, what was acknowledged, and in which
phases of work it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from multiprocessing.connection import Connection
from pathlib import Path

from graph_memory.errors import ClosedError, NotFoundError
from graph_memory.model import Fact, Session, Turn, asker_of
from graph_memory.recall import RecallOptions
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import schema

from ...graph.support import differences
from ...makers import last_change, undo_last
from ...scripted import HashEmbedder
from .chatter import Line, Model, word

SETTINGS = Settings(
    buffer_size_private=4, buffer_size_group=8, buffer_timeout=10, prune_interval=0,
    recall_deadline=5_000,
)  # fmt: skip
TALKERS = 3
PATIENCE = 60.0
"""Seconds after which something that should end has not."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a victim is to do.

    Attributes:
        migrations: How many more there are than the product has.
        resend: Words that were sent by earlier victims and not acknowledged.
        aim: The phase in which it is to be killed.
        ending: Not to make trouble but to finish, check everything and end.
    """

    directory: Path
    life: int
    round: int
    seed: int
    migrations: int = 0
    resend: tuple[str, ...] = ()
    aim: str = ""
    ending: bool = False


def main(task: Task, pipe: Connection) -> None:
    update(task.migrations)
    try:
        victim = Victim(task, pipe)
        logger = logging.getLogger("graph_memory")
        logger.propagate = False
        logger.addHandler(Warnings(victim))
        asyncio.run(victim.run())
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
        raise SystemExit(1) from None


def update(count: int) -> None:
    """Pretend that the product has ``count`` more migrations, which take their time."""
    more = tuple(
        (
            f"9{number:03}_chaos",
            f"CREATE TABLE chaos_{number} AS SELECT * FROM message;"
            f"CREATE INDEX chaos_index_{number} ON chaos_{number} (text, session);"
            f"UPDATE chaos_{number} SET text = text || ';';"
            f"DROP TABLE IF EXISTS chaos_{number - 1};",
        )
        for number in range(1, count + 1)
    )
    schema.MIGRATIONS = (*schema.MIGRATIONS, *more)


class Warnings(logging.Handler):
    """Tells the parent what the memory complains about."""

    def __init__(self, victim: Victim) -> None:
        super().__init__(logging.WARNING)
        self._victim = victim

    def emit(self, record: logging.LogRecord) -> None:
        self._victim.tell("warned", f"{record.name}: {record.getMessage()}")


class Victim:
    def __init__(self, task: Task, pipe: Connection) -> None:
        self._task = task
        self._pipe = pipe
        self._telling = threading.Lock()
        self._rng = random.Random(task.seed)
        self._numbers = itertools.count()
        self._resend = list(task.resend)
        self._model = Model(self._rng)
        self._may_talk = asyncio.Event()
        self._saying = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._service: MemoryService | None = None

    @property
    def service(self) -> MemoryService:
        assert self._service is not None
        return self._service

    def tell(self, *what: object) -> None:
        with self._telling:
            self._pipe.send(what)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Tell the parent what is going on, so that it can kill in the middle of it."""
        self.tell("begin", name)
        yield
        self.tell("end", name)

    async def run(self) -> None:
        """Open, talk and make trouble until the end, or until killed."""
        if self._task.ending:
            await self._end()
            return
        await self._open("migrating" if self._task.migrations else "opening")
        async with asyncio.TaskGroup() as group:
            for _ in range(TALKERS):
                group.create_task(self._talk())
            group.create_task(self._trouble())

    async def _open(self, phase: str) -> None:
        with self.phase(phase):
            self._service = await MemoryService.open(
                self._task.directory, SETTINGS, zone=UTC, model=self._model
            )
            self._service.use_embedder(HashEmbedder.load)
        self._may_talk.set()
        self.tell("open")

    async def _close(self) -> None:
        self._may_talk.clear()
        await self.service.close()

    async def _talk(self) -> None:
        while True:
            await self._may_talk.wait()
            said = self._resend.pop() if self._resend else self._next_word()
            while not await self._say(said):
                await self._may_talk.wait()
            await asyncio.sleep(self._rng.random() * 0.15)

    def _next_word(self) -> str:
        return word(self._task.life, self._task.round, next(self._numbers))

    async def _say(self, said: str) -> bool:
        """Send a line; false if the memory was closed meanwhile, as by a reload."""
        line = Line(said)
        self.tell("sent", said)
        learning = self.service.learning
        self._saying += 1
        self._is_quiet.clear()
        try:
            await learning.hear(Turn(line.session, line.sender, line.account, line.text, ref=said))
            self.tell("acknowledged", said)
            if self._rng.random() < 0.2:
                await learning.reply(line.session, "嗯嗯，知道了")
            if self._rng.random() < 0.1:
                await self.service.recall.remind(asker_of(line.session, line.sender), line.text)
        except ClosedError:
            return False
        finally:
            self._saying -= 1
            if not self._saying:
                self._is_quiet.set()
        return True

    async def _trouble(self) -> None:
        with self.phase("rebuilding"):
            await self.service.graph.settle(PATIENCE)
        await self._compare()
        troubles = {
            "learning": self._learn, "closing": self._reopen, "opening": self._reopen,
            "swapping": self._swap, "backup": self._back_up, "restoring": self._restore,
            "forgetting": self._forget, "remembering": self._remember,
        }  # fmt: skip
        favourite = troubles.get(self._task.aim)
        while True:
            await asyncio.sleep(self._rng.random() * 0.05)
            if favourite and self._rng.random() < 0.5:
                await favourite()
            else:
                await self._rng.choice(list(troubles.values()))()

    async def _learn(self) -> None:
        with self.phase("learning"):
            await self.service.learning.flush()

    async def _reopen(self) -> None:
        with self.phase("closing"):
            await self._close()
        await self._open("opening")

    async def _swap(self) -> None:
        await self.service.graph.settle(PATIENCE)
        with self.phase("swapping"):
            await self.service.graph.rebuild()

    async def _back_up(self) -> None:
        with self.phase("backup"):
            await self.service.backups.make(self._rng.choice(("", "manual")))

    async def _restore(self) -> None:
        """Go back to a backup that holds all that was acknowledged, since nobody talks."""
        self._may_talk.clear()
        await self._is_quiet.wait()
        with self.phase("restoring"):
            await self.service.backups.restore((await self.service.backups.make("manual")).name)
            await self._close()
            await self._open("opening")

    async def _forget(self) -> None:
        facts = await self.service.journal.read(lambda rows: rows.find(Fact))
        if not facts:
            return
        library, id = self.service.library, self._rng.choice(facts).id
        with self.phase("forgetting"), contextlib.suppress(NotFoundError):
            await library.act("archive", [id], "owner")
            await undo_last(library, "owner")
            await library.forget([id], None, "owner")

    async def _remember(self) -> None:
        said = self._next_word().replace("w", "v")
        line = Line(said)
        self.tell("sent", said)
        with self.phase("remembering"):
            await self.service.learning.remember(
                Turn(line.session, line.sender, line.account, f"记住单词 {said}")
            )
        self.tell("acknowledged", said)

    async def _compare(self) -> None:
        """Compare graph and journal, if there is a moment at which nothing is written."""
        self._may_talk.clear()
        found = None
        for _ in range(5):
            before = await last_change(self.service.journal)
            found_now = await differences(self.service.graph)
            if before == await last_change(self.service.journal):
                found = found_now
                break
        self.tell("compared", found)
        self._may_talk.set()

    async def _end(self) -> None:
        await self._open("opening")
        self._model.failing = 0.0
        for said in self._resend:
            await self._say(said)
        await self._settle()
        await self._compare()
        await self._recall()
        await self._close()
        await self._open("opening")
        await self._compare()
        await self._close()
        self.tell("done")

    async def _settle(self) -> None:
        learning = self.service.learning
        until = time.monotonic() + PATIENCE
        while True:
            await learning.revive()
            await learning.flush()
            status = await learning.status()
            if not status.buffered + status.waiting + status.dead:
                break
            if time.monotonic() > until:
                raise TimeoutError(f"not everything was learned: {status}")
        await self.service.settle()
        # An index that could not be built, as when the disk is slow, is built again later.
        while problem := self.service.recall.problem:
            if time.monotonic() > until:
                raise TimeoutError(f"the recall index is not built: {problem}")
            await asyncio.sleep(0.5)
            await self.service.settle()

    async def _recall(self) -> None:
        """See that what was learned is found by whoever said it, where it was said."""
        facts, sessions = await self.service.journal.read(
            lambda rows: (rows.find(Fact), {s.id: s for s in rows.find(Session)})
        )
        for fact in self._rng.sample(facts, k=min(10, len(facts))):
            asker = asker_of(sessions[fact.session], fact.speaker)
            found = await self.service.recall.remind(asker, fact.statement, RecallOptions(10))
            words = fact.statement.rpartition("：")[2]  # who said it stands before it then
            if not any(words in item.text for item in found.items):
                recall = self.service.recall
                problem = found.trace.problem or recall.problem
                about = f"{recall.items} items, {recall.vectors} vectors, {problem}"
                self.tell("not recalled", f"{fact.statement} ({about})")
