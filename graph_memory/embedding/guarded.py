"""An embedder whose questions cost nothing while it is down."""

from __future__ import annotations

import asyncio

from ..breaker import Breaker, RefusedError
from ..errors import ClosedError, EmbeddingError, Failure
from ..ports import Embedder, Vectors

GIVE_UP = 30.0
"""Seconds after which a question that nobody waits for any more is dropped."""


class GuardedEmbedder:
    """An embedder behind a breaker.

    Only questions go through the breaker, because somebody waits for them. One that
    takes longer than they wait is a failure, though its late answer is still handed on
    (and kept by the cache around this). Passages are embedded in the background, which
    has pauses of its own.

    Args:
        inner: The embedder; closed together with this one.
        late: Seconds after which an answer is of no use to whoever asked.
    """

    def __init__(self, inner: Embedder, breaker: Breaker, late: float) -> None:
        self.name = inner.name
        self.floor = inner.floor
        self._inner = inner
        self._breaker = breaker
        self._late = late

    async def query(self, text: str) -> Vectors:
        """Vector of a question, shape ``(dim,)``, length 1.

        Raises:
            EmbeddingError: The model failed, or has been failing and is left alone.
            ClosedError: The embedder was closed.
        """
        try:
            with self._breaker.call() as call:
                loop = asyncio.get_running_loop()
                alarm = loop.call_later(self._late, call.failed, Failure.TIMEOUT)
                try:
                    async with asyncio.timeout(max(GIVE_UP, self._late)):
                        return await self._inner.query(text)
                except ClosedError:
                    call.abandoned()
                    raise
                finally:
                    alarm.cancel()
        except RefusedError as error:
            raise EmbeddingError(f"{self.name} is left alone for a while: {error}") from None
        except TimeoutError:
            raise EmbeddingError(f"{self.name} did not answer", Failure.TIMEOUT) from None

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), dim)``, rows of length 1.

        Raises:
            EmbeddingError: The model failed.
            ClosedError: The embedder was closed.
        """
        return await self._inner.passages(texts)

    async def close(self) -> None:
        """Close the embedder."""
        await self._inner.close()
