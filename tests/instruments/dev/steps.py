"""Running the commands behind a step: what is shown while they run and when they fail."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / ".dev"
"""Logs, reports and the demo's AstrBot; never committed."""
TAIL = 25
"""Lines of a failed command's log that are shown."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class StepError(Exception):
    """A step failed; the message is what a developer is told."""


def heading(title: str) -> None:
    print(f"\n== {title}", flush=True)


def note(text: str) -> None:
    print(f"   {text}", flush=True)


def stream(command: Sequence[str | Path], env: dict[str, str] | None = None) -> int:
    """Run a command whose output is the point; returns its exit code."""
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, check=False
    ).returncode


def step(title: str, command: Sequence[str | Path], log: str) -> None:
    """Run a command whose output matters only when it fails: then the end of its log is told."""
    path = WORK / "logs" / f"{log}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"   {title} ...", flush=True)
    begun = time.monotonic()
    with path.open("wb") as output:
        try:
            code = subprocess.run(
                [str(part) for part in command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        except OSError as error:
            raise StepError(f"{title}: {command[0]} cannot be run: {error}") from error
    if code:
        raise StepError(f"{title} failed (exit code {code}).\n{tail(path)}")
    print(f"   done in {time.monotonic() - begun:.0f} s", flush=True)


def tail(path: Path, about: str = "") -> str:
    """The end of a log (of its lines ``about`` something), and where the rest is."""
    lines = COLOURS.sub("", path.read_text(encoding="utf-8", errors="replace")).splitlines()
    lines = [line for line in lines if about in line] or lines
    shown = "\n".join(f"   | {line}" for line in lines[-TAIL:])
    return f"{shown}\n   The whole log: {path}"
