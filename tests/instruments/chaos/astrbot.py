"""The campaign of kills against a real AstrBot: kill -9 while people chat with the bot.

From outside, a message counts as acknowledged once the bot has replied: the hook that
stores it returned before that. Not so while AstrBot reloads the plugin: for that moment
it has none, and replies without asking it.
"""

import asyncio
import itertools
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from graph_memory.locales import say
from tests.e2e.harness import ADMIN_ID
from tests.e2e.world import PLUGIN, World, living
from tests.graph.support import differences
from tests.world import opened

from .chatter import Line, word
from .kills import Score
from .ledger import Ledger
from .victim import SETTINGS

PEOPLE = range(7001, 7005)
WORKING = 6.0
"""Seconds a process works at most before it is killed."""
STARTING = 12.0
"""Seconds into the start at which a process is killed at most."""
AT_START = 0.25
"""Share of the kills that come while AstrBot starts."""
READY = 90.0
"""Seconds after which a start needs a hand."""


class Campaign:
    """Kills of AstrBot."""

    def __init__(self, seed: int, report: Callable[[Score], None] = lambda _score: None) -> None:
        self.score = Score()
        self._rng = random.Random(seed)
        self._report = report
        self._ledger = Ledger()
        self._numbers = itertools.count()
        self._reloads = 0
        self._is_reloading = False

    def run(self, kills: int) -> Score:
        root = Path(tempfile.mkdtemp(prefix="chaos-astrbot-"))
        asyncio.run(self._run(root, kills))
        self.score.acknowledged = len(self._ledger.acknowledged)
        if self.score.problems:
            self.score.problems.append(f"AstrBot's directory is kept: {root}")
        else:
            shutil.rmtree(root)
        return self.score

    async def _run(self, root: Path, kills: int) -> None:
        settings = {"buffer_size_private": 3, "buffer_timeout": 10}
        async with living(root / "bot", settings=settings) as world:
            await self._ready(world)
            while self.score.kills < kills and not self.score.problems:
                await self._work_and_die(world)
                await self._return(world)
                self._report(self.score)
            if not self.score.problems:
                await self._finish(world)

    async def _work_and_die(self, world: World) -> None:
        tasks = [asyncio.create_task(self._talk(world, account)) for account in PEOPLE]
        tasks.append(asyncio.create_task(self._trouble(world)))
        await asyncio.sleep(self._rng.random() * WORKING)
        await self._kill(world, "talking")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await world.qq.close()
        self._is_reloading = False

    async def _kill(self, world: World, phase: str) -> None:
        await world.bot.stop(signal.SIGKILL)
        self.score.kills += 1
        self.score.phases[phase] += 1

    async def _talk(self, world: World, account: int) -> None:
        while True:
            said = word(0, self.score.kills, next(self._numbers))
            self._ledger.sent.add(said)
            reloads, is_heard = self._reloads, not self._is_reloading
            await world.qq.ask_private(account, Line(said).text, f"网友{account}")
            if is_heard and reloads == self._reloads:
                self._ledger.acknowledged.add(said)

    async def _trouble(self, world: World) -> None:
        troubles = (self._flush, self._flush, self._reload)
        while True:
            await asyncio.sleep(self._rng.random() * 2)
            await self._rng.choice(troubles)(world)

    async def _flush(self, world: World) -> None:
        await world.learn()

    async def _reload(self, world: World) -> None:
        self._reloads += 1
        self._is_reloading = True
        await world.bot.reload_plugin(PLUGIN)
        self._is_reloading = False

    async def _return(self, world: World) -> None:
        """Start AstrBot again, killing it in the middle of that now and then."""
        while self._rng.random() < AT_START:
            starting = asyncio.create_task(world.bot.start())
            await asyncio.sleep(self._rng.random() * STARTING)
            await self._kill(world, "starting")
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        await world.bot.start()
        await world.qq.connect()
        await self._ready(world)
        self.score.problems += self._ledger.audit(world.data / "journal.sqlite3")
        await self._compare(world)

    async def _ready(self, world: World) -> None:
        """Wait until the memory works by itself."""
        self.score.starts += 1
        until = time.monotonic() + READY
        answer = ""
        while time.monotonic() < until:
            with suppress(TimeoutError):
                answer = await world.status()
            if "就绪" in answer:
                return
            await asyncio.sleep(0.2)
        self.score.problems.append(f"failed: the memory is not ready after a start: {answer}")

    async def _compare(self, world: World) -> None:
        """Have journal, graph and index compared where they are."""
        answer = await world.qq.ask_private(ADMIN_ID, "/memory doctor")
        self.score.comparisons += 1
        if say("zh", "doctor_well") not in answer:
            self.score.problems.append(f"graph: the doctor found something: {answer}")

    async def _finish(self, world: World) -> None:
        """Learn the rest, stop AstrBot cleanly, compare graph and journal from outside."""
        for _ in range(10):
            if "等待" not in await world.learn():
                break
        await world.bot.stop()
        await world.qq.close()
        self.score.problems += self._ledger.audit(world.data / "journal.sqlite3", final=True)
        async with opened(world.data, SETTINGS) as service:
            found = await differences(service.graph)
        self.score.comparisons += 1
        self.score.problems += [f"graph: {difference}" for difference in found]
