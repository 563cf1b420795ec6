"""One conversational turn: who speaks where, to which persona, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Addressee, Asker, Message, Quote, Session, asker_of


@dataclass(frozen=True, slots=True)
class Turn:
    """One message to the bot; made once for each of AstrBot's events.

    Attributes:
        user: User id of who speaks.
        name: What they are called at the moment.
        text: What they say.
        to: Whom it mentions, each once; the bot as well, if it is spoken to in a group.
        quote: What it quotes.
        ref: The platform's id of it; empty if it has none.
        accounts: Other accounts of the person, as far as the owner linked them.
        message: It as it is stored, if it is.
    """

    session: Session
    user: str
    name: str
    text: str = ""
    to: tuple[Addressee, ...] = ()
    quote: Quote | None = None
    ref: str = ""
    is_admin: bool = False
    accounts: frozenset[str] = field(default_factory=frozenset)
    message: Message | None = None

    @property
    def asker(self) -> Asker:
        """On whose behalf the memory is asked."""
        return asker_of(self.session, self.user, self.accounts)

    @property
    def is_owner(self) -> bool:
        """Whether everybody's memory may be shown: to an admin, where nobody else reads."""
        return self.is_admin and not self.session.is_group
