"""Embedding vectors: normal form, calibration, cache, circuit breaker.

With the bundled model unrelated Chinese texts have a cosine of .86 where related English
ones have .84: all vectors share one direction, and another that only says which language it
is. Both are measured on unrelated sentences and taken out, which leaves rankings as they
were (±.02 recall in ten) and brings unrelated texts near 0 in every language.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ClosedError, EmbeddingError, Failure, StorageError
from ..inference import Embedder, RawEmbedder, Vectors
from ..inference.breaker import Breaker, RefusedError
from ..process_memory import Newest
from ..supervisor import LogOnce
from ..text import text_hash

logger = logging.getLogger("graph_memory.embedding")

SLICE = 8
"""Texts that are embedded in one go: what is lost by a kill, and how long others wait."""

MAX_TEXT = 512
"""Bytes of one text that are embedded: 170 Chinese characters or some 80 English words, a
twentieth of a second with the bundled model. Recall on MemDaily, where one in 70 is longer, is
as with three times that.
"""

REMEMBERED = 256
"""Query vectors that are kept."""

GIVE_UP = 30.0
"""Seconds after which a question that nobody waits for any more is dropped."""
ASKED = "?\n"
"""What the names of questions begin with in the store."""
UNCACHED = "vectors are computed anew, their cache cannot be used"
_GAP = " … "


def fit(text: str, most: int = MAX_TEXT) -> str:
    """Text as a model takes it: no NUL, no lone surrogates, not empty.

    Of a long one ``most`` bytes are kept, half from its beginning and half from its end.
    """
    data = text.replace("\0", " ").encode("utf-8", "ignore")
    if len(data) > most:
        half = (most - len(_GAP.encode())) // 2
        head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
        return f"{head.strip()}{_GAP}{tail.strip()}"
    return data.decode().strip() or "…"


def unit_rows(values: ArrayLike, model: str, rows: int, width: int = 0) -> Vectors:
    """``values`` as vectors of length 1, shape ``(rows, width)``.

    Args:
        model: Name for the error message.
        width: 0 accepts any.

    Raises:
        EmbeddingError: Another shape, not finite, or without direction.
    """
    try:
        found = np.atleast_2d(np.asarray(values, np.float64))
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{model} gave something that is no vector") from error
    if found.ndim != 2 or found.shape[0] != rows or not found.shape[1]:
        raise EmbeddingError(f"{model} gave vectors of shape {found.shape} for {rows} texts")
    if width and found.shape[1] != width:
        raise EmbeddingError(
            f"{model} gave vectors of width {found.shape[1]} after {width}: "
            "another model answers under the same name; choose the embedding model again"
        )
    if not np.isfinite(found).all():
        raise EmbeddingError(f"{model} gave a vector that is not finite")
    largest = np.abs(found).max(axis=1, keepdims=True)
    if not largest.all():
        raise EmbeddingError(f"{model} gave a vector of zeros")
    found = found / largest  # squares of extreme numbers would not be finite
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


FAST = {"haswell", "neonsdot"}
"""What NumKong calls processors of which any has fast products of integers, of Intel's and Arm's
kind."""


@cache
def integer_kernels() -> Any | None:
    """NumKong, if it is here and this processor has fast products of integers."""
    try:
        import numkong  # not before vectors are wanted
    except ImportError:
        return None
    capabilities = numkong.get_capabilities()
    return numkong if any(capabilities.get(name) for name in FAST) else None


def integers(rows: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Rows as 8-bit integers, and what each is to be multiplied by.

    Args:
        rows: They are used up.
    """
    scales: Vectors = np.maximum.reduce(np.abs(rows), axis=1, keepdims=True)
    np.maximum(scales, 1e-30, out=scales)
    scales /= 127
    rows /= scales
    return np.rint(rows, out=rows).astype(np.int8), scales


def integer_products(rows: NDArray[np.int8], one: NDArray[np.int8]) -> Vectors:
    """Scalar products of rows of up to 1,000 8-bit integers with one, exact."""
    if kernels := integer_kernels():
        products = kernels.dots_packed(rows, kernels.dots_pack(one[np.newaxis]))
        return np.asarray(products)[:, 0].astype(np.float32)
    return scalar_products(rows.astype(np.float32), one.astype(np.float32))


def scalar_products(rows: Vectors, others: Vectors) -> Vectors:
    """Scalar products of vectors, those of ``rows`` and ``others`` broadcast together."""
    # Not by BLAS, whose threads spin for 100 ms afterwards, and take longer on a busy machine.
    if hasattr(np, "vecdot"):  # since NumPy 2.0
        products: Vectors = np.vecdot(rows, others)
        return products
    matrices: Vectors = np.matmul(rows[..., np.newaxis, :], others[..., np.newaxis])
    return matrices[..., 0, 0]


QUANTILE = 0.98
"""Share of unrelated pairs that stay below the floor."""

_DIRECTIONLESS = 1e-3
Embed = Callable[[list[str]], Awaitable[Vectors]]


_DATA = json.loads(Path(__file__).with_name("calibration_texts.json").read_text("utf-8"))
VERSION: int = _DATA["version"]
"""Calibrated vectors are stored by it."""
STATEMENTS, MESSAGES = (
    [text for half in zip(*_DATA[key], strict=True) for text in half]
    for key in ("statements", "messages")
)
"""What is remembered and what is said, each in Chinese and then in English.

Every message is foreign to every statement; both halves say the same, so that their
difference is the language.
"""


class CalibratedEmbedder:
    """An embedder on the common scale; made by :func:`calibrate`.

    What its model gives is looked at here, once for all: shape, width, finite, a direction.

    Attributes:
        floor: Cosine below which :data:`QUANTILE` of the unrelated pairs are.

    Args:
        questions, statements: Vectors of the calibration texts: Chinese, then English.
    """

    def __init__(self, raw: RawEmbedder, questions: Vectors, statements: Vectors) -> None:
        halves = [np.split(rows, 2) for rows in (questions, statements)]
        if max(float(half.std(axis=0).max()) for pair in halves for half in pair) < 1e-6:
            raise EmbeddingError(f"{raw.name} gives all texts the same vector")
        self.name, self.parallel = f"{raw.name}~{VERSION}", raw.parallel
        self._raw = raw
        self.width = questions.shape[1]
        language = sum(zh.mean(axis=0) - en.mean(axis=0) for zh, en in halves)
        length = np.linalg.norm(language)
        self._language = language / length if length > _DIRECTIONLESS else np.zeros_like(language)
        # Two means: many models mark the two differently.
        self._asked, self._told = questions.mean(axis=0), statements.mean(axis=0)
        asked = np.split(self._scaled(questions, self._asked), 2)
        told = np.split(self._scaled(statements, self._told), 2)
        cosines = [(q @ p.T).ravel() for q, p in zip(asked, told, strict=True)]
        self.floor = float(np.quantile(np.concatenate(cosines), QUANTILE))

    async def query(self, text: str) -> Vectors:
        """See ``Embedder``; a vector of another width is an ``EmbeddingError``."""
        row: Vectors = (await self.questions([text]))[0]
        return row

    async def questions(self, texts: list[str]) -> Vectors:
        """See ``Embedder``; vectors of another width are an ``EmbeddingError``."""
        return self._calibrated(await self._raw.questions(texts), len(texts), self._asked)

    async def passages(self, texts: list[str]) -> Vectors:
        """See ``Embedder``; vectors of another width are an ``EmbeddingError``."""
        if not texts:
            return np.zeros((0, self.width), np.float32)
        return self._calibrated(await self._raw.passages(texts), len(texts), self._told)

    async def close(self) -> None:
        """Close the model."""
        await self._raw.close()

    def _calibrated(self, values: ArrayLike, rows: int, mean: Vectors) -> Vectors:
        return self._scaled(unit_rows(values, self.name, rows, self.width), mean)

    def _scaled(self, rows: Vectors, mean: Vectors) -> Vectors:
        """``rows`` without ``mean`` and language, each of length 1."""
        moved = rows - mean
        moved -= np.outer(moved @ self._language, self._language)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        # Nothing left: the vector says nothing but "a text", and is like no other.
        return np.where(lengths > _DIRECTIONLESS, moved / np.maximum(lengths, 1e-9), rows)


class VectorStore(Protocol):
    """Where vectors of shape ``(dim,)`` last by hash of their text: the journal."""

    async def vectors(self, model: str, hashes: list[bytes]) -> dict[bytes, Vectors]: ...

    async def put_vectors(self, model: str, vectors: dict[bytes, Vectors]) -> None: ...


async def calibrate(raw: RawEmbedder, store: VectorStore | None = None) -> CalibratedEmbedder:
    """Measure a model and put it on the common scale.

    It costs 96 short texts, half a second with the bundled model; with a store, once.

    Args:
        raw: The model. Its name must change when its vectors would.
        store: Keeps the vectors of these texts; one that fails is done without.

    Raises:
        EmbeddingError: The model failed, or gives all texts the same vector.
    """
    log = LogOnce(logger)
    told = _unit(raw.name, raw.passages)
    statements = await kept_vectors(store, log, f"{raw.name} told", STATEMENTS, told)
    asked = _unit(raw.name, raw.questions)
    questions = await kept_vectors(store, log, f"{raw.name} asked", MESSAGES, asked)
    if questions.shape[1] != statements.shape[1]:
        raise EmbeddingError(f"{raw.name} gives questions and passages different widths")
    return CalibratedEmbedder(raw, questions, statements)


def _unit(name: str, embed: Embed) -> Embed:
    """``embed`` with its vectors looked at: of length 1, and of one width each time."""
    width = 0

    async def unit(texts: list[str]) -> Vectors:
        nonlocal width
        rows = unit_rows(await embed(texts), name, len(texts), width)
        width = rows.shape[1]
        return rows

    return unit


async def kept_vectors(
    store: VectorStore | None,
    log: LogOnce,
    name: str,
    texts: list[str],
    embed: Embed,
    prefix: str = "",
    width: int = 0,
) -> Vectors:
    """Vectors of texts, from a store or computed and put there slice by slice.

    Args:
        store: One that fails is done without, which is logged.
        name: Of the model, in the store.
        prefix: What the texts begin with there.
        width: Of each vector; 0 takes any, and what is stored only if it is all there: it may be
            of another model that had the name.
    """
    hashes = [text_hash(prefix + text) for text in texts]
    wanted, found = dict(zip(hashes, texts, strict=True)), dict[bytes, Vectors]()
    try:
        kept = await store.vectors(name, list(wanted)) if store else {}
        if not width and (len(kept) < len(wanted) or len(set(map(len, kept.values()))) > 1):
            kept = {}
        found = {
            key: row
            for key, row in kept.items()
            if len(row) == (width or len(row)) and np.isfinite(row).all()
        }
    except StorageError as error:
        log.report(UNCACHED, error)
    missing = [key for key in wanted if key not in found]
    for start in range(0, len(missing), SLICE):
        keys = missing[start : start + SLICE]
        rows = await embed([wanted[key] for key in keys])
        found |= (computed := dict(zip(keys, rows, strict=True)))
        try:
            if store:
                await store.put_vectors(name, computed)
        except StorageError as error:
            log.report(UNCACHED, error)
        else:
            log.clear(UNCACHED)
    return np.stack([found[key] for key in hashes])


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
        self._queries = Newest[bytes, Vectors](REMEMBERED)
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
        return answer

    def _answered(self, text: str, task: asyncio.Task[Vectors]) -> None:
        self._asked.pop(text, None)
        self._late.discard(text)
        if not task.cancelled():
            task.exception()  # if everybody has gone, it is nobody's error

    def _look_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.name} was closed")
