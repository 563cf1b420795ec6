"""An embedder whose vectors are kept between runs."""

from graph_memory.embedding import CachedEmbedder, text_hash
from graph_memory.inference.ports import Embedder, Vectors
from graph_memory.store import Journal


class Rehearsal:
    """Keeps passages like the product does, and queries too.

    Queries are kept for speed of repetition only; the time an embedding takes is measured
    with :meth:`fresh`.
    """

    def __init__(self, inner: Embedder, store: Journal) -> None:
        self.name = inner.name
        self.floor, self.width, self.parallel = inner.floor, inner.width, inner.parallel
        self._inner = inner
        self._store = store
        self._passages = CachedEmbedder(inner, store)

    async def query(self, text: str) -> Vectors:
        """Vector of a question."""
        model, key = f"{self.name}?", text_hash(text)
        known = await self._store.vectors(model, [key])
        if key not in known:
            known = {key: await self._inner.query(text)}
            await self._store.put_vectors(model, known)
        return known[key]

    async def fresh(self, text: str) -> Vectors:
        """Vector of a question, computed now."""
        return await self._inner.query(text)

    async def questions(self, texts: list[str]) -> Vectors:
        """Vectors of questions that nobody waits for."""
        return await self._passages.questions(texts)

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found."""
        return await self._passages.passages(texts)

    async def close(self) -> None:
        """Free what the model holds."""
        await self._passages.close()
