"""A batch is learned once, whatever happens while the queue is being read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from graph_memory.breaker import Breaker
from graph_memory.errors import ExtractionError
from graph_memory.journal import Draft, Journal, QueuedBatch
from graph_memory.learn.queue import Queue
from graph_memory.model import Batch

from ..makers import T0, message, private, user

ZHANG = user("zhang")
HOME = private("zhang")


class SlowToRead(Journal):
    """A journal whose queue is reported after ``meanwhile`` has happened."""

    async def queue(self) -> list[QueuedBatch]:
        found = await super().queue()
        await self.meanwhile()
        return found

    async def meanwhile(self) -> None:
        """Nothing, at first."""


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = await SlowToRead.open(tmp_path / "journal.sqlite3", lambda: T0)
    yield opened
    await opened.close()


async def batch(journal: Journal) -> int:
    await journal.append(message(HOME, ZHANG, "我喜欢爬山"), HOME)
    claimed = await journal.claim(HOME.id, len, lambda *_: Draft("chat", "episode"))
    assert claimed is not None
    return claimed[0].id


async def test_a_batch_that_ends_while_the_queue_is_read_is_not_started_again(
    journal: SlowToRead, monkeypatch
):
    id = await batch(journal)
    attempts, answered = [], asyncio.Event()

    async def learn(one: Batch) -> None:
        attempts.append(one.id)
        await answered.wait()
        await journal.commit(lambda _rows: Draft("learn", "learned", batch=one.id))

    queue = Queue(journal, learn, wake=lambda: None, now=lambda: T0, breaker=Breaker("model"))
    await queue.step()

    async def it_ends() -> None:
        answered.set()
        while queue.is_busy:
            await asyncio.sleep(0)

    monkeypatch.setattr(journal, "meanwhile", it_ends)
    queue.look_again()
    await queue.step()
    assert not queue.is_busy
    assert attempts == [id]
    await queue.close()


async def test_what_is_urged_while_the_queue_is_read_is_waited_for(
    journal: SlowToRead, monkeypatch
):
    async def learn(one: Batch) -> None:
        await journal.commit(lambda _rows: Draft("learn", "learned", batch=one.id))

    queue = Queue(journal, learn, wake=lambda: None, now=lambda: T0, breaker=Breaker("model"))
    urged: list[asyncio.Future[bool]] = []

    async def somebody_urges() -> None:
        if not urged:
            urged.extend(queue.urge([await batch(journal)]))

    monkeypatch.setattr(journal, "meanwhile", somebody_urges)
    await queue.step()
    assert await asyncio.wait_for(urged[0], 5)
    await queue.close()


async def test_a_late_failure_does_not_unlearn(journal: SlowToRead):
    id = await batch(journal)
    await journal.commit(lambda _rows: Draft("learn", "learned", batch=id))
    await journal.fail(id, "503", T0 + 30)
    await journal.fail(id, "503", None)
    assert await journal.queue() == []


async def test_a_failed_batch_waits(journal: SlowToRead):
    id = await batch(journal)

    async def learn(_one: Batch) -> None:
        raise ExtractionError("503")

    queue = Queue(
        journal,
        learn,
        wake=lambda: None,
        now=lambda: T0,
        breaker=Breaker("model"),
        retry_after=(30.0,),
    )
    (urged,) = queue.urge([id])
    await queue.step()
    assert not await urged
    assert await queue.step() == 30.0
    await queue.close()
