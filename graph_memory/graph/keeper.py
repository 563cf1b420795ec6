"""The graph's file as the writer's thread sees it: opened, built, written, sealed.

Everything here blocks and runs on that one thread. A file is let go only after the
reader's thread has finished with it: closing Kùzu under a query crashes the process.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..errors import GraphError
from ..identity import Identities
from ..journal import Journal
from ..model import Change
from . import seal
from .apply import Delta, apply
from .build import build
from .engine import Engine
from .records import Portrait
from .seal import Seal

_log = logging.getLogger("graph_memory.graph")

MIN_FREE = 64 << 20
"""Bytes the disk must have free: Kùzu ends the process when a write finds none."""


class Keeper:
    """Owner of the open graph file.

    Attributes:
        engine: The open file, or ``None``. The reader's thread may look at it, too.
        applied: Number of the newest change in it.
        applied_at: When that change was made (see ``Seal``).
        commits: Transactions since it was built or opened.
        identities: Which nodes are one in it; that never changes while it is open.

    Args:
        home: Where the files are.
        reader: The one thread that reads.
        buffer_pool_mb: Most memory for pages, MiB.
        now: Clock.
    """

    def __init__(
        self, home: Path, reader: ThreadPoolExecutor, buffer_pool_mb: int, now: Callable[[], float]
    ) -> None:
        self.engine: Engine | None = None
        self.applied = 0
        self.applied_at = 0.0
        self.commits = 0
        self.identities = Identities()
        self._home = home
        self._reader = reader
        self._pool = buffer_pool_mb
        self._now = now
        self._sealed: Path | None = None
        self._number = 0

    def find(self) -> Seal | None:
        """Look for a sealed file, delete all others; nothing is opened yet."""
        found = seal.find(self._home)
        self._sealed = found[0] if found else None
        return found[1] if found else None

    def open(self, sealed: Seal, identities: Identities) -> None:
        """Open the file that :meth:`find` found.

        Args:
            identities: As of now: if they are others than those in the file, a later
                change tells so, and the file is built anew.

        Raises:
            GraphError: It could not be opened.
            OSError: Its seal could not be broken.
        """
        path, self._sealed = self._sealed, None
        if path is None:
            raise GraphError("there is no sealed graph file")
        self._need(0)
        seal.break_open(path)
        self.engine = Engine(path, self._pool)
        self.applied, self.applied_at, self.commits = sealed.change, sealed.change_at, 0
        self.identities = identities

    def build(self, journal: Journal, stop: threading.Event) -> None:
        """Build a new file from the journal and put it in the place of the old one.

        Raises:
            Stopped: ``stop`` was set; the old file stays.
            GraphError, OSError, JournalError: It failed; the old file stays.
        """
        # The spooled rows and the new file together are smaller than the journal.
        self._need(journal.path.stat().st_size)
        # Paths are not reused: a file that could not be deleted may still be locked.
        self._number = max(self._number, seal.last_number(self._home)) + 1
        if self.engine is None:
            seal.clean(self._home)
        path = seal.database(self._home, self._number)
        with journal.snapshot() as snapshot:
            engine = build(path, snapshot.rows, self._pool, stop)
            change, identities = snapshot.change, snapshot.rows.identities()
        old, self.engine = self.engine, engine
        self.applied, self.applied_at, self.commits = change, 0.0, 0
        self.identities = identities
        if old is not None:
            self._discard(old)

    def apply(self, changes: list[Change], delta: Delta, portraits: Mapping[str, Portrait]) -> None:
        """Write consecutive changes, all or nothing; see ``apply.apply``.

        Raises:
            GraphError: It failed and the file has been given up, or (the disk being
                full) nothing was tried.
        """
        self._need(0)
        if self.engine is None:
            raise GraphError("the graph is away")
        try:
            apply(self.engine.writer, delta, portraits)
        except BaseException:
            self.drop()
            raise
        self.applied, self.applied_at = changes[-1].id, changes[-1].at
        self.commits += 1

    def drop(self) -> None:
        """Give the file up: after an error while writing it is not to be trusted."""
        engine, self.engine = self.engine, None
        if engine is not None:
            self._discard(engine)

    def end(self) -> None:
        """Close the file cleanly and seal it. If that fails, the next start builds anew."""
        engine = self.engine
        if engine is None:
            return
        try:
            # Questions that wait in the reader's queue are answered first.
            self._reader.submit(engine.reader.close).result()
            self.engine = None
            roomy = _free(self._home) >= MIN_FREE
            try:
                if roomy:
                    engine.checkpoint()
            finally:
                engine.close()
            if roomy:
                seal.write(engine.path, self.applied, self.applied_at, self._now())
        except (GraphError, OSError) as error:
            _log.warning("the graph was closed without a seal and will be rebuilt: %s", error)

    def _discard(self, engine: Engine) -> None:
        self._reader.submit(engine.reader.close).result()
        engine.close()
        seal.discard(engine.path)

    def _need(self, size: int) -> None:
        free = _free(self._home)
        if free < size + MIN_FREE:
            raise GraphError(
                f"the disk has {free >> 20} MiB free, the graph needs {(size + MIN_FREE) >> 20} MiB"
            )


def _free(directory: Path) -> int:
    """Bytes that may still be written to the disk of ``directory``."""
    return shutil.disk_usage(directory).free
