"""How long the graph takes to be built anew with many facts, and whether the bot answers
meanwhile."""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC
from itertools import batched, cycle
from pathlib import Path

from graph_memory.model import Fact, Session, asker_of
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from graph_memory.store import Draft
from tests.instruments.eval.metrics import percentile

from .measure import WARM_UP, Figures, say
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
        await _fill(memory, work)
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
        "recall_ms": {"alone": _spread(alone[WARM_UP:]), "rebuilding": _spread(during)},
    }


async def _fill(memory: MemoryService, work: Workload) -> None:
    stored = [await memory.journal.append(m, s) for s, m in work.messages()]
    facts: list[Fact] = list(work.facts(stored))
    for some in batched(facts, 1_000):
        await memory.journal.commit(lambda _, some=some: Draft("bench", "learned", [*some]))
    await memory.settle()


async def _remind(memory: MemoryService, session: Session, text: str) -> float:
    started = time.perf_counter()
    await memory.recall.remind(asker_of(session, session.owner), text)
    return (time.perf_counter() - started) * 1000


def _spread(taken: Sequence[float]) -> Figures:
    shares = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    found = {name: round(percentile(list(taken), share), 1) for name, share in shares.items()}
    return {"questions": len(taken), **found}
