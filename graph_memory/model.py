"""The things this memory talks about.

Everything here is a frozen dataclass without behaviour beyond reading itself.
Times are seconds since the epoch in UTC (``float``), ids are strings, and text has
already been cleaned by :func:`graph_memory.text.clean`.

*Rows* are what the journal keeps and what a :class:`Change` alters. Every row but
``User`` and ``Entity`` belongs to exactly one :class:`Session`, fixed when it is
written; who may be reminded of it follows from that alone (``scope.py``). ``User``
and ``Entity`` rows carry no text: a node without a visible row does not exist.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

NO_PERSONA = "[%None]"
"""Persona id of a conversation whose persona was explicitly removed."""

BOT = "bot"
"""Sender of the bot's own messages."""

GROUP = "group"
PRIVATE = "private"


def stable_id(prefix: str, *parts: str) -> str:
    """A short id that depends on nothing but ``parts``.

    Args:
        prefix: Kind of thing, for people who read ids (``"e"`` for entities).
        parts: What identifies the thing; their boundaries count.
    """
    joined = "\x1f".join(part.replace("\x1f", " ") for part in parts)
    digest = hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=8)
    return f"{prefix}:{digest.hexdigest()}"


def user_id(platform: str, account: str) -> str:
    """Key of a user: platform type and account, e.g. ``aiocqhttp:10001``."""
    return f"{platform}:{account}"


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
    """Whether a fact is in use. *Superseded* is not a status: whether a newer row
    replaces this one depends on who asks (see ``Fact.supersedes``)."""

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


# ------------------------------------------------------------------- rows


@dataclass(frozen=True, slots=True)
class Session:
    """A chat window under one persona: the isolated layer.

    Attributes:
        circle: ``platform:group:id`` or ``platform:private:account``.
        owner: User id of a private chat's user; empty for groups.
        umo: Where AstrBot would send a message to (last seen).
    """

    kind: ClassVar[str] = "session"
    id: str
    circle: str
    persona: str
    owner: str = ""
    title: str = ""
    umo: str = ""

    @property
    def is_group(self) -> bool:
        return not self.owner


def session_of(platform: str, group: str, account: str, persona: str, **about: str) -> Session:
    """The session of a chat window under a persona.

    Args:
        platform: Platform type, e.g. ``aiocqhttp``.
        group: Group id; empty in a private chat.
        account: The sender's account; identifies a private chat.
        persona: Persona id.
        about: ``title`` and ``umo``.
    """
    kind, key = (GROUP, group) if group else (PRIVATE, account)
    circle = f"{platform}:{kind}:{key}"
    owner = "" if group else user_id(platform, account)
    name = circle.replace("%", "%25").replace("#", "%23")
    return Session(f"{name}#{persona}", circle, persona, owner, **about)


@dataclass(frozen=True, slots=True)
class User:
    """A person who talks to the bot."""

    kind: ClassVar[str] = "user"
    id: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Anything facts are about that does not chat. ``id`` starts with ``e:``."""

    kind: ClassVar[str] = "entity"
    id: str


@dataclass(frozen=True, slots=True)
class Name:
    """What a node was called in one Session (nickname, card, alias).

    Attributes:
        node: The user or entity.
        norm: :func:`graph_memory.text.normalise` of ``text``.
    """

    kind: ClassVar[str] = "name"
    id: str
    session: str
    node: str
    text: str
    norm: str
    first_at: float
    last_at: float


@dataclass(frozen=True, slots=True)
class Mention:
    """That an entity came up in a Session (the edge MENTIONED_IN)."""

    kind: ClassVar[str] = "mention"
    id: str
    session: str
    entity: str
    type: str
    first_at: float
    last_at: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Participation:
    """That a user spoke in a Session (the edge PARTICIPATED_IN)."""

    kind: ClassVar[str] = "participation"
    id: str
    session: str
    user: str
    first_at: float
    last_at: float
    messages: int


@dataclass(frozen=True, slots=True)
class Episode:
    """A run of conversation in one Session (see ``episode.py``).

    Attributes:
        level: ``episode``; ``day`` … ``year`` for summaries of summaries.
        first_message, last_message: Journal ids, both inclusive.
        participants: User ids who spoke.
    """

    kind: ClassVar[str] = "episode"
    id: str
    session: str
    started_at: float
    ended_at: float
    first_message: int
    last_message: int
    messages: int
    summary: str = ""
    participants: tuple[str, ...] = ()
    level: str = "episode"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known, with its history and its strength.

    The edge KNOWS when the subject is a user, else RELATED_TO.

    Attributes:
        subject, object: Node ids.
        predicate: One of :data:`PREDICATES`.
        statement: The fact as one sentence, readable by itself.
        speaker: User id of who said it; ``bot`` for the bot's own promises.
        said_at: When it was first said (decides who was present).
        recorded_at: When it was learned.
        valid_from, valid_to: When it is true; ``None`` is unknown or open.
        importance: 0…1, the extractor's judgement.
        half_life: Days until retention falls to one half (``retention.py``).
        last_used: When it was last restated or used.
        use_count: How often it was restated (familiarity or strength of the edge).
        supersedes: Ids of facts this one replaces, for whoever may see this one.
        evidence: Journal ids of the messages it rests on.
        archived_at: When it was archived.
    """

    kind: ClassVar[str] = "fact"
    id: str
    session: str
    subject: str
    predicate: str
    object: str
    statement: str
    speaker: str
    said_at: float
    recorded_at: float
    last_used: float
    half_life: float
    importance: float = 0.5
    use_count: int = 1
    pinned: bool = False
    valid_from: float | None = None
    valid_to: float | None = None
    status: str = Status.ACTIVE.value
    supersedes: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()
    archived_at: float | None = None

    @property
    def layer(self) -> Layer:
        return Layer.SESSION if is_entity(self.subject) else Layer.KNOWS


@dataclass(frozen=True, slots=True)
class Forgotten:
    """That a message is not to be recalled: a fact that rested on it was forgotten.

    A row of its own, so that forgetting can be undone like everything else.
    """

    kind: ClassVar[str] = "forgotten"
    id: str
    session: str
    message: int


Row = Session | User | Entity | Name | Mention | Participation | Episode | Fact | Forgotten

ROW_TYPES: dict[str, type] = {
    cls.kind: cls
    for cls in (Session, User, Entity, Name, Mention, Participation, Episode, Fact, Forgotten)
}


def encode(row: Row) -> dict[str, Any]:
    """A row as JSON-ready data; :func:`decode` is its inverse."""
    return {
        f.name: list(value) if isinstance(value := getattr(row, f.name), tuple) else value
        for f in dataclasses.fields(row)
    }


def decode(kind: str, data: dict[str, Any]) -> Row:
    """A row from :func:`encode`'s data; fields it does not know are ignored."""
    cls = ROW_TYPES[kind]
    known = {f.name for f in dataclasses.fields(cls)}
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in known}
    row: Row = cls(**values)
    return row


# ---------------------------------------------------------------- changes


@dataclass(frozen=True, slots=True)
class Op:
    """One row written (``after``) or deleted (``after is None``).

    ``before`` is what stood there, ``None`` if nothing did; both are encoded rows.
    """

    kind: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Change:
    """Everything one act did to the memory; the unit of commit and of undo.

    Attributes:
        id: Position in the journal, from 1.
        actor: ``chat``, ``learn``, ``upkeep``, ``owner`` or a user id.
        reason: Why, in a word or two (``learned``, ``forget``, ``archive``, …).
        batch: The learned batch; a batch has at most one change.
        undoes: The change this one takes back.
    """

    id: int
    at: float
    actor: str
    reason: str
    ops: tuple[Op, ...]
    batch: int | None = None
    undoes: int | None = None


# --------------------------------------------------------------- messages


@dataclass(frozen=True, slots=True)
class Message:
    """One line of chat in the journal.

    Attributes:
        id: Position in the journal, from 1; 0 before it is stored.
        sender: User id, or ``bot``.
        name: What the sender was called at the time.
        ref: The platform's message id; empty if it has none.
        batch: The batch that claimed it; ``None`` while it is buffered.
    """

    id: int
    session: str
    sender: str
    name: str
    text: str
    at: float
    ref: str = ""
    batch: int | None = None

    @property
    def is_human(self) -> bool:
        return self.sender != BOT


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one Session that are learned together, in one episode."""

    id: int
    session: Session
    messages: tuple[Message, ...]
    attempts: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Presence:
    """That a user was in a group from ``since`` (first real message) to ``until``."""

    circle: str
    user: str
    since: float
    until: float | None = None


# ------------------------------------------------------------------ asking


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf the memory is asked.

    Attributes:
        user: Who speaks; ``None`` if nobody in particular does.
        circle: Where the answer will be read.
        is_group: Whether others read it too.
        persona: The persona that answers.
        accounts: All accounts of ``user``, ``user`` included.
    """

    user: str | None
    circle: str
    is_group: bool
    persona: str
    accounts: frozenset[str] = field(default_factory=frozenset)


def asker_of(session: Session, user: str | None) -> Asker:
    """The asker who speaks in ``session``."""
    accounts = frozenset({user} if user else ())
    return Asker(user, session.circle, session.is_group, session.persona, accounts)
