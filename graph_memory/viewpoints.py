"""Looking through somebody's eyes: what they could be reminded of, and what keeps the rest.

For the owner only. Nothing here decides who sees what: what is visible comes from recall
(``Recaller.inspect``, ``rehearse``), and what keeps a row away from ``scope.fence``.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import NotFoundError
from .identity import Identities
from .journal import Journal, Rows, catalogue
from .model import Asker, Fact, Session, User, session_of
from .recall import Recall, Recaller
from .recall.documents import Kind, message_key
from .recall.index import Index
from .recall.sight import Sight
from .scope import Attendance, Barrier, Fence, Policy, Rank, View, fence, span
from .validity import Standing, standings

NOBODY = ""
STRANGER = "\x00"
"""A persona that nobody ever talked to; no persona can be called so."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Whose eyes there are to look through.

    Attributes:
        people: Users and what they are called, in order of names.
        groups: Circles of groups and their titles.
        personas: Personas that have memories.
    """

    people: list[tuple[str, str]]
    groups: list[tuple[str, str]]
    personas: list[str]


@dataclass(frozen=True, slots=True)
class Seen:
    """A fact that the asker may be reminded of.

    Attributes:
        foreign: Whether it is another persona's, let in by a setting.
    """

    fact: Fact
    standing: Standing
    foreign: bool


@dataclass(frozen=True, slots=True)
class Outlook:
    """What an asker sees of all facts at a time, the newest first.

    Attributes:
        seen: What can be seen, true or not.
        hidden: What cannot, and why.
        unknown: How many facts were not known yet.
        archived: How many that could be seen are archived, so nobody is reminded of them.
        since: When the first fact was learned, seconds since the epoch; ``at`` if none was.
    """

    seen: list[Seen]
    hidden: list[tuple[Fact, Barrier]]
    unknown: int
    archived: int
    since: float

    @property
    def barriers(self) -> Counter[Barrier]:
        """How many facts each barrier keeps away."""
        return Counter(each for _, each in self.hidden)


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that answers the question and that the asker is not told.

    Attributes:
        kind: ``fact``, ``message`` or ``episode``.
        text: The line as the owner sees it.
    """

    kind: str
    id: str
    text: str
    at: float
    barrier: Barrier


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question, asked twice.

    Attributes:
        told: What the asker is told.
        all: What there is.
        kept: What of it scope keeps away, best first.
    """

    told: Recall
    all: Recall
    kept: list[Kept]


class Viewpoints:
    """Everybody's view of one memory. Used on the event loop."""

    def __init__(
        self,
        journal: Journal,
        recall: Recaller,
        policy: Policy,
        attendance: Attendance,
        identities: Identities,
    ) -> None:
        self._journal = journal
        self._recall = recall
        self._policy = policy
        self._attendance = attendance
        self._identities = identities

    async def choices(self) -> Choices:
        """Whose eyes there are to look through."""

        def work(db: sqlite3.Connection) -> Choices:
            users = [user.id for user in Rows(db).scan(User)]
            names = catalogue.names(db, users)
            sessions = catalogue.sessions(db)
            groups = {s.circle: s.title or s.circle for s in sessions if s.is_group}
            return Choices(
                sorted(((id, names.get(id, id)) for id in users), key=lambda each: each[1]),
                sorted(groups.items(), key=lambda each: each[1]),
                sorted({session.persona for session in sessions}),
            )

        return await self._journal.look(work)

    def asker(self, user: str, group: str, persona: str) -> Asker:
        """Who asks.

        Args:
            user: Their id, or :data:`NOBODY`.
            group: Circle of the group in which they ask; empty: in private.
            persona: Whom they ask; :data:`STRANGER` is one that knows nothing yet.

        Raises:
            NotFoundError: Nobody asks in private.
        """
        accounts = self._identities.accounts(user) if user else frozenset[str]()
        if group:
            return Asker(user or None, group, True, persona, accounts)
        if not user:
            raise NotFoundError("nobody in particular asks in groups only")
        platform, _, account = user.partition(":")
        home = session_of(platform, "", account, persona)
        return Asker(user, home.circle, False, persona, accounts)

    async def outlook(self, asker: Asker, at: float) -> Outlook:
        """What an asker sees of what is known at ``at``, seconds since the epoch.

        What is archived is not in recall any more; whether it could be seen is decided by
        the views that recall goes by.
        """
        views = self._recall.visible(asker)
        archived = await self._journal.look(lambda db: catalogue.archived(db, float("inf"), -1))
        ranked = await self._recall.inspect(asker, _ranked)
        ranked += [(fact, _rank(views.get(fact.session), fact)) for fact in archived]
        sessions = await self._journal.look(
            lambda db: {session.id: session for session in catalogue.sessions(db)}
        )
        return await asyncio.to_thread(self._arrange, asker, ranked, sessions, at)

    def _arrange(
        self,
        asker: Asker,
        ranked: Sequence[tuple[Fact, Rank]],
        sessions: Mapping[str, Session],
        at: float,
    ) -> Outlook:
        shown = {fact.id: rank for fact, rank in ranked if rank is not Rank.HIDDEN}
        seen = [
            Seen(fact, standing, shown[fact.id] is Rank.FOREIGN)
            for fact, standing in standings((f for f, _ in ranked if f.id in shown), at)
        ]
        fences = self._fences(asker, sessions.values())
        hidden = [
            (fact, found)
            for fact, rank in ranked
            if rank is Rank.HIDDEN and fact.recorded_at <= at and fact.session in fences
            if (found := fences[fact.session].barrier(fact))
        ]
        seen.sort(key=lambda each: (-each.fact.recorded_at, each.fact.id))
        hidden.sort(key=lambda each: (-each[0].recorded_at, each[0].id))
        unknown = sum(fact.recorded_at > at for fact, _ in ranked)
        archived = sum(each.standing is Standing.ARCHIVED for each in seen)
        since = min((fact.recorded_at for fact, _ in ranked), default=at)
        return Outlook(seen, hidden, unknown, archived, since)

    def _fences(self, asker: Asker, sessions: Iterable[Session]) -> dict[str, Fence]:
        """What stands between an asker and each Session, by its id."""
        return {
            session.id: fence(session, asker, self._policy, self._attendance)
            for session in sessions
        }

    async def compare(self, asker: Asker, text: str) -> Comparison:
        """Ask a question as ``asker``, and once more as if there were no scope."""
        told = await self._recall.rehearse(asker, text)
        everything = await self._recall.rehearse(asker, text, unscoped=True)

        def work(index: Index, sight: Sight) -> list[Kept]:
            found = []
            fences = self._fences(asker, index.sessions.values())
            for item in everything.items:
                is_message = item.kind == Kind.MESSAGE.name.lower()
                key = message_key(int(item.id)) if is_message else item.id
                number = index.documents.number(key)
                if number is None or sight.positions[number] >= 0:
                    continue
                source = index.documents[number].source
                reason = (
                    fences[source.session].barrier(source) if source.session in fences else None
                )
                if reason:
                    found.append(Kept(item.kind, item.id, item.text, item.at, reason))
            return found

        return Comparison(told, everything, await self._recall.inspect(asker, work))


def _ranked(index: Index, sight: Sight) -> list[tuple[Fact, Rank]]:
    """All facts in recall, and how each of them stands to the asker."""
    numbers = np.array(index.documents.numbers(), np.intp)
    numbers = numbers[index.documents.kind.values[numbers] == Kind.FACT]
    positions = sight.positions[numbers]
    shown = np.flatnonzero(positions >= 0)
    ranks = np.full(len(numbers), Rank.HIDDEN, np.int8)
    ranks[shown] = np.where(sight.foreign[positions[shown]], Rank.FOREIGN, Rank.OWN)
    all_ranks = tuple(Rank)
    found = []
    for number, rank in zip(numbers.tolist(), ranks.tolist(), strict=True):
        source = index.documents[number].source
        assert isinstance(source, Fact)
        found.append((source, all_ranks[rank]))
    return found


def _rank(seen: View | None, fact: Fact) -> Rank:
    return seen.rank(*span(fact)) if seen else Rank.HIDDEN
