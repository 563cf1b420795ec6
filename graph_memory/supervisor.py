"""Background work: supervised jobs, and long work that tells how far it is."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, TypeVar

from .errors import ClosedError, GraphMemoryError, brief

logger = logging.getLogger("graph_memory.supervisor")

T = TypeVar("T")
NEVER = math.inf
"""What a step returns if only :meth:`Supervisor.wake` can bring more to do."""


def _report(logger: logging.Logger, level: int, text: str, error: BaseException) -> None:
    """Log a text with an error, an unforeseen one with its traceback."""
    trace = None if isinstance(error, GraphMemoryError) else error
    logger.log(level, "%s: %s", text, error, exc_info=trace)


@dataclass(eq=False, slots=True)
class LogOnce:
    """A log that is silent about what it has said in the last ``again_after`` seconds."""

    logger: logging.Logger
    level: int = logging.WARNING
    again_after: float = math.inf
    _logged: dict[str, float] = field(default_factory=dict)

    def report(self, text: str, error: BaseException | None = None, *, key: str = "") -> None:
        """Log ``text`` and an error (unforeseen ones with a traceback) once.

        ``key`` is what counts as the same; the text itself by default.
        """
        now, key = time.monotonic(), key or text
        if now - self._logged.get(key, -math.inf) < self.again_after:
            return
        self._logged[key] = now
        if error is None:
            self.logger.log(self.level, "%s", text)
        else:
            _report(self.logger, self.level, text, error)

    def clear(self, key: str) -> None:
        """Have the next trouble of this kind logged: it works again."""
        self._logged.pop(key, None)


@dataclass(eq=False, slots=True)
class Supervisor:
    """One job, done in steps by a task of its own until it ends or is closed.

    A step does what is due now and returns the seconds until there may be more to do:
    ``NEVER`` to wait for :meth:`wake`, ``None`` if the job is done. What it raises is logged
    once (as ``text``) until a step succeeds, and kept as ``problem``; ``ClosedError`` ends
    the job.

    Args:
        retry: Seconds after one, two, … failures in a row; the last one repeats.
        longest: Most seconds between two steps, since the clock may be set meanwhile.
    """

    name: str
    step: Callable[[], Awaitable[float | None]]
    logger: logging.Logger
    text: str
    _: KW_ONLY
    retry: Sequence[float] = (30.0,)
    longest: float = math.inf
    problem: str = ""
    _failures: int = 0
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _now: asyncio.Event = field(default_factory=asyncio.Event)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there will be more steps."""
        return self._task is not None and not self._task.done()

    def start(self, after: float = 0.0) -> None:
        """Take the first step after so many seconds, or when woken. Running jobs go on."""
        if not self.is_running:
            self._task = asyncio.create_task(self._run(after), name=self.name)

    def wake(self, *, now: bool = False) -> None:
        """Take a step, or one more; ``now`` even in the pause after a failure."""
        self._wake.set()
        if now:
            self._now.set()

    async def idle(self) -> None:
        """Take a step and wait until nothing can be done now; at once if not running."""
        if self.is_running:
            self._idle.clear()
            self.wake(now=True)
            await self._idle.wait()

    def cancel(self) -> None:
        """Stop the step under way, without waiting for that."""
        if self._task:
            self._task.cancel()

    async def close(self) -> None:
        """Stop, and wait until the step under way has ended. Can be started again."""
        task, self._task = self._task, None
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._idle.set()  # a task that had not begun says nothing

    async def _run(self, after: float) -> None:
        signal, pause = self._wake, after
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if pause == math.inf else max(0.0, pause)):
                        await signal.wait()
                if (delay := await self._attempt()) is None:
                    return
                signal = self._now if self._failures else self._wake
                if delay > 0 and not signal.is_set():
                    self._idle.set()
                pause = min(delay, self.longest)
        finally:
            self._idle.set()

    async def _attempt(self) -> float | None:
        self._wake.clear()
        self._now.clear()
        try:
            delay = await self.step()
        except ClosedError:
            return None
        except (Exception, asyncio.CancelledError) as error:  # an SDK may cancel its own calls
            if (task := asyncio.current_task()) and task.cancelling():
                return None  # whatever the step raised on its way out
            self.problem = brief(error)
            if not self._failures:
                _report(self.logger, logging.WARNING, self.text, error)
            self._failures += 1
            return self.retry[min(self._failures, len(self.retry)) - 1]
        self.problem, self._failures = "", 0
        return delay


# ------------------------------------------------------------------------ long work

RECENT = 3600.0
"""Seconds that people are told how long work ended; what failed, until it is done."""
LETTING_GO = 2.0
"""Seconds that closing waits for long work to end where it next tells how far it is."""


@dataclass(slots=True)
class Progress:
    """Long work that is under way, or how it ended; may be told of on any thread.

    Attributes:
        kind: ``preview``, ``import``, ``undo`` (of an import), ``forget`` or ``checkup``.
        of: The file that it is about, if any.
        done, total: Pieces that are done, of how many; 0 of 0 until that is known.
        ended_at: Seconds since the epoch; ``None`` while it is under way.
        result: What it brought; ``None`` if it failed.
        failure: Why it failed.
        is_stopped: Whether it is to end where it next tells how far it is.
    """

    kind: str = ""
    of: str = ""
    done: int = 0
    total: int = 0
    ended_at: float | None = None
    result: Any = None
    failure: Exception | None = None
    is_stopped: bool = False
    _taken: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self.ended_at is not None

    def take(self, count: int, left: int | None = None) -> None:
        """Note that some more are done, and maybe how many are left; or ``ClosedError``."""
        if self.is_stopped:
            raise ClosedError("the memory is closed")
        self._taken += count
        if left is not None:
            self.total = self._taken + left
        self.done = min(self._taken, self.total)


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
        """What people are told of some kinds now: ends, and the first under way."""
        told = [each for each in self._known if each.is_over or each is self.of(each.kind)]
        some = [replace(each) for kind in kinds for each in told if each.kind == kind]
        since = self._now() - RECENT
        return [w for w in some if w.ended_at is None or w.failure or w.ended_at > since]

    @property
    def under_way(self) -> list[Progress]:
        """What has not ended."""
        return [each for each in self._known if not each.is_over]

    async def run(self, kind: str, work: Callable[[Progress], Awaitable[T]], of: str = "") -> T:
        """Do work that tells how far it is."""
        own = self._enter(kind, of)
        try:
            own.result = found = await work(own)
        except Exception as error:
            own.failure = error
            raise
        finally:
            own.ended_at = self._now()
        return found

    def fail(self, kind: str, of: str, error: Exception) -> None:
        """Note that work of an earlier start did not end."""
        own = self._enter(kind, of)
        own.failure, own.ended_at = error, self._now()

    def _enter(self, kind: str, of: str) -> Progress:
        self._known = [each for each in self._known if each.kind != kind or not each.is_over]
        self._known.append(own := Progress(kind, of))
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
        for each in self.under_way:
            each.is_stopped = True
        if self._tasks:  # a thread that reads the journal lets it go
            await asyncio.wait(self._tasks, timeout=LETTING_GO)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _log(done: asyncio.Task[Any]) -> None:
    """Log why work in the background ended: who asked for it may be gone."""
    error = None if done.cancelled() else done.exception()
    if error and not isinstance(error, ClosedError):
        logger.warning("it did not end well: %s", brief(error))
