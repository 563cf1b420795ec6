"""Synchronisation of the recall index with the journal and the embedder.

Everything that touches the index runs on one thread, in short pieces, so that a question
that comes meanwhile never waits long.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import ClosedError, EmbeddingError, JournalError, StorageError, brief
from ..model import Change, Episode, Erased, Fact, Forgotten, Merge, Message, Name, Row, Session
from ..ports import Embedder
from ..store import Event, Journal, Rows
from .documents import VectorIndex, message_key
from .index import MAX_MESSAGES, Index

logger = logging.getLogger("graph_memory.recall")

P = ParamSpec("P")
T = TypeVar("T")

PIECE = 50
"""Rows, messages or events that are entered at a time: some three milliseconds, which a
question that comes meanwhile has to wait."""
EMBEDDED, MOST_EMBEDDED = 32, 256
"""Documents that are embedded at a time, and as long as their vectors are cached."""
QUICK = 0.001
"""Seconds a document within which an embedder cannot have computed it."""
PATIENCE = 30.0
"""Seconds before a failing embedder is tried again."""
MAX_EVENTS = 20_000
"""Events that may wait while the index is being built; should there be more, they are
dropped and it is built once more, since the journal has them all."""
RETRY = (5.0, 60.0, 600.0)
"""Seconds until an index that could not be built is tried again."""
_SPARE = 16 << 20
"""Bytes of the first array of the thread. glibc gives back what is free from twice the largest
block that was ever freed; otherwise searches of 100k documents took a quarter longer."""


class IndexSync:
    """Builds an index in the background and follows the journal.

    Attributes:
        index: To be touched in :meth:`run` only.
        ready: Whether everything that was there at the start is in the index.
        problem: Why the index is behind the journal; empty if it is not.
    """

    def __init__(self, journal: Journal) -> None:
        self.index = Index()
        self.ready = False
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, "gm-recall", np.empty, (_SPARE, np.uint8))
        self.problem = ""
        self._wanted = 1
        self._built = 0
        self._failures = 0
        self._hurry = asyncio.Event()
        self._differing = 0
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
        self._following = asyncio.create_task(self._follow(), name="gm-recall-sync")

    def take(self, event: Event) -> None:
        """Follow an event, in its turn."""
        if len(self._events) >= MAX_EVENTS:
            logger.warning("recall is %d events behind and builds its index anew", MAX_EVENTS)
            self._events.clear()
            self._wanted += 1
        self._events.append(event)
        self._arrived.set()

    async def rebuild(self) -> int:
        """Build a new index from the journal; the old one answers meanwhile.

        Returns:
            How many documents of the old one were wrong or missing.

        Raises:
            JournalError: The journal cannot be read; it is tried again.
        """
        self._wanted += 1
        self.problem = ""
        self._arrived.set()
        self._hurry.set()
        async with self._quiet:
            await self._quiet.wait_for(lambda: self._closed or self.problem or self._is_fed())
        if self._closed:
            raise ClosedError("recall is closed")
        if self.problem:
            raise JournalError(self.problem)
        return self._differing

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
            await self._quiet.wait_for(lambda: self._closed or self.problem or self._is_quiet())

    def _is_quiet(self) -> bool:
        unembedded = self._embedder is not None and self._unembedded.is_set()
        return self._is_fed() and self._embedded and not unembedded

    def _is_fed(self) -> bool:
        return self._built == self._wanted and not self._arrived.is_set()

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
        while True:
            try:
                await self._keep_up()
            except ClosedError:
                return
            except Exception as error:
                if not self.problem:
                    known = isinstance(error, StorageError)
                    logger.warning("recall is held up: %s", error, exc_info=not known)
                self.problem = brief(error)
                self._wanted += 1
                self._arrived.clear()
                self._hurry.clear()
                await self._rest()
            delay = RETRY[min(self._failures, len(RETRY) - 1)]
            self._failures += 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._hurry.wait()

    async def _keep_up(self) -> None:
        while True:
            if self._built < self._wanted:
                wanted = self._wanted
                await self._exchange()
                self._built, self.problem, self.ready = wanted, "", True
                self._failures = 0
            while self._events:
                await self._enter_some(self.index)
            self._unembedded.set()
            self._arrived.clear()
            if self._built < self._wanted:
                continue
            await self._rest()
            await self._arrived.wait()

    async def _exchange(self) -> None:
        """Build the index; if there was one, beside it, and put it in its place."""
        if not self.ready and not self._failures:
            await self._build(self.index)  # whatever is in it can be recalled already
            return
        index = Index()
        missed = await self._follow_while(self._build(index))
        await self._each(missed, partial(_enter, index))
        while self._events:
            await self._enter_some(self.index, index)
        old, self.index = self.index, index
        self.use(self._embedder)
        self._differing = await self.run(_differing, old, index)

    async def _follow_while(self, build: Coroutine[Any, Any, None]) -> list[Event]:
        """Follow with the index in use; returns the events for a new index."""
        missed: list[Event] = []
        building = asyncio.create_task(build, name="gm-recall-build")
        building.add_done_callback(lambda _: self._arrived.set())
        try:
            while self._events or not building.done():
                self._arrived.clear()
                while self._events:
                    missed += await self._enter_some(self.index)
                if len(missed) > MAX_EVENTS:
                    missed.clear()
                    self._wanted += 1
                if not building.done():
                    await self._arrived.wait()
            await building
        finally:
            building.cancel()
            await asyncio.gather(building, return_exceptions=True)
        return missed

    async def _enter_some(self, *indexes: Index) -> list[Event]:
        some = [self._events.popleft() for _ in range(min(PIECE, len(self._events)))]
        for index in indexes:
            await self._each(some, partial(_enter, index))
        return some

    async def _each(self, items: Iterable[T], work: Callable[[T], object]) -> None:
        """Do something with each item on the index's thread, a piece at a time."""
        left = iter(items)

        def piece() -> bool:
            some = list(itertools.islice(left, PIECE))
            for item in some:
                work(item)
            return len(some) == PIECE

        while await self.run(piece):
            pass

    async def _build(self, index: Index) -> None:
        """Enter what the journal holds; what is committed meanwhile is entered afterwards."""
        with contextlib.ExitStack() as stack:
            try:
                snapshot = await self.run(stack.enter_context, self._journal.snapshot())
                first: tuple[type[Row], ...] = (Session, Merge, Name, Forgotten)
                for kind in first:
                    await self._each(snapshot.scan(kind), index.put)
                messages = await self._journal.newest_messages(MAX_MESSAGES)
                await self._each(messages, index.put_message)
                await self._each(await self._cited(index, snapshot), index.put_message)
                for kind in (Fact, Episode):
                    await self._each(snapshot.scan(kind), index.put)
            finally:
                # On the thread that opened it.
                await self.run(stack.pop_all().close)

    async def _cited(self, index: Index, snapshot: Rows) -> list[Message]:
        """Messages that facts rest on and that are not among the newest."""
        wanted: set[int] = set()

        def note(fact: Fact) -> None:
            wanted.update(id for id in fact.evidence if index.message(id) is None)

        await self._each(snapshot.scan(Fact), note)
        return await self._journal.messages(wanted)

    # --------------------------------------------------------------- vectors

    async def _embed(self, embedder: Embedder | None) -> None:
        vectors = VectorIndex(embedder.name, embedder.floor) if embedder else None
        await self.run(self.index.use, vectors)
        if embedder is None:
            await self._idle(asyncio.sleep(0))
            return
        complained, count = False, EMBEDDED
        while True:
            self._unembedded.clear()
            self._embedded = False
            items = await self.run(self.index.vectorless, count)
            try:
                if items:
                    started = time.monotonic()
                    found = await embedder.passages([item.text for item in items])
                    quick = time.monotonic() - started < QUICK * len(items)
                    count = min(2 * count, MOST_EMBEDDED) if quick else EMBEDDED
                    await self.run(self.index.put_vectors, items, found, embedder.name)
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


def _enter(index: Index, event: Event) -> None:
    if isinstance(event, Change):
        index.apply(event)
    elif isinstance(event, Message):
        index.put_message(event)
    elif isinstance(event, Erased):
        for id in event.messages:
            index.drop_message(id)


def _differing(index: Index, built: Index) -> int:
    """How many documents differ from those of an index that was just built.

    Old messages, of which a growing index keeps some more, do not count.
    """
    oldest = min(built.messages, default=0)
    aged = {message_key(id) for id in index.messages if id < oldest}
    wrong = _contents(index) ^ _contents(built)
    return len({key for key, *_ in wrong} - aged)


def _contents(index: Index) -> set[tuple[str, str, str, bool]]:
    documents, muted = index.documents, index.documents.muted.values
    found = ((documents[number], bool(muted[number])) for number in documents.numbers())
    return {(item.key, item.text, item.session, is_muted) for item, is_muted in found}
