"""Facts as people see them: browsing, forgetting, correcting, undoing.

The owner (the web UI) sees everything; everybody else sees what ``scope.py`` shows
them, decided per row by the same function as recall (``visible_rows.py``).
"""

from .conversations import LEVELS, Conversations, Day, OpenRecord, Record, Scene
from .edits import MAX_STATEMENT, Action, Correction, Effect
from .entity_view import EntityView, EntityViews, Thread, begun
from .facts import OWNER, Called, FactDetail, FactLine, FilterOptions, Library

__all__ = [
    "LEVELS",
    "MAX_STATEMENT",
    "OWNER",
    "Action",
    "Called",
    "Conversations",
    "Correction",
    "Day",
    "Effect",
    "EntityView",
    "EntityViews",
    "FactDetail",
    "FactLine",
    "FilterOptions",
    "Library",
    "OpenRecord",
    "Record",
    "Scene",
    "Thread",
    "begun",
]
