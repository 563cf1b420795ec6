"""The task that makes the graph follow the journal.

It opens a sealed file or builds a new one, then pulls what the journal has and the
graph has not. What fails is tried again, later and later; nothing that happens to the
graph ends the task or reaches the chat.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from ..errors import ClosedError, GraphError, StorageError, brief
from ..journal import Journal, Rows
from . import records
from .apply import delta
from .build import Stopped
from .keeper import Keeper

T = TypeVar("T")
_log = logging.getLogger("graph_memory.graph")

MAX_COMMITS = 400
"""Commits after which a new file is built: what is not checkpointed fills the pool."""
MAX_STATEMENTS = 3_000
"""A larger delta is slower than a new file, and might not fit the buffer pool."""
MAX_BEHIND = 1_000
"""Changes that a sealed file may lack; with more, a new file is made faster."""
CHUNK = 50
"""Changes that are read and applied at once."""
RETRY = (5.0, 30.0, 120.0, 600.0)
"""Seconds until the next attempt after one, two, … failures in a row."""
DRAIN = 5.0
"""Seconds that the end may spend on catching up; the next start does the rest."""


class Follower:
    """Keeps a graph up to date with :meth:`run`.

    Attributes:
        problem: Why the graph is away or behind; empty if all is well.
        wanted, built: Builds that were asked for, and made.

    Args:
        keeper: The graph's file.
        writer: The keeper's thread.
        journal: What to follow.
    """

    def __init__(self, keeper: Keeper, writer: ThreadPoolExecutor, journal: Journal) -> None:
        self.problem = ""
        self.wanted = 1
        self.built = 0
        self._keeper = keeper
        self._writer = writer
        self._journal = journal
        self._failures = 0
        self._ending = threading.Event()
        self._wake = asyncio.Event()  # there may be something to do
        self._hurry = asyncio.Event()  # … that does not wait for the next attempt
        self._moved = asyncio.Event()  # replaced whenever something has happened

    def wake(self, *, now: bool = False) -> None:
        """Say that there may be something to do; ``now``: even if it failed just before."""
        self._wake.set()
        if now:
            self._hurry.set()

    def end(self) -> None:
        """Have :meth:`run` finish what it is doing, catch up, and return."""
        self._ending.set()
        self.wake(now=True)

    async def moved(self) -> None:
        """Wait until something has happened: progress, a failure, the end."""
        await self._moved.wait()

    async def run(self) -> None:
        """Follow the journal until :meth:`end`."""
        await self._attempt(self._open)
        while not self._ending.is_set():
            self._wake.clear()
            self._hurry.clear()
            if await self._attempt(self._step):
                self._failures = 0
                await self._wake.wait()
            else:
                delay = RETRY[min(self._failures, len(RETRY) - 1)]
                self._failures += 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(delay):
                        await self._hurry.wait()
        if self._keeper.engine is not None:
            deadline = asyncio.get_running_loop().time() + DRAIN
            await self._attempt(partial(self._catch_up, deadline))
        self._pulse()

    async def _attempt(self, work: Callable[[], Awaitable[None]]) -> bool:
        try:
            await work()
        except (Stopped, ClosedError):
            return False
        except Exception as error:
            problem = brief(error)
            if problem != self.problem:
                known = isinstance(error, (StorageError, OSError))
                _log.warning("the graph waits: %s", problem, exc_info=not known)
            self.problem = problem
            return False
        else:
            self.problem = ""
            return True
        finally:
            self._pulse()

    async def _open(self) -> None:
        """Open a sealed file if there is one and the journal goes on where it ends."""
        sealed = await self._on_writer(self._keeper.find)
        if sealed is None:
            return
        last = await self._journal.last_change()
        change = await self._journal.change(sealed.change) if sealed.change else None
        if not sealed.change <= last <= sealed.change + MAX_BEHIND:
            return
        if (change.at if change else 0.0) != sealed.change_at:
            return
        identities = await self._journal.read(Rows.identities)
        await self._on_writer(self._keeper.open, sealed, identities)
        self.built = self.wanted

    async def _step(self) -> None:
        if self.built < self.wanted:
            wanted = self.wanted
            await self._on_writer(self._keeper.build, self._journal, self._ending)
            if newest := await self._journal.change(self._keeper.applied):
                self._keeper.applied_at = newest.at
            self.built = wanted
            self._progress()
        await self._catch_up()
        if self.built < self.wanted:
            self._wake.set()

    async def _catch_up(self, deadline: float = math.inf) -> None:
        """Apply what the graph lacks, in small transactions, until a time of the loop."""
        while asyncio.get_running_loop().time() < deadline:
            changes = await self._journal.changes(self._keeper.applied, CHUNK)
            if not changes:
                return
            identities = self._keeper.identities
            net = delta(changes, identities)
            if self._keeper.commits >= MAX_COMMITS or net.size > MAX_STATEMENTS or net.anew:
                self.wanted += 1
                return
            # Names may be read newer than `changes` are. The change that brought them
            # comes later and reads them again, so what stands in the end is right.
            ids = sorted({id for _, id in net.painted})
            portraits = await self._journal.read(
                partial(records.portraits, ids=ids, identities=identities)
            )
            try:
                await self._on_writer(self._keeper.apply, changes, net, portraits)
            except Exception as error:
                if self._keeper.engine is not None:  # nothing was tried
                    raise
                known = isinstance(error, GraphError)
                _log.warning("the graph is rebuilt: %s", error, exc_info=not known)
                self.wanted += 1
                return
            self._progress()

    async def _on_writer(self, work: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, partial(work, *arguments))

    def _progress(self) -> None:
        self.problem = ""
        self._pulse()

    def _pulse(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
