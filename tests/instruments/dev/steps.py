"""Running the commands behind a step: what is shown while they run and when they fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / ".dev"
"""Logs, reports and the demo's AstrBot; never committed."""
TAIL = 25
"""Lines of a failed command's log that are shown."""
HEARTBEAT = 30.0
"""Seconds between signs of life where the output is not a terminal."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class StepError(Exception):
    """A step failed; the message is what a developer is told."""


def heading(title: str) -> None:
    """Announce a part of the work."""
    print(f"\n== {title}", flush=True)


def note(text: str) -> None:
    """Tell something that is neither a step nor a failure."""
    print(f"   {text}", flush=True)


def stream(command: Sequence[str | Path], env: dict[str, str] | None = None) -> int:
    """Run a command whose output is the point; returns its exit code."""
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **(env or {})}, check=False
    ).returncode


def step(title: str, command: Sequence[str | Path], log: str) -> None:
    """Run a command whose output matters only when it fails.

    Args:
        title: What is being done, as a person would say it.
        command: Program and arguments.
        log: Name of the log file below ``.dev/logs``.

    Raises:
        StepError: It failed; the message ends with the end of its log.
    """
    path = WORK / "logs" / f"{log}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    terminal = sys.stdout.isatty()
    if not terminal:
        print(f"   {title} ...", flush=True)
    with path.open("w", encoding="utf-8") as output:
        try:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise StepError(f"{title}: {command[0]} cannot be run: {error}") from error
        try:
            code = _watch(process, title, begun, terminal)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    seconds = time.monotonic() - begun
    if code != 0:
        _clear(terminal)
        raise StepError(f"{title} failed (exit code {code}).\n{tail(path)}")
    if terminal:
        _clear(terminal)
        print(f"   {title}: done in {seconds:.0f} s", flush=True)
    elif seconds >= 1:
        print(f"   done in {seconds:.0f} s", flush=True)


def _watch(process: subprocess.Popen[bytes], title: str, begun: float, terminal: bool) -> int:
    pause = 0.2 if terminal else HEARTBEAT
    while True:
        try:
            return process.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            seconds = time.monotonic() - begun
            if terminal:
                print(f"\r   {title} ... {seconds:.0f} s ", end="", flush=True)
            else:
                print(f"   ... {seconds:.0f} s", flush=True)


def _clear(terminal: bool) -> None:
    if terminal:
        print("\r\x1b[2K", end="", flush=True)


def tail(path: Path, about: str = "") -> str:
    """The end of a log, indented, and where the rest is.

    Args:
        path: The log.
        about: If anything in it mentions this, only lines that do are shown.
    """
    lines = COLOURS.sub("", path.read_text(encoding="utf-8", errors="replace")).splitlines()
    lines = [line for line in lines if about in line] or lines
    shown = "\n".join(f"   | {line}" for line in lines[-TAIL:])
    return f"{shown}\n   The whole log: {path}"
