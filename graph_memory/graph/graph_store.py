"""Life cycle of the graph: built when asked, anew when stale, deleted when unused.

One thread owns the files and builds; a second one reads. A file is closed only after the
reader has finished with it: closing Kùzu under a query crashes the process.

::

    closed ──start──► waiting ──asked──► building ──► ready ──asked when stale─┐
                         ▲                │   ▲          │                     │
                         │     disk full… ▼   │retry     │       a new file is built
                         │               failed          │       beside the old one,
                         └───────not asked for long──────┘       which answers meanwhile

Small graphs, too, cost a hundred megabytes: Kùzu's code, threads and pages. Where Kùzu cannot
be imported the graph is absent: there is nothing to keep up to date, and no answer.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..errors import ClosedError, GraphError
from ..store import Journal, copies
from ..supervisor import Supervisor
from .database import Database, build, is_available, remove
from .graph_queries import GraphQueries, Whole
from .layout import communities, positions

T = TypeVar("T")
_log = logging.getLogger("graph_memory.graph")

RETRY = (5.0, 30.0, 120.0, 600.0)
"""Seconds until the next attempt after one, two, … failures in a row."""
REST = 600.0
"""Seconds after the last question until the file is closed and deleted."""
PATIENCE = 10.0
"""Seconds that a question waits for the first graph."""
FRESH = 5.0
"""Seconds that it waits for a newer one; then the graph there is answers."""
TIMEOUT = 10.0
"""Seconds after which one query is given up."""
MAP_NODES = 5_000
MAP_EDGES = 20_000
"""Most nodes and facts of the map."""
_ABSENT = "there is no graph: neither kuzu nor ladybug can be imported"


class GraphState(StrEnum):
    """What the graph is doing."""

    ABSENT = "absent"
    CLOSED = "closed"
    WAITING = "waiting"
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class GraphMap:
    """The whole graph as it is drawn.

    Attributes:
        places: Where each node is, and the number of its community, the largest is 0.
    """

    whole: Whole
    places: dict[str, tuple[float, float, int]]

    @classmethod
    def of(cls, whole: Whole) -> GraphMap:
        """Lay it out; takes a second for thousands of nodes."""
        at = whole.places
        joined = ((at[edge.source], at[edge.target]) for edge in whole.edges)
        pairs = Counter((min(ends), max(ends)) for ends in joined)
        ends = np.array(list(pairs), np.intp).reshape(-1, 2)
        # Told twice joins more than once, but not twice as much.
        weights = np.sqrt(np.array(list(pairs.values()), np.float64))
        labels = communities(len(whole.nodes), ends, weights)
        spots = positions(labels, ends, weights).tolist()
        places = {
            node.id: (round(x, 2), round(y, 2), label)
            for node, (x, y), label in zip(whole.nodes, spots, labels.tolist(), strict=True)
        }
        return cls(whole, places)


class GraphStore:
    """The graph of one data directory, in ``graph/`` inside it.

    Args:
        journal: Must stay open until this is closed.

    Attributes:
        applied: Number of the newest change the graph reflects.
    """

    def __init__(self, directory: Path, journal: Journal) -> None:
        self.applied = 0
        self._home = directory / "graph"
        self._journal = journal
        self._database: Database | None = None
        self._canonical: Callable[[str], str] = str
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gm-graph")
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="gm-graph-read")
        self._map: GraphMap | None = None
        self._mapping = asyncio.Lock()
        self._is_open = False
        self._asked = time.monotonic()
        self._wanted = 1  # counts the reasons for a build
        self._built = 0  # and those that the graph has behind it
        self._number = 0
        self._ending = threading.Event()
        self._job = Supervisor("gm-graph", self._refresh, _log, "the graph waits", retry=RETRY)

    @property
    def state(self) -> GraphState:
        """What the graph is doing; only a ready one answers questions."""
        if not is_available():
            return GraphState.ABSENT
        if not self._is_open:
            return GraphState.CLOSED
        if self._database is not None:
            return GraphState.READY
        if self.problem:
            return GraphState.FAILED
        return GraphState.BUILDING if self._job.is_running else GraphState.WAITING

    @property
    def problem(self) -> str:
        """Why the graph is away or behind; empty if all is well."""
        return self._job.problem

    # ------------------------------------------------------------- life cycle

    async def start(self) -> None:
        """Delete leftovers; the graph is built when it is asked for."""
        if self._ending.is_set():
            raise ClosedError("a graph store is started once; make a new one")
        await asyncio.get_running_loop().run_in_executor(self._writer, self._clean)
        self._is_open = True
        if not is_available():
            _log.warning("%s; everything else works", _ABSENT)

    def _clean(self) -> None:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in sorted(self._home.glob("graph-*")):
            remove(path)

    def outdate(self, _change: object = None) -> None:
        """Note that the journal has changed: the next question wants a new graph."""
        self._wanted += 1

    async def settle(self, timeout: float | None = 30) -> None:  # noqa: ASYNC109 - in the message
        """Wait until the graph reflects the journal, or raise ``GraphError``."""
        wanted = self._wanted
        await self._work(timeout)
        if self._built < wanted:
            why = self.problem or f"it was not built in {timeout} s"
            raise GraphError(f"the graph does not hold the newest yet: {why}")

    async def rebuild(self) -> None:
        """Replace the file by a new one, or raise ``GraphError``."""
        self.outdate()
        await self.settle(None)

    async def discard(self) -> None:
        """Delete the file; the next question has a new one built."""
        self.outdate()
        if self._is_open:
            await asyncio.get_running_loop().run_in_executor(self._writer, self._replace, None)

    async def _work(self, timeout: float | None) -> None:  # noqa: ASYNC109 - as `settle`
        """Do what there is to do now, even if it failed just before."""
        if not self._is_open:
            raise GraphError("the graph is closed")
        if not is_available():
            self._built = self._wanted  # no file holds anything
            return
        self._asked = time.monotonic()
        self._job.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._job.idle()

    async def close(self) -> None:
        """Close the file and delete it; does nothing when closed."""
        if not self._is_open:
            return
        self._is_open = False
        self._ending.set()
        try:
            await self._job.close()
        finally:
            # One job after those under way, done to its end even if the waiting is cancelled.
            ended = asyncio.get_running_loop().run_in_executor(self._writer, self._end)
            self._writer.shutdown(wait=False)
        await ended

    def _end(self) -> None:
        try:
            self._replace(None)
        finally:
            self._reader.shutdown()

    # ---------------------------------------------------------------- building

    async def _refresh(self) -> float | None:
        """Build a new file if the graph is stale; delete one that nobody asks any more."""
        wanted, loop = self._wanted, asyncio.get_running_loop()
        left = self._asked + REST - time.monotonic()
        if left <= 0:
            self._built = 0  # at once: who asks meanwhile waits for a new one
            await loop.run_in_executor(self._writer, self._replace, None)
            return None if self._asked + REST <= time.monotonic() else 0.0
        if self._built < wanted:
            await loop.run_in_executor(self._writer, self._build)
            self._built = wanted
        return left

    def _build(self) -> None:
        # The spooled rows and the new file together are smaller than the journal; Kùzu ends
        # the process when a write finds no room.
        copies.require_space(self._home, self._journal.path.stat().st_size)
        # Paths are not reused: a file that could not be deleted may still be locked.
        self._number += 1
        path = self._home / f"graph-{self._number}.kuzu"
        with self._journal.snapshot() as rows:
            change, canonical = rows.last_change(), rows.identities().canonical
            database = build(path, rows, canonical, self._ending)
        database.limit(TIMEOUT)
        self._replace(database, canonical)
        self.applied = change

    def _replace(self, new: Database | None, canonical: Callable[[str], str] = str) -> None:
        """Delete the open file once the questions that wait for the reader are answered."""
        old = self._database

        def swap() -> None:
            self._database, self._canonical, self._map = new, canonical, None

        self._reader.submit(swap).result()
        if old:
            old.discard()

    # ---------------------------------------------------------------- questions

    async def ask(self, question: Callable[[GraphQueries], T], fresh: float = FRESH) -> T:
        """Run a question on the reader's thread, once there is a graph.

        Args:
            fresh: Seconds to wait for a newer graph.

        Raises:
            GraphError: The graph is away, or the question failed or took too long.
            NotFoundError: It is about a node that does not exist.
        """
        self._asked = time.monotonic()
        if self._built < self._wanted and not self.problem:
            await self._work(PATIENCE if self._database is None else fresh)
        if not self._is_open:
            raise GraphError("the graph is closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reader, self._answer, question)

    async def map(self) -> GraphMap:
        """The whole graph as it is drawn, laid out once for each state of it.

        Raises:
            GraphError: As :meth:`ask`.
        """
        async with self._mapping:
            await self.ask(lambda _: None)
            if found := self._map:
                return found
            database, whole = await self.ask(
                lambda queries: (self._database, queries.whole(MAP_NODES, MAP_EDGES))
            )
            found = await asyncio.to_thread(GraphMap.of, whole)
            if database is self._database:
                self._map = found
            return found

    def _answer(self, question: Callable[[GraphQueries], T]) -> T:
        if not is_available():
            raise GraphError(_ABSENT)
        if self._database is None:
            raise GraphError(f"the graph is away: {self.problem or 'it is being built'}")
        return question(GraphQueries(self._database, self._canonical))
