"""Forget me: deletion of a person at once, from closed files within a day.

::

    tombstone on disk → journal, change log included → (purge, daily) backups, graph, exports

Every step can be repeated. What a kill leaves undone is done when the memory is next
opened (``purge.clean_journal``), before anything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from enum import StrEnum

from ..embedding import text_hash
from ..errors import GraphMemoryError, StorageError, brief
from ..store import Journal
from ..store.journal import forget_vectors
from ..supervisor import Supervisor
from . import erasure
from .tombstones import Tombstone, Tombstones

logger = logging.getLogger("graph_memory.deletion")

RETRY = 30.0
"""Seconds between attempts while the disk cannot be written."""
PAUSE = 3600.0
"""Seconds until the same person can be forgotten again: it reads the whole memory."""


class Outcome(StrEnum):
    """How far a wish to be forgotten got.

    ``DONE``: nothing is in the memory any more. ``RECORDED``: nothing was deleted yet, but
    it will be, even after a restart. ``NOTED``: nothing was deleted and not even the wish
    could be written; it is tried again until the bot is stopped.
    """

    DONE = "done"
    RECORDED = "recorded"
    NOTED = "noted"


class ForgetMe:
    """Forgets people in one open memory.

    Args:
        unlink: Takes a user's account from the others of the same person.
        now: Clock.
    """

    def __init__(
        self,
        journal: Journal,
        tombstones: Tombstones,
        unlink: Callable[[str], Awaitable[None]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._journal = journal
        self._tombstones = tombstones
        self._unlink = unlink
        self._now = now
        self._lock = asyncio.Lock()
        self._waiting: dict[str, Tombstone | None] = {}
        self._job = Supervisor(
            "gm-forget-me", self._retry, logger, "somebody is not forgotten yet", retry=(RETRY,)
        )

    async def due_in(self, user: str) -> float:
        """Seconds until a user may be forgotten again; 0 for now."""
        stone = await asyncio.to_thread(self._tombstones.find, user)
        if stone is None or user in self._waiting:
            return 0.0
        return min(PAUSE, max(0.0, stone.at + PAUSE - self._now()))

    async def forget(self, user: str) -> Outcome:
        """Erase a user. Cannot be undone; what is said meanwhile waits.

        Args:
            user: User id.
        """
        async with self._lock:
            self._waiting.setdefault(user, None)
            problem = await self._attempt(user)
        if not problem:
            return Outcome.DONE
        logger.warning("somebody is not forgotten yet: %s", problem)
        self._job.start(after=RETRY)
        return Outcome.RECORDED if self._waiting.get(user) else Outcome.NOTED

    @property
    def waiting(self) -> int:
        """How many people wait to be forgotten because the disk cannot be written."""
        return len(self._waiting)

    async def close(self) -> None:
        """Stop trying; what was recorded is done when the memory is next opened."""
        await self._job.close()

    async def _retry(self) -> float | None:
        async with self._lock:
            for user in list(self._waiting):
                await self._attempt(user)
        return RETRY if self._waiting else None

    async def _attempt(self, user: str) -> str:
        """Do what is left to do for a user; what went wrong, if anything did."""
        try:
            stone = self._waiting[user]
            if stone is None:
                stone = await asyncio.to_thread(self._tombstones.add, user, self._now())
                self._waiting[user] = stone
            await self._unlink(user)
            with self._journal.long_work():
                hashes = await self._journal.alter(lambda db, tell: _erase(db, user, stone, tell))
        except GraphMemoryError as error:
            return brief(error)
        del self._waiting[user]
        logger.info("a user was forgotten")
        with contextlib.suppress(StorageError):
            # Those that were being computed meanwhile; no word can be read from them.
            await self._journal.alter(lambda db, _tell: forget_vectors(db, hashes))
            await erasure.drain(self._journal)
        return ""


def _erase(db: sqlite3.Connection, user: str, stone: Tombstone, tell: erasure.Tell) -> list[bytes]:
    hashes = erasure.erase(db, user, stone.at, text_hash, tell)
    erasure.mark(db, stone.id, stone.at)
    return hashes
