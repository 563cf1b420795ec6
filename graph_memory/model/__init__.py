"""The things this memory talks about.

Everything here is a frozen dataclass without behaviour beyond reading itself.
Times are seconds since the epoch in UTC (``float``), ids are strings, and text has
already been cleaned by :func:`graph_memory.text.clean`.

*Rows* are what the journal keeps and what a :class:`Change` alters. Every row but
``User``, ``Entity``, ``Merge`` and ``Link`` belongs to exactly one :class:`Session`,
fixed when it is written; who may be reminded of it follows from that alone
(``scope.py``). Those four carry no text: a node without a visible row does not exist.
"""

from .changes import Change, Op
from .chat import Addressee, Asker, Batch, Erased, Message, Presence, Quote, asker_of
from .companion import CoreFact, CoreKind, FollowUp, FollowUpStatus, InnerState, Mood
from .nodes import (
    BOT,
    GROUP,
    NO_PERSONA,
    NOBODY,
    PREDICATES,
    PRIVATE,
    SINGLE_VALUED,
    EntityType,
    Layer,
    Status,
    is_entity,
    persona_id,
    stable_id,
    user_id,
    whole,
)
from .rows import (
    EPISODE,
    ROW_TYPES,
    Entity,
    Episode,
    Fact,
    Forgotten,
    Link,
    Mention,
    Merge,
    Name,
    Participation,
    Row,
    Session,
    User,
    decode,
    encode,
    session_of,
)

__all__ = [
    "BOT",
    "EPISODE",
    "GROUP",
    "NOBODY",
    "NO_PERSONA",
    "PREDICATES",
    "PRIVATE",
    "ROW_TYPES",
    "SINGLE_VALUED",
    "Addressee",
    "Asker",
    "Batch",
    "Change",
    "CoreFact",
    "CoreKind",
    "Entity",
    "EntityType",
    "Episode",
    "Erased",
    "Fact",
    "FollowUp",
    "FollowUpStatus",
    "Forgotten",
    "InnerState",
    "Layer",
    "Link",
    "Mention",
    "Merge",
    "Message",
    "Mood",
    "Name",
    "Op",
    "Participation",
    "Presence",
    "Quote",
    "Row",
    "Session",
    "Status",
    "User",
    "asker_of",
    "decode",
    "encode",
    "is_entity",
    "persona_id",
    "session_of",
    "stable_id",
    "user_id",
    "whole",
]
