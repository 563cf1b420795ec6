"""Progress of long work: how far it is, and how the last of its kind ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .errors import brief

logger = logging.getLogger("graph_memory.progress")

T = TypeVar("T")
RECENT = 3600.0
"""Seconds that people are told how long work ended; what failed, until it is done."""
Told = Callable[[int, int], None]
"""Is told how many pieces are done, of how many; from whatever thread."""


def unheard(_done: int, _total: int) -> None:
    """Tell nobody how far something is."""


@dataclass(slots=True)
class Steps:
    """Steps of long work: counts what is done and tells of it.

    Attributes:
        total: How many pieces there are, as far as is known.
    """

    told: Told
    total: int
    done: int = 0

    def take(self, count: int, left: int | None = None) -> None:
        """Note that some more are done, and maybe how many are left."""
        self.done += count
        if left is not None:
            self.total = self.done + left
        self.told(self.done, self.total)


@dataclass(slots=True)
class Progress:
    """Long work that is under way, or how it ended.

    Attributes:
        kind: ``import``, ``undo`` (of an import), ``forget`` or ``checkup``.
        done, total: Pieces that are done, of how many; 0 of 0 until that is known.
        ended_at: Seconds since the epoch; ``None`` while it is under way.
        result: What it brought; ``None`` if it failed.
        failure: Why it failed.
    """

    kind: str
    done: int = 0
    total: int = 0
    ended_at: float | None = None
    result: Any = None
    failure: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self.ended_at is not None

    def tell(self, done: int, total: int) -> None:
        """Say how far it is."""
        self.done, self.total = min(done, total), total


class LongWork:
    """The long work of one memory: what is under way, and the last of each kind."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._known: list[Progress] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    def of(self, kind: str) -> Progress | None:
        """The first of a kind that is under way, else the last that ended."""
        some = [each for each in self._known if each.kind == kind]
        return next((each for each in some if not each.is_over), some[-1] if some else None)

    def snapshot(self, *kinds: str) -> list[Progress]:
        """What people are told of some kinds, as it stands now."""
        some = [replace(found) for kind in kinds if (found := self.of(kind))]
        since = self._now() - RECENT
        return [w for w in some if w.ended_at is None or w.failure or w.ended_at > since]

    @property
    def under_way(self) -> list[Progress]:
        """What has not ended."""
        return [each for each in self._known if not each.is_over]

    async def run(self, kind: str, work: Callable[[Told], Awaitable[T]]) -> T:
        """Do work that tells how far it is."""
        own = self._enter(kind)
        try:
            own.result = found = await work(own.tell)
        except Exception as error:
            own.failure = error
            raise
        finally:
            own.ended_at = self._now()
        return found

    def fail(self, kind: str, error: Exception) -> None:
        """Note that work of an earlier start did not end."""
        own = self._enter(kind)
        own.failure, own.ended_at = error, self._now()

    def _enter(self, kind: str) -> Progress:
        self._known = [each for each in self._known if each.kind != kind or not each.is_over]
        self._known.append(own := Progress(kind))
        return own

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Do work in the background; whoever wants its result waits for the task."""
        task = asyncio.create_task(work, name="gm-long-work")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_log)
        return task

    async def soon(self, work: Coroutine[Any, Any, T], seconds: float) -> T | None:
        """The result of work if it is there in so many seconds; it goes on if not."""
        task = self.begin(work)
        await asyncio.wait([task], timeout=seconds)
        return task.result() if task.done() else None

    async def close(self) -> None:
        """Stop what is in the background; what was noted is finished at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _log(done: asyncio.Task[Any]) -> None:
    """Log why work in the background ended: who asked for it may be gone."""
    if not done.cancelled() and (error := done.exception()):
        logger.warning("it did not end well: %s", brief(error))
