"""Caching of embeddings, and a breaker around questions."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import numpy as np

from ..errors import ClosedError, EmbeddingError, Failure
from ..inference.breaker import Breaker, RefusedError
from ..inference.ports import Embedder, Vectors
from ..supervisor import LogOnce
from ..text import text_hash
from .vectors import Embed, VectorStore, kept_vectors, logger

REMEMBERED = 256
"""Query vectors that are kept."""

GIVE_UP = 30.0
"""Seconds after which a question that nobody waits for any more is dropped."""
ASKED = "?\n"
"""What the names of questions begin with in the store."""


class CachedEmbedder:
    """An embedder whose passages are kept in a store and whose queries in memory.

    Only questions go through the breaker, because somebody waits for them. One that takes
    longer than ``late`` seconds is a failure, though its late answer is kept.

    Args:
        inner: The embedder; closed together with this one.
        store: Must outlive this.
    """

    def __init__(self, inner: Embedder, store: VectorStore, *, late: float = GIVE_UP) -> None:
        self.breaker = Breaker("the embedding model")
        self.name = inner.name
        self.floor, self.width, self.parallel = inner.floor, inner.width, inner.parallel
        self._inner = inner
        self._store = store
        self._queries: OrderedDict[bytes, Vectors] = OrderedDict()
        self._asked: dict[str, asyncio.Task[Vectors]] = {}
        self._late: set[str] = set()
        self._late_after = late
        self._log = LogOnce(logger)
        self._closed = False

    async def query(self, text: str) -> Vectors:
        """Vector of a question, shape ``(dim,)``, length 1, not writable.

        Whoever asks the same meanwhile waits for the same computation, which is finished and
        kept even if all give up. After somebody gave up, nobody else waits for it.

        Raises:
            EmbeddingError: The model failed, is late, or has been failing and is left alone.
            ClosedError: The embedder was closed.
        """
        self._look_open()
        key = text_hash(text)  # nobody's words stay here
        if (known := self._queries.get(key)) is not None:
            self._queries.move_to_end(key)
            return known
        if text in self._late:
            raise EmbeddingError(f"{self.name} has not answered this question yet")
        task = self._asked.get(text)
        if task is None:
            task = self._asked[text] = asyncio.create_task(self._ask(text))
            task.add_done_callback(lambda done: self._answered(text, done))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():  # by close(), not by whoever awaits this
                raise ClosedError(f"{self.name} was closed") from None
            if not task.done():
                self._late.add(text)
            raise

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), dim)``, rows of length 1.

        What the store does not have is computed and kept slice by slice.

        Raises:
            EmbeddingError: The model failed.
            ClosedError: The embedder was closed.
        """
        return await self._kept(texts, self._inner.passages)

    async def questions(self, texts: list[str]) -> Vectors:
        """Vectors of questions that nobody waits for, kept as passages are.

        Raises:
            EmbeddingError: The model failed.
            ClosedError: The embedder was closed.
        """
        return await self._kept(texts, self._inner.questions, ASKED)

    async def _kept(self, texts: list[str], embed: Embed, prefix: str = "") -> Vectors:
        self._look_open()
        if not texts:
            return np.zeros((0, self.width), np.float32)
        return await kept_vectors(
            self._store, self._log, self.name, texts, embed, prefix, self.width
        )

    async def close(self) -> None:
        """Stop what is under way and close the embedder."""
        if self._closed:
            return
        self._closed = True
        tasks = list(self._asked.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._queries.clear()
        await self._inner.close()

    async def _ask(self, text: str) -> Vectors:
        try:
            with self.breaker.call() as call:
                loop = asyncio.get_running_loop()
                alarm = loop.call_later(self._late_after, call.end, Failure.TIMEOUT)
                try:
                    async with asyncio.timeout(max(GIVE_UP, self._late_after)):
                        answer = await self._inner.query(text)
                except ClosedError:
                    call.end(None)
                    raise
                finally:
                    alarm.cancel()
        except RefusedError as error:
            raise EmbeddingError(f"{self.name} is left alone for a while: {error}") from None
        except TimeoutError:
            raise EmbeddingError(f"{self.name} did not answer", Failure.TIMEOUT) from None
        answer.flags.writeable = False
        self._queries[text_hash(text)] = answer
        while len(self._queries) > REMEMBERED:
            self._queries.popitem(last=False)
        return answer

    def _answered(self, text: str, task: asyncio.Task[Vectors]) -> None:
        self._asked.pop(text, None)
        self._late.discard(text)
        if not task.cancelled():
            task.exception()  # if everybody has gone, it is nobody's error

    def _look_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.name} was closed")
