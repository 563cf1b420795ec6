"""Kinds of rows of the memory: chats, nodes, names, episodes and facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from .row import (
    GROUP,
    PRIVATE,
    Basis,
    Data,
    Gone,
    Layer,
    Row,
    SessionRow,
    Span,
    Status,
    is_entity,
    register,
    stable_id,
    user_id,
    whole,
)

EPISODE = "episode"
"""Level of an episode that sums up nothing but messages."""
_AT_HOME = re.compile(rf"^([^:]*:{PRIVATE})@[^:]*")


@dataclass(frozen=True, slots=True)
class Session(Row):
    """A chat window under one persona.

    Attributes:
        circle: ``platform:group:id`` or ``platform:private:account``; with ``private@bot``
            where each account of ours has its private chats for itself.
        owner: User id of a private chat's user; empty for groups.
        umo: Where AstrBot would send a message to (last seen).
    """

    kind: ClassVar[str] = "session"
    nodes: ClassVar[tuple[str, ...]] = ("owner",)
    words: ClassVar[tuple[str, ...]] = ("title",)

    circle: str
    persona: str
    owner: str = ""
    title: str = ""
    umo: str = ""

    @property
    def is_group(self) -> bool:
        return not self.owner


def home_of(circle: str) -> str:
    """Account of ours that alone has a private chat; empty if every one does."""
    platform, kind, _ = circle.split(":", 2)
    return f"{platform}:{kind}" if "@" in kind else ""


def without_home(circle: str) -> str:
    """A chat window without the account of ours that alone has it, which no log tells."""
    return _AT_HOME.sub(r"\1", circle)


def session_of(
    platform: str, group: str, account: str, persona: str, bot: str = "", **about: str
) -> Session:
    """The Session of a chat window under a persona.

    Args:
        platform: Platform type, e.g. ``aiocqhttp``.
        group: Empty in a private chat, which ``account`` identifies.
        bot: The account of ours whose alone a private chat is; empty: it is every bot's.
        about: ``title`` and ``umo``.
    """
    bot = bot.replace("%", "%25").replace(":", "%3A")
    kind, key = (GROUP, group) if group else (f"{PRIVATE}@{bot}" if bot else PRIVATE, account)
    circle, persona = whole(f"{platform}:{kind}:{key}"), whole(persona)
    about = {field: whole(text) for field, text in about.items()}
    owner = "" if group else user_id(platform, account)
    name = circle.replace("%", "%25").replace("#", "%23")
    return Session(f"{name}#{persona}", circle, persona, owner, **about)


@dataclass(frozen=True, slots=True)
class User(Row):
    """A person who talks to the bot."""

    kind: ClassVar[str] = "user"
    nodes: ClassVar[tuple[str, ...]] = ("id",)


@dataclass(frozen=True, slots=True)
class Entity(Row):
    """Anything facts are about that does not chat. ``id`` starts with ``e:``."""

    kind: ClassVar[str] = "entity"


@dataclass(frozen=True, slots=True)
class Merge(Row):
    """That one entity is the same as another, by the owner's word (``identity.py``).

    Rows keep the nodes they have; whoever reads them takes ``node``, which was absorbed, and
    ``into``, which what is learned later is about, for one.
    """

    kind: ClassVar[str] = "merge"
    keys: ClassVar[tuple[str, ...]] = ("node", "into")
    nodes: ClassVar[tuple[str, ...]] = ("node", "into")

    node: str
    into: str
    at: float


@dataclass(frozen=True, slots=True)
class Link(Row):
    """That two accounts, in order, are one person's, by the owner's word."""

    kind: ClassVar[str] = "link"
    keys: ClassVar[tuple[str, ...]] = ("a", "b")
    nodes: ClassVar[tuple[str, ...]] = ("a", "b")

    a: str
    b: str

    @classmethod
    def of(cls, account: str, other: str) -> Link:
        a, b = sorted((account, other))
        return cls(stable_id("k", a, b), a, b)


@dataclass(frozen=True, slots=True)
class Settled(Row):
    """The owner's word that two nodes or facts, or one, are fine as they are."""

    kind: ClassVar[str] = "settled"
    keys: ClassVar[tuple[str, ...]] = ("a", "b")
    nodes: ClassVar[tuple[str, ...]] = ("a", "b")

    a: str
    b: str = ""

    @classmethod
    def of(cls, one: str, other: str = "") -> Settled:
        a, b = sorted((one, other)) if other else (one, "")
        return cls(stable_id("y", a, b), a, b)


@dataclass(frozen=True, slots=True)
class Name(SessionRow):
    """What a node was called in one Session.

    Attributes:
        norm: The normalised text.
        given: Whether only others call somebody so, or a single one a thing that has a name.
        confidential: Whether it was only used in confidence.
    """

    kind: ClassVar[str] = "name"
    keys: ClassVar[tuple[str, ...]] = ("node", "norm")
    nodes: ClassVar[tuple[str, ...]] = ("node",)
    times: ClassVar[tuple[str, ...]] = ("first_at",)
    words: ClassVar[tuple[str, ...]] = ("text", "norm")

    node: str
    text: str
    norm: str
    first_at: float
    last_at: float
    given: bool = False
    confidential: bool = False

    @property
    def order(self) -> tuple[bool, float, str]:
        """The greatest of a node's is what it is called."""
        return not self.given, float(self.last_at), self.id

    @staticmethod
    def key(session: str, node: str, norm: str) -> str:
        return stable_id("n", session, node, norm)


@dataclass(frozen=True, slots=True)
class Mention(SessionRow):
    """That an entity came up in a Session (the edge MENTIONED_IN)."""

    kind: ClassVar[str] = "mention"
    keys: ClassVar[tuple[str, ...]] = ("entity",)
    nodes: ClassVar[tuple[str, ...]] = ("entity",)
    times: ClassVar[tuple[str, ...]] = ("first_at",)

    entity: str
    type: str
    first_at: float
    last_at: float
    count: int = 1
    confidential: bool = False

    @staticmethod
    def key(session: str, entity: str) -> str:
        return stable_id("m", session, entity)


@dataclass(frozen=True, slots=True)
class Participation(SessionRow):
    """That a user spoke in a Session (the edge PARTICIPATED_IN)."""

    kind: ClassVar[str] = "participation"
    keys: ClassVar[tuple[str, ...]] = ("user",)
    nodes: ClassVar[tuple[str, ...]] = ("user",)
    times: ClassVar[tuple[str, ...]] = ("first_at",)

    user: str
    first_at: float
    last_at: float
    messages: int


def episode_id(session: str, first_message: int) -> str:
    """Id of the episode of ``session`` that begins with a message."""
    return stable_id("ep", session, str(first_message))


@dataclass(frozen=True, slots=True)
class Episode(SessionRow):
    """A run of conversation in one Session: see :func:`continues`.

    Attributes:
        level: ``episode``; ``day`` … ``year`` for records, which sum up what lasted less.
        first_message, last_message: Journal ids, both inclusive; 0 if no message is left.
        parts: Ids of the episodes that a record sums up.
        confidential: Whether its summary tells what was told in confidence.
    """

    kind: ClassVar[str] = "episode"
    times: ClassVar[tuple[str, ...]] = ("started_at", "ended_at")
    words: ClassVar[tuple[str, ...]] = ("summary",)

    started_at: float
    ended_at: float
    first_message: int
    last_message: int
    messages: int
    summary: str = ""
    participants: tuple[str, ...] = ()
    level: str = EPISODE
    parts: tuple[str, ...] = ()
    confidential: bool = False

    @property
    def is_record(self) -> bool:
        return self.level != EPISODE

    @classmethod
    def left(cls, data: Data, gone: Gone) -> Data | None:
        """It stays if others took part; its summary tells what all of them said."""
        stretch = data["session"], data["first_message"], data["last_message"]
        own = gone.own(*stretch)
        people = [user for user in data["participants"] if not gone.is_node(user, stretch[0])]
        messages = data["messages"] - own - gone.naming(*stretch)
        is_involved = own or len(people) < len(data["participants"])
        if is_involved and (not people or messages <= 0):
            return None
        blank = is_involved or gone.is_named(stretch[0], data["summary"])
        summary = "" if blank else data["summary"]
        return {**data, "participants": people, "messages": messages, "summary": summary}

    def renumbered(self, numbers: Mapping[int, int], span: Span) -> Episode:
        stretch = span(self.session, self.first_message, self.last_message)
        if stretch is None:  # nothing of it is left but its summary
            return replace(self, first_message=0, last_message=0)
        *old, first, last = stretch
        if old == [first, last]:
            return self
        is_derived = self.id == episode_id(self.session, self.first_message)
        id = episode_id(self.session, first) if is_derived else self.id
        return replace(self, id=id, first_message=first, last_message=last)


@dataclass(frozen=True, slots=True)
class Fact(SessionRow):
    """Something known, with its history and its strength.

    Attributes:
        subject, object: Node ids; the same one if it is about nothing else.
        predicate: One of :data:`PREDICATES`.
        statement: One sentence, readable by itself.
        speaker: User id of who said it; ``bot`` for the bot's own promises.
        said_at: When it was first said (decides who was present).
        recorded_at: When it was learned.
        valid_from, valid_to: When it is true; ``None`` is unknown or open.
        importance: 0…1, the extractor's judgement.
        half_life: Days until retention falls to one half (``retention.py``).
        last_used, use_count: When it was last restated or used, and how often restated.
        supersedes: Ids of facts this one replaces, for whoever may see this one.
        awaits: Those it will replace once it has begun.
        due: By when what is planned or promised is to be done; ``None`` if nobody said.
        evidence: Journal ids of the messages it rests on.
        added: Those of them that confirmed it later; it was learned from the others.
        hearsay: Whether the speaker had it from others.
        confidential: Whether the speaker asked to keep it between those who were there.
        precision: ``year`` or ``month`` if nobody said on which day it began.
        expires: When it is to be forgotten, of itself; ``None`` if it is not.
        corrects: Whether the bot was wrong when it spoke from what this replaces.
    """

    kind: ClassVar[str] = "fact"
    keys: ClassVar[tuple[str, ...]] = ("subject", "object")
    nodes: ClassVar[tuple[str, ...]] = ("subject", "object", "speaker")
    times: ClassVar[tuple[str, ...]] = ("said_at",)
    words: ClassVar[tuple[str, ...]] = ("statement",)
    basis: ClassVar[Basis] = Basis.ANY

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
    awaits: tuple[str, ...] = ()
    due: float | None = None
    added: tuple[int, ...] = ()
    hearsay: bool = False
    confidential: bool = False
    precision: str = ""
    expires: float | None = None
    corrects: bool = False

    @property
    def layer(self) -> Layer:
        return Layer.SESSION if is_entity(self.subject) else Layer.KNOWS

    @property
    def claimed(self) -> tuple[int, ...]:
        """The messages that it was learned from."""
        return tuple(id for id in self.evidence if id not in self.added)

    @property
    def is_former(self) -> bool:
        """Whether it was told when it was over, and not until when it was so."""
        return self.valid_to == self.said_at and not self.supersedes

    def is_over(self, at: float) -> bool:
        """Whether it has ended by then."""
        return self.valid_to is not None and self.valid_to <= at

    def renumbered(self, numbers: Mapping[int, int], span: Span) -> Fact | None:
        fact = SessionRow.renumbered(self, numbers, span)
        added = tuple(numbers[id] for id in self.added if id in numbers)
        return replace(fact, added=added) if fact else None


@dataclass(frozen=True, slots=True)
class Forgotten(SessionRow):
    """That a message is not to be recalled: a fact that rested on it was forgotten."""

    kind: ClassVar[str] = "forgotten"

    message: int

    @classmethod
    def of(cls, session: str, message: int) -> Forgotten:
        return cls(stable_id("x", session, str(message)), session, message)

    @classmethod
    def left(cls, data: Data, gone: Gone) -> Data | None:
        return None if gone.is_message(data["message"]) else data

    @property
    def cited(self) -> tuple[int, ...]:
        return (self.message,)

    def renumbered(self, numbers: Mapping[int, int], span: Span) -> Forgotten | None:
        message = numbers.get(self.message)
        if message is None or message == self.message:
            return self if message else None
        return Forgotten.of(self.session, message)


register(
    Session, User, Entity, Merge, Link, Settled, Name, Mention, Participation, Episode, Fact,
    Forgotten,
)  # fmt: skip
