"""Recall: reminds of what matters, in milliseconds, and can say why.

``recaller.py`` is the door. Behind it ``feed.py`` keeps ``index.py`` in step with the
journal, and ``search.py`` runs one search: ``sight.py`` shows an asker's part of the
index, ``signals.py`` and ``rank.py`` put it in order, ``choose.py`` picks, ``render.py``
writes, ``trace.py`` tells why.
"""

from .recaller import Recaller
from .search import Item, Recall
from .trace import Reason, Trace, TracedCandidate

__all__ = ["Item", "Reason", "Recall", "Recaller", "Trace", "TracedCandidate"]
