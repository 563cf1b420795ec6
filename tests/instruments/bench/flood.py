"""What the plugin costs when many people write much at once, in a real AstrBot.

AstrBot runs without the plugin, with the plugin that finds by words only, and with the
plugin and its local embedding model, in turns; each time 20 people write 50 messages of
2,000 characters each in private, and the bot answers every one. What the plugin costs is
the difference. The model's answers come at once, so that nothing else is measured.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.harness import ChatCall
from tests.e2e.world import World, living
from tests.instruments.chaos.day import Day
from tests.instruments.eval.metrics import percentile

from .measure import Figures, say

PEOPLE, EACH, LENGTH, ROUNDS = 20, 50, 2_000, 2
IN_FLIGHT = 4
"""Messages that wait for an answer at a time: AstrBot's own database has few connections."""
QUIET, STEP = 0.1, 2.0
"""Share of a core below which a process is done, and seconds over which that is looked at."""
ALONE, WORDS, FULL = "without", "words only", "with"
SETTINGS = {"buffer_size_private": 14, "buffer_timeout": 60, "recall_deadline": 800}
"""As they are by default, but for the timeout, so that everything is learned at the end."""


def measure_flood(
    people: int = PEOPLE,
    each: int = EACH,
    rounds: int = ROUNDS,
    variants: Sequence[str] = (ALONE, WORDS, FULL),
) -> Figures:
    """All runs, in order, and what each variant adds to the mean of the first one."""
    runs: dict[str, list[Figures]] = {variant: [] for variant in variants}
    for variant in itertools.chain.from_iterable([variants] * rounds):
        figures = asyncio.run(_run(variant, people, each))
        runs[variant].append(figures)
        say(f"{variant}: {figures}")
    means = {
        variant: {key: sum(run[key] for run in some) / rounds for key in some[0]}
        for variant, some in runs.items()
    }
    first = means[variants[0]]
    added = {
        variant: {key: round(mean[key] - first[key], 1) for key in first}
        for variant, mean in means.items()
    }
    return {"people": people, "messages_each": each, "runs": runs, "added": added}


async def _run(variant: str, people: int, each: int) -> Figures:
    model = "bundled" if variant == FULL else "none"
    settings = SETTINGS | {"local_embedding_model": model}
    with tempfile.TemporaryDirectory(prefix="flood-") as root:
        path, config = Path(root) / "bot", {"log_level": "INFO"}
        install = variant != ALONE
        async with living(path, install=install, settings=settings, config=config) as world:
            return await _flood(world, people, each)


async def _flood(world: World, people: int, each: int) -> Figures:
    asked: dict[str, float] = {}

    def answer(call: ChatCall) -> str:
        asked[call.last_user_parts[0][:8]] = time.perf_counter()
        return "好的"

    world.llm.when(lambda call: call.model == "chat-model", answer)
    await _settle(world)
    memory, spent, begun = world.bot.memory_mb(), _cpu(world), time.perf_counter()
    free = asyncio.Semaphore(IN_FLIGHT)
    took: list[float] = []

    async def talk(account: int) -> None:
        for text in _texts(account, each):
            async with free:
                sent = time.perf_counter()
                await world.qq.ask_private(account, text, timeout=120)
            took.append(asked[text[:8]] - sent)

    await asyncio.gather(*(talk(5_000 + n) for n in range(people)))
    wall, during = time.perf_counter() - begun, _cpu(world) - spent
    await _settle(world)
    return {
        "cpu_s": round(_cpu(world) - spent, 1),
        "cpu_until_answered_s": round(during, 1),
        "wall_s": round(wall, 1),
        "latency_p50_ms": round(percentile(took, 0.5) * 1000),
        "latency_p95_ms": round(percentile(took, 0.95) * 1000),
        "rss_before_mb": round(memory),
        "rss_after_mb": round(world.bot.memory_mb()),
        "load": round(os.getloadavg()[0], 1),
    }


def _texts(account: int, each: int) -> list[str]:
    """Long messages, of what people say in a day of chat."""
    said = itertools.cycle([line.text for line in Day(account, each * LENGTH // 8).lines])
    texts = []
    for number in range(each):
        text = f"{account:04}-{number:03}"
        while len(text) < LENGTH:
            text += f"{next(said)}。"
        texts.append(text[:LENGTH])
    return texts


async def _settle(world: World) -> None:
    """Wait until the process has nothing left to do."""
    while True:
        before = _cpu(world)
        await asyncio.sleep(STEP)
        if _cpu(world) - before < QUIET * STEP:
            return


def _cpu(world: World) -> float:
    """Seconds that AstrBot's process has spent on processors (Linux)."""
    assert world.bot.process
    stat = Path(f"/proc/{world.bot.process.pid}/stat").read_text(encoding="ascii")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
