"""Who asked that nothing new be remembered: people, and whole chat windows.

A pause of a person holds everywhere they speak. What was remembered before stays and can
be recalled; what others say about them is others' own word.
"""

from __future__ import annotations

from collections.abc import Callable

from ..journal import Journal, pauses
from ..journal.pauses import Kind
from ..model import Session


class Pauses:
    """The pauses of one journal.

    Args:
        now: Clock.
    """

    def __init__(self, journal: Journal, now: Callable[[], float]) -> None:
        self._journal = journal
        self._now = now
        self._known: set[tuple[str, str]] = set()

    async def load(self) -> None:
        """Read what is in force."""
        self._known = await self._journal.look(pauses.pauses)

    def holds(self, kind: Kind, id: str) -> bool:
        """Whether a user or a chat window asked for a pause."""
        return (kind, id) in self._known

    def covers(self, session: Session, user: str) -> bool:
        """Whether nothing that ``user`` says in ``session`` may be stored."""
        return self.holds("circle", session.circle) or self.holds("user", user)

    async def pause(self, kind: Kind, id: str) -> None:
        """Store nothing new; when this returns it is on disk."""
        self._known.add((kind, id))  # first: what is said meanwhile is not stored either
        await self._journal.alter(lambda db, _tell: pauses.pause(db, kind, id, self._now()))

    async def resume(self, kind: Kind, id: str) -> None:
        """Store what is said again."""
        await self._journal.alter(lambda db, _tell: pauses.resume(db, kind, id))
        self._known.discard((kind, id))
