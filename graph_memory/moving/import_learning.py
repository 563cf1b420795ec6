"""Learning from imported messages, in the background.

One batch at a time, when nothing that was heard is waiting, and never with more than half
of what models may cost in a day.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3

from ..errors import ClosedError, GraphMemoryError
from ..journal import Journal
from ..learn import Learning
from ..token_budget import TokenBudget
from .import_runs import saved

logger = logging.getLogger("graph_memory.moving")

PAUSE = 5.0
"""Seconds between two looks at whether there is time to learn."""
SHARE = 0.5
"""Of what may be spent in a day; the rest is for what is being said."""


class ImportLearning:
    """Learns from the imports that are to be learned from.

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
        self._task = asyncio.create_task(self._repeat(), name="gm-import-learning")

    def wake(self) -> None:
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
        batch = await self._journal.look(next_batch)
        if batch is None:
            return False
        if self._is_dear() or (await self._learning.status()).waiting:
            return True
        await self._journal.alter(lambda db, _tell: _ask(db, batch))
        self._learning.look_again()
        return True

    def _is_dear(self) -> bool:
        today = self._spending.today()
        return bool(today.limit and today.tokens >= today.limit * SHARE)


def next_batch(db: sqlite3.Connection) -> int | None:
    """The first batch of an import that is to be learned and was not yet."""
    runs = [run.id for run in saved(db) if run.learns and run.state == "done"]
    found = db.execute(
        "SELECT min(id) FROM batch WHERE import IN (SELECT value FROM json_each(?))"
        " AND import != '' AND state = 'learned' AND error = ''"
        " AND NOT EXISTS (SELECT 1 FROM change WHERE batch = batch.id)"
        " AND EXISTS (SELECT 1 FROM message WHERE batch = batch.id)",
        (json.dumps(runs),),
    ).fetchone()
    return int(found[0]) if found[0] is not None else None


def _ask(db: sqlite3.Connection, batch: int) -> None:
    """Let a batch that was only recorded be learned."""
    db.execute(
        "UPDATE batch SET state = 'waiting', attempts = 0, next_at = 0 WHERE id = ?", (batch,)
    )
