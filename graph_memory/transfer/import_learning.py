"""Learning from imported messages, in the background.

One batch at a time, when nothing that was heard is waiting, with at most half of a day's tokens.
"""

from __future__ import annotations

import json
import logging
import sqlite3

from ..context import Context
from ..learning import Learning
from ..supervisor import NEVER, Supervisor
from .import_runs import saved

logger = logging.getLogger("graph_memory.transfer")

PAUSE = 5.0
"""Seconds between two looks at whether there is time to learn."""
SHARE = 0.5
"""Of what may be spent in a day; the rest is for what is being said."""


class ImportLearning:
    """Learns from the imports that are to be learned from."""

    def __init__(self, context: Context, learning: Learning, *, pause: float = PAUSE) -> None:
        self._journal = context.journal
        self._budget = context.budget
        self._learning = learning
        self._pause = pause
        text = "what was imported is not learned at the moment"
        self._job = Supervisor("gm-import-learning", self.step, logger, text, retry=(pause,))
        self.start = self._job.start
        self.wake = self._job.wake
        self.close = self._job.close

    async def step(self) -> float:
        """Let one more batch be learned, if this is the time; see ``Supervisor``."""
        batch = await self._journal.look(next_batch)
        if batch is None:
            return NEVER
        if not self._is_dear() and not (await self._learning.status()).waiting:
            query = "UPDATE batch SET state = 'waiting', attempts = 0, next_at = 0 WHERE id = ?"
            await self._journal.alter(lambda db, _tell: db.execute(query, (batch,)))
            self._learning.look_again()
        return self._pause

    def _is_dear(self) -> bool:
        today = self._budget.today()
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
