"""What a user feels: two AstrBots, one with the plugin and one without, asked in turn.

A pair is the same message to both, in random order and as close together as replies allow, so
that a busy machine slows both; figures are of the differences within pairs.
"""

import asyncio
import itertools
import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from graph_memory.model import BOT
from tests.e2e.extractor import extract, is_extraction
from tests.e2e.harness import ADMIN_ID
from tests.e2e.world import World, living
from tests.instruments.eval import world as worlds
from tests.instruments.eval.metrics import percentile

from .measure import Figures, resident_mb, say

WARMING = {"private": 120, "group": 25}
"""Pairs before the first that counts: enough for all that is done once in a memory's life."""
PAUSE = 1.5, 3.0
"""Seconds after a reply until the next message: what is left to do counts as CPU."""
GROUP, MEMBER = 7300, 7301
QUIET, QUIET_MS = 5.0, 100.0
"""Seconds in which a bot that has nothing to do uses less than so much of the processor."""
STARTS = 3
"""Of each, of which the middle counts."""
SAMPLES = 2_000
"""Of the bootstrap."""


def measure_felt(pairs: int) -> Figures:
    """Milliseconds from message to request and of processor time a turn, MB, seconds."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(Path(directory), pairs))


class _Bot:
    """One AstrBot and when its model was asked."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked_at = 0.0
        world.llm.reset()
        world.llm.when(is_extraction, extract)
        world.llm.when(self._note, "嗯，我记着呢，改天再聊这个。")

    def _note(self, _call: object) -> bool:
        self._asked_at = time.perf_counter()
        return True

    async def turn(self, text: str, *, in_group: bool, pause: float) -> tuple[float, float, float]:
        """Milliseconds until the model is asked, from there to the reply, of the processor."""
        spent, sent = self._spent(), time.perf_counter()
        qq = self._world.qq
        await (qq.ask_group(GROUP, MEMBER, text) if in_group else qq.ask_private(MEMBER, text))
        felt, answered = self._asked_at - sent, time.perf_counter() - self._asked_at
        await asyncio.sleep(pause)
        return felt * 1000, answered * 1000, (self._spent() - spent) * 1000

    async def restart(self) -> float:
        """Start it anew; returns the seconds that takes."""
        await self._world.qq.close()
        await self._world.bot.stop()
        began = time.perf_counter()
        await self._world.bot.start()
        took = time.perf_counter() - began
        await self._world.qq.connect()
        return took

    async def forget(self, *, in_group: bool) -> None:
        """Begin a conversation anew; the memory stays."""
        qq = self._world.qq
        await (
            qq.ask_group(GROUP, ADMIN_ID, "/reset")
            if in_group
            else qq.ask_private(MEMBER, "/reset")
        )

    async def rest(self) -> float:
        """Wait until there is nothing left to do; returns ms of the processor so far."""
        while True:
            spent = self._spent()
            await asyncio.sleep(QUIET)
            if (self._spent() - spent) * 1000 < QUIET_MS:
                return self._spent() * 1000

    def memory_mb(self) -> float:
        return resident_mb(self._world.bot.process.pid)

    def _spent(self) -> float:
        stat = Path(f"/proc/{self._world.bot.process.pid}/stat").read_text()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _measure(root: Path, pairs: int) -> Figures:
    async with AsyncExitStack() as stack:
        bots = []
        for name, install in (("with", True), ("without", False)):
            settings = {"recall_deadline": 800, "buffer_timeout": 300, "buffer_size_private": 24}
            more = {"install": install, "settings": settings, "log_level": "INFO"}
            world = await stack.enter_async_context(living(root / name, **more))
            bots.append(_Bot(world))
        # The first start reads AstrBot's files from the disk, which is not the plugin's share.
        starts = [[await bot.restart() for bot in bots] for _ in range(STARTS)]
        await bots[0]._world.ready()
        await asyncio.sleep(10)
        found: Figures = {"load": os.getloadavg()[0]}
        found["idle_mb"] = bots[0].memory_mb() - bots[1].memory_mb()
        found["started_s"] = median(took - alone for took, alone in starts)
        texts = iter(_texts())
        for place, warming in WARMING.items():
            found[place] = await _pairs(bots, texts, warming, pairs, in_group=place == "group")
            say(f"  {place}: {found[place]}")
        found["mb"] = bots[0].memory_mb() - bots[1].memory_mb()
        return found


async def _pairs(
    bots: list[_Bot], texts: Iterator[str], warming: int, pairs: int, *, in_group: bool
) -> Figures:
    dice, before = random.Random(7), [await bot.rest() for bot in bots]
    for text in itertools.islice(texts, warming):
        for bot in bots:
            await bot.turn(text, in_group=in_group, pause=0.0)
    once = [await bot.rest() - spent for bot, spent in zip(bots, before, strict=True)]
    for bot in bots:  # AstrBot takes its time for what is in its own history
        await bot.forget(in_group=in_group)
    turns: list[dict[_Bot, tuple[float, float, float]]] = []
    for text in itertools.islice(texts, pairs):
        pause, order = dice.uniform(*PAUSE), dice.sample(bots, len(bots))
        turns.append({bot: await bot.turn(text, in_group=in_group, pause=pause) for bot in order})
    felt, answered, spent = (
        [turn[bots[0]][n] - turn[bots[1]][n] for turn in turns] for n in range(3)
    )
    alone = [turn[bots[1]][0] for turn in turns]
    return {
        "pairs": len(turns), "without_ms": round(median(alone), 1),
        "felt_ms": round(median(felt), 1), "felt_from_to_ms": _interval(felt),
        "felt_p90_ms": round(percentile(felt, 0.9), 1),
        "felt_p99_ms": round(percentile(felt, 0.99), 1), "reply_ms": round(median(answered), 1),
        "cpu_ms": round(sum(spent) / len(spent), 1), "once_ms": round(once[0] - once[1]),
    }  # fmt: skip


def _interval(values: list[float]) -> list[float]:
    """In which the median lies with 95 % confidence, by bootstrap."""
    dice = random.Random(7)
    medians = sorted(median(dice.choices(values, k=len(values))) for _ in range(SAMPLES))
    return [round(medians[round(share * (SAMPLES - 1))], 1) for share in (0.025, 0.975)]


def _texts() -> list[str]:
    """What people say in the Chinese worlds, none of it twice: vectors are remembered."""
    talks = [talk for name in ("zh", "home", "voice") for talk in worlds.read(name).talks]
    lines = [line for talk in talks for line in talk.lines]
    return list(dict.fromkeys(line.text for line in lines if line.account != BOT))
