"""Facts as people see them: browsing, forgetting, correcting, undoing.

The owner (the web UI) sees everything; everybody else sees what ``scope.py`` shows
them, decided per row by the same function as recall (``visible_rows.py``).
"""

from .conversations import LEVELS, Conversations, Day, OpenRecord, Record, Scene
from .edits import MAX_STATEMENT, OWNER, Action, Amendment, Effect, Meant, worded
from .facts import (
    Called,
    EntityView,
    FactDetail,
    FactLine,
    FilterOptions,
    Library,
    NamedChange,
    NodeCard,
    Thread,
    begun,
)

__all__ = [
    "LEVELS",
    "MAX_STATEMENT",
    "OWNER",
    "Action",
    "Amendment",
    "Called",
    "Conversations",
    "Day",
    "Effect",
    "EntityView",
    "FactDetail",
    "FactLine",
    "FilterOptions",
    "Library",
    "Meant",
    "NamedChange",
    "NodeCard",
    "OpenRecord",
    "Record",
    "Scene",
    "Thread",
    "begun",
    "worded",
]
