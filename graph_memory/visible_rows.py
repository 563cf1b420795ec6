"""Rows of the journal that one asker may see, decided row by row by ``scope.py``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from .errors import NotFoundError
from .model import (
    Asker,
    EntityType,
    Fact,
    Mention,
    Message,
    Name,
    Participation,
    Session,
    SessionRow,
    asker_of,
    is_entity,
)
from .privacy.scope import Attendance, Policy, Rank, View, rank_of, view
from .retention import DAY
from .store import Rows

YEAR = 365 * DAY
"""Time for which a former name is still its former bearer's, too."""

Scoped = SessionRow | Message
R = TypeVar("R", Name, Mention, Participation, Fact)
ViewOf = Callable[[Session], View | None]


def view_for(asker: Asker, policy: Policy, attendance: Attendance) -> ViewOf:
    """What an asker may see of each Session, by the rules of ``scope.py``."""
    return lambda session: view(session, asker, policy, attendance)


@dataclass(eq=False, slots=True)
class VisibleRows:
    """Rows that one asker may see at rank ``least`` or above; for one read."""

    rows: Rows
    asker: Asker
    _view_of: ViewOf
    _least: Rank = Rank.FOREIGN
    _sessions: dict[str, Session | None] = field(default_factory=dict)
    _views: dict[str, View | None] = field(default_factory=dict)

    def session(self, id: str) -> Session | None:
        """A Session, visible or not."""
        if id not in self._sessions:
            self._sessions[id] = self.rows.get(Session, id)
        return self._sessions[id]

    def rank(self, row: Scoped) -> Rank:
        if row.session not in self._views:
            session = self.session(row.session)
            self._views[row.session] = self._view_of(session) if session else None
        return rank_of(self._views[row.session], row)

    def shows(self, row: Scoped) -> bool:
        """Whether a row may be shown; a line of the bot if what it answers may be."""
        if not isinstance(row, Message):
            return self.rank(row) >= self._least
        if self.rank(row) < self._least or self.rows.is_forgotten(row):
            return False
        asked = None if row.is_human else self.rows.answered(row)
        return asked is None or self.shows(asked)

    def find(self, cls: type[R], nodes: Iterable[str], newest: int | None = None) -> list[R]:
        """The visible rows about some nodes, of each the ``newest`` that changed last."""
        found = (row for a in sorted(nodes) for row in self.rows.find(cls, a=a, newest=newest))
        return list(filter(self.shows, found))

    def own(self, id: str, *, as_object: bool = False) -> Fact:
        """A visible fact about the asker or said by them.

        Args:
            as_object: Whether it is enough that something else is said to have to do with them.

        Raises:
            NotFoundError: There is none.
        """
        fact = self.rows.get(Fact, id)
        if fact is not None and self.shows(fact):
            people = {fact.subject, fact.speaker, fact.object if as_object else ""}
            if self.asker.accounts & people:
                return fact
        raise NotFoundError(f"there is no fact {id} of yours")

    def names_of(self, nodes: Iterable[str]) -> dict[str, str]:
        """The last visible name of each node, or else its account."""
        found: dict[str, str] = {}
        identities = self.rows.identities()
        for node in nodes:
            visible = self.find(Name, identities.nodes(node))
            newest = max(visible, key=lambda name: name.order, default=None)
            found[node] = newest.text if newest else node.rsplit(":", 1)[-1]
        return found


class LearnerRows(VisibleRows):
    """Rows of its own persona that a Session may see when something is learned in it."""

    def __init__(
        self, rows: Rows, session: Session, policy: Policy, attendance: Attendance
    ) -> None:
        self._identities = rows.identities()
        accounts = self._identities.accounts(session.owner)
        asker = asker_of(session, session.owner or None, accounts)
        super().__init__(rows, asker, view_for(asker, policy, attendance), Rank.OWN)
        self.here = session
        self._circles = policy.space(session.circle) if policy.spaces else {session.circle}
        self._sessions[session.id] = session
        self._history: dict[tuple[str, str], list[Fact]] = {}
        self._called: dict[str, Name | None] = {}

    def is_same_circle(self, session: str) -> bool:
        found = self.session(session)
        return found is not None and found.circle in self._circles

    def canonical(self, node: str) -> str:
        """A merged entity's survivor, or the account that owns a private chat."""
        if node in self.asker.accounts:
            return self.here.owner
        return self._identities.canonical(node)

    def nodes(self, node: str) -> frozenset[str]:
        """All nodes that are the same here, including the node."""
        accounts = self.asker.accounts
        return accounts if node in accounts else self._identities.nodes(node)

    def is_one(self, node: str, other: str) -> bool:
        return self.canonical(node) == self.canonical(other)

    def type_of(self, entity: str) -> EntityType | None:
        """Type of an entity by its last mention, of this Session first; ``None`` without."""
        here = self.here.id
        last = max(
            self.find(Mention, self.nodes(entity)),
            key=lambda m: (m.session == here, m.entity == entity, m.last_at, m.id),
            default=None,
        )
        return EntityType(last.type) if last else None

    def facts_of(self, subject: str, limit: int) -> list[Fact]:
        """The newest visible facts about a node, those of this Session first."""
        found: dict[str, Fact] = {}
        for node in sorted(self.nodes(subject)):
            own = self.rows.find(Fact, session=self.here.id, a=node, newest=limit)
            found.update((fact.id, fact) for fact in filter(self.shows, own))
        found.update((fact.id, fact) for fact in self.find(Fact, self.nodes(subject), limit))
        return list(found.values())

    def facts_with(self, object: str, limit: int) -> list[Fact]:
        """The newest visible facts with a node as object."""
        nodes = sorted(self.nodes(object))
        found = (fact for node in nodes for fact in self.rows.find(Fact, b=node, newest=limit))
        return list(filter(self.shows, found))

    def fact(self, id: str) -> Fact | None:
        """The present state of a visible fact."""
        found = self.rows.get(Fact, id)
        return found if found and self.shows(found) else None

    def history(self, subject: str, predicate: str = "") -> list[Fact]:
        """The visible facts about a node that replace others or have ``predicate``."""
        key = (self.canonical(subject), predicate)
        if key not in self._history:
            nodes = sorted(self.nodes(subject))
            found = (fact for node in nodes for fact in self.rows.history(node, predicate))
            self._history[key] = list(filter(self.shows, found))
        return self._history[key]

    def is_replaced(self, fact: Fact) -> bool:
        """Whether a visible fact replaces this one."""
        return any(fact.id in newer.supersedes for newer in self.history(fact.subject))

    def names(self, norm: str) -> list[Name]:
        """The visible names that read ``norm``."""
        return list(filter(self.shows, self.rows.find(Name, b=norm)))

    def norms(self, node: str) -> set[str]:
        """The visible names of a node, normalised."""
        return {name.norm for name in self.find(Name, self.nodes(node))}

    def called(self, node: str) -> Name | None:
        """The last visible name of a node, of this Session first."""
        if node not in self._called:
            here = self.here.id
            self._called[node] = max(
                self.find(Name, self.nodes(node)),
                key=lambda name: (name.session == here, name.order),
                default=None,
            )
        return self._called[node]

    def bearers(self, norm: str, *, seen: bool = False) -> set[str]:
        """The users of this chat window who are called that, or were within a year.

        ``seen``: by visible rows only, for what the model is shown; else of any persona.
        """
        last: dict[str, float] = {}
        for name in self.rows.find(Name, b=norm):
            if not is_entity(name.node) and self._is_here(name, seen=seen):
                user = self.canonical(name.node)
                last[user] = max(last.get(user, name.last_at), name.last_at)
        newest = max(last.values(), default=0.0)
        return {u for u, at in last.items() if newest - at <= YEAR or at >= self._spoke(u, seen)}

    def _spoke(self, user: str, seen: bool) -> float:
        """When a user last spoke in this chat window."""
        found = (row for node in self.nodes(user) for row in self.rows.find(Participation, a=node))
        here = (row.last_at for row in found if self._is_here(row, seen=seen))
        return max(here, default=math.inf)

    def _is_here(self, row: Name | Participation, *, seen: bool) -> bool:
        return self.is_same_circle(row.session) and (not seen or self.shows(row))
