"""Supervision of background jobs: start, wake, idle, retry, cancel, log once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence

from .errors import ClosedError, GraphMemoryError, brief

NEVER = math.inf
"""What a step returns if only :meth:`Supervisor.wake` can bring more to do."""


class LogOnce:
    """A log that is silent about what it has said in the last ``again_after`` seconds."""

    def __init__(
        self,
        logger: logging.Logger,
        level: int = logging.WARNING,
        *,
        again_after: float = math.inf,
    ) -> None:
        self._logger = logger
        self._level = level
        self._again_after = again_after
        self._logged: dict[str, float] = {}

    def report(self, text: str, error: Exception | None = None, *, key: str = "") -> None:
        """Log ``text`` and an error (unforeseen ones with a traceback) once.

        ``key`` is what counts as the same; the text itself by default.
        """
        now, key = time.monotonic(), key or text
        if now - self._logged.get(key, -math.inf) < self._again_after:
            return
        self._logged[key] = now
        if error is None:
            self._logger.log(self._level, "%s", text)
            return
        trace = None if isinstance(error, GraphMemoryError) else error
        self._logger.log(self._level, "%s: %s", text, error, exc_info=trace)

    def clear(self, key: str) -> None:
        """Have the next trouble of this kind logged: it works again."""
        self._logged.pop(key, None)


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

    def __init__(
        self,
        name: str,
        step: Callable[[], Awaitable[float | None]],
        logger: logging.Logger,
        text: str,
        *,
        retry: Sequence[float] = (30.0,),
        longest: float = math.inf,
    ) -> None:
        self.problem = ""
        self._name = name
        self._step = step
        self._log = LogOnce(logger)
        self._text = text
        self._retry = retry
        self._longest = longest
        self._failures = 0
        self._wake = asyncio.Event()
        self._now = asyncio.Event()
        self._idle = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there will be more steps."""
        return self._task is not None and not self._task.done()

    def start(self, after: float = 0.0) -> None:
        """Take the first step after so many seconds, or when woken. Running jobs go on."""
        if not self.is_running:
            self._task = asyncio.create_task(self._run(after), name=self._name)

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
                pause = min(delay, self._longest)
        finally:
            self._idle.set()

    async def _attempt(self) -> float | None:
        self._wake.clear()
        self._now.clear()
        try:
            delay = await self._step()
        except ClosedError:
            return None
        except Exception as error:
            self.problem = brief(error)
            self._log.report(self._text, error)
            self._failures += 1
            return self._retry[min(self._failures, len(self._retry)) - 1]
        if self._failures:
            self.problem, self._failures = "", 0
            self._log.clear(self._text)
        return delay
