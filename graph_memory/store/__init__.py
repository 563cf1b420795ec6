"""The journal: messages, batches, changes, rows and vectors in one SQLite file.

It is the truth; the graph and the recall index are views of it. ``journal.py`` has the
asynchronous door, ``rows.py`` what a change is resolved against, ``messages.py`` the
durable buffer, ``queries.py`` what people browse, ``schema.py`` the ordered migrations,
``connection.py`` whether anything can be written.
"""

from .connection import Storage, StorageState
from .examine import Fault, examine, mend
from .journal import Journal
from .messages import Appended, Buffered, QueuedBatch
from .rows import Draft, Event, Rows

__all__ = [
    "Appended",
    "Buffered",
    "Draft",
    "Event",
    "Fault",
    "Journal",
    "QueuedBatch",
    "Rows",
    "Storage",
    "StorageState",
    "examine",
    "mend",
]
