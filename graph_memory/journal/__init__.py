"""The journal: messages, batches, changes, rows and vectors in one SQLite file.

It is the truth; the graph and the recall index are views of it. ``store.py`` has the
asynchronous door, ``rows.py`` what a change is resolved against, ``messages.py`` the
durable buffer, ``catalogue.py`` and ``chronicle.py`` the queries people browse with,
``pages.py`` how pages are turned, ``schema.py`` the ordered migrations, ``storage.py``
whether anything can be written.
"""

from .examine import Fault, examine, mend
from .messages import Appended, Buffered, QueuedBatch
from .rows import Draft, Rows
from .snapshot import Snapshot
from .storage import Storage, StorageState
from .store import Event, Journal

__all__ = [
    "Appended",
    "Buffered",
    "Draft",
    "Event",
    "Fault",
    "Journal",
    "QueuedBatch",
    "Rows",
    "Snapshot",
    "Storage",
    "StorageState",
    "examine",
    "mend",
]
