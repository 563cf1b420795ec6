"""A circuit breaker: what keeps failing is left alone for a while.

::

    closed ──failures in a row──► open ──its pause is over──► half open ──► closed
                                    ▲                            │  one call
                                    └── it failed: twice the pause ┘  is let through

While it is open nothing is asked, so a dependency that is down costs those who wait for it
nothing. Used from one thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from .errors import failure_of

logger = logging.getLogger("graph_memory.breaker")

THRESHOLD = 3
"""Failures in a row after which a dependency is left alone."""
FIRST_PAUSE = 30.0
"""Seconds of the first pause; each failed attempt that ends one doubles the next."""
LONGEST_PAUSE = 600.0


class BreakerState(StrEnum):
    """What a breaker does with a call."""

    CLOSED = "closed"
    """Lets it through."""
    OPEN = "open"
    """Refuses it."""
    HALF_OPEN = "half_open"
    """Lets one through, to see."""


@dataclass(frozen=True, slots=True)
class BreakerStatus:
    """A breaker at one moment.

    Attributes:
        name: What it guards.
        failures: In a row, until now.
        retry_in: Seconds until a call is let through; 0 if one would be now.
        reason: What kind the last failure was (``errors.Failure``); empty when closed.
    """

    name: str
    state: BreakerState
    failures: int
    retry_in: float
    reason: str


class RefusedError(Exception):
    """The breaker did not let a call through."""


class Breaker:
    """Counts how calls of one dependency end, and decides whether there is another.

    Args:
        name: What it guards; for the log and the status.
        threshold: Failures in a row that open it.
        first, longest: Seconds of the first and the longest pause.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        name: str,
        *,
        threshold: int = THRESHOLD,
        first: float = FIRST_PAUSE,
        longest: float = LONGEST_PAUSE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._threshold = threshold
        self._first = first
        self._longest = longest
        self._clock = clock
        self._round = 0
        self._failures = 0
        self._reason = ""
        self._pause = 0.0
        self._opened = 0.0
        self._until = 0.0
        self._is_probing = False

    @property
    def state(self) -> BreakerState:
        """What it does with a call now."""
        if not self._pause:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._left() > 0 else BreakerState.HALF_OPEN

    @property
    def retry_in(self) -> float:
        """Seconds until a call is let through; 0 if one would be now, or is under way."""
        return max(0.0, self._left()) if self._pause else 0.0

    @property
    def status(self) -> BreakerStatus:
        """What there is to tell."""
        return BreakerStatus(self.name, self.state, self._failures, self.retry_in, self._reason)

    def _left(self) -> float:
        return self._until - self._clock()

    def hurry(self) -> None:
        """End the pause: the next call is let through. Harmless when closed."""
        if self._pause:
            self._until = self._clock()

    def admit(self) -> Call | None:
        """Let a call through, or not (``None``). Its end is to be reported to it."""
        state = self.state
        if state is BreakerState.OPEN or (state is BreakerState.HALF_OPEN and self._is_probing):
            return None
        self._is_probing = state is BreakerState.HALF_OPEN
        return Call(self, self._round)

    @contextmanager
    def call(self) -> Iterator[Call]:
        """A call whose end is reported by how the block ends.

        An exception is a failure, a cancellation is neither a failure nor a success.

        Raises:
            RefusedError: It was not let through.
        """
        call = self.admit()
        if call is None:
            raise RefusedError(self._reason)
        try:
            yield call
        except asyncio.CancelledError:
            call.abandoned()
            raise
        except Exception as error:
            call.failed(failure_of(error))
            raise
        except BaseException:
            call.abandoned()
            raise
        call.succeeded()

    # ------------------------------------------------------------ what calls say

    def _succeeded(self, round: int) -> None:
        if round != self._round:
            return  # it began before the breaker opened, and says nothing about now
        if self._pause:
            seconds = self._clock() - self._opened
            logger.info("%s answers again, after %.0f s", self.name, seconds)
            self._begin_round(0.0)
        self._failures, self._reason = 0, ""

    def _failed(self, round: int, reason: str) -> None:
        if round != self._round:
            return
        self._failures += 1
        self._reason = reason
        if self._pause:
            self._begin_round(min(self._longest, 2 * self._pause))
            logger.debug("%s still fails, next try in %g s: %s", self.name, self._pause, reason)
        elif self._failures >= self._threshold:
            self._opened = self._clock()
            self._begin_round(self._first)
            logger.warning(
                "%s failed %d times in a row and is left alone, next try in %g s: %s",
                self.name,
                self._failures,
                self._pause,
                reason,
            )

    def _abandoned(self, round: int) -> None:
        if round == self._round:
            self._is_probing = False

    def _begin_round(self, pause: float) -> None:
        self._round += 1
        self._is_probing = False
        self._pause, self._until = pause, self._clock() + pause


class Call:
    """One call that was let through; only the first report of its end counts."""

    def __init__(self, breaker: Breaker, round: int) -> None:
        self._breaker: Breaker | None = breaker
        self._round = round

    def succeeded(self) -> None:
        """It was answered."""
        if breaker := self._end():
            breaker._succeeded(self._round)

    def failed(self, reason: str) -> None:
        """It was not, or not in time."""
        if breaker := self._end():
            breaker._failed(self._round, reason)

    def abandoned(self) -> None:
        """Nobody wanted to know any more."""
        if breaker := self._end():
            breaker._abandoned(self._round)

    def _end(self) -> Breaker | None:
        breaker, self._breaker = self._breaker, None
        return breaker
