"""The campaign of kills: start, let it work, kill it at a random moment, look, start again.

A life is one data directory. Its processes are killed one after the other, each started
on what the one before left; at the end of a life one process is let finish, and
everything that was ever acknowledged must be there, learned once, in graph and journal.
"""

import multiprocessing
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from . import victim
from .ledger import Ledger, Tally
from .victim import Task

LIFE = 40
"""Kills in one data directory."""
SILENCE = 60.0
"""Seconds without a word after which a process hangs."""
PHASES = {
    "talking": 3, "opening": 2, "rebuilding": 2, "migrating": 2, "learning": 4, "closing": 4,
    "swapping": 4, "backup": 3, "restoring": 2, "forgetting": 1, "remembering": 1,
}  # fmt: skip
"""Where kills are aimed, with weights."""
MIGRATING = 0.3
"""Share of the starts that bring an update of the journal."""


@dataclass
class Score(Tally):
    """What a campaign has seen.

    Attributes:
        warnings: What the memory complained of, without the numbers in it.
    """

    kills: int = 0
    acknowledged: int = 0
    starts: int = 0
    comparisons: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)


class Campaign:
    """Kills of the bare memory.

    Attributes:
        _durations: How long phases take, so that a kill can be aimed into the middle of one.
    """

    def __init__(self, seed: int, report: Callable[[Score], None] = lambda _score: None) -> None:
        self.score = Score()
        self._rng = random.Random(seed)
        self._report = report
        self._durations: dict[str, float] = {}
        self._context = spawner()

    def run(self, kills: int) -> Score:
        life = 0
        while self.score.kills < kills and not self.score.problems:
            self._live(life, min(LIFE, kills - self.score.kills))
            life += 1
        return self.score

    def _live(self, life: int, kills: int) -> None:
        directory = Path(tempfile.mkdtemp(prefix="chaos-"))
        ledger, updates = Ledger(), 0
        for round in range(kills):
            updates += self._rng.random() < MIGRATING
            names = [name for name in PHASES if updates or name != "migrating"]
            task = Task(
                directory, life, round, seed=self._rng.getrandbits(32), migrations=updates,
                resend=tuple(ledger.in_flight),
                aim=self._rng.choices(names, [PHASES[name] for name in names])[0],
            )  # fmt: skip
            Round(self, task, ledger).run()
            if self.score.problems:
                break
            self._report(self.score)
        else:
            task = Task(directory, life, kills, 0, updates, tuple(ledger.in_flight), ending=True)
            Round(self, task, ledger).run()
            self.score.problems += ledger.audit(directory / "journal.sqlite3", final=True)
        self.score.acknowledged += len(ledger.acknowledged)
        if self.score.problems:
            self.score.problems.append(f"the data directory is kept: {directory}")
        else:
            shutil.rmtree(directory)


class Round:
    """One process, from its start to its kill (or to its end, if it may finish)."""

    def __init__(self, campaign: Campaign, task: Task, ledger: Ledger) -> None:
        self._score = campaign.score
        self._durations = campaign._durations
        self._task = task
        self._ledger = ledger
        self._rng = random.Random(task.seed)
        self._process, self._pipe = start(campaign._context, task)
        self._begun: dict[str, float] = {}
        self._open = self._done = False
        self._kill_at = float("inf")

    def run(self) -> None:
        self._score.starts += 1
        heard_at = time.monotonic()
        while True:
            now = time.monotonic()
            if now >= self._kill_at:
                break
            try:
                if self._pipe.poll(min(self._kill_at - now, heard_at + SILENCE - now, 1.0)):
                    self._hear(*self._pipe.recv())
                    heard_at = time.monotonic()
            except EOFError:
                self._process.join()
                self._pipe.close()
                if not self._done:
                    self._problem(f"failed: exit code {self._process.exitcode} in {self._where()}")
                return
            if time.monotonic() - heard_at > SILENCE:
                self._problem(f"hang: no word for {SILENCE:g} s, in {self._where()}")
                break
        self._kill()

    def _kill(self) -> None:
        self._process.kill()
        self._process.join()
        self._score.kills += 1
        try:
            while self._pipe.poll():
                self._hear(*self._pipe.recv())
        except EOFError:
            pass
        for phase in self._begun or {"talking": 0.0}:
            self._score.phases[phase] += 1
        self._pipe.close()

    def _where(self) -> str:
        return ", ".join(self._begun) or ("talking" if self._open else "starting")

    def _problem(self, text: str) -> None:
        self._score.problems.append(f"{text} (life {self._task.life}, round {self._task.round})")

    def _hear(self, what: str, about: Any = None) -> None:
        match what:
            case "begin":
                self._begun[about] = time.monotonic()
                if about == self._task.aim:
                    self._aim_at(self._durations.get(about, 0.05))
            case "end":
                seconds = time.monotonic() - self._begun.pop(about)
                known = self._durations.get(about, seconds)
                self._durations[about] = 0.7 * known + 0.3 * seconds
            case "open":
                if not self._open and not self._task.ending:
                    for problem in self._ledger.audit(self._task.directory / "journal.sqlite3"):
                        self._problem(problem)
                    # Whatever happens, not for ever.
                    self._kill_at = min(self._kill_at, time.monotonic() + 5.0)
                    if self._task.aim == "talking":
                        self._aim_at(1.0)
                self._open = True
            case "sent":
                self._ledger.sent.add(about)
            case "acknowledged":
                self._ledger.acknowledged.add(about)
            case "compared":
                self._score.comparisons += about is not None
                for difference in about or ():
                    self._problem(f"graph: {difference}")
            case "done":
                self._done = True
            case "warned":
                self._score.warnings[re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "#", about)[:200]] += 1
            case "failed" | "not recalled":
                self._problem(f"{what}: {about}")

    def _aim_at(self, span: float) -> None:
        self._kill_at = min(self._kill_at, time.monotonic() + self._rng.random() * 1.2 * span)


def spawner() -> Any:
    """Makes processes quickly: each is a fork of one that has everything imported."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.instruments.chaos.victim"])
    return context


def start(context: Any, task: Task) -> tuple[BaseProcess, Connection]:
    """A victim's process and the end of the pipe from it."""
    listening, talking = context.Pipe(duplex=False)
    process = context.Process(target=victim.main, args=(task, talking), daemon=True)
    process.start()
    talking.close()
    return process, listening
