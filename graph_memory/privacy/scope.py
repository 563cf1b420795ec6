"""Scope of rows: who may be reminded of what, by audience and persona.

Pure and fail-closed; a row has to pass both tests. *Audience*: only before people who were
there. A group is its own, with those that the owner made one space with it; in a private
chat, the user's own private chats (one that an account of ours has for itself with that
account only) and the groups (or spaces) where the user was when it was
said. *Persona*: under layered sharing what is known about a
user (:attr:`Layer.KNOWS`) is shared by all personas, everything else is its Session's own.
What was told in confidence is shown to nobody but its teller, in private, by the persona that
was told.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from ..model import GROUP, Asker, Layer, Message, Presence, Row, Session, home_of
from .confidence import asks_to_keep

Window = tuple[float, float]
ALWAYS: tuple[Window, ...] = ((-math.inf, math.inf),)


class Sharing(StrEnum):
    """The setting ``memory_sharing_mode``."""

    LAYERED = "layered"
    ISOLATED = "isolated"
    SHARED = "shared"


class Rank(IntEnum):
    """How a layer of a Session stands to the asker's persona."""

    HIDDEN = 0
    FOREIGN = 1
    """Another persona's, let in by ``cross_persona_search``: ranked after, marked."""
    OWN = 2


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings that decide about scope."""

    sharing: Sharing = Sharing.LAYERED
    cross_persona: bool = False
    participants_only: bool = True
    confidences: bool = False
    """Whether what was told in confidence is for everybody; no setting."""
    spaces: tuple[frozenset[str], ...] = ()
    """Groups that are one circle each, by the owner's word: ``platform:id``, or for those of
    one platform their ids."""

    def space(self, circle: str) -> frozenset[str]:
        """The circles that are one with a group's, itself among them."""
        platform, kind, group = circle.split(":", 2)
        if kind != GROUP:
            return frozenset({circle})
        for space in self.spaces:
            if group in space:
                return frozenset(f"{platform}:{GROUP}:{each}" for each in space)
            if f"{platform}:{group}" in space:
                places = (each.partition(":") for each in space)
                return frozenset(f"{place}:{GROUP}:{each}" for place, _, each in places)
        return frozenset({circle})


OPEN = Policy(Sharing.SHARED, participants_only=False, confidences=True)
"""Shows everything to everybody; for what only the owner looks at."""


@dataclass(frozen=True, slots=True)
class View:
    """What one asker may see of one Session: in which windows of time, which layers.

    Attributes:
        confidences: Whether what was told in confidence is among it.
    """

    windows: tuple[Window, ...]
    knows: Rank
    rest: Rank
    confidences: bool = False

    def rank(self, layer: Layer, since: float, until: float, confidential: bool = False) -> Rank:
        """Standing of a row said between ``since`` and ``until``."""
        if confidential and not self.confidences:
            return Rank.HIDDEN
        if not any(start <= since and until <= end for start, end in self.windows):
            return Rank.HIDDEN
        return self.knows if layer is Layer.KNOWS else self.rest

    def hears_any(self, times: Sequence[float]) -> bool:
        """Whether anything that was said at some times, in order, is shown."""
        begun = ((bisect_left(times, start), end) for start, end in self.windows)
        is_inside = any(at < len(times) and times[at] <= end for at, end in begun)
        return is_inside and self.rest > Rank.HIDDEN


class Attendance:
    """Who was in which group, and when. Unknown departures count as present."""

    def __init__(self, presences: Iterable[Presence] = ()) -> None:
        self._windows: dict[str, dict[str, list[Window]]] = {}  # by user, then by circle
        for presence in presences:
            self.add(presence)

    def add(self, presence: Presence) -> None:
        """Record an interval; one that starts at the same time is replaced."""
        windows = self._windows.setdefault(presence.user, {}).setdefault(presence.circle, [])
        until = math.inf if presence.until is None else presence.until
        windows[:] = [w for w in windows if w[0] != presence.since]
        windows.append((presence.since, until))
        windows.sort()

    def forget(self, user: str) -> None:
        """Drop all intervals of a user."""
        self._windows.pop(user, None)

    def windows(self, circle: str, accounts: Iterable[str]) -> tuple[Window, ...]:
        """When any of ``accounts`` was in ``circle``."""
        found = [w for each in accounts for w in self._windows.get(each, {}).get(circle, ())]
        return tuple(sorted(found))


def view(session: Session, asker: Asker, policy: Policy, attendance: Attendance) -> View | None:
    """What ``asker`` may see of ``session``; ``None`` if nothing."""
    windows = _audience(session, asker, policy, attendance)
    if not windows:
        return None
    knows, rest = _persona(session.persona == asker.persona, policy)
    if knows is Rank.HIDDEN and rest is Rank.HIDDEN:
        return None
    is_teller = not session.is_group and not asker.is_group and session.owner in asker.accounts
    is_told = policy.confidences or (is_teller and rest is Rank.OWN)
    return View(windows, knows, rest, is_told)


def standpoint(asker: Asker, policy: Policy) -> Hashable:
    """All that :func:`view` looks at in an asker: who share it see the same."""
    audience: Hashable = asker.circle
    if not asker.is_group:
        audience = asker.accounts, home_of(asker.circle)
    if policy.confidences or (asker.is_group and not policy.participants_only):
        audience = None
    persona = None if policy.sharing is Sharing.SHARED else asker.persona
    return asker.is_group, audience, persona


def _audience(
    session: Session, asker: Asker, policy: Policy, attendance: Attendance
) -> tuple[Window, ...]:
    if not policy.participants_only:
        return ALWAYS
    if asker.is_group:
        circles = policy.space(asker.circle) if policy.spaces else {asker.circle}
        return ALWAYS if session.is_group and session.circle in circles else ()
    if session.is_group:
        circles = policy.space(session.circle) if policy.spaces else {session.circle}
        return tuple(w for c in circles for w in attendance.windows(c, asker.accounts))
    if session.owner not in asker.accounts:
        return ()
    home = home_of(session.circle)
    return ALWAYS if not home or home == home_of(asker.circle) else ()


def _persona(same: bool, policy: Policy) -> tuple[Rank, Rank]:
    """Standing of the layers (KNOWS, everything else)."""
    if same or policy.sharing is Sharing.SHARED:
        return Rank.OWN, Rank.OWN
    others = Rank.FOREIGN if policy.cross_persona else Rank.HIDDEN
    if policy.sharing is Sharing.ISOLATED:
        return others, others
    return Rank.OWN, others


def in_confidence(message: Message) -> bool:
    """Whether its sender asks, in it or right beside it, to keep it to oneself."""
    return message.confided or (message.is_human and asks_to_keep(message.text))


def rank_of(seen: View | None, row: Row | Message) -> Rank:
    """Standing of a row, with what an asker may see of its Session."""
    return seen.rank(*span(row)) if seen else Rank.HIDDEN


def span(row: Row | Message) -> tuple[Layer, float, float, bool]:
    """Layer of a row of a Session, when it was said, and whether in confidence."""
    if isinstance(row, Message):
        return Layer.SESSION, row.at, row.at, in_confidence(row)
    return (row.layer, *row.span, bool(getattr(row, "confidential", False)))
