"""Companion: core facts, mood, inner state and proactive messages.

``parts.py`` is the door; lower rooms know nothing of it, and each part can be turned off.
"""

from .control_words import Intent as Intent
from .control_words import Reply as Reply
from .control_words import Word as Word
from .control_words import neutral as neutral
from .control_words import read as read
from .control_words import unasked as unasked
from .core_facts import MAX_TEXT as MAX_TEXT
from .core_facts import CoreFact as CoreFact
from .core_facts import CoreKind as CoreKind
from .inner_state import InnerState as InnerState
from .inner_state import Mood as Mood
from .inner_state import bring_back as bring_back
from .inner_state import inner_id as inner_id
from .inner_state import seed as seed
from .parts import Companion as Companion
from .proactive import FollowUp as FollowUp
from .proactive import FollowUpStatus as FollowUpStatus
from .transcripts import Hit as Hit
