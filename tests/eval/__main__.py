"""``python -m tests.eval FILE [--json] [--limit N]``: see the package."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from graph_memory.embedding import load
from graph_memory.journal import Journal

from . import corpus
from .rehearsal import Rehearsal
from .trial import FRESH, Report, Trial

COLUMNS = ("er@5", "er@10", "er@20", "all@10", "mrr", "er@600t")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument("file", type=Path, help="conversations and questions, one JSON a line")
    parser.add_argument("--json", action="store_true", help="print figures only, as JSON")
    parser.add_argument("--limit", type=int, help="ask at most this many questions")
    parser.add_argument("--turns", action="store_true", help="leave extracted facts out")
    parser.add_argument("--model", default="bundled", help="embedding model, or none")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(os.environ.get("GRAPH_MEMORY_EVAL_CACHE", ".dev/eval")),
        help="where vectors are kept between runs",
    )
    options = parser.parse_args()
    report = asyncio.run(_run(options))
    summary = report.summary()
    print(json.dumps(summary, indent=1) if options.json else _table(options.file.name, summary))


async def _run(options: argparse.Namespace) -> Report:
    read = corpus.read(options.file, options.limit)
    if options.turns:
        for person in read.people.values():
            person.observations.clear()
    options.cache.mkdir(parents=True, exist_ok=True)
    store = await Journal.open(options.cache / "vectors.sqlite3")
    model = await load(options.model)
    embedder = Rehearsal(model, store) if model else None
    with tempfile.TemporaryDirectory() as directory:
        journal = await Journal.open(Path(directory) / "journal.sqlite3")
        try:
            report = await Trial(read, journal, embedder).run(_progress)
            if embedder:
                for query in read.queries[:FRESH]:
                    started = time.perf_counter()
                    await embedder.fresh(query.text)
                    report.embedding_ms.append((time.perf_counter() - started) * 1000)
        finally:
            await journal.close()
            if embedder:
                await embedder.close()
            await store.close()
    return report


def _progress(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{stage} {done}/{total}   ", end=end, file=sys.stderr, flush=True)


def _table(name: str, summary: dict) -> str:  # type: ignore[type-arg]
    def row(label: str, scores: dict[str, float]) -> str:
        figures = " | ".join(f"{scores[column]:.3f}" for column in COLUMNS)
        return f"| {label} | {scores['n']} | {figures} |"

    lines = [
        f"# {name}",
        f"| | n | {' | '.join(COLUMNS)} |",
        "|" + "---|" * (len(COLUMNS) + 2),
        row("all", summary["all"]),
        *(row(f"— {category}", scores) for category, scores in summary["categories"].items()),
        row("plain RRF", summary["rrf"]),
        *(row(f"— {category}", scores) for category, scores in summary["rrf_categories"].items()),
        "",
        *(f"{key}: {value}" for key, value in summary.items() if not isinstance(value, dict)),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
