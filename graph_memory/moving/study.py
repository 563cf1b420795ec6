"""Learning what was imported, in the background: one batch at a time, when nothing that was
heard is waiting, and never with more than half of what models may cost in a day."""

from __future__ import annotations

import asyncio
import logging
import sqlite3

from ..errors import ClosedError, GraphMemoryError
from ..journal import Journal, arrivals
from ..learn import Learning
from ..token_budget import TokenBudget
from . import runs

logger = logging.getLogger("graph_memory.moving")

PAUSE = 5.0
"""Seconds between two looks at whether there is time to learn."""
SHARE = 0.5
"""Of what may be spent in a day; the rest is for what is being said."""


class Study:
    """Learns what imports left to be learned.

    Args:
        pause: See :data:`PAUSE`.
    """

    def __init__(
        self,
        journal: Journal,
        learning: Learning,
        spending: TokenBudget,
        *,
        pause: float = PAUSE,
    ) -> None:
        self._journal = journal
        self._learning = learning
        self._spending = spending
        self._pause = pause
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, and go on from where the last start came to."""
        self._task = asyncio.create_task(self._repeat(), name="gm-study")

    def look(self) -> None:
        """There may be something to learn."""
        self._wake.set()

    async def close(self) -> None:
        """Stop; what is not learned stays noted."""
        task, self._task = self._task, None
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _repeat(self) -> None:
        self._wake.set()
        while True:
            await self._wake.wait()
            try:
                is_left = await self.step()
            except ClosedError:
                return
            except GraphMemoryError as error:
                logger.warning("what was imported is not learned at the moment: %s", error)
                is_left = True
            if not is_left:
                self._wake.clear()
                continue
            await asyncio.sleep(self._pause)

    async def step(self) -> bool:
        """Let one more batch be learned, if this is the time.

        Returns:
            Whether there is more.
        """
        if not await self._journal.look(_is_left):
            return False
        if self._is_dear() or (await self._learning.status()).waiting:
            return True
        if await self._journal.alter(lambda db, _tell: _ask(db)):
            self._learning.look_again()
        return True

    def _is_dear(self) -> bool:
        today = self._spending.today()
        return bool(today.limit and today.tokens >= today.limit * SHARE)


def _is_left(db: sqlite3.Connection) -> bool:
    return any(run.unlearned and run.state == "done" for run in runs.saved(db))


def _ask(db: sqlite3.Connection) -> bool:
    """Let the next batch be learned that can be."""
    for run in runs.saved(db):
        if run.state != "done" or not run.unlearned:
            continue
        while (batch := runs.take(run.unlearned)) is not None:
            if arrivals.ask(db, batch):
                run.save(db)
                return True
        run.save(db)
    return False
