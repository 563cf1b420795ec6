"""Calibration of embedders: one scale for the cosines of all models.

What a cosine means differs between models and, within one, between languages: with the
bundled model unrelated Chinese texts have .86 where related English ones have .84, so
that no single floor can tell the two apart. The reason is a direction shared by all
vectors (and another that only says which language it is), which carries no meaning. It
is measured on sentences that have nothing to do with each other and taken out; what is
left of unrelated texts is near 0 in every language. Rankings stay as they were (±.02
recall in ten on either language's development files), and a question finds memories of
the other language better.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ..errors import EmbeddingError
from ..ports import Vectors
from .vectors import SLICE, unit_rows

QUANTILE = 0.98
"""Share of unrelated pairs that stay below the floor."""

_DIRECTIONLESS = 1e-3


@dataclass(frozen=True, slots=True)
class CalibrationTexts:
    """Sentences that have nothing to do with each other, Chinese ones first.

    Everyday statements (as remembered) and messages (as they ask for memories): every
    message is foreign to every statement. The same is said in English at the same place of
    the other half, so that the difference of the halves is the language and nothing else.

    Attributes:
        version: Calibrated vectors are stored, so another text needs another version.
    """

    version: int
    statements: tuple[str, ...]
    messages: tuple[str, ...]

    @classmethod
    def read(cls) -> CalibrationTexts:
        """Those that come with the plugin."""
        path = Path(__file__).with_name("calibration_texts.json")
        data = json.loads(path.read_text(encoding="utf-8"))
        halves = (sum(zip(*data[key], strict=True), ()) for key in ("statements", "messages"))
        return cls(data["version"], *halves)


TEXTS = CalibrationTexts.read()


class RawEmbedder(Protocol):
    """A model as it comes; an ``Embedder`` whose cosines have no known scale."""

    name: str

    async def query(self, text: str) -> Vectors:
        """Vector of a question, shape ``(dim,)``, any length."""
        ...

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), dim)``, any length."""
        ...

    async def close(self) -> None:
        """Free what the model holds."""
        ...


@dataclass(frozen=True, slots=True)
class Scale:
    """What is taken out of the vectors of one model.

    Attributes:
        query, passage: Means, shape ``(dim,)``; many models mark the two differently.
        language: Direction from one language to the other, shape ``(dim,)``, length 1,
            or zeros if the model has none.
        floor: Cosine below which :data:`QUANTILE` of the unrelated pairs are.
    """

    query: Vectors
    passage: Vectors
    language: Vectors
    floor: float = 0.0

    def apply(self, rows: Vectors, mean: Vectors) -> Vectors:
        """``rows`` without ``mean`` and language, each of length 1."""
        moved = rows - mean
        moved -= np.outer(moved @ self.language, self.language)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        # Nothing left: the vector says nothing but "a text", and is like no other.
        return np.where(lengths > _DIRECTIONLESS, moved / np.maximum(lengths, 1e-9), rows)


class CalibratedEmbedder:
    """An embedder on the common scale; made by :func:`calibrate`."""

    def __init__(self, raw: RawEmbedder, scale: Scale) -> None:
        self.name = f"{raw.name}~{TEXTS.version}"
        self.floor = scale.floor
        self._raw = raw
        self._scale = scale
        self._width = len(scale.query)

    async def query(self, text: str) -> Vectors:
        """Vector of a question, shape ``(dim,)``, length 1.

        Raises:
            EmbeddingError: The model failed, or answered in another width.
        """
        row = unit_rows(await self._raw.query(text), self.name, 1, self._width)
        return self._scale.apply(row, self._scale.query).reshape(-1)

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts to be found, shape ``(len(texts), dim)``, rows of length 1.

        Raises:
            EmbeddingError: The model failed, or answered in another width.
        """
        if not texts:
            return np.zeros((0, self._width), np.float32)
        rows = unit_rows(await self._raw.passages(texts), self.name, len(texts), self._width)
        return self._scale.apply(rows, self._scale.passage)

    async def close(self) -> None:
        """Free what the model holds."""
        await self._raw.close()


async def calibrate(raw: RawEmbedder, *, symmetric: bool = False) -> CalibratedEmbedder:
    """Measure a model and put it on the common scale.

    Every embedder goes through this, bundled, named or of a provider: a table of floors
    would know few models, and would be right in one language at a time. It costs 96
    short texts once per start (one to two seconds with the bundled model, in its own
    threads).

    Args:
        raw: The model. Its name must change when its vectors would.
        symmetric: Whether it embeds questions and passages alike; then the questions are
            asked for as passages, in few calls instead of one each.

    Raises:
        EmbeddingError: The model failed, or gives all texts the same vector.
    """
    statements = await _passages(raw, TEXTS.statements)
    if symmetric:
        questions = await _passages(raw, TEXTS.messages)
    else:
        asked = [await raw.query(text) for text in TEXTS.messages]
        questions = unit_rows(asked, raw.name, len(asked))
    if questions.shape[1] != statements.shape[1]:
        raise EmbeddingError(f"{raw.name} gives questions and passages different widths")
    return CalibratedEmbedder(raw, _scale(questions, statements, raw.name))


async def _passages(raw: RawEmbedder, texts: tuple[str, ...]) -> Vectors:
    rows: list[Vectors] = []
    for start in range(0, len(texts), SLICE):
        some = list(texts[start : start + SLICE])
        width = rows[0].shape[1] if rows else 0
        rows.append(unit_rows(await raw.passages(some), raw.name, len(some), width))
    return np.concatenate(rows)


def _scale(questions: Vectors, statements: Vectors, model: str) -> Scale:
    """The scale, from vectors of the texts' two halves: Chinese, then English."""
    halves = [np.split(rows, 2) for rows in (questions, statements)]
    if max(float(half.std(axis=0).max()) for pair in halves for half in pair) < 1e-6:
        raise EmbeddingError(f"{model} gives all texts the same vector")
    language = sum(zh.mean(axis=0) - en.mean(axis=0) for zh, en in halves)
    length = np.linalg.norm(language)
    language = language / length if length > _DIRECTIONLESS else np.zeros_like(language)
    scale = Scale(questions.mean(axis=0), statements.mean(axis=0), language)
    asked = np.split(scale.apply(questions, scale.query), 2)
    told = np.split(scale.apply(statements, scale.passage), 2)
    cosines = [(q @ p.T).ravel() for q, p in zip(asked, told, strict=True)]
    floor = float(np.quantile(np.concatenate(cosines), QUANTILE))
    return Scale(scale.query, scale.passage, scale.language, floor)
