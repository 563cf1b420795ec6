"""Recall: retrieval of what matters for a question, in milliseconds.

``recaller.py`` runs searches on the index, which ``index_sync.py`` keeps in step with the
journal. One search: ``visible.py`` gives the asker's part of the ``documents.py``,
``query.py`` reads the question, ``scoring.py`` and ``ranking.py`` put the documents in
order, ``selection.py`` chooses, ``render.py`` writes the block, ``explain.py`` says why.
``filters.py`` looks things up by person and time.
"""

from .explain import Explained, Explanation, Reason, Trace, TracedCandidate
from .filters import Excerpt, PersonalIndex, called
from .index import Index
from .recaller import EMBEDDING_SHARE, Recall, Recaller
from .render import CLOSE, OPEN, Item, language_of, wording
from .selection import RecallOptions
from .visible import VisibleSet

__all__ = [
    "CLOSE",
    "EMBEDDING_SHARE",
    "OPEN",
    "Excerpt",
    "Explained",
    "Explanation",
    "Index",
    "Item",
    "PersonalIndex",
    "Reason",
    "Recall",
    "RecallOptions",
    "Recaller",
    "Trace",
    "TracedCandidate",
    "VisibleSet",
    "called",
    "language_of",
    "wording",
]
