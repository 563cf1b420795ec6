"""Batches are tried once each, and none is lost while the model is down."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from graph_memory.errors import ExtractionError, HeldBackError, JournalError
from graph_memory.inference.breaker import Breaker, BreakerState
from graph_memory.learning import Learning
from graph_memory.learning.batching import Buffers
from graph_memory.model import Batch
from graph_memory.settings import Settings
from graph_memory.store import Draft, Journal, QueuedBatch
from tests.waiting import until

from ..makers import T0, claim_all, context, message, private, user

DAY = 86_400.0


class SlowToRead(Journal):
    """A journal whose queue is reported after ``meanwhile`` has happened."""

    async def queue(self, authors: Collection[str] = ()) -> list[QueuedBatch]:
        found = await super().queue(authors)
        await self.meanwhile()
        return found

    async def meanwhile(self) -> None:
        """Nothing, at first."""


class Shop:
    """Learning without its loop, whose model is up or down, on a clock that is set."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.now = 0.0
        self.is_up = False
        self.asked: list[int] = []
        self.breaker = Breaker("模型", clock=lambda: self.now)
        self.learning = Learning(
            context(journal, now=lambda: T0 + self.now), None, breaker=self.breaker
        )
        self.use(self.learn)

    def use(self, learn: Callable[[Batch], Awaitable[None]]) -> None:
        self.learning._extractor.learn = learn  # type: ignore[method-assign]

    @property
    def is_busy(self) -> bool:
        return bool(self.learning._running)

    async def learn(self, batch: Batch) -> None:
        call = self.breaker.admit()
        if call is None:
            raise HeldBackError("held back")
        self.asked.append(batch.id)
        if not self.is_up:
            call.end("连接超时")
            raise ExtractionError("连接超时")
        call.end("")
        await self.journal.commit(lambda _: Draft("learn", "learned", batch=batch.id))

    async def fill(self, count: int) -> None:
        for number in range(count):
            session = private(f"人{number}")
            await self.journal.append(message(session, user("人"), "我喜欢爬山"), session)
            assert await self.journal.claim(session.id, claim_all)
        self.learning.look_again()

    async def work(self) -> None:
        """Until there is nothing to do at this moment."""
        while await self.learning.step() <= 0 or self.is_busy:
            await asyncio.sleep(0.001)

    async def states(self) -> set[str]:
        return {batch.state for batch in await self.journal.queue()}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    journal = await SlowToRead.open(tmp_path / "journal.sqlite3", lambda: T0)
    made = Shop(journal)
    yield made
    await made.learning.close()
    await journal.close()


async def test_an_outage_of_a_day_costs_a_call_a_pause_and_no_batch(shop: Shop):
    await shop.fill(40)
    while shop.now < DAY:
        await shop.work()
        shop.now += 10
    # 3 to notice (and one that was under way), then pauses of 30, 60, … 600 s.
    assert 140 < len(shop.asked) < 155
    assert await shop.states() == {"waiting"}, "nothing is given up"
    shop.is_up = True
    shop.now += 600
    await shop.work()
    assert await shop.states() == set(), "all that waited is learned at once, in any back-off"
    assert shop.breaker.state is BreakerState.CLOSED


async def test_one_bad_batch_does_not_stop_the_others(shop: Shop):
    """A provider that refuses one text (a filter, say) is up for the rest."""
    await shop.fill(12)
    learn = shop.learn

    async def choosy(batch: Batch) -> None:
        shop.is_up = batch.id != 1
        await learn(batch)

    shop.use(choosy)
    for _ in range(600):
        await shop.work()
        shop.now += 10
    (left,) = await shop.journal.queue()
    assert (left.id, left.state) == (1, "waiting"), "nobody else has seen the model up since"
    assert shop.asked.count(1) < 10
    await shop.fill(1)
    for _ in range(70):
        await shop.work()
        shop.now += 10
    (left,) = await shop.journal.queue()
    assert (left.id, left.state) == (1, "dead")


async def test_urging_while_it_is_down_costs_nothing_unless_somebody_wants_to_know(shop: Shop):
    await shop.fill(6)
    await shop.work()
    asked = len(shop.asked)
    some = shop.learning.retry_now([4, 5])
    await shop.work()
    assert [each.result() for each in some] == [False, False]
    assert len(shop.asked) == asked
    shop.breaker.hurry()
    everything = shop.learning.retry_now(range(1, 7))
    await shop.work()
    assert not any(each.result() for each in everything)
    assert len(shop.asked) == asked + 1
    shop.is_up = True
    shop.breaker.hurry()
    everything = shop.learning.retry_now(range(1, 7))
    await shop.work()
    assert all(each.result() for each in everything)


async def test_the_model_is_not_asked_for_what_cannot_be_stored(shop: Shop):
    await shop.fill(3)
    shop.is_up = True
    await shop.journal.tidy(lambda db: db.execute("PRAGMA query_only = ON"))
    with pytest.raises(JournalError):
        await shop.journal.set_note("noticed", "yes")
    assert await shop.learning.step() > 0
    await until(lambda: not shop.is_busy)
    assert shop.asked == []
    assert await shop.learning.step() > 20, "and it does not try all the time"
    await shop.journal.tidy(lambda db: db.execute("PRAGMA query_only = OFF"))


async def test_a_batch_that_cannot_be_read_does_not_stop_the_others(shop: Shop):
    await shop.fill(2)
    shop.is_up = True
    await shop.journal.tidy(
        lambda db: db.execute(
            "DELETE FROM row WHERE kind = 'session' AND id = (SELECT session FROM batch LIMIT 1)"
        )
    )
    await shop.work()
    assert shop.asked == [2]
    assert await shop.states() == {"dead"}


async def test_a_clock_that_is_set_back_keeps_no_batch_waiting(shop: Shop):
    await shop.fill(1)
    await shop.journal.fail(1, "超时", T0 + 365 * DAY)  # by a clock that was a year ahead
    shop.learning.look_again()
    shop.is_up = True
    await shop.work()
    assert await shop.states() == set()


async def test_a_batch_that_ends_while_the_queue_is_read_is_not_started_again(shop, monkeypatch):
    shop.is_up, answered = True, asyncio.Event()
    learn = shop.learn

    async def slow(batch: Batch) -> None:
        await answered.wait()
        await learn(batch)

    shop.use(slow)
    await shop.fill(1)
    await shop.learning.step()

    async def it_ends() -> None:
        answered.set()
        await until(lambda: not shop.is_busy)

    monkeypatch.setattr(shop.journal, "meanwhile", it_ends)
    shop.learning.look_again()
    await shop.learning.step()
    assert not shop.is_busy
    assert shop.asked == [1]


async def test_a_long_queue_is_not_read_for_each_of_its_batches(shop, monkeypatch):
    shop.is_up, reads = True, list[float]()

    async def count() -> None:
        reads.append(shop.now)

    monkeypatch.setattr(shop.journal, "meanwhile", count)
    await shop.fill(20)
    await shop.work()
    assert shop.asked == list(range(1, 21))
    assert await shop.states() == set()
    assert len(reads) == 2, "once to work it off, once by this test"


async def test_what_is_urged_while_the_queue_is_read_is_waited_for(shop, monkeypatch):
    shop.is_up = True
    urged: list[asyncio.Future[bool]] = []

    async def somebody_urges() -> None:
        if not urged:
            urged.extend(shop.learning.retry_now([1]))
            await shop.fill(1)

    monkeypatch.setattr(shop.journal, "meanwhile", somebody_urges)
    await shop.learning.step()
    assert await asyncio.wait_for(urged[0], 5)


async def test_a_late_failure_does_not_unlearn(shop: Shop):
    await shop.fill(1)
    await shop.journal.commit(lambda _rows: Draft("learn", "learned", batch=1))
    await shop.journal.fail(1, "503", T0 + 30)
    await shop.journal.fail(1, "503", None)
    assert await shop.journal.queue() == []


def test_a_clock_that_is_set_back_keeps_no_buffer_waiting():
    buffers = Buffers(Settings(buffer_timeout=300), grace=1)
    home = private("zhang")
    buffers.know(home)
    ahead = T0 + 365 * DAY
    said = replace(message(home, user("zhang"), "我喜欢爬山", at=ahead), id=1)
    buffers.put(said, now=ahead, clock=50.0)
    silence = 300
    assert buffers.waits(ahead + 100, 150.0)[home.id] == silence - 100
    assert buffers.waits(T0, 150.0)[home.id] == silence - 100
    assert buffers.waits(T0, 50.0 + silence)[home.id] == 0
