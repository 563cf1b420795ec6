"""Batches being learned: a few at a time, those of one Session one after the other.

The queue is in the journal, where it may grow for as long as the model is down; what is
here is a short record of each waiting batch and which are under way. No lock is held while
a model thinks. While the breaker is open nothing is started, and when its pause is over
one batch finds out for all of them: an outage costs one call a pause, however many batches
wait, and no batch is given up because of it. Nor is one when the day's tokens are spent:
all of them wait for midnight, as those of somebody do who has cost their share of the day.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from math import inf

from ..breaker import Breaker, BreakerState
from ..complaint import Complaint
from ..errors import (
    ClosedError,
    Failure,
    GraphMemoryError,
    HeldBackError,
    NotFoundError,
    brief,
    failure_of,
)
from ..journal import Journal, QueuedBatch
from ..model import Batch

logger = logging.getLogger("graph_memory.learn")

CONCURRENCY = 2
RETRY_AFTER = (30.0, 120.0, 600.0, 3_600.0)
"""Seconds to wait after each failed attempt; after the next one the batch is dead."""
_PAUSE = 30.0
"""Seconds to wait when the journal itself fails."""


class Queue:
    """Learns what waits in the journal's queue.

    Args:
        learn: Learns one batch; whatever it raises is a failed attempt.
        wake: Called when :meth:`step` has something new to do.
        breaker: The one around the model that learns.
        held: Seconds for which no batch may be tried though the model is well.
        held_for: The same for the batches of one person; an admin may ask for them still.
    """

    def __init__(
        self,
        journal: Journal,
        learn: Callable[[Batch], Awaitable[None]],
        *,
        wake: Callable[[], None],
        now: Callable[[], float],
        breaker: Breaker,
        held: Callable[[], float] = lambda: 0.0,
        held_for: Callable[[str], float] = lambda _author: 0.0,
        retry_after: tuple[float, ...] = RETRY_AFTER,
    ) -> None:
        self._journal = journal
        self._learn = learn
        self._wake = wake
        self._now = now
        self._breaker = breaker
        self._held = held
        self._held_for = held_for
        self._retry_after = retry_after
        self._waiting: list[QueuedBatch] = []
        self._is_stale = True
        self._running: dict[str, asyncio.Task[None]] = {}
        self._urgent: dict[int, asyncio.Future[bool]] = {}
        self._released: set[int] = set()
        self._wanted: set[int] = set()
        self._tried: set[int] = set()
        self._was_down = False
        self._paused_until = -inf
        self._trouble = Complaint(logger, "learning pauses, it goes on by itself")
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether a batch is being learned."""
        return bool(self._running)

    def look_again(self) -> None:
        """The journal's queue has changed."""
        self._is_stale = True
        self._wake()

    def urge(
        self,
        batches: Iterable[int],
        *,
        probe: bool = False,
        again: bool = True,
        by_admin: bool = False,
    ) -> list[asyncio.Future[bool]]:
        """Have batches tried now, whatever back-off they are in.

        While the model is down they are not tried.

        Args:
            probe: Find out with one of them whether it still is.
            again: Also those that have been tried since the start.
            by_admin: Whatever share of the day their authors have cost.

        Returns:
            For each, whether it was learned by the attempt that follows.
        """
        if self._is_closed:
            raise ClosedError("learning has stopped")
        if probe:
            self._breaker.hurry()
        loop = asyncio.get_running_loop()
        found = []
        for id in batches:
            found.append(self._urgent.get(id) or loop.create_future())
            if by_admin:
                self._wanted.add(id)
            if id in self._tried and not again and id not in self._urgent:
                found[-1].set_result(False)
            else:
                self._urgent[id] = found[-1]
        self.look_again()
        return found

    async def step(self) -> float:
        """Start what can be started.

        Returns:
            Seconds until there may be more to do; ``inf`` if only :meth:`look_again` or
            a batch that ends will bring it.
        """
        pause = self._paused_until - asyncio.get_running_loop().time()
        if pause > 0:
            return pause
        while self._is_stale:  # again if a batch ended meanwhile: it may be on the list still
            self._is_stale = False
            queue = await self._journal.queue()
            self._waiting = [b for b in queue if b.state == "waiting"]
            self._tried.intersection_update(batch.id for batch in queue)
            self._wanted.intersection_update(batch.id for batch in queue)
        self._settle_missing()
        now = self._now()
        pause, held = self._breaker.retry_in, self._held()
        if pause > 0 or held > 0:
            self._was_down = self._was_down or pause > 0
            for item in self._waiting:
                self._answer(item.id, learned=False)
            return max(pause, held)
        is_down = self._breaker.state is BreakerState.HALF_OPEN
        if self._was_down and not is_down:
            self._was_down = False
            self._released = {item.id for item in self._waiting}
        for item in self._waiting:
            if self._over(item) > 0:
                self._answer(item.id, learned=False)
        for item in list(self._waiting):
            if len(self._running) >= (1 if is_down else CONCURRENCY):
                return inf
            if item.session in self._running:
                continue
            if self._wait(item, now) <= 0:
                self._waiting.remove(item)
                self._released.discard(item.id)
                task = asyncio.create_task(self._work(item), name=f"gm-learn-{item.id}")
                self._running[item.session] = task
        # What belongs to a Session under way is looked at when that ends.
        free = (item for item in self._waiting if item.session not in self._running)
        return min((self._wait(item, now) for item in free), default=inf)

    def _over(self, item: QueuedBatch) -> float:
        """Seconds for which a batch is held back: who said most has cost their share."""
        return 0.0 if item.id in self._wanted else self._held_for(item.author)

    def _wait(self, item: QueuedBatch, now: float) -> float:
        """Seconds until a batch may be tried."""
        if over := self._over(item):
            return over
        if item.id in self._urgent or item.id in self._released:
            return 0.0
        wait = item.next_at - now
        # Longer than any back-off: the clock has been set back since.
        return 0.0 if wait > max(self._retry_after, default=0.0) else wait

    def _settle_missing(self) -> None:
        """Answer for urgent batches that are neither waiting nor under way any more."""
        if self._running:
            return
        present = {item.id for item in self._waiting}
        for id in [id for id in self._urgent if id not in present]:
            self._answer(id, learned=False)

    def _answer(self, id: int, *, learned: bool) -> None:
        future = self._urgent.pop(id, None)
        if future is not None and not future.done():
            future.set_result(learned)

    async def _work(self, item: QueuedBatch) -> None:
        learned = False
        try:
            learned = await self._attempt(item)
            self._trouble.withdraw()
        except (ClosedError, NotFoundError):
            pass  # a batch that is gone was erased
        except Exception as error:
            # Not even the failure could be recorded; do not spin.
            self._paused_until = asyncio.get_running_loop().time() + _PAUSE
            self._trouble.make(error)
        finally:
            del self._running[item.session]
            self._tried.add(item.id)
            self._answer(item.id, learned=learned)
            self.look_again()

    async def _attempt(self, item: QueuedBatch) -> bool:
        await self._journal.probe()  # no call of the model for what cannot be stored
        try:
            batch = await self._journal.batch(item.id)
        except NotFoundError as error:  # a damaged journal; it must not stop the others
            await self._journal.fail(item.id, failure_of(error), None)
            return False
        try:
            await self._learn(batch)
        except (ClosedError, NotFoundError):
            raise
        except HeldBackError:
            return False  # not an attempt
        except Exception as error:
            await self._fail(batch, error)
            return False
        return True

    async def _fail(self, batch: Batch, error: Exception) -> None:
        is_ours = not isinstance(error, GraphMemoryError)
        kind = failure_of(error)
        delay = None
        is_down = self._breaker.state is not BreakerState.CLOSED
        if kind is Failure.RUNAWAY:
            pass  # asked again, the model would only do it again
        elif batch.attempts < len(self._retry_after):
            delay = self._retry_after[batch.attempts]
        elif is_down and self._retry_after:
            delay = self._retry_after[-1]
        logger.log(
            logging.DEBUG if is_down and not is_ours else logging.WARNING,
            "batch %d was not learned (attempt %d, %s): %s",
            batch.id,
            batch.attempts + 1,
            "dead" if delay is None else f"next in {delay:g} s",
            brief(error),
            exc_info=error if is_ours else None,
        )
        next_at = None if delay is None else self._now() + delay
        await self._journal.fail(batch.id, kind, next_at)

    async def close(self) -> None:
        """Stop what is under way; its batches stay in the queue."""
        self._is_closed = True
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for id in list(self._urgent):
            self._answer(id, learned=False)
