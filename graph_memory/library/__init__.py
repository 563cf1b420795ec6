"""Facts as people see them: browsing, a person's own, forgetting, correcting, undoing.

The owner (the web UI) sees everything; everybody else sees what ``scope.py`` shows
them, decided per row by the same function as recall (``sight.py``).
"""

from .amendments import MAX_STATEMENT, Correction
from .chronicle import LEVELS, Chronicle, Day, Reading, Record, Scene
from .handling import Action, Effect
from .library import OWNER, Library
from .lines import Called, FactDetail, FactLine, Overview
from .portraits import Portrait, Portraits, Thread, begun

__all__ = [
    "LEVELS",
    "MAX_STATEMENT",
    "OWNER",
    "Action",
    "Called",
    "Chronicle",
    "Correction",
    "Day",
    "Effect",
    "FactDetail",
    "FactLine",
    "Library",
    "Overview",
    "Portrait",
    "Portraits",
    "Reading",
    "Record",
    "Scene",
    "Thread",
    "begun",
]
