"""Companion: core facts, mood, inner state and proactive messages.

``parts.py`` is the door. ``session_cache.py`` keeps what it knows of each Session in memory,
``preamble.py`` writes the lines that go before what is recalled, ``core_facts.py`` and
``inner_state.py`` keep their rows and extend the call that learns, ``transcripts.py`` searches
records of what was said, ``control_words.py`` reads what a model wants done with its reply
(pure), and ``proactive.py`` speaks first.
"""

from .control_words import Intent, Reply, Word, neutral, read
from .core_facts import MAX_TEXT, MOST, CoreFact, CoreKind
from .inner_state import InnerState, Mood, bring_back, inner_id, seed
from .parts import Companion, register_rows
from .proactive import FollowUp, FollowUpStatus
from .transcripts import Hit, Transcript, TranscriptQuery, Transcripts

__all__ = [
    "MAX_TEXT",
    "MOST",
    "Companion",
    "CoreFact",
    "CoreKind",
    "FollowUp",
    "FollowUpStatus",
    "Hit",
    "InnerState",
    "Intent",
    "Mood",
    "Reply",
    "Transcript",
    "TranscriptQuery",
    "Transcripts",
    "Word",
    "bring_back",
    "inner_id",
    "neutral",
    "read",
    "register_rows",
    "seed",
]
