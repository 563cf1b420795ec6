"""Recall: retrieval of what matters for a question, in milliseconds.

``recaller.py`` runs searches on the index, which ``index_sync.py`` keeps in step with the
journal: ``visible.py`` restricts it, ``query.py`` reads the question, ``ranking.py`` orders,
``selection.py`` chooses, ``render.py`` writes the block.
"""

from .index import Index as Index
from .query import RecallOptions as RecallOptions
from .query import telling as telling
from .recaller import EMBEDDING_SHARE as EMBEDDING_SHARE
from .recaller import Recall as Recall
from .recaller import Recaller as Recaller
from .render import Item as Item
from .render import Renderer as Renderer
from .render import framed as framed
from .render import language_of as language_of
from .render import task_note as task_note
from .render import without_name as without_name
from .render import wording as wording
from .search import SIMILAR as SIMILAR
from .search import Excerpt as Excerpt
from .search import PersonalIndex as PersonalIndex
from .search import called as called
from .selection import Reason as Reason
from .traces import TracedCandidate as TracedCandidate
from .visible import VisibleSet as VisibleSet
