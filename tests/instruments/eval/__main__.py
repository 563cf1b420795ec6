"""How well recall finds what was asked for, and what should not be shown.

A file of conversations and questions is asked; the folder of PrecisionMemBench is asked for
what must and what must not be shown. docs/evaluation.md has the figures.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from graph_memory.embedding import load
from graph_memory.store import Journal
from tests.endpoint import endpoint, missing
from tests.instruments.dev.steps import WORK
from tests.instruments.scenes.live import LiveModel
from tests.lent import Lent

from . import corpus, search, world
from .cassette import Cassette
from .leave_out import Ask, LeaveOut, Open, conversations, lived
from .precision import Precision
from .recorded import Recorded
from .rehearsal import Rehearsal
from .trial import Perfect, Trial

COLUMNS = ("er@5", "er@10", "er@20", "all@10", "mrr", "er@600t", "in use", "as many lines")

CACHE = WORK / "eval"
"""Where vectors are kept between runs."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.instruments.eval", description=__doc__)
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        help="conversations and questions, one JSON a line; or the folder of PrecisionMemBench",
    )
    parser.add_argument("--json", action="store_true", help="print figures only, as JSON")
    parser.add_argument("--limit", type=int, help="ask at most this many questions")
    parser.add_argument("--turns", action="store_true", help="leave extracted facts out")
    parser.add_argument("--facts", action="store_true", help="leave messages behind facts out")
    parser.add_argument("--cited", action="store_true", help="leave other messages out")
    parser.add_argument("--perfect", action="store_true", help="rerank with what is right")
    parser.add_argument("--model", default="bundled", help="embedding model, or none")
    parser.add_argument(
        "--recorded", nargs="?", const="zh,en", help="instead: the recorded worlds, see recorded.py"
    )
    parser.add_argument(
        "--search", action="store_true", help="instead: words and what holds them, see search.py"
    )
    parser.add_argument(
        "--leave-out",
        action="store_true",
        help="instead: choose numbers on all sources but one, see leave_out.py; FILE is a folder",
    )
    parser.add_argument("--port", type=Path, help="with --recorded: ask here for what is missing")
    parser.add_argument("--live", action="store_true", help="with --recorded: ask a real model")
    parser.add_argument("--silent", action="store_true", help="with --recorded: learn nothing")
    options = parser.parse_args()
    if options.live and missing(os.environ):
        parser.error(f"a real model needs {', '.join(missing(os.environ))} in the environment")
    if options.file and not options.file.exists():
        parser.error(f"there is no {options.file}")
    if not (options.file or options.recorded or options.search or options.leave_out):
        parser.error("name a file of conversations, or the folder of PrecisionMemBench")
    if options.leave_out:
        print(asyncio.run(LeaveOut(dict(_sources(options))).run()))
        return
    work = _searched if options.search else _worlds if options.recorded else _run
    summary = asyncio.run(work(options))
    if options.json or work is not _run:
        print(json.dumps(summary, indent=1, ensure_ascii=False))
    elif "n" in summary.get("rrf", {}):
        print(_table(options.file.name, summary))
    else:
        print("\n".join(f"{key}: {_plain(value)}" for key, value in summary.items()))


async def _worlds(options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    server = endpoint(os.environ) if options.live else None
    loaded = await load(options.model)
    embedder = Lent(loaded) if loaded else None
    for language in options.recorded.split(","):
        async with AsyncExitStack() as stack:
            model: Cassette | LiveModel | None = None
            if server:
                model = await stack.enter_async_context(LiveModel(server))
            elif not options.silent:
                path = world.FOLDER / f"{language}.answers.jsonl"
                model = Cassette(path, options.port)
            found[language] = await Recorded(world.read(language), model, embedder).run()
        if model:
            untaught = await Recorded(world.read(language), None, embedder).run()
            missed = found[language]["missed"]
            found[language]["lost_by_learning"] = sorted({*missed} - {*untaught["missed"]})
        if isinstance(model, Cassette):
            found[language] |= {"not_recorded": len(model.missing), "changed": model.changed}
        if model:
            figures = ("calls", "tokens_in", "tokens_out")
            found[language] |= {name: getattr(model, name) for name in figures}
    return found


def _sources(options: argparse.Namespace) -> Iterator[tuple[str, Open]]:
    """Every file of conversations in a folder, and every recorded world."""

    @asynccontextmanager
    async def talked(path: Path) -> AsyncIterator[Ask]:
        async with _opened(options) as (journal, embedder):
            trial = Trial(corpus.read(path, options.limit), journal, embedder)
            async with conversations(trial) as ask:
                yield ask

    @asynccontextmanager
    async def recorded(name: str) -> AsyncIterator[Ask]:
        model = Cassette(world.FOLDER / f"{name}.answers.jsonl")
        async with lived(Recorded(world.read(name), model, await load(options.model))) as ask:
            yield ask

    for path in sorted(options.file.glob("*.dev.jsonl")) if options.file else ():
        yield path.stem.removesuffix(".dev"), partial(talked, path)
    for name in world.LANGUAGES:
        yield name, partial(recorded, name)


async def _searched(options: argparse.Namespace) -> dict[str, Any]:
    """Figures by source, and of all; the files are those of a folder, if there is one."""
    files = sorted(options.file.glob("*.dev.jsonl")) if options.file else []
    share = round(search.PAIRS / (len(files) + 2))
    reports: dict[str, search.SearchReport] = {}
    for language in ("zh", "en"):
        cassette = Cassette(world.FOLDER / f"{language}.answers.jsonl")
        lived = Recorded(world.read(language), cassette, await load(options.model)).lived()
        async with lived as memory:
            reports[language] = await search.measure(memory.journal, memory.recall, share)
    for path in files:
        async with _opened(options) as (journal, embedder):
            trial = Trial(corpus.read(path), journal, embedder)
            async with trial.recaller() as recaller:
                await trial.fill(recaller, _progress)
                reports[path.stem] = await search.measure(journal, recaller, share)
    whole = search.joined(reports.values())
    return {name: each.summary() for name, each in {**reports, "all": whole}.items()}


@asynccontextmanager
async def _opened(options: argparse.Namespace) -> AsyncIterator[tuple[Journal, Rehearsal | None]]:
    """An empty journal, and the model with the vectors of earlier runs."""
    CACHE.mkdir(parents=True, exist_ok=True)
    store = await Journal.open(CACHE / "vectors.sqlite3")
    model = await load(options.model)
    embedder = Rehearsal(model, store) if model else None
    with tempfile.TemporaryDirectory() as directory:
        journal = await Journal.open(Path(directory) / "journal.sqlite3")
        try:
            yield journal, embedder
        finally:
            await journal.close()
            if embedder:
                await embedder.close()
            await store.close()


async def _run(options: argparse.Namespace) -> dict[str, Any]:
    async with _opened(options) as (journal, embedder):
        if options.file.is_dir():
            return (await Precision(options.file, journal, embedder).run(_progress)).summary()
        return await _tried(options, journal, embedder)


async def _tried(
    options: argparse.Namespace, journal: Journal, embedder: Rehearsal | None
) -> dict[str, Any]:
    read = corpus.read(options.file, options.limit)
    if options.turns:
        for person in read.people.values():
            person.observations.clear()
    if options.cited:  # as `keep_messages_days` does, which keeps what a fact rests on
        for person in read.people.values():
            cited = {id for each in person.observations for id in each.sources}
            person.lines = [line for line in person.lines if line.id in cited]
    reranker = Perfect() if options.perfect else None
    trial = Trial(read, journal, embedder, reranker, alone=options.facts)
    return (await trial.run(_progress)).summary()


def _progress(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{stage} {done}/{total}   ", end=end, file=sys.stderr, flush=True)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _table(file: str, summary: dict[str, Any]) -> str:
    def row(label: str, scores: dict[str, float]) -> str:
        figures = " | ".join(f"{scores[column]:.3f}" for column in COLUMNS)
        return f"| {label} | {scores['n']} | {figures} |"

    plain = summary["rrf"]["categories"]
    lines = [
        f"# {file}",
        f"| | n | {' | '.join(COLUMNS)} |",
        "|" + "---|" * (len(COLUMNS) + 2),
        row("all", summary["all"]),
        *(row(f"— {name}", summary[name]) for name in plain),
        row("plain RRF", summary["rrf"]),
        *(row(f"— {name}", scores) for name, scores in plain.items()),
        "",
        "in use: {lines:.1f} lines, {tokens:.0f} tokens".format(**summary["all"]),
        *(f"{key}: {value}" for key, value in summary.items() if not isinstance(value, dict)),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
