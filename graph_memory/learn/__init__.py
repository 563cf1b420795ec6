"""Learning: from messages in the journal to facts, in the background.

``learning.py`` is the door. ``buffer.py`` decides when, ``record.py`` writes what needs
no model, ``queue.py`` runs the batches; of each, ``known.py`` gathers what the model is
shown, ``prompt.py`` asks, ``parse.py`` reads the answer and ``resolve.py`` decides what
of it becomes memory (``nodes.py``: who is meant; ``history.py``: what replaces what).
"""

from .learning import Learning
from .status import LearningStatus

__all__ = ["Learning", "LearningStatus"]
