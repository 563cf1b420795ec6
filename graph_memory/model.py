"""Domain model: rows of every kind, messages, turns, askers.

Frozen dataclasses without behaviour beyond what a kind of row means. Times are seconds since
the epoch in UTC, ids are strings, and text was cleaned by ``graph_memory.text.clean``.

A new kind of row is a dataclass derived from :class:`Row`, or :class:`SessionRow` for one that
belongs to a chat; what it means is said in the head of its class.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol, Self

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

TAKING_TURNS = frozenset({"works_as", "works_at", "studies"})
"""Predicates of which a subject mostly has one current value, and may have several."""

TASKS = frozenset({"plans", "promised"})
"""Predicates of what is still to be done; their date is when it is due."""

PASSING = frozenset({"status", "feels", "health", "other"})
"""Predicates of what is so for a while, and may be so again."""

SYMMETRIC = frozenset({"friend_of", "partner", "family"})
"""Predicates of what two people are to each other; either may be the subject."""

LITERAL = frozenset({"is_named", "age", "birthday"})
"""Predicates whose object is a value, even if something goes by that name."""


# ------------------------------------------------------------------------------ rows

Data = dict[str, Any]
"""A row as JSON-ready data."""
Stretch = tuple[int, int, int, int]
"""Numbers of the first and last message of a stretch of a Session, old ones and new ones."""
Span = Callable[[str, int, int], Stretch | None]


class Basis(StrEnum):
    """What a row rests on, and so what takes it away."""

    NONE = "none"
    """Nothing but itself."""
    ANY = "any"
    """The messages in its ``evidence``, as long as one of them is there."""
    EACH = "each"
    """The messages in its ``evidence``; it goes with each of them."""
    LEARNED = "learned"
    """All that was learned up to then. When a message is retracted, the state from before that
    was learned comes back."""
    MOMENT = "moment"
    """What was being talked about; it goes with an earlier message."""


DERIVED = (Basis.LEARNED, Basis.MOMENT)
"""What rows rest on that name no messages."""


class Gone(Protocol):
    """What a deletion takes away: ``deletion/plan.py``, as a row sees it."""

    def is_node(self, node: str, session: str) -> bool: ...
    def is_message(self, id: int) -> bool: ...
    def own(self, session: str, first: int = 0, last: int = ...) -> int: ...
    def naming(self, session: str, first: int, last: int) -> int: ...
    def is_named(self, session: str, text: str) -> bool: ...


_KINDS: dict[str, type[Row]] = {}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the journal; its ``id`` is unique among those of its kind.

    Class attributes, given in the head of a class:
        kind: Name of the kind, as it is stored; the journal knows it from then on.
        keys: Names of the fields by which rows are looked up (``a`` and ``b``).
        nodes: Names of the fields that hold ids of users or entities; by default the keys.
        times: Names of the fields that say from when to when it was said; empty for rows
            that belong to no chat and have no scope of their own.
        words: Names of the fields that are somebody's words.
        exported: What its lines are called in what people take away of their own, which are
            rows about themselves (``nodes``); empty if it is not among that.
    """

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]] = ()
    nodes: ClassVar[tuple[str, ...]] = ()
    times: ClassVar[tuple[str, ...]] = ()
    words: ClassVar[tuple[str, ...]] = ()
    basis: ClassVar[Basis] = Basis.NONE
    exported: ClassVar[str] = ""

    id: str

    def __init_subclass__(cls, **about: Any) -> None:
        about.setdefault("nodes", about.get("keys", cls.nodes))
        for name, value in about.items():
            setattr(cls, name, value)
        if "kind" in vars(cls):  # the second time as the class with slots, which stays
            _KINDS[cls.kind] = cls

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """A row from :func:`encode`'s data, without fields that are unknown."""
        values: dict[str, Any] = {
            name: tuple(data[name]) if isinstance(data[name], list) else data[name]
            for name in _fields(cls.kind)
            if name in data
        }
        return cls(**values)

    @classmethod
    def left(cls, data: Data, gone: Gone) -> Data | None:
        """What a deletion leaves of a row, perhaps one of an earlier version, if anything."""
        session = data.get("session", "")
        if any(gone.is_node(data.get(field) or "", session) for field in cls.nodes):
            return None
        if cls.basis is Basis.LEARNED:
            # Nobody can tell whose words it rests on.
            said = "\n".join(data.get(field, "") for field in cls.words)
            return None if gone.own(session) or gone.is_named(session, said) else data
        if cls.basis not in (Basis.ANY, Basis.EACH):
            return data
        cited = data.get("evidence", [])
        others = [id for id in cited if not gone.is_message(id)]
        if len(others) == len(cited):
            return data
        return {**data, "evidence": others} if others and cls.basis is Basis.ANY else None

    @classmethod
    def embedded(cls, data: Data) -> set[str]:
        """Texts of which there may be vectors: its words, one by one and as one text."""
        words = [text for field in cls.words if (text := data.get(field))]
        return {*words, " ".join(words)}

    @property
    def layer(self) -> Layer:
        """Which of the two layers of layered sharing it is in."""
        return Layer.SESSION

    @property
    def span(self) -> tuple[float, float]:
        """From when to when it was said; ``TypeError`` if it belongs to no chat."""
        if not self.times:
            raise TypeError(f"{self.kind} rows have no scope of their own")
        return getattr(self, self.times[0]), getattr(self, self.times[-1])

    @property
    def index_keys(self) -> tuple[str, str, str]:
        """Session and ``keys`` by which it is looked up: ``(session, a, b)``."""
        a, b = [*(getattr(self, field) for field in self.keys), "", ""][:2]
        return getattr(self, "session", ""), a, b

    @property
    def cited(self) -> tuple[int, ...]:
        """The messages that it refers to one by one."""
        cites = self.basis in (Basis.ANY, Basis.EACH)
        return tuple(getattr(self, "evidence", ())) if cites else ()

    def renumbered(self, numbers: Mapping[int, int], span: Span) -> Self | None:
        """The row, and its id, in a memory where messages have other numbers.

        ``None`` if it was about a message that is gone.

        Args:
            numbers: New numbers by old ones; a message that is not there is gone.
            span: What is there of a stretch of a Session, from one old number to another.
        """
        if not self.cited:
            return self
        cited = tuple(numbers[id] for id in self.cited if id in numbers)
        return replace(self, evidence=cited)  # type: ignore[call-arg]

    def reworded(self, text: str, evidence: tuple[int, ...], at: float) -> Self | None:
        """The row when what it rests on is corrected to ``text``; ``None`` if it goes."""
        return None

    def brought_back(self, standing: Self, at: float) -> Self:
        """This earlier state, to stand again in the place of the one that stands."""
        return self


@dataclass(frozen=True, slots=True)
class SessionRow(Row):
    """A row that belongs to exactly one Session, fixed when it is written."""

    session: str


@cache
def _fields(kind: str) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(_KINDS[kind]))


def registered() -> Iterable[type[Row]]:
    """All kinds of rows."""
    return _KINDS.values()


def kind_named(name: str) -> type[Row] | None:
    """The kind with a name; ``None`` if it is not registered."""
    return _KINDS.get(name)


def encode(row: Row) -> Data:
    """A row as JSON-ready data; :func:`decode` is its inverse."""
    return {
        name: list(value) if isinstance(value := getattr(row, name), tuple) else value
        for name in _fields(row.kind)
    }


def decode(kind: str, data: Mapping[str, Any]) -> Row:
    """A row of a kind; ``KeyError`` or ``TypeError`` if it is none that is known."""
    return _KINDS[kind].of_data(data)


@dataclass(frozen=True)
class Op:
    """One row written (``after``) or deleted (``after is None``).

    ``before`` is what was there, ``None`` if nothing was; both are encoded rows, which
    ``was`` and ``row`` are decoded.
    """

    kind: str
    id: str
    before: Data | None
    after: Data | None

    @cached_property
    def was(self) -> Row | None:
        return None if self.before is None else decode(self.kind, self.before)

    @cached_property
    def row(self) -> Row | None:
        return None if self.after is None else decode(self.kind, self.after)


IMPORT = "import"
"""How the reason of an import begins; its id follows."""


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

    @property
    def told_reason(self) -> str:
        """The reason as people know it: that of an import names the import besides."""
        return IMPORT if self.reason.startswith(f"{IMPORT} ") else self.reason

    @property
    def is_trimmed(self) -> bool:
        """Whether it is so old that only the kinds of its rows are still known."""
        return any(not op.id for op in self.ops)


# ----------------------------------------------------------------------------- kinds

EPISODE = "episode"
"""Level of an episode that sums up nothing but messages."""


class Level(StrEnum):
    """How long a record lasts; in the order in which they are written."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


_AT_HOME = re.compile(rf"^([^:]*:{PRIVATE})@[^:]*")


@dataclass(frozen=True, slots=True)
class Session(Row, kind="session", nodes=("owner",), words=("title",)):
    """A chat window under one persona.

    Attributes:
        circle: ``platform:group:id`` or ``platform:private:account``; with ``private@bot``
            where each account of ours has its private chats for itself.
        owner: User id of a private chat's user; empty for groups.
        umo: Where AstrBot would send a message to (last seen).
    """

    circle: str
    persona: str
    owner: str = ""
    title: str = ""
    umo: str = ""

    @property
    def is_group(self) -> bool:
        return not self.owner

    @property
    def called(self) -> str:
        """Its title, or its number on the platform."""
        return self.title or self.circle.rpartition(":")[2]


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
    return Session(session_id(circle, persona), circle, persona, owner, **about)


def session_id(circle: str, persona: str) -> str:
    """The id of the Session of a circle and a persona."""
    name = circle.replace("%", "%25").replace("#", "%23")
    return f"{name}#{persona}"


@dataclass(frozen=True, slots=True)
class User(Row, kind="user", nodes=("id",)):
    """A person who talks to the bot."""


@dataclass(frozen=True, slots=True)
class Entity(Row, kind="entity"):
    """Anything facts are about that does not chat. ``id`` starts with ``e:``."""


@dataclass(frozen=True, slots=True)
class Merge(Row, kind="merge", keys=("node", "into")):
    """That one entity is the same as another, by the owner's word (``identity.py``).

    Rows keep the nodes they have; whoever reads them takes ``node``, which was absorbed, and
    ``into``, which what is learned later is about, for one.
    """

    node: str
    into: str
    at: float


@dataclass(frozen=True, slots=True)
class Link(Row, kind="link", keys=("a", "b")):
    """That two accounts, in order, are one person's, by the owner's word."""

    a: str
    b: str

    @classmethod
    def of(cls, account: str, other: str) -> Link:
        a, b = sorted((account, other))
        return cls(stable_id("k", a, b), a, b)


@dataclass(frozen=True, slots=True)
class Settled(Row, kind="settled", keys=("a", "b")):
    """The owner's word that two nodes or facts, or one, are fine as they are."""

    a: str
    b: str = ""

    @classmethod
    def of(cls, one: str, other: str = "") -> Settled:
        a, b = sorted((one, other)) if other else (one, "")
        return cls(stable_id("y", a, b), a, b)


@dataclass(frozen=True, slots=True)
class Name(
    SessionRow,
    kind="name",
    keys=("node", "norm"),
    nodes=("node",),
    times=("first_at",),
    words=("text", "norm"),
):
    """What a node was called in one Session.

    Attributes:
        norm: The normalised text.
        given: Whether only others call somebody so, or a single one a thing that has a name.
        confidential: Whether it was only used in confidence.
    """

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
class Mention(SessionRow, kind="mention", keys=("entity",), times=("first_at",)):
    """That an entity came up in a Session (the edge MENTIONED_IN)."""

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
class Participation(SessionRow, kind="participation", keys=("user",), times=("first_at",)):
    """That a user spoke in a Session (the edge PARTICIPATED_IN)."""

    user: str
    first_at: float
    last_at: float
    messages: int


def episode_id(session: str, first_message: int) -> str:
    """Id of the episode of ``session`` that begins with a message."""
    return stable_id("ep", session, str(first_message))


@dataclass(frozen=True, slots=True)
class Episode(SessionRow, kind="episode", times=("started_at", "ended_at"), words=("summary",)):
    """A run of conversation in one Session: see :func:`continues`.

    Attributes:
        level: ``episode``; ``day`` … ``year`` for records, which sum up what lasted less.
        first_message, last_message: Journal ids, both inclusive; 0 if no message is left.
        parts: Ids of the episodes that a record sums up.
        confidential: Whether its summary tells what was told in confidence.
    """

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
class Fact(
    SessionRow,
    kind="fact",
    keys=("subject", "object"),
    nodes=("subject", "object", "speaker"),
    times=("said_at",),
    words=("statement", "keywords"),
    basis=Basis.ANY,
):
    """Something known, with its history and its strength.

    Attributes:
        subject, object: Node ids; the same one if it is about nothing else.
        predicate: One of :data:`PREDICATES`.
        statement: One sentence, readable by itself.
        keywords: Words that it lacks (pet, of a corgi) and a question in other words, as the
            extractor gave them; it is found by them, and they are not shown to the chat model.
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
    keywords: str = ""

    @property
    def layer(self) -> Layer:
        return Layer.SESSION if is_entity(self.subject) else Layer.KNOWS

    @property
    def searched(self) -> str:
        """What is searched and embedded: what it says, with its keywords."""
        return f"{self.statement} {self.keywords}" if self.keywords else self.statement

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
class Forgotten(SessionRow, kind="forgotten"):
    """That a message is not to be recalled: a fact that rested on it was forgotten."""

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


GAP = 600.0
"""Seconds of silence that end an episode."""
EPISODE_MESSAGES = 200
"""Most messages of an episode."""


@dataclass(frozen=True, slots=True)
class Addressee:
    """Somebody a message turns to: mentioned (``@…``) or quoted in it.

    Attributes:
        user: User id, or ``bot``; empty if the platform does not say who is quoted.
        quoted: Id of the quoted message, 0 if it is not in the journal; ``None`` for a mention.
    """

    user: str
    name: str = ""
    quoted: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """What a message quotes, as the platform tells it; never stored.

    Attributes:
        user: As in :class:`Addressee`.
        ref: The platform's id of the quoted message, the part before ``@``.
    """

    user: str
    name: str = ""
    ref: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One line of chat in the journal.

    Attributes:
        id: Position in the journal, from 1; 0 before it is stored.
        sender: User id, or ``bot``; ``name`` is what they were called at the time.
        ref: The platform's message id; empty if it has none.
        batch: The batch that claimed it; ``None`` while it is buffered.
        to: Whom it turns to: the one it quotes first, then those it mentions.
        confided: Whether its sender asked right before or afterwards to keep it to oneself.
    """

    id: int
    session: str
    sender: str
    name: str
    text: str
    at: float
    ref: str = ""
    batch: int | None = None
    to: tuple[Addressee, ...] = ()
    confided: bool = False

    @property
    def is_human(self) -> bool:
        return self.sender != BOT

    @property
    def is_nobodys(self) -> bool:
        """Whether nobody knows who said it."""
        return self.sender.endswith(f":{NOBODY}")

    @property
    def mentions(self) -> tuple[str, ...]:
        """Ids of the users it turns to, each once."""
        users = dict.fromkeys(each.user for each in self.to)
        return tuple(user for user in users if user not in ("", BOT))


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one Session that are learned together, in one episode."""

    id: int
    session: Session
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """That messages are gone for good, and the presence of ``user`` with them, if any.

    ``is_aged``: for their age only, as nobody asked for it.
    """

    messages: tuple[int, ...]
    user: str = ""
    is_aged: bool = False


@dataclass(frozen=True, slots=True)
class Presence:
    """That a user was in a group from ``since`` (first real message) to ``until``."""

    circle: str
    user: str
    since: float
    until: float | None = None


@dataclass(frozen=True, slots=True)
class PresenceReset:
    """That the intervals of a user's presence follow anew, as they are now."""

    user: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """That another bot on the same memory wrote; what its rows became is told besides.

    Attributes:
        tables: Where.
        is_whole: Whether everything was compared, with another server than before.
    """

    tables: frozenset[str]
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf the memory is asked.

    Attributes:
        user: Who speaks; ``None`` if nobody in particular does.
        circle: Where the answer will be read; in a group, by others too.
        persona: The persona that answers.
        accounts: All accounts of ``user``, ``user`` included.
    """

    user: str | None
    circle: str
    is_group: bool
    persona: str
    accounts: frozenset[str] = field(default_factory=frozenset)


def asker_of(session: Session, user: str | None, accounts: Iterable[str] = ()) -> Asker:
    """The asker who speaks in ``session``; ``accounts`` are the user's other ones."""
    own = frozenset({user, *accounts} if user else ())
    return Asker(user, session.circle, session.is_group, session.persona, own)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message to the bot; made once for each of AstrBot's events.

    Attributes:
        user: User id of who speaks.
        name: What they are called at the moment.
        text: What they say.
        to: Whom it mentions, each once; the bot as well, if it is spoken to in a group.
        quote: What it quotes.
        ref: The platform's id of it, with the time, as some count from one again; empty if it
            has none.
        account: The account of ours that hears it, where each has ids of its own for messages.
        is_shared: Whether other accounts of ours may hear it as well, in the same group.
        accounts: Other accounts of the person, as far as the owner linked them.
        message: It as it is stored, if it is.
    """

    session: Session
    user: str
    name: str
    text: str = ""
    to: tuple[Addressee, ...] = ()
    quote: Quote | None = None
    ref: str = ""
    account: str = ""
    is_shared: bool = False
    is_admin: bool = False
    accounts: frozenset[str] = field(default_factory=frozenset)
    message: Message | None = None

    @property
    def asker(self) -> Asker:
        """On whose behalf the memory is asked."""
        return asker_of(self.session, self.user, self.accounts)

    @property
    def ids(self) -> tuple[int, ...]:
        """Id of its message, if that is stored: what is being answered is no memory yet."""
        return (self.message.id,) if self.message else ()

    @property
    def is_owner(self) -> bool:
        """Whether everybody's memory may be shown: to an admin, where nobody else reads."""
        return self.is_admin and not self.session.is_group


def continues(started_at: float, last_at: float, messages: int, at: float, zone: tzinfo) -> bool:
    """Whether a message at ``at`` belongs to an episode that has so many messages.

    One ends with a gap of ten minutes (or a clock set back), 200 messages, or local midnight.
    """
    if messages >= EPISODE_MESSAGES or abs(at - last_at) >= GAP:
        return False
    first, new = (datetime.fromtimestamp(each, zone) for each in (started_at, at))
    return first.date() == new.date()
