"""Who speaks, where, and to which persona."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Asker, Session, asker_of


@dataclass(frozen=True, slots=True)
class Caller:
    """Who speaks, where, and to which persona.

    Attributes:
        user: User id.
        name: What they are called at the moment.
        accounts: Their other accounts, as far as the owner linked them.
    """

    session: Session
    user: str
    name: str
    is_admin: bool = False
    accounts: frozenset[str] = field(default_factory=frozenset)

    @property
    def asker(self) -> Asker:
        return asker_of(self.session, self.user, self.accounts)

    @property
    def is_owner(self) -> bool:
        """Whether everybody's memory may be shown: to an admin, where nobody else reads."""
        return self.is_admin and not self.session.is_group
