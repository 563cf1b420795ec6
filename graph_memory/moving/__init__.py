"""Moving in and moving out: taking a memory away, and bringing histories in.

``format.py`` is the file, ``export.py`` and ``visible.py`` write it, ``sources/`` read
everybody's files into a ``stage.py``, ``merge.py`` makes that part of the memory,
``study.py`` learns from it, ``remap.py`` moves a chat. ``docs/data-format.md`` says what
files look like.
"""

from .export import Exported, Exporter
from .importer import Brought, Importer, Plan
from .mover import Mover, Undone
from .remap import Remap, preview, remap
from .runs import Run
from .sources import SOURCES, Options, split_circle

__all__ = [
    "SOURCES",
    "Brought",
    "Exported",
    "Exporter",
    "Importer",
    "Mover",
    "Options",
    "Plan",
    "Remap",
    "Run",
    "Undone",
    "preview",
    "remap",
    "split_circle",
]
