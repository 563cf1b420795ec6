"""What the journal keeps and what a change alters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from .companion import CoreFact, FollowUp, InnerState, Mood
from .nodes import GROUP, PRIVATE, Layer, Status, is_entity, stable_id, user_id, whole

EPISODE = "episode"
"""Level of an episode that sums up nothing but messages."""


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
    circle, persona = whole(f"{platform}:{kind}:{key}"), whole(persona)
    about = {field: whole(text) for field, text in about.items()}
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
class Merge:
    """That one entity is the same as another, by the owner's word (``identity.py``).

    Like nodes it belongs to no Session and carries no text. Rows keep the nodes they
    have; whoever reads them takes both nodes for one.

    Attributes:
        node: The entity that was absorbed.
        into: The entity that survives, and that what is learned later is about.
    """

    kind: ClassVar[str] = "merge"
    id: str
    node: str
    into: str
    at: float


@dataclass(frozen=True, slots=True)
class Link:
    """That two accounts belong to one person, by the owner's word (``identity.py``).

    Attributes:
        a, b: User ids, in order.
    """

    kind: ClassVar[str] = "link"
    id: str
    a: str
    b: str


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
        level: ``episode``; ``day`` … ``year`` for records, which sum up what lasted less.
        first_message, last_message: Journal ids, both inclusive; 0 if no message is left.
        participants: User ids who spoke.
        parts: Ids of the episodes that a record sums up; none of an episode.
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
    level: str = EPISODE
    parts: tuple[str, ...] = ()

    @property
    def is_record(self) -> bool:
        """Whether it sums up others, see ``upkeep/periods.py``."""
        return self.level != EPISODE


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

    @classmethod
    def of(cls, session: str, message: int) -> Forgotten:
        """The row of a message."""
        return cls(stable_id("x", session, str(message)), session, message)


Row = (
    Session
    | User
    | Entity
    | Merge
    | Link
    | Name
    | Mention
    | Participation
    | Episode
    | Fact
    | Forgotten
    | CoreFact
    | Mood
    | InnerState
    | FollowUp
)

ROW_TYPES: dict[str, type] = {cls.kind: cls for cls in get_args(Row)}

# Looked up for every row that is read, so not worked out each time.
_FIELDS: dict[str, tuple[str, ...]] = {
    kind: tuple(f.name for f in dataclasses.fields(cls)) for kind, cls in ROW_TYPES.items()
}


def encode(row: Row) -> dict[str, Any]:
    """A row as JSON-ready data; :func:`decode` is its inverse."""
    return {
        name: list(value) if isinstance(value := getattr(row, name), tuple) else value
        for name in _FIELDS[row.kind]
    }


def decode(kind: str, data: dict[str, Any]) -> Row:
    """A row from :func:`encode`'s data; fields it does not know are ignored."""
    known = _FIELDS[kind]
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in known}
    row: Row = ROW_TYPES[kind](**values)
    return row
