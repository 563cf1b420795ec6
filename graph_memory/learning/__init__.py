"""Learning: from messages in the journal to facts, in the background.

``learning_queue.py`` is the entrance and runs the batches; ``batching.py`` decides when messages
become one and writes what needs no model. Of each batch, ``extractor.py`` gathers what the
model is shown (``prompt_context.py``), asks (``prompt.py``), reads the answer (``parse.py``)
and resolves it into rows (``resolver.py``: ``entities.py`` says who is meant, ``dedup.py``
what replaces what).
"""

from .learning_queue import Learning, LearningStatus

__all__ = ["Learning", "LearningStatus"]
