"""The companion: what makes of a memory somebody who remembers.

``companion.py`` is the door. ``states.py`` keeps what it knows of each Session in memory,
``lead.py`` writes the lines that go before the model, ``lessons.py`` asks the call that
learns for more, ``core.py`` keeps core facts, ``mood.py`` lets feelings fade (pure),
``inner.py`` is what it understood, and ``talks.py`` looks through records of what was said.
``control.py`` reads the words by which a model says what to do with its reply (pure);
``plans.py`` and ``care.py`` are about speaking first.
"""

from .companion import Companion
from .companion_rows import CoreFact, InnerState, register_rows
from .control import Intent, Reply, Word, neutral, read
from .core import MAX_TEXT, MOST
from .inner import bring_back, inner_id, seed
from .talks import Hit, Reading, Talks, Wanted

__all__ = [
    "MAX_TEXT",
    "MOST",
    "Companion",
    "CoreFact",
    "Hit",
    "InnerState",
    "Intent",
    "Reading",
    "Reply",
    "Talks",
    "Wanted",
    "Word",
    "bring_back",
    "inner_id",
    "neutral",
    "read",
    "register_rows",
    "seed",
]
