"""Life cycle of the graph: built when needed, followed, deleted at close.

One thread owns the file and writes; a second one reads on a connection of its own, so a
question waits for other questions only. A file is closed only after the reader's thread
has finished with it: closing Kùzu under a query crashes the process.

::

    closed ──start──► waiting ──asked, idle──► building ──► ready ──write error──► building
                                                │   ▲       │
                                     disk full… ▼   │retry  └─now and then a new file is
                                               failed         built beside the old one,
                                                              which answers meanwhile
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ClosedError, GraphError
from ..identity import Identities
from ..model import Change
from ..store import Journal
from ..supervisor import NEVER, Supervisor
from .database import Database, remove
from .graph_queries import GraphQueries
from .graph_writer import Patch, apply, build, patch_of

T = TypeVar("T")
_log = logging.getLogger("graph_memory.graph")
_OURS = re.compile(r"(graph-\d{1,9}\.(kuzu|seal|csv)|lock)(\..*)?", re.DOTALL)

MAX_COMMITS = 400
"""Commits after which a new file is built: what is not checkpointed fills the pool."""
MAX_STATEMENTS = 3_000
"""A larger patch is slower than a new file, and might not fit the buffer pool."""
CHUNK = 50
"""Changes that are read and applied at once."""
RETRY = (5.0, 30.0, 120.0, 600.0)
"""Seconds until the next attempt after one, two, … failures in a row."""
IDLE_AFTER = 30.0
"""Seconds after the start from which idle time is used to build what nobody asked for."""
PATIENCE = 10.0
"""Seconds that a question waits for a graph that is being built."""
MIN_FREE = 64 << 20
"""Bytes the disk must have free: Kùzu ends the process when a write finds none."""


class GraphState(StrEnum):
    """What the graph is doing."""

    CLOSED = "closed"
    WAITING = "waiting"
    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"


class GraphFile:
    """The open graph file, as its writer's thread sees it.

    Attributes:
        database: The open file, or ``None``. The reader's thread may look at it, too.
        applied: Number of the newest change in it.
        commits: Transactions since it was built.
        identities: Which nodes are one in it; that never changes while it is open.

    Args:
        home: Where the files are.
        buffer_pool_mb: Most memory for pages, MiB.
    """

    def __init__(self, home: Path, buffer_pool_mb: int) -> None:
        self.database: Database | None = None
        self.applied = 0
        self.commits = 0
        self.identities = Identities()
        self.reader = ThreadPoolExecutor(1, thread_name_prefix="gm-graph-read")
        self._home = home
        self._pool = buffer_pool_mb
        self._number = 0

    def clean(self) -> None:
        """Delete what another process left; the folder is there afterwards."""
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in sorted(self._home.iterdir()):
            if _OURS.fullmatch(path.name):
                remove(path)

    def build(self, journal: Journal, stop: threading.Event) -> None:
        """Build a new file from the journal and put it in the place of the old one.

        Raises:
            Stopped: ``stop`` was set; the old file stays.
            GraphError, OSError, JournalError: It failed; the old file stays.
        """
        # The spooled rows and the new file together are smaller than the journal.
        self._need(journal.path.stat().st_size)
        # Paths are not reused: a file that could not be deleted may still be locked.
        self._number += 1
        path = self._home / f"graph-{self._number}.kuzu"
        with journal.snapshot() as snapshot:
            database = build(path, snapshot.rows, self._pool, stop)
            change, identities = snapshot.change, snapshot.rows.identities()
        self._replace(database, identities)
        self.applied, self.commits = change, 0

    def apply(self, patch: Patch, last: int) -> None:
        """Write a patch, all or nothing.

        Raises:
            GraphError: It failed and the file has been given up, or (the disk being
                full) nothing was tried.
        """
        self._need(0)
        if self.database is None:
            raise GraphError("the graph is away")
        try:
            apply(self.database.writer, patch)
        except BaseException:
            self.drop()
            raise
        self.applied = last
        self.commits += 1

    def drop(self) -> None:
        """Close and delete the file."""
        self._replace(None, Identities())

    def _replace(self, new: Database | None, identities: Identities) -> None:
        """Delete the open file once the questions that wait for the reader are answered."""

        def swap() -> Database | None:
            old, self.database, self.identities = self.database, new, identities
            return old

        if old := self.reader.submit(swap).result():
            old.discard()

    def _need(self, size: int) -> None:
        free = _free(self._home)
        if free < size + MIN_FREE:
            raise GraphError(
                f"the disk has {free >> 20} MiB free, the graph needs {(size + MIN_FREE) >> 20} MiB"
            )


class GraphStore:
    """The graph of one data directory, whose lock the caller holds.

    Args:
        directory: The data directory; the graph lives in ``graph/`` inside it.
        journal: What the graph is a view of; must stay open until this is closed.
        idle: Returns when nobody chats: time to build what nobody has asked for yet.
        buffer_pool_mb: Most memory for pages, MiB.
    """

    def __init__(
        self,
        directory: Path,
        journal: Journal,
        *,
        idle: Callable[[], Awaitable[None]] | None = None,
        buffer_pool_mb: int = 128,
    ) -> None:
        self._journal = journal
        self._idle = idle
        self._file = GraphFile(directory / "graph", buffer_pool_mb)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gm-graph")
        self._is_open = False
        self._wanted = 1  # builds that were asked for
        self._built = 0
        self._ending = threading.Event()
        self._job = Supervisor("gm-graph", self._follow, _log, "the graph waits", retry=RETRY)
        self._prelude = Supervisor("gm-graph-idle", self._when_idle, _log, "the graph waits")

    @property
    def state(self) -> GraphState:
        """What the graph is doing; only a ready one answers questions."""
        if not self._is_open:
            return GraphState.CLOSED
        if self._file.database is not None:
            return GraphState.READY
        if self.problem:
            return GraphState.FAILED
        return GraphState.BUILDING if self._job.is_running else GraphState.WAITING

    @property
    def applied(self) -> int:
        """Number of the newest change the graph reflects."""
        return self._file.applied

    @property
    def problem(self) -> str:
        """Why the graph is away or behind; empty if all is well."""
        return self._job.problem

    # ------------------------------------------------------------- life cycle

    async def start(self) -> None:
        """Delete leftovers; the graph is built when it is asked for, or in idle time.

        Raises:
            OSError: The folder cannot be used.
            ClosedError: It was closed before.
        """
        if self._ending.is_set():
            raise ClosedError("a graph store is started once; make a new one")
        await self._on_writer(self._file.clean)
        self._is_open = True
        self._prelude.start(after=IDLE_AFTER)

    async def _when_idle(self) -> None:
        if self._idle:
            await self._idle()
        self._job.start()

    def notify(self, change: Change) -> None:
        """Take notice that the journal has a new change; it is fetched in the background."""
        if change.id > self.applied:
            self._job.wake()

    async def settle(self, timeout: float = 30) -> None:  # noqa: ASYNC109 - names the reason
        """Wait until the graph reflects everything the journal has now.

        Args:
            timeout: Seconds.

        Raises:
            GraphError: It cannot, not in time, or the store is closed.
        """
        wanted = await self._journal.last_change()
        await self._work(timeout)
        if self.applied < wanted or self.state is not GraphState.READY:
            reason = self.problem or self.state.value
            raise GraphError(f"the graph is not ready after {timeout:g} s: {reason}")

    async def rebuild(self) -> None:
        """Build a new file from what the journal has now; the old one is deleted.

        Raises:
            GraphError: It failed (and will be tried again), or the store is closed.
        """
        self._wanted += 1
        wanted = self._wanted
        await self._work(None)
        if self._built < wanted:
            raise GraphError(self.problem or "the graph is closed")

    async def _work(self, timeout: float | None) -> None:  # noqa: ASYNC109 - as `settle`
        """Have everything done that there is to do now, even if it failed just before."""
        if not self._is_open:
            raise GraphError("the graph is closed")
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
            await self._prelude.close()
            await self._job.close()
        finally:
            # One job after those under way, done to its end even if the waiting is cancelled.
            ended = asyncio.get_running_loop().run_in_executor(self._writer, self._end)
            self._writer.shutdown(wait=False)
        await ended

    def _end(self) -> None:
        try:
            self._file.drop()
        finally:
            self._file.reader.shutdown()

    # ---------------------------------------------------------------- questions

    async def ask(self, question: Callable[[GraphQueries], T]) -> T:
        """Run a question on the reader's thread, once there is a graph.

        Raises:
            GraphError: The graph is away, or the question failed or took too long.
            NotFoundError: It is about a node that does not exist.
        """
        if self._file.database is None and not self.problem:
            await self._work(PATIENCE)
        if not self._is_open:
            raise GraphError("the graph is closed")
        reader = self._file.reader
        return await asyncio.get_running_loop().run_in_executor(reader, self._answer, question)

    def _answer(self, question: Callable[[GraphQueries], T]) -> T:
        database = self._file.database
        if database is None:
            raise GraphError(f"the graph is away: {self.problem or 'it is being built'}")
        with database.reader.transaction(read_only=True):
            return question(GraphQueries(database.reader, self._file.identities.canonical))

    # ---------------------------------------------------------------- following

    async def _follow(self) -> float:
        """Bring the graph up to date."""
        while True:
            if self._built < self._wanted:
                wanted = self._wanted
                await self._on_writer(self._file.build, self._journal, self._ending)
                self._built = wanted
            elif not await self._catch_up():
                return NEVER

    async def _catch_up(self) -> bool:
        """Apply some of what the graph lacks; false if it lacks nothing."""
        changes = await self._journal.changes(self.applied, CHUNK)
        if not changes:
            return False
        patch = await self._journal.read(
            lambda rows: patch_of(rows, changes, self._file.identities, MAX_STATEMENTS)
        )
        if patch.needs_build or self._file.commits >= MAX_COMMITS:
            self._wanted += 1
            return True
        try:
            await self._on_writer(self._file.apply, patch, changes[-1].id)
        except Exception as error:
            if self._file.database is not None:  # nothing was tried
                raise
            known = isinstance(error, GraphError)
            _log.warning("the graph is rebuilt: %s", error, exc_info=not known)
            self._wanted += 1
        return True

    async def _on_writer(self, work: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, partial(work, *arguments))


def _free(directory: Path) -> int:
    """Bytes that may still be written to the disk of ``directory``."""
    return shutil.disk_usage(directory).free
