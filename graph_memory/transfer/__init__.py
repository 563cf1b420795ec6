"""Transfer: export of a memory, import of histories, and renaming of a chat.

``file_format.py`` is the file, ``export.py`` writes it,
``sources/`` read everybody's files into an ``intake.py``, ``importer.py`` writes that into
the journal. ``docs/data-format.md`` says what files look like.
"""

from .files import SOURCES as SOURCES
from .import_runs import Run as Run
from .importer import Importer as Importer
from .importer import Plan as Plan
from .rename_chat import full_names as full_names
from .rename_chat import preview_renaming as preview_renaming
from .rename_chat import rename_chat as rename_chat
from .sources import Options as Options
from .sources import circle_meant as circle_meant
from .transfer_service import TransferService as TransferService
