"""The one thing that may be scripted in a test: what a model answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from graph_memory.errors import ExtractionError
from graph_memory.inference.ports import Answer, ToolSchema, Vectors


class ScriptedModel:
    """A language model that answers what a function says.

    Attributes:
        prompts: What it was asked, in order.
    """

    def __init__(self, answer: Callable[[str], dict[str, Any] | None]) -> None:
        self._answer = answer
        self.prompts: list[str] = []

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        self.prompts.append(prompt)
        arguments = self._answer(prompt)
        if arguments is None:
            raise ExtractionError("the scripted model is down")
        return Answer("", arguments, 100, 20)


class HashEmbedder:
    """Vectors in which shared character bigrams mean similarity; fast and deterministic."""

    name = "hash-64"
    floor = 0.1

    async def query(self, text: str) -> Vectors:
        return _hashed(text)

    async def questions(self, texts: list[str]) -> Vectors:
        return np.stack([_hashed(text) for text in texts])

    async def passages(self, texts: list[str]) -> Vectors:
        return (
            np.stack([_hashed(text) for text in texts]) if texts else np.zeros((0, 64), np.float32)
        )

    async def close(self) -> None:
        pass


def _hashed(text: str) -> Vectors:
    vector = np.full(64, 1e-3, np.float32)
    for left, right in zip(text, text[1:] + " ", strict=False):
        digest = hashlib.blake2b((left + right).encode(), digest_size=4).digest()
        vector[int.from_bytes(digest, "big") % 64] += 1.0
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
