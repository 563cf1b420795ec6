"""The campaign of several bots on one memory: every fault that a network and hosts have.

Bots talk without a pause through a proxy to a real PostgreSQL; a nemesis kills and stops them
and the server, cuts and holds up the connections, loses answers, sets clocks wrong, sets the
server back to an older state and has somebody forgotten in the middle of it. Then all heals, and
what was acknowledged must be there, once, in every bot's file, the same everywhere.
"""

import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ...disks import Disk, small_disk
from ...postgres import Postgres, content, with_each_table
from ..eval.metrics import percentile
from . import bot
from .bot import GONE, Order
from .kills import spawner
from .ledger import Ledger, Tally
from .proxy import Proxy

SAFE = "-c fsync=off -c max_connections=60"
"""Committed is what the server's processes survive; power cuts are PostgreSQL's own affair."""
FAULTS = {
    "bot killed": 8, "bot stopped": 5, "server stopped": 3, "backends ended": 4, "cut": 4,
    "held up": 3, "deaf": 2, "answer lost": 6, "set back": 3, "disk full": 4,
    "failover": 2,
}  # fmt: skip
BOTS = 3
SET_BACK = 4
"""How often the server may lose what it had: what other bots learned goes with it."""
FAILOVERS = 2
"""How often a standby takes over, which does not have the last that was written."""
COLUMNS = 12
"""Of a message, without those of a newer version."""
HOOK = 5.5
"""Seconds after which a hook has to be done, whatever the network does."""


@dataclass
class Toll(Tally):
    """What was seen of several bots.

    Attributes:
        waited: Seconds that each hook took.
        slowest: The longest, but for what the bot was stopped.
        wasted: Calls of the model that failed, or that a kill or a loss may have cost.
    """

    faults: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    slowest: float = 0.0
    waited: list[float] = field(default_factory=list)
    batches: int = 0
    calls: int = 0
    wasted: int = 0
    steps: int = 0

    def result(self) -> dict[str, Any]:
        """As of any campaign, with the 95th percentile of what hooks took."""
        return super().result() | {"waited": round(percentile(self.waited, 0.95), 3)}


class _Process:
    """One bot and what becomes of its process."""

    def __init__(self, campaign: "Campaign", number: int) -> None:
        self.directory = campaign.folder / f"bot{number}"
        self.disk: Disk | None = None
        with suppress(pytest.skip.Exception):  # where a disk may be mounted
            self.disk = campaign.disks.enter_context(small_disk(self.directory, "128m"))
        self.number, self.round = number, 0
        self.is_tracing = False
        self.stops = 0.0
        self.stands: tuple[list[str], list[str]] | None = None
        self.ended: tuple[int, ...] | None = None
        self.is_done = False
        self._campaign = campaign
        self.process: BaseProcess
        self.pipe: Connection

    def start(self, *, is_ending: bool = False) -> None:
        campaign = self._campaign
        unknown = filter(bot.reference, campaign.ledger.in_flight)
        mine = [word for word in unknown if word.startswith(f"w{self.number}x")]
        order = Order(
            self.directory, campaign.postgres.dsn_at(campaign.proxy.port), self.number, self.round,
            0.0 if is_ending else campaign.rng.choice((-3600.0, 0.0, 0.0, 3600.0)),
            campaign.without, tuple(mine), is_ending,
        )  # fmt: skip
        self.round += 1
        self.is_tracing = False
        self.pipe, theirs = campaign.context.Pipe()
        process = campaign.context.Process(target=bot.main, args=(order, theirs), daemon=True)
        process.start()
        theirs.close()
        self.process = process

    def leave_a_trace(self) -> None:
        """Let it hear the person who is forgotten later."""
        self.is_tracing = True
        self.pipe.send("leave a trace")

    def hear(self) -> None:
        try:
            while not self.pipe.closed and self.pipe.poll():
                self._campaign.note(self, *self.pipe.recv())
        except (EOFError, ConnectionResetError):
            pass

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.hear()
        self.pipe.close()


class Campaign:
    """Faults of a network, its hosts and a server.

    Args:
        without: A guard that is switched off (:func:`.bot.switch_off`).
    """

    def __init__(
        self,
        seed: int,
        report: Callable[[Toll], None] = lambda _toll: None,
        *,
        without: str = "",
    ) -> None:
        self.rng, self.without = random.Random(seed), without
        self.toll, self.ledger = Toll(), Ledger()
        self.folder = Path(tempfile.mkdtemp(prefix="chaos-shared-"))
        self.disks = ExitStack()
        self.context = spawner()
        self.postgres = Postgres(SAFE)
        self.proxy = Proxy(self.postgres.port)
        self._report, self._saved, self._backs, self._failovers = report, False, 0, 0
        self._called = 0
        self._forgotten = False
        self.bots = [_Process(self, number) for number in range(BOTS)]

    def run(self, faults: int) -> Toll:
        """Do so much harm, let it heal, and look."""
        try:
            for each in self.bots:
                each.start()
            self._listen(3.0)
            traces = faults // 3, faults // 2
            for number in range(faults):
                if number == traces[0]:
                    for each in self.bots:
                        each.leave_a_trace()
                if number == traces[1]:
                    self._forget()
                if number % 12 == 6 and not self._saved:
                    self._save()
                self._harm()
                self._listen(self.rng.uniform(0.1, 0.7))
                self._report(self.toll)
            self._heal()
            self._judge()
        finally:
            for each in self.bots:
                each.kill()
            self.proxy.close()
            self.postgres.remove()
            if self.toll.problems:
                kept = f"{self.folder}-kept"
                shutil.copytree(self.folder, kept)
                self.toll.problems.append(f"the data directories are kept: {kept}")
            self.disks.close()
            shutil.rmtree(self.folder)
        return self.toll

    def note(self, sender: _Process, what: str, about: Any = None) -> None:
        match what:
            case "sent":
                self.ledger.sent.add(about)
            case "acknowledged":
                said, seconds = about
                self.ledger.acknowledged.add(said)
                self.toll.waited.append(seconds)
                self.toll.slowest = max(self.toll.slowest, seconds - sender.stops)
                sender.stops = 0.0
            case "call":
                self.toll.calls += 1
            case "failed call":
                self.toll.wasted += 1
            case "traced":
                sender.is_tracing = False
            case "forgotten":
                self._forgotten = True
            case "ended":
                sender.ended = about
            case "stands":
                sender.stands = about
            case "done":
                sender.is_done = True
            case "failed":
                self.toll.problems.append(f"bot {sender.number} failed: {about}")

    def _forget(self) -> None:
        """Have the person forgotten by a bot; nobody hears them afterwards."""
        for late in [each for each in self.bots if each.is_tracing]:
            late.kill()
            late.start()
        self.rng.choice(self.bots).pipe.send("forget")

    def _listen(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for each in self.bots:
                each.hear()
            time.sleep(0.02)

    def _harm(self) -> None:
        rng, proxy = self.rng, self.proxy
        kind = rng.choices(list(FAULTS), list(FAULTS.values()))[0]
        victim = rng.choice(self.bots)
        match kind:
            case "bot killed":
                victim.kill()
                self.toll.wasted += 2  # batches that it may have been at
                self._listen(rng.uniform(0.0, 0.5))
                victim.start()
            case "bot stopped":
                span = rng.uniform(0.5, 3.0)
                os.kill(victim.process.pid or 0, signal.SIGSTOP)
                self._listen(span)
                victim.stops = span
                os.kill(victim.process.pid or 0, signal.SIGCONT)
            case "server stopped":
                self.postgres.stop()
                self._listen(rng.uniform(0.1, 2.0))
                self.postgres.start()
            case "backends ended":
                self._ask(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'graph_memory' AND random() < 0.7"
                )
            case "cut":
                proxy.cut()
            case "held up":
                proxy.is_held = True
                self._listen(rng.uniform(0.5, 7.0))
                proxy.is_held = False
            case "deaf":
                proxy.is_deaf = True
                self._listen(rng.uniform(0.5, 3.0))
                proxy.is_deaf = False
                proxy.cut()
            case "answer lost":
                proxy.loses_answer = True
            case "disk full":
                if victim.disk is None:
                    return
                victim.disk.fill()
                self._listen(rng.uniform(0.3, 2.0))
                if rng.random() < 0.3:
                    victim.kill()
                    victim.start()
                    self.toll.wasted += 2
                    self._listen(rng.uniform(0.3, 2.0))
                victim.disk.free()
            case "failover":
                if self._failovers == FAILOVERS:
                    return
                self._fail_over()
            case "set back":
                if not self._saved or self._backs == SET_BACK:
                    return
                self._set_back()
        self.toll.faults[kind] += 1

    def _fail_over(self) -> None:
        """Let a standby that was cut off for a moment take over."""
        self._failovers += 1
        standby = Postgres(SAFE, follows=self.postgres)
        self._listen(self.rng.uniform(0.2, 1.0))
        standby.stop("fast")
        called = self.toll.calls
        self._listen(self.rng.uniform(0.0, 1.0))
        self.postgres.remove()
        standby.start()
        standby.promote()
        self.postgres, self.proxy.target = standby, standby.port
        self.toll.wasted += self.toll.calls - called  # it is learned again

    @property
    def _dsn(self) -> str:
        return f"{self.postgres.dsn} options='-csearch_path=graph_memory'"

    def _ask(self, *queries: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._dsn, autocommit=True) as db:
            found: list[tuple[Any, ...]] = []
            for query in queries:
                cursor = db.execute(query)  # type: ignore[call-overload]
                found = cursor.fetchall() if cursor.description else []
            return found

    def _save(self) -> None:
        """Keep what the server has, to set it back later."""
        saves = "DROP TABLE IF EXISTS saved_$; CREATE TABLE saved_$ AS TABLE $"
        with_each_table(self._dsn, saves)
        self._saved, self._called = True, self.toll.calls

    def _set_back(self) -> None:
        self._backs += 1
        self._saved = False
        self.toll.wasted += self.toll.calls - self._called  # it is learned again
        with_each_table(self._dsn, "DELETE FROM $; INSERT INTO $ TABLE saved_$")

    def _heal(self) -> None:
        """Let all end what they began, with the right clocks."""
        if not self._forgotten:
            self.bots[0].pipe.send("forget")
            self._wait(lambda: self._forgotten, "nobody was forgotten")
        for each in self.bots:
            each.kill()
        self.toll.wasted += 2 * len(self.bots)
        for each in self.bots:
            each.start(is_ending=True)
        self._wait(lambda: all(each.ended for each in self.bots), "a bot does not end")
        for each in self.bots:
            if each.ended and any(each.ended):
                left = "buffered, queued, unsent, to forget"
                self.toll.problems.append(f"bot {each.number} has left ({left}): {each.ended}")
            each.pipe.send("all have ended")
        self._wait(lambda: all(each.is_done for each in self.bots), "a bot does not close")

    def _wait(self, is_so: Callable[[], object], problem: str) -> None:
        until = time.monotonic() + 240
        while not is_so() and time.monotonic() < until:
            self._listen(0.1)
        if not is_so():
            self.toll.problems.append(problem)

    def _judge(self) -> None:
        toll, paths = self.toll, [each.directory / "journal.sqlite3" for each in self.bots]
        toll.acknowledged = len(self.ledger.acknowledged)
        toll.problems += self.ledger.audit(paths[0], final=True)
        first, *others = [content(path) for path in paths]
        for each in (first, *others):
            each["message"] = sorted((row[:COLUMNS] for row in each["message"]), key=repr)
            del each["lease"]  # who ends last may take or give one that nobody is left to follow
        for number, other in enumerate(others, 1):
            differing = [name for name in first if first[name] != other.get(name)]
            toll.problems += [f"bot {number} differs from bot 0 in {name}" for name in differing]
        self._judge_server(first)
        with closing(sqlite3.connect(paths[0])) as db:
            query = "SELECT count(*) FROM change WHERE batch IS NOT NULL"
            (toll.batches,) = db.execute(query).fetchone()
        if toll.calls > toll.batches + toll.wasted:
            toll.problems.append(f"{toll.calls} calls of a model for {toll.batches} batches")
        if toll.slowest > HOOK:
            toll.problems.append(f"a hook took {toll.slowest:.1f} s")
        stands = [each.stands for each in self.bots]
        toll.problems += [f"doctor found {s[0]}" for s in stands if s and s[0]]
        if len({tuple(s[1]) for s in stands if s}) > 1:
            toll.problems.append("the same question gets different blocks")
        for path in self.folder.rglob("*"):
            if path.is_file() and GONE.encode() in path.read_bytes():
                toll.problems.append(f"what was forgotten is in {path.relative_to(self.folder)}")

    def _judge_server(self, first: dict[str, list[Any]]) -> None:
        query = (
            "SELECT place, count(*) FROM item WHERE body IS NOT NULL AND place != 'lease'"
            " GROUP BY place"
        )
        there = {str(place): int(count) for place, count in self._ask(query)}
        first.pop("fact_field", None)  # triggers make it of the rows, in each file
        here = {name: len(rows) for name, rows in first.items() if rows}
        if there != here:
            self.toll.problems.append(f"the server holds {there}, the bots {here}")
        found = self._ask("SELECT body FROM item WHERE body::text LIKE '%zq7gone%'")
        self.toll.problems += ["what was forgotten is on the server"] * bool(found)
        query = (
            "SELECT 1 FROM item WHERE place = 'message' AND body->>'text' ~ 'w[1-9]x'"
            " AND NOT body ? 'newer'"
        )
        self.toll.problems += ["an older version lost a newer one's field"] * bool(self._ask(query))
        steps = [n for (n,) in self._ask("SELECT number FROM step ORDER BY number")]
        self.toll.steps = len(steps)
        if steps != list(range(steps[0], steps[0] + len(steps))):
            self.toll.problems.append("a step's number was left out")
