"""An embedder that one memory after another uses."""

import numpy as np

from graph_memory.inference import Embedder, Vectors


class Lent:
    """An embedder for several memories, none of which closes it: each text is computed once.

    Half of what a short memory embeds are the examples of recall, which are the same in all.
    """

    def __init__(self, inner: Embedder) -> None:
        self.name, self.parallel = inner.name, inner.parallel
        self.floor, self.width = inner.floor, inner.width
        self._inner = inner
        self._known: dict[tuple[str, str], Vectors] = {}

    async def query(self, text: str) -> Vectors:
        return (await self.questions([text]))[0]

    async def questions(self, texts: list[str]) -> Vectors:
        return await self._all("questions", texts)

    async def passages(self, texts: list[str]) -> Vectors:
        return await self._all("passages", texts)

    async def close(self) -> None:
        """Nothing: who lent it closes it."""

    async def _all(self, kind: str, texts: list[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        if new:
            rows = await getattr(self._inner, kind)(new)
            self._known |= {(kind, text): row for text, row in zip(new, rows, strict=True)}
        rows = [self._known[kind, text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.width), np.float32)
