"""Synchronisation of the recall index with the journal and the embedder.

Everything that touches the index runs on one thread, in short pieces, so that a question
that comes meanwhile never waits long.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import ClosedError, EmbeddingError, Failure, JournalError
from ..inference import Embedder, Vectors
from ..model import Episode, Fact, Forgotten, Merge, Message, Name, Row, Session
from ..store import Journal, Rows
from ..supervisor import NEVER, Supervisor
from .documents import Document, VectorIndex
from .index import MAX_MESSAGES, Index, Step
from .intents import ENOUGH, EXAMPLES, SMALL_TALK

logger = logging.getLogger("graph_memory.recall")

P = ParamSpec("P")
T = TypeVar("T")

PIECE = 50
"""Rows or messages entered at a time: a question waits some three milliseconds."""
EMBEDDED, MOST_EMBEDDED = 32, 256
"""Documents embedded at a time, and as long as their vectors are cached."""
LULL, MESSAGES_LULL, LONGEST = 1.0, 10.0, 60.0
"""Seconds of quiet before a few new documents are embedded, as a reply is being waited for
meanwhile; before messages alone are, which are in the conversation anyway and take half as long
together; and how long they wait at most."""
QUICK = 0.001
"""Seconds a document, faster than any embedder: its vector was cached."""
PATIENCE = 30.0
"""Seconds before a failing embedder is tried again."""
MAX_STEPS = 100_000
"""Steps that may wait during a build; of more none are kept and the index is built again."""
RETRY = (5.0, 60.0, 600.0)
"""Seconds after failures in a row."""
_SPARE = 16 << 20
"""Bytes of the thread's first array, so that glibc keeps freed memory of that size.

Searches of 100k documents take a quarter longer without.
"""


class IndexSync:
    """Builds an index in the background and follows the journal.

    Attributes:
        index: To be used in :meth:`run` only.
        ready: Whether everything that was there at the start is in the index.
    """

    def __init__(self, journal: Journal) -> None:
        self.index = Index()
        self.ready = False
        self._journal = journal
        self._thread = ThreadPoolExecutor(1, "gm-recall", np.empty, (_SPARE, np.uint8))
        self._following = Supervisor(
            "gm-recall-sync", self._keep_up, logger, "recall is held up", retry=RETRY
        )
        self._must_build = True
        self._was_begun = False
        self._steps: deque[Step] = deque()
        self._arrived = asyncio.Event()
        self._stirred, self._overdue = 0.0, math.inf
        self._hurried = 0  # how many wait for all vectors
        self._most = EMBEDDED
        self._may_wait = self._is_used = self._works = False
        self._embedder: Embedder | None = None
        self._documents_only = 0
        self._embedding = self._embedding_job()
        self._closed = False

    @property
    def problem(self) -> str:
        """Why the index is behind the journal; empty if it is not."""
        return self._following.problem

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``work`` on the index's thread."""
        if self._closed:
            raise ClosedError("recall is closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))

    def start(self) -> None:
        """Begin to build and follow."""
        self._following.start()

    def take(self, *steps: Step) -> None:
        """Follow what happened, in its turn."""
        if len(self._steps) >= MAX_STEPS:
            logger.warning("recall is %d steps behind and builds its index anew", MAX_STEPS)
            self._steps.clear()
            self._must_build = True
        self._steps.extend(steps)
        self._stirred = time.monotonic()
        self._overdue = min(self._overdue, self._stirred + LONGEST)
        self._arrived.set()
        self._following.wake()

    async def rebuild(self) -> None:
        """Build a new index from the journal while the old one answers.

        Raises:
            JournalError: The journal cannot be read; it is tried again.
        """
        self._must_build = True
        await self._following.idle()
        if not self._following.is_running:
            raise ClosedError("recall is closed")
        if self.problem:
            raise JournalError(self.problem)

    def use(self, embedder: Embedder | None) -> None:
        """Use another embedder, or none, for all documents."""
        if self._closed:
            return
        self._embedding.cancel()
        self._embedder = embedder
        self._is_used = self._may_wait = self._works = False
        self._embedding = self._embedding_job()
        self._embedding.start()

    async def settle(self, *, examples: bool = True) -> None:
        """Wait until the index reflects the journal and all that can be embedded is.

        Args:
            examples: Whether to wait for the vectors of ``EXAMPLES``, too.
        """
        await self._following.idle()
        self._hurried += 1
        self._documents_only += not examples
        try:
            while (job := self._embedding).is_running:
                await job.idle()
                if job is self._embedding:
                    break
        finally:
            self._hurried -= 1
            if not examples:
                self._documents_only -= 1
                self._embedding.wake()

    async def close(self) -> None:
        """Stop; waits for the piece of work under way."""
        await self._following.close()
        await self._embedding.close()
        if not self._closed:
            await self.run(lambda: None)  # after what was begun
        self._closed = True
        self._thread.shutdown(wait=False)

    # ------------------------------------------------------------------ rows

    async def _keep_up(self) -> float:
        if not self._must_build and not self._steps:
            return NEVER
        try:
            while self._must_build:
                self._must_build = False
                await self._exchange()
                self.ready = True
            while self._steps:
                await self._enter_some(self.index)
        except Exception:
            self._must_build = True
            raise
        self._embedding.wake()
        return NEVER

    async def _exchange(self) -> None:
        """Build the index; a second one is built beside the first, then takes its place."""
        if not self._was_begun:
            self._was_begun = True
            await self._build(self.index)  # whatever is in it can be recalled already
            return
        index = Index()
        missed = await self._follow_while(self._build(index))
        for some in itertools.batched(missed, PIECE):
            await self.run(index.enter, some)
        while self._steps:
            await self._enter_some(self.index, index)
        self.index = index
        self.use(self._embedder)

    async def _follow_while(self, build: Coroutine[Any, Any, None]) -> list[Step]:
        """Let the index in use follow during a build; returns the steps for the new one."""
        missed: list[Step] = []
        building = asyncio.create_task(build, name="gm-recall-build")
        building.add_done_callback(lambda _: self._arrived.set())
        try:
            while self._steps or not building.done():
                self._arrived.clear()
                while self._steps:
                    missed += await self._enter_some(self.index)
                if len(missed) > MAX_STEPS:
                    missed.clear()
                    self._must_build = True
                if not building.done():
                    await self._arrived.wait()
            await building
        finally:
            building.cancel()
            await asyncio.gather(building, return_exceptions=True)
        return missed

    async def _enter_some(self, *indexes: Index) -> list[Step]:
        some = [self._steps.popleft() for _ in range(min(PIECE, len(self._steps)))]
        for index in indexes:
            await self.run(index.enter, some)
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
        """Enter what the journal holds; events that come meanwhile follow."""
        # Before the snapshot, which then has the Session of each; later ones come as events.
        messages = await self._journal.newest_messages(MAX_MESSAGES)
        stack = contextlib.ExitStack()
        try:
            snapshot = await self.run(stack.enter_context, self._journal.snapshot())
            first: tuple[type[Row], ...] = (Session, Merge, Name, Forgotten)
            for kind in first:
                await self._each(snapshot.scan(kind), index.put)
            await self._each(messages, index.put_message)
            old = partial(index.put_message, is_old=True)
            await self._each(await self._cited(index, snapshot), old)
            for kind in (Fact, Episode):
                await self._each(snapshot.scan(kind), index.put)
        finally:
            # On the thread that opened it, once it has, even if nobody waits for that.
            await asyncio.shield(asyncio.wrap_future(self._thread.submit(stack.close)))

    async def _cited(self, index: Index, snapshot: Rows) -> list[Message]:
        """Messages that facts rest on and that are not among the newest."""
        wanted: set[int] = set()

        def note(fact: Fact) -> None:
            wanted.update(id for id in fact.evidence if index.message(id) is None)

        await self._each(snapshot.scan(Fact), note)
        return await self._journal.messages(wanted)

    # --------------------------------------------------------------- vectors

    def _embedding_job(self) -> Supervisor:
        text = "new memories are found by their words only"
        return Supervisor("gm-recall-embed", self._embed, logger, text, retry=(PATIENCE,))

    async def _embed(self) -> float:
        """Embed some documents; returns seconds until there may be more to do."""
        embedder, started = self._embedder, time.monotonic()
        if not self._is_used:
            vectors = VectorIndex(embedder.name, embedder.floor) if embedder else None
            await self.run(self.index.use, vectors)
            self._is_used = True
        if embedder is None:
            return NEVER
        items = await self.run(self.index.vectorless, self._most)
        is_said = all(isinstance(item.source, Message) for item in items)
        quiet = self._stirred + (MESSAGES_LULL if is_said else LULL)
        if self._may_wait and not self._hurried and started < min(quiet, self._overdue):
            return min(quiet, self._overdue) - started
        self._overdue = math.inf
        self._may_wait = len(items) < self._most
        if items:
            found = await self._passages(embedder, items)
            quick = time.monotonic() - started < QUICK * len(items)
            self._most = min(2 * self._most, MOST_EMBEDDED) if quick else EMBEDDED
            if left := await self.run(self.index.put_vectors, items, found, embedder.name):
                await self._journal.forget_vectors(left)  # it was erased while it was computed
        elif missing := self._missing_examples()[:EMBEDDED]:
            found = await embedder.questions(missing)
            await self.run(self.index.put_examples, found, embedder.name)
        # After fewer than there might have been, there are no more until something comes.
        return NEVER if self._may_wait and not self._missing_examples() else 0.0

    async def _passages(self, embedder: Embedder, items: list[Document]) -> Vectors:
        """Vectors of some documents; one that a model at work refuses holds up no other."""
        try:
            found = await embedder.passages([item.searched for item in items])
        except EmbeddingError as error:
            if error.kind in (Failure.REFUSED, Failure.OTHER):  # else it is not for the texts
                is_refused = self._works and len(items) == 1
                self._most, self._works = max(1, len(items) // 2), False
                await self.run(self.index.put_off, items, is_refused=is_refused)
            raise
        self._works = True
        return found

    def _missing_examples(self) -> list[str]:
        """Examples that would matter and are not embedded.

        All do once a condition is known, those of questions and small talk once there is enough
        that these could bring up; none while somebody waits for documents alone.
        """
        documents, end = self.index.documents, 0
        if documents.bears_on.any():
            end = len(EXAMPLES)
        elif len(documents) >= ENOUGH:
            end = SMALL_TALK
        known = self.index.examples.count if self.index.examples else 0
        return [] if self._documents_only else EXAMPLES[known:end]
