"""Rows: their ids, closed lists, base class and registry, and changes of them.

A new kind of row is a dataclass derived from :class:`Row` (:class:`SessionRow` for one that
belongs to a chat) and one call of :func:`register`; what it means is said on its class.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
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

TASKS = frozenset({"plans", "promised"})
"""Predicates of what is still to be done; their date is when it is due."""

PASSING = frozenset({"status", "feels", "health", "other"})
"""Predicates of which nothing is worth keeping once what they tell of is over."""

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


class Gone(Protocol):
    """What a deletion takes away: ``deletion/plan.py``, as a row sees it."""

    def is_node(self, node: str, session: str) -> bool: ...
    def is_message(self, id: int) -> bool: ...
    def own(self, session: str, first: int = 0, last: int = ...) -> int: ...
    def naming(self, session: str, first: int, last: int) -> int: ...
    def is_named(self, session: str, text: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the journal; its ``id`` is unique among those of its kind.

    Class attributes:
        kind: Name of the kind, as it is stored.
        keys: Names of the fields by which rows are looked up (``a`` and ``b``).
        nodes: Names of the fields that hold ids of users or entities.
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

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """A row from :func:`encode`'s data, without fields that are unknown."""
        values: dict[str, Any] = {
            name: tuple(data[name]) if isinstance(data[name], list) else data[name]
            for name in _FIELDS[cls.kind]
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
        return dataclasses.replace(self, evidence=cited)  # type: ignore[call-arg]

    def reworded(self, text: str, evidence: tuple[int, ...]) -> Self | None:
        """The row when what it rests on is corrected to ``text``; ``None`` if it goes."""
        return None

    def brought_back(self, standing: Self, at: float) -> Self:
        """This earlier state, to stand again in the place of the one that stands."""
        return self


@dataclass(frozen=True, slots=True)
class SessionRow(Row):
    """A row that belongs to exactly one Session, fixed when it is written."""

    session: str


_KINDS: dict[str, type[Row]] = {}
_FIELDS: dict[str, tuple[str, ...]] = {}


def register(*kinds: type[Row]) -> None:
    """Let the journal know kinds of rows."""
    for cls in kinds:
        _KINDS[cls.kind] = cls
        _FIELDS[cls.kind] = tuple(field.name for field in dataclasses.fields(cls))


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
        for name in _FIELDS[row.kind]
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
