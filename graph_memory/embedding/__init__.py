"""Embedders: models that turn texts into vectors, behind one small interface.

:func:`load` gives the local model a user chose, :func:`calibrate` brings any model to the
same scale, :class:`CachedEmbedder` keeps what was computed and leaves alone what fails.
"""

from .cache import CachedEmbedder
from .local_models import BUNDLED, NONE, load
from .vectors import (
    MAX_PASSAGE,
    MAX_QUERY,
    SLICE,
    CalibratedEmbedder,
    RawEmbedder,
    calibrate,
    fit,
    text_hash,
)

__all__ = [
    "BUNDLED",
    "MAX_PASSAGE",
    "MAX_QUERY",
    "NONE",
    "SLICE",
    "CachedEmbedder",
    "CalibratedEmbedder",
    "RawEmbedder",
    "calibrate",
    "fit",
    "load",
    "text_hash",
]
