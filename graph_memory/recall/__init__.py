"""Recall: reminds of what matters, in milliseconds, and can say why.

``recaller.py`` is the door. Behind it ``feed.py`` keeps ``index.py`` in step with the
journal, and ``search.py`` runs one search: ``sight.py`` shows an asker's part of the
index, ``flow.py`` its conversations, ``signals.py`` and ``rank.py`` put it in order,
``choose.py`` picks, ``render.py`` writes, ``trace.py`` tells why, ``why.py`` tells people.
``audit.py`` compares an index with a new one; ``excerpt.py`` looks things up by
person and time.
"""

from .audit import Difference
from .excerpt import Excerpt, Inquiry, Telling, called, excerpt, signed, standing, told
from .recaller import EMBEDDING_SHARE, Recaller
from .render import CLOSE, OPEN, tongue, wording
from .search import Item, Recall
from .trace import Reason, Trace, TracedCandidate
from .why import Explained, Explanation

__all__ = [
    "CLOSE",
    "EMBEDDING_SHARE",
    "OPEN",
    "Difference",
    "Excerpt",
    "Explained",
    "Explanation",
    "Inquiry",
    "Item",
    "Reason",
    "Recall",
    "Recaller",
    "Telling",
    "Trace",
    "TracedCandidate",
    "called",
    "excerpt",
    "signed",
    "standing",
    "told",
    "tongue",
    "wording",
]
