"""Embedders: models that turn texts into vectors, behind one small interface.

:func:`load` gives the local model a user chose, :func:`calibrate` brings any model to the
same scale, :class:`CachedEmbedder` keeps what was computed and leaves alone what fails.
"""

from ..text import text_hash as text_hash
from .local_models import BUNDLED as BUNDLED
from .local_models import load as load
from .vectors import SLICE as SLICE
from .vectors import CachedEmbedder as CachedEmbedder
from .vectors import CalibratedEmbedder as CalibratedEmbedder
from .vectors import VectorStore as VectorStore
from .vectors import calibrate as calibrate
