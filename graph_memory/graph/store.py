"""The asynchronous door to the graph.

One thread owns the database and writes, driven by ``follower.py``; a second one reads
on a connection of its own, so a question waits for other questions only.

::

    closed ──start──► building ──► ready ──write error──► building
                         │   ▲       │
              disk full… ▼   │retry  └─every few hundred commits: a new file is built
                        failed          beside the old one, which answers meanwhile
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..errors import ClosedError, GraphError
from ..journal import Journal
from ..lock import DirectoryLock
from ..model import Change
from . import queries
from .engine import Connection
from .follower import Follower
from .keeper import Keeper
from .queries import GraphNode, Neighbourhood
from .questions import Questions
from .steps import Step, steps

T = TypeVar("T")
_AWAY = "the graph is being rebuilt; try again in a moment"


class GraphState(StrEnum):
    """What the graph is doing."""

    CLOSED = "closed"
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


class GraphStore:
    """The graph of one data directory.

    Args:
        directory: The data directory; the graph lives in ``graph/`` inside it.
        journal: What the graph is a view of; must stay open until this is closed.
        buffer_pool_mb: Most memory for pages, MiB.
        now: Clock.

    Attributes:
        questions: What people ask of a graph.
    """

    def __init__(
        self,
        directory: Path,
        journal: Journal,
        *,
        buffer_pool_mb: int = 128,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._home = directory / "graph"
        self._journal = journal
        self._lock = DirectoryLock(self._home)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gm-graph")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="gm-graph-read")
        self._keeper = Keeper(self._home, self._reader, buffer_pool_mb, now)
        self._follower = Follower(self._keeper, self._writer, journal)
        self._task: asyncio.Task[None] | None = None
        self._is_open = False
        self.questions = Questions(self.ask, self._canonical)

    @property
    def state(self) -> GraphState:
        """What the graph is doing; only a ready one answers questions."""
        if not self._is_open:
            return GraphState.CLOSED
        if self._keeper.engine is not None:
            return GraphState.READY
        return GraphState.FAILED if self.problem else GraphState.BUILDING

    @property
    def applied(self) -> int:
        """Number of the newest change the graph reflects."""
        return self._keeper.applied

    @property
    def problem(self) -> str:
        """Why the graph is away or behind; empty if all is well."""
        return self._follower.problem

    # ------------------------------------------------------------- life cycle

    async def start(self) -> None:
        """Open or build the graph in the background; returns at once.

        Raises:
            LockedError: Another store, here or in another process, has this directory.
            ClosedError: It was started before.
        """
        if self._task is not None:
            raise ClosedError("a graph store is started once; make a new one")
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.acquire()
        self._is_open = True
        self._task = asyncio.create_task(self._follower.run(), name="gm-graph")

    def notify(self, change: Change) -> None:
        """Say that the journal has a new change; the graph fetches it by itself."""
        if change.id > self.applied:
            self._follower.wake()

    async def settle(self, timeout: float = 30) -> None:  # noqa: ASYNC109 - names the reason
        """Wait until the graph reflects everything the journal has now.

        Args:
            timeout: Seconds.

        Raises:
            GraphError: It does not in time, or the store is closed.
        """
        wanted = await self._journal.last_change()
        self._follower.wake(now=True)
        try:
            async with asyncio.timeout(timeout):
                while self.state is not GraphState.READY or self.applied < wanted:
                    self._check_open()
                    await self._follower.moved()
        except TimeoutError:
            reason = self.problem or self.state.value
            raise GraphError(f"the graph is not ready after {timeout:g} s: {reason}") from None

    async def rebuild(self) -> None:
        """Build a new file from what the journal has now; the old one is deleted.

        Raises:
            GraphError: It failed (and will be tried again), or the store is closed.
        """
        self._follower.wanted += 1
        wanted = self._follower.wanted
        self._follower.wake(now=True)
        while self._follower.built < wanted:
            self._check_open()
            await self._follower.moved()
            if self.problem and self._follower.built < wanted:
                raise GraphError(self.problem)

    async def close(self) -> None:
        """Finish what is under way, close the file and seal it; harmless when closed."""
        if not self._is_open or self._task is None:
            return
        self._is_open = False
        self._follower.end()
        try:
            await self._task
        finally:
            # One job, so that it is done to its end even if whoever waits is cancelled.
            ended = asyncio.get_running_loop().run_in_executor(self._writer, self._end)
            self._writer.shutdown(wait=False)
        await ended

    def _end(self) -> None:
        try:
            self._keeper.end()
        finally:
            self._reader.shutdown()
            self._lock.release()

    def _check_open(self) -> None:
        if not self._is_open:
            raise GraphError("the graph is closed")

    # ---------------------------------------------------------------- queries

    async def ask(self, question: Callable[[Connection], T]) -> T:
        """Run a question of ``queries.py`` on the reader's thread.

        Raises:
            GraphError: The graph is away, or the question failed or took too long.
            NotFoundError: It is about a node that does not exist.
        """
        self._check_open()

        def work() -> T:
            engine = self._keeper.engine
            if engine is None:
                raise GraphError(f"the graph is away: {self.problem}" if self.problem else _AWAY)
            return question(engine.reader)

        return await asyncio.get_running_loop().run_in_executor(self._reader, work)

    async def neighbourhood(self, node: str, limit: int = 60) -> Neighbourhood:
        """A node and what is one hop from it, as its owner sees it.

        Neighbours of a user or an entity are those with whom a fact joins it, archived
        ones included; of a session its people and what was mentioned in it.

        Args:
            node: Id of a user, an entity or a session; of a merged entity any of its ids.
            limit: Most neighbours to show; ``total`` counts them all.

        Raises:
            GraphError: The graph is away.
            NotFoundError: There is no such node.
        """
        survivor = self._canonical(node)
        return await self.ask(partial(queries.neighbourhood, id=survivor, limit=limit))

    def _canonical(self, node: str) -> str:
        return self._keeper.identities.canonical(node)  # which a new file replaces

    async def nodes(self, query: str = "", limit: int = 50) -> list[GraphNode]:
        """Users and entities, then sessions, each the most connected first.

        Args:
            query: Part of any of their names, old ones included, in any case and width;
                of a user's account; of a session's title, circle or persona. Empty: all.
            limit: Most nodes.

        Raises:
            GraphError: The graph is away.
        """
        return await self.ask(partial(queries.nodes, query=query, limit=limit))

    async def steps(self, nodes: Collection[str], sessions: Collection[str]) -> list[Step]:
        """Where active facts of some Sessions lead from some nodes, in either direction.

        This is where to look, not what may be told: whether the asker was there when a
        fact was said is not known here.

        Raises:
            GraphError: The graph is away.
        """
        return await self.ask(partial(steps, nodes=frozenset(nodes), sessions=tuple(sessions)))

    async def statistics(self) -> dict[str, int]:
        """How many ``users entities sessions episodes`` there are, how many edges of each
        table (``knows related_to mentioned_in participated_in part_of``), and how many of
        the facts are ``archived``.

        Raises:
            GraphError: The graph is away.
        """
        return await self.ask(queries.statistics)
