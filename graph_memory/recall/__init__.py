"""Recall: reminds of what matters, in milliseconds, and can say why.

``recaller.py`` is the door. Behind it ``feed.py`` keeps ``index.py`` in step with the
journal, and ``search.py`` runs one search: ``sight.py`` shows an asker's part of the
index, ``signals.py`` and ``rank.py`` put it in order, ``choose.py`` picks, ``render.py``
writes, ``trace.py`` tells why, ``why.py`` tells people. ``audit.py`` compares an index
with a new one.
"""

from .audit import Difference
from .recaller import EMBEDDING_SHARE, Recaller
from .search import Item, Recall
from .trace import Reason, Trace, TracedCandidate
from .why import Explained, Explanation

__all__ = [
    "EMBEDDING_SHARE",
    "Difference",
    "Explained",
    "Explanation",
    "Item",
    "Reason",
    "Recall",
    "Recaller",
    "Trace",
    "TracedCandidate",
]
