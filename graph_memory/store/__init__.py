"""The journal: messages, batches, changes, rows and vectors in one SQLite file.

It is the truth; the graph and the recall index are views of it.
"""

from .connection import StorageState as StorageState
from .examine import Fault as Fault
from .examine import examine as examine
from .examine import mend as mend
from .journal import Journal as Journal
from .messages import QueuedBatch as QueuedBatch
from .rows import Draft as Draft
from .rows import Event as Event
from .rows import Rows as Rows
