"""``./dev scenes``: play all scenes and score what is remembered.

Without ``--live`` the answers are the ones written in the scenes, and everything must come
out as written: that tests the pipeline. With ``--live`` a real model (OPENAI_API_KEY,
OPENAI_BASE_URL, OPENAI_MODEL) learns from the same conversations and is scored by keywords.
Precision is a lower bound: a true fact that no scene expects counts as surplus.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.endpoint import VARIABLES, Endpoint, endpoint, missing
from tests.instruments.dev import steps

from . import stories
from .cast import SCENES
from .live import LiveModel
from .score import Score, as_json, play
from .stage import Scene

JOBS = 4
"""Scenes at the same time."""


def main(arguments: Sequence[str] | None = None, env: Mapping[str, str] = os.environ) -> int:
    """Exit code: 0, 1 if something failed, 2 if the scenes could not be played at all."""
    parser = argparse.ArgumentParser(
        prog="./dev scenes", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--live", action="store_true", help="ask a real model")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="scenes whose names have WORD")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--output", type=Path, help="write the JSON to this file, too; stories: folder of the pages"
    )
    parser.add_argument("--stories", action="store_true", help="stories in a real AstrBot")
    options = parser.parse_args(arguments)
    if options.stories:
        return stories.main(options.only or (), options.output or steps.WORK / "stories")
    server = endpoint(env) if options.live else None
    if options.live and server is None:
        print(
            f"A real model needs {', '.join(VARIABLES)} in the environment; "
            f"not set: {', '.join(missing(env))}.",
            file=sys.stderr,
        )
        return 2
    scenes = [
        scene
        for scene in SCENES
        if (scene.live or not options.live)
        and (not options.only or any(word in scene.name for word in options.only))
    ]
    if not scenes:
        print("No scene has such a name.", file=sys.stderr)
        return 2
    report = asyncio.run(_play(scenes, server))
    text = json.dumps(report, ensure_ascii=False, indent=1)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    print(text if options.json else _table(report))
    return 1 if any(s["error"] or s["differs"] or s["unlearned"] for s in report["scenes"]) else 0


async def _play(scenes: list[Scene], server: Endpoint | None) -> dict[str, Any]:
    started = time.monotonic()
    slots = asyncio.Semaphore(JOBS)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(LiveModel(server)) if server else None
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        async def one(scene: Scene) -> Score:
            async with slots:
                directory = root / scene.name
                directory.mkdir()
                score = await play(scene, directory, model)
            if sys.stderr.isatty():
                print(f"  {scene.name}", file=sys.stderr, flush=True)
            return score

        scores = list(await asyncio.gather(*(one(scene) for scene in scenes)))
    about = {
        "model": server.model if server else "as written",
        "calls": model.calls if model else 0,
        "tokens_in": model.tokens_in if model else 0,
        "tokens_out": model.tokens_out if model else 0,
        "seconds": round(time.monotonic() - started, 1),
    }
    return as_json(scores, about)


def _table(report: dict[str, Any]) -> str:
    lines = ["expected  found  dated  surplus  forbidden  reminded  leaks  scene"]
    for s in report["scenes"]:
        figures = (
            f"{s['expected']:8}  {s['found']:5}  {s['dated']:5}  {len(s['surplus']):7}  "
            f"{len(s['forbidden']):9}  {s['reminded']:4}/{s['reminders']:<3}  {len(s['leaks']):5}"
        )
        lines.append(f"{figures}  {s['name']}")
        for what in ("missing", "surplus", "forbidden", "leaks", "differs"):
            lines += [f"          {what}: {text}" for text in s[what]]
        if s["unlearned"]:
            lines.append(f"          not learned: {s['unlearned']} batches")
        if s["error"]:
            lines.append(f"          error: {s['error']}")
    lines.append("")
    about = {key: value for key, value in report.items() if key not in ("scenes", "totals")}
    lines += [f"{key}: {value}" for key, value in {**about, **report["totals"]}.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
