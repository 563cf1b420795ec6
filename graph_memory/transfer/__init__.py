"""Transfer: export of a memory, import of histories, and renaming of a chat.

``file_format.py`` is the file, ``export.py`` writes it,
``sources/`` read everybody's files into an ``intake.py``, ``importer.py`` writes that into
the journal. ``docs/data-format.md`` says what files look like.
"""

from .import_runs import Run
from .importer import Importer, Plan
from .rename_chat import full_names, preview_renaming, rename_chat
from .sources import SOURCES, Options, circle_meant
from .transfer_service import TransferService

__all__ = [
    "SOURCES",
    "Importer",
    "Options",
    "Plan",
    "Run",
    "TransferService",
    "circle_meant",
    "full_names",
    "preview_renaming",
    "rename_chat",
]
