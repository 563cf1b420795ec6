"""Kinds of rows of the companion: core facts, mood, inner state and follow-ups.

Each of them belongs to one Session and is meant for nobody else: it is shown where that
chat goes on, under the persona that it is of, and nowhere besides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

from ..model import Basis, SessionRow, register


class CoreKind(StrEnum):
    """What a core fact is."""

    FACT = "fact"
    MOMENT = "moment"
    FEELING = "feeling"
    """A feeling of the user, and what to do then."""
    GROWTH = "growth"


class FollowUpStatus(StrEnum):
    """What became of a follow-up."""

    WAITING = "waiting"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class CoreFact(SessionRow):
    """One of the few things about a user that are always in view.

    Attributes:
        user: Whom it is about.
        number: By which people and the model mean it, from 1; one of each in a Session
            and of a user.
        type: A :class:`CoreKind`.
        at: When it was said.
        used_at: When it was last of use; what was of none for longest makes room.
        evidence: Messages that it rests on.
    """

    kind: ClassVar[str] = "core_fact"
    keys: ClassVar[tuple[str, ...]] = ("user",)
    nodes: ClassVar[tuple[str, ...]] = ("user",)
    times: ClassVar[tuple[str, ...]] = ("at",)
    words: ClassVar[tuple[str, ...]] = ("text",)
    basis: ClassVar[Basis] = Basis.EACH
    exported: ClassVar[str] = "core"

    user: str
    number: int
    type: str
    text: str
    at: float
    used_at: float
    pinned: bool = False
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Mood(SessionRow):
    """How a persona felt at the end of what was learned last in a Session.

    Attributes:
        valence, arousal: −1…+1: unhappy to happy, calm to excited.
        at: When that was; see ``companion/mood.py`` for what it is later.
    """

    kind: ClassVar[str] = "mood"
    times: ClassVar[tuple[str, ...]] = ("at",)
    basis: ClassVar[Basis] = Basis.LEARNED

    valence: float
    arousal: float
    at: float


@dataclass(frozen=True, slots=True)
class InnerState(SessionRow):
    """What a persona has understood, in its own words; one of each Session.

    Attributes:
        itself, other, bond: About itself, about whom it talks to, about the two.
        version: How often it was written, from 1.
        at: When it was.
    """

    kind: ClassVar[str] = "inner_state"
    times: ClassVar[tuple[str, ...]] = ("at",)
    words: ClassVar[tuple[str, ...]] = ("itself", "other", "bond")
    basis: ClassVar[Basis] = Basis.LEARNED

    itself: str
    other: str
    bond: str
    version: int
    at: float

    def brought_back(self, standing: InnerState, at: float) -> InnerState:
        """A version of its own, so that none in between can be had by an undo."""
        return replace(self, version=standing.version + 1, at=at)


@dataclass(frozen=True, slots=True)
class FollowUp(SessionRow):
    """That a persona means to come back to a user by itself.

    Attributes:
        user: To whom.
        due_at: When; not before.
        attempts: How often it was tried.
        status: A :class:`FollowUpStatus`.
    """

    kind: ClassVar[str] = "follow_up"
    keys: ClassVar[tuple[str, ...]] = ("user",)
    nodes: ClassVar[tuple[str, ...]] = ("user",)
    times: ClassVar[tuple[str, ...]] = ("created_at",)
    words: ClassVar[tuple[str, ...]] = ("reason",)
    basis: ClassVar[Basis] = Basis.MOMENT

    user: str
    due_at: float
    reason: str
    attempts: int
    created_at: float
    status: str = FollowUpStatus.WAITING.value


def register_rows() -> None:
    """Let the journal know the kinds of rows of the companion."""
    register(CoreFact, Mood, InnerState, FollowUp)
