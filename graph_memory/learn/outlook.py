"""What the Session that is learned into may see of the memory.

Whatever learning offers to the model, resolves a name to, strengthens or replaces has
passed :meth:`Outlook.shows`; rows of other personas let in by ``cross_persona_search``
have not, they are for looking at only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..journal import Rows
from ..model import (
    EntityType,
    Episode,
    Fact,
    Mention,
    Message,
    Name,
    Participation,
    Session,
    asker_of,
    is_entity,
)
from ..retention import DAY
from ..scope import Attendance, Policy, Rank, View, span, view
from ..text import normalise
from .sheet import mention_id
from .words import kin, of, same_kin

YEAR = 365 * DAY
"""For which a name that somebody no longer bears is not another's alone."""


class Outlook:
    """The rows as one Session sees them; lives as long as one piece of work on ``rows``."""

    def __init__(
        self, rows: Rows, session: Session, policy: Policy, attendance: Attendance
    ) -> None:
        self.rows = rows
        self.session = session
        self._identities = rows.identities()
        accounts = self._identities.accounts(session.owner)
        self._asker = asker_of(session, session.owner or None, accounts)
        self._policy = policy
        self._attendance = attendance
        self._sessions: dict[str, Session | None] = {session.id: session}
        self._views: dict[str, View | None] = {}
        self._history: dict[tuple[str, str], list[Fact]] = {}
        self._called: dict[str, Name | None] = {}

    def view(self, session: Session) -> View | None:
        """What may be seen of a Session."""
        if session.id not in self._views:
            self._views[session.id] = view(session, self._asker, self._policy, self._attendance)
            self._sessions[session.id] = session
        return self._views[session.id]

    def shows(self, row: Name | Mention | Participation | Episode | Fact | Message) -> bool:
        """Whether a row may be seen, as the Session's own."""
        session = self._session(row.session)
        seen = self.view(session) if session else None
        return seen is not None and seen.rank(*span(row)) is Rank.OWN

    def is_same_circle(self, session: str) -> bool:
        """Whether a Session is of the same chat window."""
        found = self._session(session)
        return found is not None and found.circle == self.session.circle

    def _session(self, id: str) -> Session | None:
        if id not in self._sessions:
            self._sessions[id] = self.rows.get(Session, id)
        return self._sessions[id]

    def canonical(self, node: str) -> str:
        """The node under which this Session knows a node: of merged entities the survivor,
        of all accounts of whoever owns this private chat the one that owns it."""
        if node in self._asker.accounts:
            return self.session.owner
        return self._identities.canonical(node)

    def nodes(self, node: str) -> frozenset[str]:
        """All that are one with a node here, the node included."""
        accounts = self._asker.accounts
        return accounts if node in accounts else self._identities.nodes(node)

    def is_one(self, node: str, other: str) -> bool:
        """Whether two nodes are one here."""
        return self.canonical(node) == self.canonical(other)

    def facts_of(self, subject: str, limit: int) -> list[Fact]:
        """The newest visible facts about a node, those of this Session first."""
        here, found = self.session.id, dict[str, Fact]()
        for session in (here, None):
            for node in sorted(self.nodes(subject)):
                facts = self.rows.find(Fact, session=session, a=node, newest=limit)
                found.update((fact.id, fact) for fact in facts)
        return [fact for fact in found.values() if self.shows(fact)]

    def facts_here(self, limit: int) -> list[Fact]:
        """The newest facts of this Session, whatever they are about."""
        found = self.rows.find(Fact, session=self.session.id, newest=limit)
        return [fact for fact in found if self.shows(fact)]

    def facts_with(self, object: str, limit: int) -> list[Fact]:
        """The newest visible facts with a node as object."""
        nodes = sorted(self.nodes(object))
        found = (fact for node in nodes for fact in self.rows.find(Fact, b=node, newest=limit))
        return [fact for fact in found if self.shows(fact)]

    def history(self, subject: str, predicate: str = "") -> list[Fact]:
        """The visible facts about a node that replace others or have ``predicate``."""
        key = (self.canonical(subject), predicate)
        if key not in self._history:
            nodes = sorted(self.nodes(subject))
            found = (fact for node in nodes for fact in self.rows.history(node, predicate))
            self._history[key] = [fact for fact in found if self.shows(fact)]
        return self._history[key]

    def is_forgotten(self, message: Message) -> bool:
        """Whether a message is not to be recalled, and so not to be learned from."""
        return self.rows.is_forgotten(message)

    def is_replaced(self, fact: Fact) -> bool:
        """Whether a visible fact replaces this one."""
        return fact.id in replaced(self.history(fact.subject))

    def fact(self, id: str) -> Fact | None:
        """A fact as it stands now, if it may be seen."""
        found = self.rows.get(Fact, id)
        return found if found and self.shows(found) else None

    def names(self, norm: str) -> list[Name]:
        """The visible names that read ``norm``."""
        return [name for name in self.rows.find(Name, b=norm) if self.shows(name)]

    def bearers(self, norm: str, *, seen: bool = False) -> set[str]:
        """The users of this chat window who are called that.

        Who goes by another name now counts for a year after the name was last theirs.

        Args:
            seen: Only as far as may be seen, for what the model is shown; else whatever
                persona they spoke to.
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
        return max(
            (row.last_at for row in found if self._is_here(row, seen=seen)), default=math.inf
        )

    def _is_here(self, row: Name | Participation, *, seen: bool) -> bool:
        return self.is_same_circle(row.session) and (not seen or self.shows(row))

    def norms(self, node: str) -> set[str]:
        """All that a node is called in what may be seen, normalised."""
        found = (name for a in sorted(self.nodes(node)) for name in self.rows.find(Name, a=a))
        return {name.norm for name in found if self.shows(name)}

    def relative(self, user: str, word: str) -> str | None:
        """Who is known as somebody's mother, boss …; ``None`` if nobody is.

        That is a person of their own, or one who was known by name before it was said what
        they are to that somebody.

        Args:
            word: One of ``words.KIN``.
        """
        own = self.canonical(kin(self.session.circle, user, word))
        if self.called(own) is not None:
            return own
        found = {
            name.node
            for called in self.norms(user)
            if self._is_only(called)
            for each in same_kin(word)
            for name in self.names(normalise(of(called, each)))
            if is_entity(name.node) and self.is_same_circle(name.session)
        }
        nodes = {self.canonical(node) for node in found}
        return nodes.pop() if len(nodes) == 1 else None

    def _is_only(self, called: str) -> bool:
        """Whether one user of this chat window is called that, and no other."""
        return len(self.bearers(called, seen=True)) == 1

    def called(self, node: str) -> Name | None:
        """What a node was called last, in this Session if it was ever named here."""
        if node not in self._called:
            nodes = sorted(self.nodes(node))
            self._called[node] = self._latest(n for a in nodes for n in self.rows.find(Name, a=a))
        return self._called[node]

    def _latest(self, names: Iterable[Name]) -> Name | None:
        here = self.session.id
        seen = [name for name in names if self.shows(name)]
        return max(seen, key=lambda n: (n.session == here, n.last_at, n.id), default=None)

    def type_of(self, entity: str) -> EntityType | None:
        """What an entity is, by where it was mentioned; ``None`` if it never was."""
        own = self.rows.get(Mention, mention_id(self.session.id, entity))
        nodes = sorted(self.nodes(entity))
        found = (mention for node in nodes for mention in self.rows.find(Mention, a=node))
        seen = own or max(
            (mention for mention in found if self.shows(mention)),
            key=lambda m: (m.last_at, m.id),
            default=None,
        )
        return EntityType(seen.type) if seen else None


def replaced(facts: Iterable[Fact]) -> set[str]:
    """Ids of what ``facts`` replace."""
    return {old for fact in facts for old in fact.supersedes}
