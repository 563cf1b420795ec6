"""``./dev soak``: a day of traffic in minutes, and what it does to memory and pace.

A clock that runs fast drives the memory; everything else is real. The same process is
measured while it is busy and, at the end, while it is quiet.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

from graph_memory.embedding import load
from graph_memory.errors import GraphError, GraphMemoryError
from graph_memory.library import Library
from graph_memory.model import asker_of
from graph_memory.ports import Embedder
from graph_memory.recall import RecallOptions
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store.queries import FactFilter
from graph_memory.turn import Turn

from ...scripted import HashEmbedder
from .day import DAY, HOUR, OUTAGES, Day, Line, Provider
from .gauges import Pace, judge, resident

MIDNIGHT = 1_790_006_400.0
TICK = 0.005
"""Seconds between two looks at how late the event loop is."""
QUIET = 60.0
"""Seconds for which the quiet plugin is measured, at most."""
PATIENCE = 180.0
"""Seconds in which the queue must drain after the day."""


class Soak:
    """One soak.

    Args:
        minutes: In which the day passes.
        messages: Said in it.
        embedder: ``bundled`` or ``hash``.
        say: Called with lines of progress.
    """

    def __init__(
        self,
        directory: Path,
        minutes: float,
        messages: int,
        embedder: str,
        seed: int,
        say: Callable[[str], None],
    ) -> None:
        self._directory = directory
        self._seconds = minutes * 60
        self._day = Day(seed, messages)
        self._embedder = embedder
        self._seed = seed
        self._rng = random.Random(seed)
        self._say = say
        self._model = Provider(seed)
        self._began = 0.0
        self._busy, self._quiet = Pace(), Pace()
        self._pace = self._busy
        self._samples: list[tuple[float, float, int]] = []
        self._queue_peak = 0
        self._drained = -1.0
        self._errors: list[str] = []
        self.service: MemoryService

    def now(self) -> float:
        """The fast clock; at the end of the day it goes on at the usual pace."""
        passed = time.monotonic() - self._began
        fast = min(passed, self._seconds)
        return MIDNIGHT + fast * DAY / self._seconds + (passed - fast)

    async def run(self) -> dict[str, Any]:
        """Live through the day; the numbers, ready for JSON."""
        lines = self._day.lines
        self._began = time.monotonic()
        settings = Settings(recall_deadline=5_000)
        self.service = await MemoryService.open(
            self._directory, settings, zone=UTC, model=self._model, now=self.now
        )
        self.service.use_embedder(loader(self._embedder))
        tasks = [asyncio.create_task(job) for job in (self._watch(), self._browse(), self._tend())]
        await self._live(lines)
        tasks[1].cancel()  # nobody looks while it is quiet
        await self._drain()
        await self._be_quiet()
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        self._errors += [repr(end) for end in ends if isinstance(end, Exception)]
        health = await self.service.health()
        result = self._result(health.counts, len(lines))
        result["problems"] += health.problems
        await self.service.close()
        return result

    # ---------------------------------------------------------------- the day

    async def _live(self, lines: list[Line]) -> None:
        async with asyncio.TaskGroup() as group:
            for line in lines:
                wait = self._began + line.at * self._seconds / DAY - time.monotonic()
                if wait > 0:
                    await asyncio.sleep(wait)
                group.create_task(self._hear(line))

    async def _hear(self, line: Line) -> None:
        service = self.service
        said = await service.learning.hear(Turn(line.session, line.sender, line.name, line.text))
        if line.asks:
            await self._remind(line, {said.id} if said else set())
            await service.learning.reply(line.session, "嗯嗯，我记得的")

    async def _remind(self, line: Line, exclude: set[int]) -> None:
        begun = time.perf_counter()
        asker = asker_of(line.session, line.sender)
        await self.service.recall.remind(asker, line.text, RecallOptions(exclude=exclude))
        self._pace.recalls.append(time.perf_counter() - begun)

    async def _watch(self) -> None:
        """How late the loop is; once a second, how much memory and how long the queue is."""
        second = 0
        while True:
            due = time.perf_counter() + TICK
            await asyncio.sleep(TICK)
            self._pace.stalls.append(max(0.0, time.perf_counter() - due))
            passed = time.monotonic() - self._began
            self._model.at = self.now() - MIDNIGHT
            if passed < second:
                continue
            second += 1
            self._samples.append((passed, resident(), self.service.recall.items))
            status = await self.service.learning.status()
            self._queue_peak = max(self._queue_peak, status.waiting)
            if second % max(1, int(self._seconds / 24)) == 0:
                self._say(
                    f"{min(24.0, self._model.at / HOUR):4.1f} h: {self.service.recall.items} items,"
                    f" {resident():.0f} MiB, {status.waiting} batches wait, {status.dead} dead"
                )

    async def _browse(self) -> None:
        """The owner looks at the web pages now and then."""
        while True:
            await asyncio.sleep(1 + self._rng.random() * 2)
            library: Library = self.service.library
            wanted = self._rng.choice(("", "喜欢", "杭州"))
            await library.browse(FactFilter(text=wanted, limit=20))
            try:
                nodes = await self.service.graph.ask(lambda graph: graph.nodes(limit=20))
                if nodes:
                    node = self._rng.choice(nodes).id
                    await self.service.graph.ask(lambda graph, n=node: graph.neighbourhood(n))  # type: ignore[misc]
            except GraphError:
                pass  # being rebuilt

    async def _tend(self) -> None:
        """What happens a few times a day."""
        while True:
            await asyncio.sleep(self._seconds / 6)
            try:
                await self.service.backups.make()
                await self.service.upkeep.run()
            except GraphMemoryError as error:
                self._errors.append(str(error))

    async def _drain(self) -> None:
        """Wait until everything is learned, without help."""
        begun = time.monotonic()
        self._say("the day is over, the queue drains")
        while time.monotonic() - begun < PATIENCE:
            await self.service.learning.flush()
            status = await self.service.learning.status()
            if not status.buffered + status.waiting + status.dead:
                await self.service.settle()
                self._drained = round(time.monotonic() - begun, 1)
                return
            await asyncio.sleep(0.5)
        self._errors.append(f"the queue did not drain: {status}")

    async def _be_quiet(self) -> None:
        """Questions like those of the day, one at a time, with nothing else going on."""
        self._say("quiet")
        # New ones: vectors of the day's own questions are remembered.
        lines = [line for line in Day(self._seed + 1, 4_000).lines if line.asks]
        await asyncio.sleep(1)
        self._pace = self._quiet
        until = time.monotonic() + min(QUIET, self._seconds / 6)
        while time.monotonic() < until:
            await self._remind(self._rng.choice(lines), set())
            await asyncio.sleep(0.05)

    # ------------------------------------------------------------- the result

    def _result(self, counts: dict[str, int], messages: int) -> dict[str, Any]:
        busy, quiet = self._busy.result(), self._quiet.result()
        return {
            "messages": messages,
            "seconds": round(time.monotonic() - self._began),
            "embedder": self._embedder,
            "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
            "outages_hours": [span for _, span in OUTAGES],
            "facts": counts.get("fact", 0),
            "changes": counts["changes"],
            "model_calls": self._model.calls,
            "model_calls_failed": self._model.failed,
            "queue_peak": self._queue_peak,
            "queue_drained_seconds": self._drained,
            "busy": busy,
            "quiet": quiet,
            "samples": self._samples,
            "problems": list(dict.fromkeys(self._errors)),
        }


def loader(name: str) -> Callable[[], Any]:
    """Loads the embedder of this name."""

    async def hashed() -> Embedder | None:
        return HashEmbedder()

    async def bundled() -> Embedder | None:
        return await load(name)

    return hashed if name == "hash" else bundled


async def weigh(directory: Path, embedder: str) -> tuple[float, int]:
    """Resident memory of this process with a memory open and at rest, MiB, and its items."""
    service = await MemoryService.open(directory, Settings(), zone=UTC)
    service.use_embedder(loader(embedder))
    await service.settle()
    await asyncio.sleep(0.5)
    found = resident(), service.recall.items
    await service.close()
    return found


def weighed(directory: Path, embedder: str) -> tuple[float, int]:
    """:func:`weigh` in a process of its own."""
    command = [sys.executable, "-m", "tests.instruments.chaos.soak", "--weigh", str(directory)]
    done = subprocess.run([*command, "--embedder", embedder], capture_output=True, check=True)
    memory, items = json.loads(done.stdout)
    return memory, items


def soak(
    minutes: float, messages: int, embedder: str, seed: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """A whole soak; its result, ready for JSON."""
    with tempfile.TemporaryDirectory(prefix="soak-") as temporary:
        home, empty = Path(temporary) / "memory", Path(temporary) / "empty"
        result = asyncio.run(Soak(home, minutes, messages, embedder, seed, say).run())
        say("weighing the index")
        nothing, _ = weighed(empty, embedder)
        something, items = weighed(home, embedder)
    return judge(result, max(0.0, something - nothing) / max(1, items))


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=16.0, help="the day takes (16)")
    parser.add_argument("--messages", type=int, default=8_000, help="said in the day (8000)")
    parser.add_argument("--embedder", default="bundled", help="bundled (default) or hash")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="write the result to this file, too")
    parser.add_argument("--weigh", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    if options.weigh:
        print(json.dumps(asyncio.run(weigh(options.weigh, options.embedder))))
        return 0
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:6.0f} s] {text}", file=sys.stderr, flush=True)

    result = soak(options.minutes, options.messages, options.embedder, options.seed, say)
    text = json.dumps(result, ensure_ascii=False, indent=2)
    if options.output:
        options.output.write_text(f"{text}\n", encoding="utf-8")
    print(text)
    return 0 if all(result["passed"].values()) and not result["problems"] else 1


if __name__ == "__main__":
    sys.exit(main())
