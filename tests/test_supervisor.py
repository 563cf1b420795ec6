"""A background job goes on by itself, whatever its steps do."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from graph_memory.errors import ClosedError, StorageError
from graph_memory.supervisor import NEVER, LogOnce, Supervisor

from .waiting import until


class Job:
    """Steps that do what they are told, and count themselves."""

    def __init__(self) -> None:
        self.count = 0
        self.results: list[float | BaseException | None] = []
        self.went: asyncio.Event | None = None

    async def step(self) -> float | None:
        self.count += 1
        if self.went:
            await self.went.wait()
        result = self.results.pop(0) if self.results else NEVER
        if isinstance(result, BaseException):
            raise result
        return result


@pytest.fixture
def job() -> Job:
    return Job()


def supervising(step: Callable[[], Any], **more: Any) -> Supervisor:
    return Supervisor("gm-test", step, logging.getLogger("graph_memory.test"), "没有做成", **more)


@pytest.fixture
async def supervised(job: Job) -> AsyncIterator[Supervisor]:
    supervisor = supervising(job.step, retry=(0.01, 30.0))
    yield supervisor
    await supervisor.close()


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def steps(job: Job, count: int) -> None:
    """Wait until a job has taken so many steps, as long as a busy machine takes."""
    await until(lambda: job.count >= count)
    await turns()


async def test_it_steps_at_the_start_and_when_woken(job: Job, supervised: Supervisor) -> None:
    supervised.start()
    supervised.start()
    await turns()
    assert job.count == 1
    supervised.wake()
    supervised.wake()
    await turns()
    assert job.count == 2


async def test_it_steps_again_when_the_time_has_come(job: Job, supervised: Supervisor) -> None:
    job.results = [0.0, 0.01, NEVER]
    supervised.start()
    await steps(job, 3)
    assert job.count == 3


async def test_the_first_step_can_wait(job: Job, supervised: Supervisor) -> None:
    supervised.start(after=30.0)
    await turns()
    assert job.count == 0
    await supervised.idle()
    assert job.count == 1


async def test_a_wake_during_a_step_brings_one_more(job: Job, supervised: Supervisor) -> None:
    job.went = asyncio.Event()
    supervised.start()
    await turns()
    supervised.wake()
    job.went.set()
    await turns()
    assert job.count == 2


async def test_no_longer_than_allowed_between_steps(job: Job) -> None:
    supervisor = supervising(job.step, longest=0.01)
    supervisor.start()
    await steps(job, 3)
    await supervisor.close()


async def test_what_fails_is_tried_again_and_logged_once(job, supervised, caplog):
    job.results = [StorageError("磁盘满了"), StorageError("磁盘还是满的")]
    supervised.start()
    await steps(job, 2)
    await asyncio.sleep(0.03)
    assert job.count == 2, "the second pause is long"
    assert [r.getMessage() for r in caplog.records] == ["没有做成: 磁盘满了"]
    assert supervised.problem == "磁盘还是满的"
    supervised.wake()
    await turns()
    assert job.count == 2, "an ordinary wake does not shorten it"
    supervised.wake(now=True)
    await turns()
    assert (job.count, supervised.problem) == (3, "")
    job.results = [StorageError("磁盘又满了")]
    await supervised.idle()
    assert len(caplog.records) == 2, "it had worked in between"


async def test_a_call_that_a_library_cancels_ends_no_job(job: Job, supervised: Supervisor) -> None:
    job.results = [asyncio.CancelledError()]
    supervised.start()
    await steps(job, 2)
    assert (supervised.is_running, supervised.problem) == (True, "")


async def test_whoever_waits_for_it_to_be_idle_sees_one_more_step(job, supervised):
    await supervised.idle()
    supervised.start()
    await turns()
    job.results = [0.0, 0.0, 30.0]
    await asyncio.gather(supervised.idle(), supervised.idle())
    assert job.count >= 4
    job.results = [StorageError("磁盘满了"), StorageError("磁盘满了")]
    await supervised.idle()
    assert supervised.problem


@pytest.mark.parametrize("end", [None, ClosedError("the memory is closed")])
async def test_it_ends_and_can_begin_anew(job, supervised, end):
    job.results = [end]
    supervised.start()
    await supervised.idle()
    assert not supervised.is_running
    supervised.start()
    await turns()
    assert job.count == 2
    assert supervised.is_running


async def test_closing_waits_for_the_step_under_way() -> None:
    ended = []

    async def slow() -> float:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append(True)
        return NEVER

    supervisor = supervising(slow)
    supervisor.start()
    waiting = asyncio.create_task(supervisor.idle())
    await turns()
    await supervisor.close()
    assert ended
    await waiting
    await supervisor.close()


async def test_who_waits_is_let_go_if_it_is_closed_before_its_first_step(supervised) -> None:
    async def wait() -> None:
        supervised.start()
        await supervised.idle()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    await supervised.close()
    await asyncio.wait_for(waiting, 1)


async def test_what_a_step_raises_on_its_way_out_keeps_nobody_from_closing() -> None:
    async def step() -> float:
        try:
            await asyncio.sleep(60)
        finally:
            raise StorageError("磁盘满了")

    supervised = supervising(step)
    supervised.start()
    await turns()
    async with asyncio.timeout(5):
        await supervised.close()
    assert not supervised.problem


async def test_it_can_be_cancelled_without_waiting(job: Job, supervised: Supervisor) -> None:
    supervised.cancel()
    job.went = asyncio.Event()
    supervised.start()
    await turns()
    supervised.cancel()
    await turns()
    assert not supervised.is_running


def test_trouble_is_logged_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    log = LogOnce(logging.getLogger("graph_memory.test"))
    for _ in range(3):
        log.report("没有做成", StorageError("磁盘满了"))
    log.report("别的", key="没有做成")
    log.clear("没有做成")
    log.report("没有做成", KeyError("谁也没有料到"))
    log.report("只是一句话")
    first, second, third = caplog.records
    assert (first.getMessage(), first.exc_info) == ("没有做成: 磁盘满了", None)
    assert second.exc_info
    assert third.getMessage() == "只是一句话"
    again = LogOnce(logging.getLogger("graph_memory.test"), logging.ERROR, again_after=0.0)
    again.report("没有做成", StorageError("磁盘满了"))
    again.report("没有做成", StorageError("磁盘满了"))
    assert [record.levelno for record in caplog.records[3:]] == [logging.ERROR] * 2
