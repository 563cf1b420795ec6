"""Facts as people see them: browsing, forgetting, correcting, undoing.

The owner (the web UI) sees everything; everybody else sees what ``scope.py`` shows
them, decided per row by the same function as recall (``visible_rows.py``).
"""

from .conversations import Conversations
from .edits import MAX_STATEMENT, OWNER, Action, Amendment, Effect, Meant, worded
from .facts import (
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
    "MAX_STATEMENT",
    "OWNER",
    "Action",
    "Amendment",
    "Conversations",
    "Effect",
    "FactDetail",
    "FactLine",
    "FilterOptions",
    "Library",
    "Meant",
    "NamedChange",
    "NodeCard",
    "Thread",
    "begun",
    "worded",
]
