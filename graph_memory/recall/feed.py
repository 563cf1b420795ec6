"""Keeps the recall index in step with the journal and its vectors complete.

Everything that touches the index runs on one thread, in short pieces, so that a question
that comes meanwhile never waits long.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from ..errors import ClosedError, EmbeddingError
from ..journal import Event, Journal, Snapshot
from ..model import Change, Episode, Fact, Forgotten, Message, Name, Row, Session
from ..ports import Embedder
from .dense import Dense
from .index import MAX_MESSAGES, Index

logger = logging.getLogger("graph_memory.recall")

P = ParamSpec("P")
T = TypeVar("T")

PIECE = 200
"""Rows, messages or events that are entered at a time."""
EMBEDDED = 32
"""Documents that are embedded at a time."""
PATIENCE = 30.0
"""Seconds before a failing embedder is tried again."""


class Feed:
    """Builds an index in the background and follows the journal.

    Attributes:
        index: To be touched in :meth:`run` only.
        ready: Whether everything that was there at the start is in the index.
    """

    def __init__(self, journal: Journal) -> None:
        self.index = Index()
        self.ready = False
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gm-recall")
        self._events: deque[Event] = deque()
        self._arrived = asyncio.Event()
        self._unembedded = asyncio.Event()
        self._embedded = True  # or at least nothing can be done about it now
        self._quiet = asyncio.Condition()
        self._following: asyncio.Task[None] | None = None
        self._embedding: asyncio.Task[None] | None = None
        self._embedder: Embedder | None = None
        self._closed = False

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` on the index's thread."""
        if self._closed:
            raise ClosedError("recall is closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))

    def start(self) -> None:
        """Begin to build and follow."""
        self._following = asyncio.create_task(self._follow(), name="gm-recall-feed")

    def take(self, event: Event) -> None:
        """Follow an event, in its turn."""
        self._events.append(event)
        self._arrived.set()

    def use(self, embedder: Embedder | None) -> None:
        """Use another embedder, or none, for all documents."""
        if self._closed:
            return
        if self._embedding:
            self._embedding.cancel()
        self._embedder, self._embedded = embedder, False
        self._embedding = asyncio.create_task(self._embed(embedder), name="gm-recall-embed")

    async def settle(self) -> None:
        """Wait until the index reflects the journal and all that can be embedded is."""
        async with self._quiet:
            await self._quiet.wait_for(lambda: self._closed or self._is_quiet())

    def _is_quiet(self) -> bool:
        fed = self.ready and not self._arrived.is_set()
        done = self._embedded and not self._unembedded.is_set()
        return fed and (self._embedder is None or done)

    async def _rest(self) -> None:
        """Let those who settle look again."""
        async with self._quiet:
            self._quiet.notify_all()

    async def close(self) -> None:
        """Stop; waits for the piece of work under way."""
        tasks = [task for task in (self._following, self._embedding) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._closed = True
        self._thread.shutdown(wait=False)
        await self._rest()

    # ------------------------------------------------------------------ rows

    async def _follow(self) -> None:
        try:
            await self._build()
            self.ready = True
            while True:
                while self._events:
                    some = [self._events.popleft() for _ in range(min(PIECE, len(self._events)))]
                    await self.run(self._enter, some)
                self._unembedded.set()
                self._arrived.clear()
                await self._rest()
                await self._arrived.wait()
        except Exception:
            logger.exception("the recall index cannot follow the journal any more")

    def _enter(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Change):
                self.index.apply(event)
            elif isinstance(event, Message):
                self.index.put_message(event)

    async def _build(self) -> None:
        """Enter what the journal holds: people and names, messages, facts and episodes.

        What is committed meanwhile is followed afterwards; entering it twice does no
        harm.
        """
        with contextlib.ExitStack() as stack:
            try:
                snapshot = await self.run(stack.enter_context, self._journal.snapshot())
                await self._put_rows(snapshot, (Session, Name, Forgotten))
                messages = await self._journal.newest_messages(MAX_MESSAGES)
                await self._put_messages(messages)
                await self._put_messages(await self._cited(snapshot))
                await self._put_rows(snapshot, (Fact, Episode))
            finally:
                # On the thread that opened it.
                await self.run(stack.pop_all().close)

    async def _put_rows(self, snapshot: Snapshot, kinds: tuple[type[Row], ...]) -> None:
        for kind in kinds:
            rows: Iterator[Row] = snapshot.rows.scan(kind)
            while await self.run(self._put_some, rows):
                pass

    def _put_some(self, rows: Iterator[Row]) -> bool:
        some = list(itertools.islice(rows, PIECE))
        for row in some:
            self.index.put(row)
        return bool(some)

    async def _put_messages(self, messages: list[Message]) -> None:
        for start in range(0, len(messages), PIECE):
            await self.run(self._enter, list(messages[start : start + PIECE]))

    async def _cited(self, snapshot: Snapshot) -> list[Message]:
        """Messages that facts rest on and that are not among the newest."""

        def missing(facts: Iterator[Fact], wanted: set[int]) -> bool:
            some = list(itertools.islice(facts, PIECE))
            wanted.update(
                id for fact in some for id in fact.evidence if self.index.message(id) is None
            )
            return bool(some)

        wanted: set[int] = set()
        facts = snapshot.rows.scan(Fact)
        while await self.run(missing, facts, wanted):
            pass
        return await self._journal.messages(wanted)

    # --------------------------------------------------------------- vectors

    async def _embed(self, embedder: Embedder | None) -> None:
        dense = Dense(embedder.name, embedder.floor) if embedder else None
        await self.run(self.index.use, dense)
        if embedder is None:
            await self._rest()
            return
        complained = False
        while True:
            self._unembedded.clear()
            items = await self.run(self.index.vectorless, EMBEDDED)
            try:
                if items:
                    self._embedded = False
                    vectors = await embedder.passages([item.text for item in items])
                    await self.run(self.index.put_vectors, items, vectors, embedder.name)
                    complained = False
                else:
                    await self._idle(self._unembedded.wait())
            except ClosedError:
                await self._idle(asyncio.sleep(0))
                return
            except (EmbeddingError, ValueError) as error:
                if not complained:
                    logger.warning("new memories are found by their words only: %s", error)
                complained = True
                await self._idle(asyncio.sleep(PATIENCE))

    async def _idle(self, until: Awaitable[object]) -> None:
        self._embedded = True
        await self._rest()
        await until
