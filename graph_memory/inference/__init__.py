"""Calls of models: what this memory needs of them, as small interfaces.

``astrbot/providers.py`` implements them with AstrBot; tests and the evaluation bring their own.
``breaker.py`` and ``token_budget.py`` hold calls back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a language model answered, in ``arguments`` if it called a tool."""

    text: str
    arguments: dict[str, Any] | None = None
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """The one tool a structured answer is asked for with (JSON schema)."""

    name: str
    description: str
    parameters: dict[str, Any]


class LanguageModel(Protocol):
    """A chat model."""

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """Ask once, for a call of ``tool`` if given, in the window ``where`` (``umo``).

        Raises:
            ExtractionError: No provider, or it failed.
        """


class Reranker(Protocol):
    """Judges texts by a question."""

    async def scores(self, query: str, texts: list[str]) -> list[float]:
        """How well each text answers the question, the more the better.

        Raises:
            RerankError: The model failed.
        """


class RawEmbedder(Protocol):
    """Turns texts into vectors of any length, on a scale of the model's own.

    Attributes:
        name: Identifies the model; vectors of different names are never mixed.
        parallel: Whether it computes elsewhere or without Python's lock, and so slows down
            nothing else that is to be done.
    """

    name: str
    parallel: bool

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), dim)``.

        Raises:
            EmbeddingError: The model failed.
        """

    async def questions(self, texts: list[str]) -> Vectors:
        """Vectors of questions, shape and length as of passages.

        Raises:
            EmbeddingError: The model failed.
        """

    async def close(self) -> None:
        """Free what the model holds."""


class Embedder(RawEmbedder, Protocol):
    """Turns texts into unit vectors on the common scale.

    Attributes:
        floor: Cosine of a query and a passage that have nothing to do with each
            other, roughly; similarities are read relative to it.
        width: Of every vector.
    """

    floor: float
    width: int

    async def query(self, text: str) -> Vectors:
        """Vector of one question, shape ``(dim,)``.

        Raises:
            EmbeddingError: The model failed.
        """
