"""Idle gate: work waits until nobody chats."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from ..model import Message
from ..store import Event

QUIET = 3.0
"""Seconds without a message after which the chat counts as quiet."""
LONGEST = 60.0
"""Seconds after which a piece of work is done although people go on chatting."""


class IdleGate:
    """Waits until nobody has said anything for a while.

    Args:
        quiet, longest: See :data:`QUIET`, :data:`LONGEST`.
        clock: Monotonic seconds.
        sleep: Passes the time.
    """

    def __init__(
        self,
        quiet: float = QUIET,
        longest: float = LONGEST,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._quiet = quiet
        self._longest = longest
        self._clock = clock
        self._sleep = sleep
        self._heard = -quiet + clock()

    def on_event(self, event: Event) -> None:
        """Follow the journal."""
        if isinstance(event, Message):
            self._heard = self._clock()

    async def wait(self) -> None:
        """Return once nobody chats, after :data:`LONGEST` seconds at the latest."""
        latest = self._clock() + self._longest
        await self._sleep(0)
        while (now := self._clock()) < min(self._heard + self._quiet, latest):
            await self._sleep(min(self._heard + self._quiet, latest) - now)
