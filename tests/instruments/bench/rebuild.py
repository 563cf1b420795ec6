"""How long the graph takes to be built anew with many facts, and whether the bot answers
meanwhile."""

import asyncio
import os
import tempfile
import time
from datetime import UTC
from itertools import cycle
from pathlib import Path

from graph_memory.model import Session, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings

from .measure import WARM_UP, Figures, say, spread, write
from .workload import BEGINNING, Workload

PAUSE = 0.1
"""Seconds between two questions."""


def measure_rebuild(facts: int, questions: int) -> Figures:
    """Seconds of a rebuild, and milliseconds of a reminder before and during it."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(Path(directory), facts, questions))


async def _measure(directory: Path, facts: int, questions: int) -> Figures:
    settings = Settings(local_embedding_model="none", recall_deadline=10_000)
    work = Workload(2 * facts)
    memory = await MemoryService.open(directory, settings, zone=UTC, now=lambda: BEGINNING + 1e7)
    try:
        say(f"  filling {facts} facts")
        await write(memory.journal, work)
        await memory.settle()
        asked = work.questions(questions + WARM_UP)
        alone = [await _remind(memory, *question) for question in asked]
        say("  building the graph anew")
        started = time.perf_counter()
        rebuilding = asyncio.create_task(memory.graph.rebuild())
        during = []
        for question in cycle(asked):
            await asyncio.sleep(PAUSE)
            if rebuilding.done():
                break
            during.append(await _remind(memory, *question))
        await rebuilding
        seconds = time.perf_counter() - started
    finally:
        await memory.close()
    return {
        "facts": facts,
        "load": round(os.getloadavg()[0], 1),
        "rebuild_s": round(seconds, 2),
        "recall": {"alone": spread(alone[WARM_UP:]), "rebuilding": spread(during)},
    }


async def _remind(memory: MemoryService, session: Session, text: str) -> float:
    started = time.perf_counter()
    await memory.recall.remind(asker_of(session, session.owner), text)
    return (time.perf_counter() - started) * 1000
