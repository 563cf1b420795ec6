"""``python -m tests.bench [--items N …] [--width D] [--json]``: see the package.

Every question is asked of the product and, right after it, of plain RRF in numpy over
the same documents, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from datetime import UTC
from itertools import batched
from pathlib import Path

import numpy as np

from graph_memory.journal import Draft, Journal
from graph_memory.model import Fact, asker_of
from graph_memory.recall import Recaller
from graph_memory.scope import Attendance
from graph_memory.settings import Settings
from tests.eval.metrics import percentile
from tests.eval.plain import Plain
from tests.eval.trial import resident_mb

from .workload import BEGINNING, HashEmbedder, Workload

QUESTIONS = 200


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--json", action="store_true", help="print figures only, as JSON")
    options = parser.parse_args()
    found = {}
    for items in options.items:
        found[str(items)] = asyncio.run(measure(items, options.width))
        if not options.json:
            print(f"{items} items: {json.dumps(found[str(items)], indent=1)}")
    if options.json:
        largest = found[str(options.items[-1])]
        print(json.dumps({**largest, "by_items": found}, indent=1))


async def measure(items: int, width: int) -> dict[str, float]:
    """Figures of one size; times in milliseconds, memory in MB."""
    work, embedder = Workload(items), HashEmbedder(width)
    with tempfile.TemporaryDirectory() as directory:
        journal = await Journal.open(Path(directory) / "journal.sqlite3")
        try:
            return await _measure(work, embedder, journal)
        finally:
            await journal.close()


async def _measure(work: Workload, embedder: HashEmbedder, journal: Journal) -> dict[str, float]:
    found: dict[str, float] = {}
    everything = await _open(journal, audience="off", memory_sharing_mode="shared")
    journal.listen(everything.on_event)
    started = time.perf_counter()
    count = 0
    for session, message in work.messages():
        await journal.append(message, session)
        count += 1
    facts = list(work.facts())
    for some in batched(facts, 100):
        await journal.commit(lambda _, some=some: Draft("bench", "learned", [*some]))
        count += len(some)
    await everything.settle()
    found["apply_per_s"] = count / (time.perf_counter() - started)
    await everything.close()

    before, started = resident_mb(), time.perf_counter()
    everything = await _open(journal, audience="off", memory_sharing_mode="shared")
    await everything.settle()
    found["ready_lexical_s"] = time.perf_counter() - started
    started = time.perf_counter()
    everything.use(embedder)
    await everything.settle()
    found["ready_dense_s"] = time.perf_counter() - started
    found["index_mb"] = resident_mb() - before
    scoped = await _open(journal)
    scoped.use(embedder)
    await scoped.settle()

    texts = [m.text for m in await journal.newest_messages(items_of(everything))]
    texts += [fact.statement for fact in await journal.read(lambda rows: list(rows.scan(Fact)))]
    plain = Plain(texts, np.stack([embedder.vector(text) for text in texts]))
    times: dict[str, list[float]] = {"recall": [], "scoped": [], "rrf": []}
    for session, text in work.questions(QUESTIONS):
        asker = asker_of(session, session.owner)
        vector = embedder.vector(text)
        for name, recaller in (("recall", everything), ("scoped", scoped)):
            timing = (await recaller.remind(asker, text)).trace.timing
            times[name].append(timing["total"] - timing["embedding"])
        started = time.perf_counter()
        plain.rank(text, vector)
        times["rrf"].append((time.perf_counter() - started) * 1000)
    for name, taken in times.items():
        found[f"{name}_p50_ms"] = percentile(taken, 0.5)
        found[f"{name}_p95_ms"] = percentile(taken, 0.95)
    await everything.close()
    await scoped.close()
    return {key: round(value, 3) for key, value in found.items()}


def items_of(recaller: Recaller) -> int:
    """How many documents a recaller holds."""
    return recaller.items


async def _open(journal: Journal, **settings: str) -> Recaller:
    recaller = Recaller(
        journal,
        Settings(recall_deadline=10_000, **settings),  # type: ignore[arg-type]
        zone=UTC,
        attendance=Attendance(),
        now=lambda: BEGINNING + 1e7,
    )
    await recaller.start()
    return recaller


if __name__ == "__main__":
    main()
