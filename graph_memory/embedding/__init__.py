"""Embedders: models that turn texts into vectors, behind one small interface.

:func:`load` gives the local model a user chose, :func:`calibrate` brings any model to the
same scale, :class:`CachedEmbedder` keeps what was computed and leaves alone what fails.
"""

from .cache import CachedEmbedder
from .local_models import BUNDLED, NONE, load
from .vectors import SLICE, CalibratedEmbedder, VectorStore, calibrate, text_hash

__all__ = [
    "BUNDLED",
    "NONE",
    "SLICE",
    "CachedEmbedder",
    "CalibratedEmbedder",
    "VectorStore",
    "calibrate",
    "load",
    "text_hash",
]
