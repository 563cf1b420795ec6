"""What one asker may see of the journal's rows, decided row by row by ``scope.py``."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import NotFoundError
from ..journal import Rows
from ..model import Asker, Fact, Message, Name, Session
from ..scope import Attendance, Policy, Rank, span, view


class Sight:
    """What one asker may see, on the thread of one read."""

    def __init__(self, rows: Rows, asker: Asker, policy: Policy, attendance: Attendance) -> None:
        self._rows = rows
        self._asker = asker
        self._policy = policy
        self._attendance = attendance

    def session(self, id: str) -> Session | None:
        """A Session, seen or not."""
        return self._rows.get(Session, id)

    def rank(self, row: Fact | Name | Message) -> Rank:
        """How a row stands to the asker."""
        session = self._rows.get(Session, row.session)
        if session is None:
            return Rank.HIDDEN
        seen = view(session, self._asker, self._policy, self._attendance)
        return seen.rank(*span(row)) if seen else Rank.HIDDEN

    def shows(self, row: Fact | Name | Message) -> bool:
        """Whether the asker may see a row at all."""
        return self.rank(row) is not Rank.HIDDEN

    def own(self, id: str) -> Fact:
        """A fact that the asker may see and has a say in: about them, or said by them.

        Raises:
            NotFoundError: There is none. Whether it does not exist, is not to be seen or
                is somebody else's makes no difference.
        """
        fact = self._rows.get(Fact, id)
        if fact is not None and self.shows(fact) and self._asker.accounts & _people(fact):
            return fact
        raise NotFoundError(f"there is no fact {id} of yours")

    def names(self, nodes: Iterable[str]) -> dict[str, str]:
        """What nodes are called where the asker can see it; else their account."""
        found: dict[str, str] = {}
        identities = self._rows.identities()
        for node in nodes:
            names = (n for one in identities.nodes(node) for n in self._rows.find(Name, a=one))
            visible = [name for name in names if self.shows(name)]
            newest = max(visible, key=lambda name: (name.last_at, name.id), default=None)
            found[node] = newest.text if newest else node.rsplit(":", 1)[-1]
        return found


def _people(fact: Fact) -> set[str]:
    return {fact.subject, fact.object, fact.speaker}
