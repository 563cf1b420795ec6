"""View as somebody else, for the owner: what they could be told, and why not more.

What is visible comes from recall, and why something is not from ``scope.view``. Two clocks: a
fact is *known* from when it was recorded, and *true* from when it began to be so until it ended
or a newer fact took its place. A newer fact that was not known yet takes nobody's place.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter

import numpy as np

from ..context import Context, Part
from ..errors import NotFoundError
from ..model import Asker, Fact, Message, Session, SessionRow, Status, User, home_of, session_of
from ..privacy.scope import Attendance, Policy, Rank, View, rank_of, span, view
from ..recall import Index, Item, Recall, Recaller, VisibleSet
from ..recall.documents import Kind
from ..store import Rows, contents, queries

NOBODY = ""
STRANGER = "\x00"
"""A persona that nobody ever talked to; no persona can be called so."""


class Standing(StrEnum):
    """How a fact that is known stands at a time; the first that holds, in this order."""

    ARCHIVED = "archived"
    """It has faded, or was put away."""
    REPLACED = "replaced"
    """A newer fact says how it is."""
    OVER = "over"
    """It has ended."""
    LATER = "later"
    """It has not begun."""
    TRUE = "true"


def standings(facts: Iterable[Fact], at: float) -> Iterator[tuple[Fact, Standing]]:
    """The facts that are known at ``at``, and how each of them stands.

    Args:
        facts: All that somebody may see; others replace nothing.
    """
    known = [fact for fact in facts if fact.recorded_at <= at]
    gone: dict[str, float] = defaultdict(lambda: float("inf"))
    for fact in known:
        since = fact.recorded_at if fact.valid_from is None else fact.valid_from
        for old in fact.supersedes:
            gone[old] = min(gone[old], since)
    for fact in known:
        yield fact, _standing(fact, gone.get(fact.id, float("inf")), at)


def _standing(fact: Fact, replaced_at: float, at: float) -> Standing:
    put_away = fact.recorded_at if fact.archived_at is None else fact.archived_at
    if fact.status != Status.ACTIVE and put_away <= at:
        return Standing.ARCHIVED
    if replaced_at <= at:
        return Standing.REPLACED
    if fact.valid_to is not None and fact.valid_to <= at:
        return Standing.OVER
    if fact.valid_from is not None and fact.valid_from > at:
        return Standing.LATER
    return Standing.TRUE


class Barrier(StrEnum):
    """Why somebody is not shown something.

    ``ABSENT``: said in a group of the asker's, before they came or after they left.
    ``CONFIDENCE``: told in confidence, by somebody else or in a group.
    """

    AUDIENCE = "audience"
    ABSENT = "absent"
    CONFIDENCE = "confidence"
    PERSONA = "persona"


BarrierOf = Callable[[SessionRow | Message], Barrier | None]


def barriers(
    sessions: Iterable[Session], asker: Asker, policy: Policy, attendance: Attendance
) -> BarrierOf:
    """Why the asker does not see a row of some Sessions; ``None`` if they do."""
    views: dict[str, tuple[View | None, View | None]] = {}
    for session in sessions:
        own = replace(asker, persona=session.persona)
        seen, akin = (view(session, each, policy, attendance) for each in (asker, own))
        views[session.id] = seen, akin

    def barrier(row: SessionRow | Message) -> Barrier | None:
        seen, akin = views.get(row.session, (None, None))
        if row.session not in views or rank_of(seen, row) is not Rank.HIDDEN:
            return None
        if akin is None:
            return Barrier.AUDIENCE
        if span(row)[-1] and not akin.confidences:
            return Barrier.CONFIDENCE
        return Barrier.ABSENT if rank_of(akin, row) is Rank.HIDDEN else Barrier.PERSONA

    return barrier


@dataclass(frozen=True, slots=True)
class Choices:
    """Users, groups and personas to view as: ids and names, in order of names.

    Attributes:
        homes: What accounts of ours have private chats for themselves; see :func:`home_of`.
    """

    people: list[tuple[str, str]]
    groups: list[tuple[str, str]]
    homes: list[str]
    personas: list[str]


@dataclass(frozen=True, slots=True)
class Outlook:
    """All facts as an asker sees them at a time, the newest first, by their ids.

    Attributes:
        foreign: Ids of those that are let in from another persona.
        seen, hidden: How each stands that the asker sees, and why the others are hidden.
        unknown: How many facts were not known yet.
        since: When the first fact was learned, seconds since the epoch; ``at`` if none was.
    """

    facts: dict[str, Fact]
    foreign: set[str]
    seen: dict[str, Standing]
    hidden: dict[str, Barrier]
    unknown: int
    since: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What an asker is told, and what would answer as well and is kept away, and why."""

    told: Recall
    kept: list[tuple[Item, Barrier]]


class ViewAs(Part):
    """Views of one memory as each of its askers has them; used on the event loop."""

    def __init__(self, context: Context, recall: Recaller) -> None:
        super().__init__(context)
        self._recall = recall

    async def choices(self) -> Choices:
        """Whom one can view as."""

        def work(db: sqlite3.Connection) -> Choices:
            users = [user.id for user in Rows(db).scan(User)]
            names = queries.names(db, users)
            sessions = contents.sessions(db).values()
            groups = {s.circle: s.called for s in sessions if s.is_group}
            return Choices(
                sorted(((id, names.get(id, id)) for id in users), key=lambda each: each[1]),
                sorted(groups.items(), key=lambda each: each[1]),
                sorted({home_of(s.circle) for s in sessions} - {""}),
                sorted({session.persona for session in sessions}),
            )

        return await self._journal.look(work)

    def asker(self, user: str, group: str, persona: str) -> Asker:
        """Who asks, in the group of a circle or, if that is empty or a home, in private.

        Raises:
            NotFoundError: :data:`NOBODY` asks in private, or the group is none.
        """
        accounts = self._context.identities.accounts(user) if user else frozenset[str]()
        if group.count(":") > 1:
            return Asker(user or None, group, True, persona, accounts)
        if not user or (group and ":" not in group):
            raise NotFoundError("nobody in particular asks in groups only")
        platform, _, account = user.partition(":")
        circle = session_of(platform, "", account, persona).circle
        return Asker(user, f"{group}:{account}" if group else circle, False, persona, accounts)

    async def outlook(self, asker: Asker, at: float) -> Outlook:
        """What an asker sees of what is known at ``at``, seconds since the epoch."""
        # What is archived is not in recall any more, but goes by the same views.
        views = self._recall.visible(asker)
        archived, sessions = await self._journal.look(
            lambda db: (queries.archived(db), contents.sessions(db).values())
        )
        facts, ranks = await self._recall.inspect(asker, _ranked)
        facts += archived
        ranks |= {fact.id: rank_of(views.get(fact.session), fact) for fact in archived}
        barrier = self._barriers(asker, sessions)
        return await asyncio.to_thread(_arrange, facts, ranks, barrier, at)

    async def compare(self, asker: Asker, text: str) -> Comparison:
        """Ask a question as ``asker``, and once more as if there were no scope."""
        told = await self._recall.rehearse(asker, text)
        everything = await self._recall.rehearse(asker, text, unscoped=True)

        def work(index: Index, visible: VisibleSet) -> list[tuple[Item, Barrier]]:
            found = []
            barrier = self._barriers(asker, index.sessions.values())
            for item in everything.items:
                number = index.documents.number(item.key)
                if number is None or visible.positions[number] >= 0:
                    continue
                if reason := barrier(index.documents[number].source):
                    found.append((item, reason))
            return found

        return Comparison(told, await self._recall.inspect(asker, work))

    def _barriers(self, asker: Asker, sessions: Iterable[Session]) -> BarrierOf:
        context = self._context
        return barriers(sessions, asker, context.settings.policy, context.attendance)


def _arrange(
    facts: list[Fact], ranks: Mapping[str, Rank], barrier: BarrierOf, at: float
) -> Outlook:
    # The newest first, by id where they are as new: two sorts by one value each are quicker.
    facts.sort(key=attrgetter("id"))
    facts.sort(key=attrgetter("recorded_at"), reverse=True)
    foreign = {id for id, rank in ranks.items() if rank is Rank.FOREIGN}
    shown = (fact for fact in facts if ranks[fact.id] is not Rank.HIDDEN)
    seen = {fact.id: standing for fact, standing in standings(shown, at)}
    kept = (fact for fact in facts if ranks[fact.id] is Rank.HIDDEN and fact.recorded_at <= at)
    hidden = {fact.id: why for fact in kept if (why := barrier(fact))}
    unknown = next((n for n, fact in enumerate(facts) if fact.recorded_at <= at), len(facts))
    since = facts[-1].recorded_at if facts else at
    return Outlook({fact.id: fact for fact in facts}, foreign, seen, hidden, unknown, since)


def _ranked(index: Index, visible: VisibleSet) -> tuple[list[Fact], dict[str, Rank]]:
    """All facts in recall, and by their ids how each of them stands to the asker."""
    numbers = np.array(index.documents.numbers(), np.intp)
    numbers = numbers[index.documents.kind[numbers] == Kind.FACT]
    facts, ranks = list[Fact](), dict[str, Rank]()
    for number, position in zip(numbers.tolist(), visible.positions[numbers].tolist(), strict=True):
        source = index.documents[number].source
        assert isinstance(source, Fact)
        rank = Rank.FOREIGN if position >= 0 and visible.foreign[position] else Rank.OWN
        facts.append(source)
        ranks[source.id] = rank if position >= 0 else Rank.HIDDEN
    return facts, ranks
