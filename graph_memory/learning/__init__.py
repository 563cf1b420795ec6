"""Learning: from messages in the journal to facts, in the background.

``learning_queue.py`` runs the batches, ``batching.py`` decides when messages become one. Of
each, ``extractor.py`` asks (``prompt.py``), reads the answer (``parse.py``) and resolves it
into rows (``resolver.py``; ``entities.py``: who is meant; ``dedup.py``: what replaces what).
"""

from .learning_queue import Learning as Learning
from .learning_queue import LearningStatus as LearningStatus
