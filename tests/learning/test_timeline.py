"""Where somebody lives, whatever they told of moves, in whatever order."""

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.maintenance.upkeep import _begin
from graph_memory.model import Fact
from graph_memory.retention import DAY
from graph_memory.store import Journal, queries

from ..makers import CHINA
from ..transfer.support import opened
from .story import Story

Step = tuple[float, Literal["lives", "moves", "stays"], str]
STEPS = st.tuples(
    st.sampled_from([0.1, 5.0, 40.0]),
    st.sampled_from(["lives", "lives", "moves", "stays"]),
    st.sampled_from(["北京", "上海", "广州"]),
)


class Moves:
    """What one person tells of where they live, and where that is."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._story = Story(journal)
        self._homes: list[tuple[float, str]] = []

    async def wait(self, days: float) -> None:
        self._story.chat.at += days * DAY
        begun = await self._journal.look(lambda db: queries.begun(db, self._now, 9))
        await self._journal.commit(lambda rows: _begin(begun, rows) if begun else None)

    @property
    def _now(self) -> float:
        return self._story.chat.at

    async def tell(self, what: str, place: str) -> None:
        day = datetime.fromtimestamp(self._now + 20 * DAY, CHINA).date()
        told = any(home[1] == place for home in self._homes)
        match what:
            case "lives":  # a move there has come true
                left = [home for home in self._homes if home[0] <= self._now or home[1] != place]
                self._homes = [*left, (self._now, place)]
                await self._say(place, "", f"张三住在{place}")
            case "moves" if not told:
                at = datetime(day.year, day.month, day.day, tzinfo=CHINA).timestamp()
                self._homes.append((at, place))
                await self._say(place, f"{day}", f"张三{day}搬去{place}")
            case "stays" if not told:
                await self._say("如家酒店", f"..{day}", f"张三出差，住如家酒店到{day}")

    async def _say(self, place: str, date: str, statement: str) -> None:
        line = f"> U1|lives_in|{place}|1|{date}|0.5||{statement}"
        await self._story.play(["@ private zhang", f"Z {statement}", line])

    async def check(self) -> None:
        facts = await self._story.chat.rows(Fact)
        gone = {id for fact in facts for id in fact.supersedes}
        standing = [fact for fact in facts if fact.id not in gone and fact.valid_to is None]
        found = {f.statement[-2:] for f in standing if (f.valid_from or 0.0) <= self._now}
        begun = [home for home in self._homes if home[0] <= self._now]
        last = max(
            reversed(begun), key=lambda home: home[0], default=None
        )  # of a day what was told last
        assert found == ({last[1]} if last else set())


@pytest.mark.slow
@given(st.lists(STEPS, max_size=6), st.sampled_from([0.1, 30.0]))
def test_one_home_stands_and_it_is_the_last(steps: list[Step], rest: float) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with opened(Path(folder)) as journal:
                moves = Moves(journal)
                for days, what, place in steps:
                    await moves.wait(days)
                    await moves.tell(what, place)
                await moves.wait(rest)
                await moves.check()

    asyncio.run(play())
