"""Models that compute in this process, kept away from the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ClosedError, EmbeddingError, GraphMemoryError, brief
from ..ports import Vectors
from .vectors import MAX_QUERY, fit, unit_rows

T = TypeVar("T")


class ThreadedEmbedder:
    """A model in this process, with one thread for queries and one for passages.

    A query is what a chat is waiting for: it has a thread of its own, and the other one
    starts nothing new while a query is computed. So a query waits for at most one step
    of the passages, and only if the model must not be used by two threads.

    Args:
        name: Identifies the model and its weights.
        query: Gives the vector of a question, shape ``(dim,)``.
        passages: Gives the vectors of at most ``step`` texts, shape ``(texts, dim)``.
        step: Texts in one call of ``passages``.
        exclusive: Whether the model must not be used by two threads at once.
    """

    def __init__(
        self,
        name: str,
        query: Callable[[str], ArrayLike],
        passages: Callable[[list[str]], ArrayLike],
        *,
        step: int = 1,
        exclusive: bool = False,
    ) -> None:
        self.name = name
        self._query = query
        self._passages = passages
        self._step = step
        self._turn = threading.Semaphore(1 if exclusive else 2)  # of the two threads
        self._quiet = threading.Condition()
        self._queries = 0
        self._closed = False
        self._front = ThreadPoolExecutor(1, thread_name_prefix="gm-embed-query")
        self._back = ThreadPoolExecutor(1, thread_name_prefix="gm-embed-passages")

    async def query(self, text: str) -> Vectors:
        """Vector of a question, shape ``(dim,)``, length 1.

        Raises:
            EmbeddingError: The model failed.
            ClosedError: The embedder was closed.
        """
        return await self._run(self._front, lambda: self._answer(text))

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), dim)``, rows of length 1.

        Cancelled, it stops after the step under way.

        Raises:
            EmbeddingError: The model failed.
            ClosedError: The embedder was closed.
        """
        if not texts:
            return np.zeros((0, 0), np.float32)
        unwanted = threading.Event()
        try:
            return await self._run(self._back, lambda: self._embed(texts, unwanted))
        finally:
            unwanted.set()

    async def close(self) -> None:
        """Wait for the step under way and let the model go; harmless when closed."""
        with self._quiet:
            self._closed = True
            self._quiet.notify_all()
        for executor in (self._front, self._back):
            await asyncio.to_thread(executor.shutdown)
        self._query = self._passages = _gone

    def _answer(self, text: str) -> Vectors:
        with self._quiet:
            self._queries += 1
        try:
            with self._turn:
                self._check()
                rows = unit_rows(self._query(fit(text, MAX_QUERY)), self.name, 1)
                return rows.reshape(-1)
        finally:
            with self._quiet:
                self._queries -= 1
                self._quiet.notify_all()

    def _embed(self, texts: list[str], unwanted: threading.Event) -> Vectors:
        done: list[Vectors] = []
        for start in range(0, len(texts), self._step):
            with self._quiet:
                self._quiet.wait_for(lambda: not self._queries or self._closed)
            if unwanted.is_set():
                break
            some = [fit(text) for text in texts[start : start + self._step]]
            with self._turn:
                self._check()
                done.append(unit_rows(self._passages(some), self.name, len(some)))
        return np.concatenate(done) if done else np.zeros((0, 0), np.float32)

    def _check(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.name} was closed")

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        def guarded() -> T:
            try:
                return work()
            except GraphMemoryError:
                raise
            except Exception as error:
                raise EmbeddingError(f"{self.name} failed: {brief(error)}") from error

        self._check()
        return await asyncio.get_running_loop().run_in_executor(executor, guarded)


def _gone(_: object) -> ArrayLike:
    raise ClosedError("the embedder was closed")
