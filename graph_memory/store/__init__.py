"""The journal: messages, batches, changes, rows and vectors in one SQLite file.

It is the truth; the graph and the recall index are views of it.
"""

from .contents import MENDABLE as MENDABLE
from .contents import examine as examine
from .contents import mend as mend
from .journal import Journal as Journal
from .messages import QueuedBatch as QueuedBatch
from .rows import Draft as Draft
from .rows import Event as Event
from .rows import Rows as Rows
