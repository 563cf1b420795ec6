"""Embedders: models that turn texts into vectors, behind one small interface.

:func:`load` gives the model a user chose; a model from elsewhere (AstrBot's provider) is
brought to the same scale with :func:`calibrate`. :class:`GuardedEmbedder` and, around
it, :class:`CachedEmbedder` go around either. Models that compute in this process do so in
threads of their own (``threaded.py``); ``calibration.py`` says what a cosine means.
"""

from __future__ import annotations

import asyncio

from ..ports import Embedder
from .cache import CachedEmbedder
from .calibration import CalibratedEmbedder, RawEmbedder, calibrate
from .guarded import GuardedEmbedder
from .local import bundled
from .threaded import ThreadedEmbedder
from .transformers import sentence_transformer
from .vectors import MAX_PASSAGE, MAX_QUERY, SLICE, fit, text_hash

__all__ = [
    "BUNDLED",
    "MAX_PASSAGE",
    "MAX_QUERY",
    "NONE",
    "SLICE",
    "CachedEmbedder",
    "CalibratedEmbedder",
    "GuardedEmbedder",
    "RawEmbedder",
    "calibrate",
    "fit",
    "load",
    "text_hash",
]

BUNDLED = "bundled"
"""The model that comes with the plugin."""

NONE = "none"
"""No model: memories are found by their words only."""


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
