"""Facts as people see them: browsing, forgetting, correcting, undoing.

The owner (the web UI) sees everything; everybody else sees what ``scope.py`` shows
them, decided per row by the same function as recall (``visible_rows.py``).
"""

from .conversations import Conversations as Conversations
from .edits import MAX_STATEMENT as MAX_STATEMENT
from .edits import OWNER as OWNER
from .edits import Action as Action
from .edits import Amendment as Amendment
from .edits import Effect as Effect
from .edits import Meant as Meant
from .edits import forgetting as forgetting
from .edits import handling as handling
from .edits import with_earlier as with_earlier
from .edits import worded as worded
from .facts import Called as Called
from .facts import EntityView as EntityView
from .facts import FactDetail as FactDetail
from .facts import FactLine as FactLine
from .facts import FilterOptions as FilterOptions
from .facts import Library as Library
from .facts import NamedChange as NamedChange
from .facts import Thread as Thread
from .facts import begun as begun
