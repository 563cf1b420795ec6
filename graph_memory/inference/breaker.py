"""Circuit breaker: a dependency that keeps failing is not called for a while.

::

    closed ──failures in a row──► open ──its pause is over──► half open ──► closed
                                    ▲                            │  one call
                                    └── it failed: twice the pause ┘  is admitted

A call that began before the breaker last changed its state says nothing. For one thread.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from ..errors import failure_of

logger = logging.getLogger("graph_memory.inference")

THRESHOLD = 3
"""Failures in a row that open a breaker."""
FIRST_PAUSE = 30.0
"""Seconds of the first pause; each failed attempt that ends one doubles the next."""
LONGEST_PAUSE = 600.0


class BreakerState(StrEnum):
    """What a breaker does with a call: admits it, refuses it, admits one to see."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class RefusedError(Exception):
    """The breaker did not admit a call."""


class Breaker:
    """Counts how calls of one dependency end, and decides whether there is another.

    ``failures`` are in a row, ``reason`` is the kind of the last (``errors.Failure``).
    ``clock`` tells monotonic seconds.
    """

    def __init__(self, name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.name = name
        self._clock = clock
        self._round = 0
        self.failures, self.reason = 0, ""
        self._pause = self._opened = self._until = 0.0
        self._is_probing = False

    @property
    def state(self) -> BreakerState:
        """What it does with a call now."""
        if not self._pause:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self.retry_in else BreakerState.HALF_OPEN

    @property
    def retry_in(self) -> float:
        """Seconds until a call is admitted; 0 if one would be now, or is under way."""
        return max(0.0, self._until - self._clock()) if self._pause else 0.0

    def hurry(self) -> None:
        """End the pause, if there is one: the next call is admitted."""
        self._until = min(self._until, self._clock())

    def admit(self) -> Call | None:
        """Admit a call, or refuse it (``None``). Its end is to be reported to it."""
        state = self.state
        if state is BreakerState.OPEN or (state is BreakerState.HALF_OPEN and self._is_probing):
            return None
        self._is_probing = state is BreakerState.HALF_OPEN
        return Call(self, self._round)

    @contextmanager
    def call(self) -> Iterator[Call]:
        """A call that ends as the block does, or a ``RefusedError``."""
        call = self.admit()
        if call is None:
            raise RefusedError(self.reason)
        try:
            yield call
            call.end("")
        except Exception as error:
            call.end(failure_of(error))
            raise
        finally:
            call.end(None)

    def _ended(self, failure: str | None) -> None:
        self._is_probing = False
        if failure:
            self.failures, self.reason = self.failures + 1, failure
            if self._pause:
                self._begin_round(min(LONGEST_PAUSE, 2 * self._pause))
            elif self.failures >= THRESHOLD:
                self._opened = self._clock()
                self._begin_round(FIRST_PAUSE)
                text = "%s failed %d times in a row and is left alone, next try in %g s: %s"
                logger.warning(text, self.name, self.failures, self._pause, self.reason)
        elif failure is not None:
            self.failures, self.reason = 0, ""
            if self._pause:
                seconds = self._clock() - self._opened
                logger.info("%s answers again, after %.0f s", self.name, seconds)
                self._begin_round(0.0)

    def _begin_round(self, pause: float) -> None:
        self._round += 1
        self._pause, self._until = pause, self._clock() + pause


@dataclass(eq=False, slots=True)
class Call:
    """One call that was admitted."""

    _breaker: Breaker
    _round: int
    _is_over: bool = False

    def end(self, failure: str | None) -> None:
        """Report why it failed: empty if it was answered, ``None`` if nobody knows.

        Only the first report counts.
        """
        if not self._is_over and self._round == self._breaker._round:
            self._breaker._ended(failure)
        self._is_over = True
