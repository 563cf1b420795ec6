"""Recall: retrieval of what matters for a question, in milliseconds.

``recaller.py`` runs searches on the index, which ``index_sync.py`` keeps in step with the
journal: ``visible.py`` restricts it, ``query.py`` reads the question, ``ranking.py`` orders,
``selection.py`` chooses, ``render.py`` writes the block.
"""

from .filters import Excerpt, PersonalIndex, called
from .index import Index
from .keyword import SIMILAR
from .query import RecallOptions
from .recaller import (
    EMBEDDING_SHARE,
    Recall,
    Recaller,
    TracedCandidate,
)
from .render import CLOSE, OPEN, Item, Renderer, language_of, without_name, wording
from .selection import Reason
from .visible import VisibleSet

__all__ = [
    "CLOSE",
    "EMBEDDING_SHARE",
    "OPEN",
    "SIMILAR",
    "Excerpt",
    "Index",
    "Item",
    "PersonalIndex",
    "Reason",
    "Recall",
    "RecallOptions",
    "Recaller",
    "Renderer",
    "TracedCandidate",
    "VisibleSet",
    "called",
    "language_of",
    "without_name",
    "wording",
]
