"""Who speaks, where, and to which persona."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Asker, Session, asker_of


@dataclass(frozen=True, slots=True)
class Caller:
    """Who speaks, where, and to which persona.

    Attributes:
        user: User id.
        name: What they are called at the moment.
    """

    session: Session
    user: str
    name: str
    is_admin: bool = False

    @property
    def asker(self) -> Asker:
        return asker_of(self.session, self.user)

    @property
    def is_owner(self) -> bool:
        """Whether everybody's memory may be shown: to an admin, where nobody else reads."""
        return self.is_admin and not self.session.is_group
