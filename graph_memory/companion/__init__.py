"""Companion: core facts, mood, inner state and proactive messages.

``parts.py`` is the door; lower rooms know nothing of it, and each part can be turned off.
"""

from .control_words import Intent, Reply, Word, neutral, read
from .core_facts import MAX_TEXT, CoreFact, CoreKind
from .inner_state import InnerState, Mood, bring_back, inner_id, seed
from .parts import Companion, register_rows
from .proactive import FollowUp, FollowUpStatus
from .transcripts import Hit, TranscriptQuery

__all__ = [
    "MAX_TEXT",
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
    "TranscriptQuery",
    "Word",
    "bring_back",
    "inner_id",
    "neutral",
    "read",
    "register_rows",
    "seed",
]
