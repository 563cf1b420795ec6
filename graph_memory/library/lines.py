"""What people are shown of facts."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Fact, Message, Session, Status


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact with what people need to read it.

    Attributes:
        subject, object: What the nodes are called.
        strength: Retention now, 0…1.
        fades_at: When it will be archived; ``inf`` for never.
        superseded: Whether a newer visible fact replaces it.
    """

    fact: Fact
    subject: str
    object: str
    session: Session
    strength: float
    fades_at: float
    superseded: bool

    @property
    def state(self) -> str:
        """``archived``, ``superseded`` or ``active``."""
        if self.fact.status == Status.ARCHIVED:
            return "archived"
        return "superseded" if self.superseded else "active"


@dataclass(frozen=True, slots=True)
class Called:
    """A node, what it was called last, and how many facts there are about it."""

    node: str
    name: str
    facts: int


@dataclass(frozen=True, slots=True)
class FactDetail:
    """A fact, the messages it rests on, and its neighbours in time."""

    line: FactLine
    sources: list[Message]
    replaces: list[FactLine]
    replaced_by: list[FactLine]


@dataclass(frozen=True, slots=True)
class Overview:
    """What one can filter by. ``circles`` are (id, title), most recent last.

    Attributes:
        people, things: The users and entities most is known about, most first.
    """

    personas: list[str]
    circles: list[tuple[str, str]]
    predicates: dict[str, int]
    people: list[Called]
    things: list[Called]
