"""Forget me: nothing of a user stays in any file, and no restore brings it back.

::

    intent (stones.py) → journal, log included → backups → graph → compaction → done

Every step can be repeated. What a kill leaves undone is done when the memory is next
opened (``cleansing.py``), before anything else.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from ..embedding import text_hash
from ..errors import GraphMemoryError, JournalError, brief
from ..graph import GraphStore
from ..journal import Journal, erasure, vectors
from .backup import Backups
from .cleansing import clean_copies
from .stones import Book, Stone

logger = logging.getLogger("graph_memory.upkeep")

PATIENCE = 60.0
"""Seconds to wait for readers of what was there before."""


class Erasure:
    """Erases users from one open memory.

    Args:
        directory: The data directory.
        backups, graph: Of that directory.
        now: Clock.
    """

    def __init__(
        self,
        directory: Path,
        journal: Journal,
        backups: Backups,
        graph: GraphStore,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._journal = journal
        self._backups = backups
        self._graph = graph
        self._now = now
        self._lock = asyncio.Lock()

    async def erase(self, user: str) -> None:
        """Erase a user everywhere. Cannot be undone; what is said meanwhile waits.

        Args:
            user: User id.

        Raises:
            JournalError: Something could not be done yet. The user is forgotten as far as
                the bot goes, or nothing happened if not even the intent could be written;
                the next opening of the memory does the rest.
        """
        async with self._lock:
            book = await asyncio.to_thread(Book.read, self._directory)
            stone = await asyncio.to_thread(book.lay, user, self._now())
            with self._journal.long_work():
                hashes = await self._journal.alter(lambda db, tell: _erase(db, user, stone, tell))
            steps: list[Callable[[], Awaitable[object]]] = [
                partial(self._backups.alone, partial(clean_copies, self._directory, book)),
                self._graph.rebuild,
                # Those that were being computed while the rest was erased.
                partial(self._journal.alter, lambda db, _tell: vectors.forget(db, hashes)),
                self._compact,
            ]
            problems = [problem for step in steps if (problem := await _attempt(step))]
            if problems:
                raise JournalError(
                    f"not everything could be erased yet, a restart will: {'; '.join(problems)}"
                )
            await asyncio.to_thread(book.finish)
            logger.info("a user was forgotten")

    async def _compact(self) -> None:
        with self._journal.long_work():
            await self._journal.tidy(erasure.compact)
            if not await erasure.drain(self._journal, PATIENCE):
                raise JournalError("the log could not be emptied: somebody is reading it")


async def _attempt(step: Callable[[], Awaitable[object]]) -> str:
    """Do a step; what went wrong, if anything did."""
    try:
        await step()
    except (GraphMemoryError, OSError) as error:
        return brief(error)
    return ""


def _erase(db: sqlite3.Connection, user: str, stone: Stone, tell: erasure.Tell) -> list[bytes]:
    hashes = erasure.erase(db, user, stone.at, text_hash, tell)
    erasure.mark(db, stone.id, stone.at)
    return hashes
