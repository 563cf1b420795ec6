"""Ids, and the closed lists: layers, states, kinds of entities, predicates."""

from __future__ import annotations

import hashlib
from enum import StrEnum

NO_PERSONA = "[%None]"
"""Persona id of a conversation whose persona was explicitly removed."""

BOT = "bot"
"""Sender of the bot's own messages."""
NOBODY = "?"
"""Account of whoever spoke when that was not written down."""

GROUP = "group"
PRIVATE = "private"


def stable_id(prefix: str, *parts: str) -> str:
    """A short id, such as ``e:…``, that depends on ``parts`` and their boundaries."""
    joined = "\x1f".join(part.replace("\x1f", " ") for part in parts)
    digest = hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=8)
    return f"{prefix}:{digest.hexdigest()}"


def whole(id: str) -> str:
    """A text from a platform as it can be stored: halves of characters are replaced."""
    return id.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def persona_id(name: str) -> str:
    """Key of a persona by its name; none has that of :data:`NO_PERSONA`."""
    return f"{name}%" if name.rstrip("%") == NO_PERSONA else name


def user_id(platform: str, account: str) -> str:
    """Key of a user: platform type and account, e.g. ``aiocqhttp:10001``."""
    return whole(f"{platform}:{account}")


def is_entity(node: str) -> bool:
    """Whether a node id names an entity (users are the other kind of node)."""
    return node.startswith("e:")


class Layer(StrEnum):
    """Which of the two layers of layered sharing a row is in."""

    KNOWS = "knows"
    """What is known about a user: shared between personas."""
    SESSION = "session"
    """What was said in a conversation: one persona's own."""


class Status(StrEnum):
    """Whether a fact is in use. *Superseded* is no status: that depends on who asks."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class EntityType(StrEnum):
    """What an entity is. People who do not chat are entities of one circle."""

    PERSON = "person"
    PLACE = "place"
    ORGANIZATION = "organization"
    THING = "thing"
    ANIMAL = "animal"
    WORK = "work"
    EVENT = "event"
    TOPIC = "topic"
    BOT = "bot"


PREDICATES: tuple[str, ...] = (
    "likes", "dislikes", "is_named", "age", "birthday", "lives_in", "from",
    "works_as", "works_at", "studies", "health", "allergic_to", "owns", "has_pet",
    "family", "partner", "friend_of", "skilled_in", "plans", "promised", "did",
    "feels", "believes", "habit", "status", "other",
)  # fmt: skip
"""The closed list of relations a fact can state."""

SINGLE_VALUED = frozenset({"is_named", "age", "birthday", "lives_in", "from", "partner"})
"""Predicates of which a subject has one current value."""

TASKS = frozenset({"plans", "promised"})
"""Predicates of what is still to be done; their date is when it is due."""

LITERAL = frozenset({"is_named", "age", "birthday"})
"""Predicates whose object is a value, even if something goes by that name."""
