"""What one process of the benchmark does: fill a journal, or open it and ask."""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np

from graph_memory.embedding import CachedEmbedder, vectors
from graph_memory.model import Fact, Session, asker_of
from graph_memory.recall import Recaller
from graph_memory.settings import Settings
from graph_memory.store import Draft, Journal
from tests.instruments.eval.metrics import percentile
from tests.instruments.eval.plain import Plain
from tests.makers import context

from .workload import BEGINNING, RandomEmbedder, Workload

ALL = {"audience": "off", "memory_sharing_mode": "shared"}
"""Settings under which everybody sees everything."""
ONE_IN_50 = {"memory_sharing_mode": "shared"}
"""Settings under which each of the 50 users sees their own."""
WARM_UP = 20
"""Questions asked before anything is measured."""
DEADLINE = 10_000
"""Milliseconds that a question may take."""

Figures = dict[str, Any]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def resident_mb(process: int | str = "self") -> float:
    """Resident memory of a process; 0 where the system does not say."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0.0
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def fill(path: Path, items: int, width: int) -> Figures:
    """Write a memory of ``items`` into a new journal, with its vectors."""
    asyncio.run(_fill(path, items, width))
    return {}


def ask(path: Path, items: int, width: int, questions: int) -> Figures:
    """Open the memory, as after a start, and ask."""
    return asyncio.run(_ask(path, items, width, questions))


async def _fill(path: Path, items: int, width: int) -> None:
    work = Workload(items)
    journal = await Journal.open(path)
    embedder = CachedEmbedder(RandomEmbedder(width), journal)
    async with _recaller(journal, ALL) as recaller:
        recaller.follow()
        await write(journal, work)
        recaller.use(embedder)
        await recaller.settle()
    await embedder.close()
    await journal.close()


async def write(journal: Journal, work: Workload) -> None:
    stored = [await journal.append(m, s) for s, m in work.messages()]
    for some in batched(work.facts(stored), 1_000):
        await journal.commit(lambda _, some=some: Draft("bench", "learned", [*some]))


async def _ask(path: Path, items: int, width: int, questions: int) -> Figures:
    asked = Workload(items).questions(questions + WARM_UP)
    empty = await _empty(path.with_name("empty.sqlite3"), width)
    journal = await Journal.open(path)
    vectors.REMEMBERED = len(asked)
    embedder = CachedEmbedder(RandomEmbedder(width), journal)
    for _, text in asked:
        await embedder.query(text)
    found: Figures = {}
    started = time.perf_counter()
    async with _recaller(journal, ALL) as everything:
        await everything.settle()
        lexical = time.perf_counter()
        everything.use(embedder)
        await everything.settle()
        found["ready"] = {"lexical_s": lexical - started, "dense_s": time.perf_counter() - lexical}
        gc.collect()
        found["memory_mb"] = resident_mb() - empty
        texts = await _texts(journal)
        plain = Plain(texts, np.stack([embedder_vector(width, text) for text in texts]))
        async with _recaller(journal, ONE_IN_50) as scoped:
            scoped.use(embedder)
            await scoped.settle()
            found |= await _compare(everything, scoped, plain, asked, width)
    await embedder.close()
    await journal.close()
    return found


def embedder_vector(width: int, text: str) -> np.ndarray:
    return RandomEmbedder(width).vector(text)


async def _empty(path: Path, width: int) -> float:
    """Resident memory of a memory that holds nothing, but has answered."""
    journal = await Journal.open(path)
    embedder = CachedEmbedder(RandomEmbedder(width), journal)
    session = Workload(2).sessions[0]
    async with _recaller(journal, ALL) as recaller:
        recaller.use(embedder)
        await recaller.settle()
        await recaller.remind(asker_of(session, session.owner), "有谁在吗？")
        found = resident_mb()
    await embedder.close()
    await journal.close()
    return found


async def _texts(journal: Journal) -> list[str]:
    """All documents, as plain retrieval holds them."""
    messages = await journal.newest_messages(1_000_000)
    facts: list[Fact] = await journal.read(lambda rows: list(rows.scan(Fact)))
    return [m.text for m in messages] + [f.statement for f in facts]


async def _compare(
    everything: Recaller,
    scoped: Recaller,
    plain: Plain,
    asked: Sequence[tuple[Session, str]],
    width: int,
) -> Figures:
    """Every question is asked of each and, right after it, of plain RRF over all items."""
    times: dict[str, list[float]] = {"all": [], "one_in_50": [], "rrf": []}
    for session, text in asked:
        for name, recaller in (("all", everything), ("one_in_50", scoped)):
            times[name].append(await _remind(recaller, session, text))
        vector = embedder_vector(width, text)
        started = time.perf_counter()
        plain.rank(text, vector)
        times["rrf"].append((time.perf_counter() - started) * 1000)
    return {name: spread(taken[WARM_UP:]) for name, taken in times.items()}


async def _remind(recaller: Recaller, session: Session, text: str) -> float:
    """Milliseconds that a question takes without its embedding; if it is late, the deadline."""
    timing = (await recaller.remind(asker_of(session, session.owner), text)).trace.timing
    return timing["total"] - timing["embedding"] if timing else float(DEADLINE)


def spread(taken: Sequence[float]) -> Figures:
    """How long most questions took, and the slowest."""
    return {
        f"{name}_ms": percentile(taken, share)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
    }


@asynccontextmanager
async def _recaller(journal: Journal, settings: dict[str, str]) -> AsyncIterator[Recaller]:
    wanted = Settings(recall_deadline=DEADLINE, **settings)  # type: ignore[arg-type]
    recaller = Recaller(context(journal, wanted, now=lambda: BEGINNING + 1e7))
    await recaller.start()
    try:
        yield recaller
    finally:
        await recaller.close()
