"""An embedder that needs no model: search terms, hashed."""

import asyncio
import zlib

import numpy as np

from graph_memory.errors import EmbeddingError
from graph_memory.inference import Vectors
from graph_memory.text import terms
from tests.scripted import WIDTH, HashEmbedder


def vector(text: str) -> Vectors:
    """A unit vector that depends on the terms of a text alone."""
    found = np.zeros(WIDTH, np.float32)
    for term in terms(text) or [text]:
        code = zlib.crc32(term.encode())
        found[code % WIDTH] += 1 if code & 1 << 20 else -1
    length = float(np.linalg.norm(found))
    return found / length if length else np.eye(1, WIDTH, dtype=np.float32)[0]


class HashingEmbedder(HashEmbedder):
    """Embeds by hashing; can be made to fail or to hang."""

    floor = 0.2

    def __init__(self, name: str = "hashing") -> None:
        self.name = name
        self.embedded: list[str] = []
        self.queries: list[str] = []
        self.broken = False
        self.stalled: asyncio.Event | None = None

    def vector(self, text: str) -> Vectors:
        if self.broken:
            raise EmbeddingError("the model is out of order")
        return vector(text)

    async def query(self, text: str) -> Vectors:
        self.queries.append(text)
        if self.stalled:
            await self.stalled.wait()
        return await super().query(text)

    async def passages(self, texts: list[str]) -> Vectors:
        found = await super().passages(texts)
        self.embedded += texts
        return found
