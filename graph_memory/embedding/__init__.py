"""Embedders: models that turn texts into vectors, behind one small interface.

:func:`load` gives the model a user chose, in threads of its own; a model from elsewhere
(AstrBot's provider) is brought to the same scale with :func:`calibrate`, which says what a
cosine means. :class:`CachedEmbedder` goes around either: it computes nothing twice and
leaves alone for a while what keeps failing.
"""

from .cache import CachedEmbedder
from .calibration import CalibratedEmbedder, RawEmbedder, calibrate
from .local_models import BUNDLED, NONE, load
from .vectors import MAX_PASSAGE, MAX_QUERY, SLICE, fit, text_hash

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
