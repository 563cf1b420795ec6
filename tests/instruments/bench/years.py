"""Years of chat in minutes: what a memory costs and still knows, month by month.

The whole memory runs, graph and nightly upkeep included; only the clock is injected, and
what the model and the embedder answer follows from rules (``life.py``). A reminder is timed
by the processor's time that it takes, all of this process, which is what it would take on a
machine that does nothing else.
"""

import asyncio
import gc
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

from graph_memory.maintenance import Upkeep
from graph_memory.model import BOT, Fact, Session, Status, Turn, asker_of, user_id
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests.instruments.eval.metrics import percentile
from tests.makers import Clock, PromptUpkeep
from tests.world import opened

from .life import NAMES, PLATFORM, Bigrams, Life, Line, Rules, midnight
from .measure import Figures, resident_mb, say

ZONE = timezone(timedelta(hours=8))
DAYS = 365
LONG_AGO, LATELY = 180, 60
"""Days since something was mentioned once."""
ASKED = 40
"""Things mentioned once that are asked for each month, long ago and lately."""
SCENARIOS: dict[str, dict[str, float]] = {
    "forgetting": {"time_decay_rate": 1.0},
    "never forgetting": {"time_decay_rate": 0.0},
    "messages for 180 days": {"time_decay_rate": 1.0, "keep_messages_days": 180},
}
COMPARED = ("forgetting", "never forgetting")


@dataclass(slots=True)
class Simulation:
    """One memory through the years.

    Attributes:
        months: Figures at the end of each month.
    """

    name: str
    life: Life
    service: MemoryService
    upkeep: Upkeep
    clock: Clock
    resident: float
    months: list[Figures] = field(default_factory=list)
    nights: list[float] = field(default_factory=list)

    async def run(self, days: int) -> None:
        """Chat for so many days, with upkeep every night."""
        started = time.perf_counter()
        for day in range(days):
            for talk in self.life.day(day):
                await self._chat(talk)
            tonight = self.life.start + timedelta(days=day + 1, hours=4)
            self.clock.now = tonight.timestamp()
            began = time.perf_counter()
            await self.upkeep.run()
            self.nights.append(time.perf_counter() - began)
            if tonight.day == 1 or day == days - 1:
                await self.service.settle()
                await self.service.graph.settle()
                self.months.append(await self._figures(day, tonight))
                month = self.months[-1]
                say(
                    f"{self.name}: {month['month']} {time.perf_counter() - started:.0f} s,"
                    f" {month['messages']} messages, {month['live']} live facts,"
                    f" p50 {month['p50_ms']:.1f}, p95 {month['p95_ms']:.1f} ms,"
                    f" {month['resident_mb']:.0f} MB"
                )

    async def _chat(self, talk: Sequence[Line]) -> None:
        learning = self.service.learning
        for line in talk:
            self.clock.now = line.at
            if line.sender == BOT:
                await learning.reply(line.session, line.text)
            else:
                await learning.hear(Turn(line.session, line.sender, line.name, line.text))
        await learning.flush(talk[0].session.circle)

    async def _figures(self, day: int, tonight: datetime) -> Figures:
        service = self.service
        gc.collect()
        resident = resident_mb() - self.resident
        counts = await service.journal.counts()
        status = await service.journal.read(lambda rows: [row.status for row in rows.scan(Fact)])
        read = "SELECT json_extract(data, '$.level'), count(*) FROM row"
        query = f"{read} WHERE kind = 'episode' GROUP BY 1"
        levels = await service.journal.look(lambda db: dict(db.execute(query).fetchall()))
        taken: list[float] = []
        hits = {
            "current": await self._current(taken),
            "lately": await self._once(taken, day - LATELY, day),
            "long_ago": await self._once(taken, 0, day - LONG_AGO),
        }
        return {
            "month": f"{tonight - timedelta(days=1):%Y-%m}", "messages": counts["messages"],
            "live": status.count(Status.ACTIVE.value),
            "archived": status.count(Status.ARCHIVED.value), "episodes": levels.pop("episode", 0),
            "records": sum(levels.values()),
            "journal_mb": _size(service.directory, "journal.sqlite3*"),
            "graph_mb": _size(service.directory, "graph/**/*"), "resident_mb": resident,
            "documents": service.recall.items, "p50_ms": percentile(taken, 0.5),
            "p95_ms": percentile(taken, 0.95), "night_s": max(self.nights[-30:]), "hits": hits,
            "load": os.getloadavg()[0],
        }  # fmt: skip

    async def _current(self, taken: list[float]) -> float | None:
        """Share of what was said and is still true that is among the first eight."""
        found = [
            await self._ask(t.session, t.person, t.asks, (t.value,), taken)
            for t in self.life.traits
            if t.since >= 0
        ]
        return sum(found) / len(found) if found else None

    async def _once(self, taken: list[float], first: int, last: int) -> float | None:
        """The same for what was mentioned once, from one day to another, evenly chosen."""
        told = [one for one in self.life.once if first <= one.day < last]
        step = max(1, len(told) // ASKED)
        found = []
        for one in told[::step][:ASKED]:
            text = f"{NAMES[one.person]}在{one.place}买过什么"
            found.append(await self._ask(one.session, one.person, text, one.words, taken))
        return sum(found) / len(found) if found else None

    async def _ask(
        self, session: Session, person: int, text: str, words: tuple[str, ...], taken: list[float]
    ) -> bool:
        asker = asker_of(session, user_id(PLATFORM, str(person)))
        before = time.process_time()
        found = await self.service.recall.remind(asker, text)
        taken.append((time.process_time() - before) * 1000)
        name = NAMES[person]
        return any(
            all(word in item.text for word in words) and (name in item.text or not session.is_group)
            for item in found.items
        )


def live(name: str, days: int) -> list[Figures]:
    """Figures of one scenario, by month; in a process of its own."""
    return asyncio.run(_live(name, days))


async def _live(name: str, days: int) -> list[Figures]:
    settings = Settings(recall_deadline=10_000, daily_llm_tokens=0, **SCENARIOS[name])  # type: ignore[arg-type]
    life, clock, model = Life(midnight(ZONE)), Clock(midnight(ZONE).timestamp()), Rules()
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "data"
        async with opened(data, settings, zone=ZONE, model=model, now=clock) as service:
            service.use_embedder(Bigrams.load)
            upkeep = PromptUpkeep(
                service.context, service.library, model=model, breaker=service.learning.breaker,
                embedding=lambda: Bigrams.name,
            )  # fmt: skip
            await service.settle()
            await service.graph.settle()
            await service.recall.remind(asker_of(life.private[0], user_id(PLATFORM, "0")), "在吗")
            gc.collect()
            simulation = Simulation(name, life, service, upkeep, clock, resident_mb())
            await simulation.run(days)
            return simulation.months


def _size(directory: Path, pattern: str) -> float:
    return sum(path.stat().st_size for path in directory.glob(pattern) if path.is_file()) / 1e6
