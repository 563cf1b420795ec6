"""Messages, turns and episodes of messages, batches, presence and askers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from .kinds import BOT, NOBODY, Session

GAP = 600.0
"""Seconds of silence that end an episode."""
MAX_MESSAGES = 200
"""Messages of an episode."""


@dataclass(frozen=True, slots=True)
class Addressee:
    """Somebody a message turns to: mentioned (``@…``) or quoted in it.

    Attributes:
        user: User id, or ``bot``; empty if the platform does not say who is quoted.
        quoted: Id of the quoted message, 0 if it is not in the journal; ``None`` for a mention.
    """

    user: str
    name: str = ""
    quoted: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """What a message quotes, as the platform tells it; never stored.

    Attributes:
        user: As in :class:`Addressee`.
        ref: The platform's id of the quoted message, the part before ``@``.
    """

    user: str
    name: str = ""
    ref: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One line of chat in the journal.

    Attributes:
        id: Position in the journal, from 1; 0 before it is stored.
        sender: User id, or ``bot``; ``name`` is what they were called at the time.
        ref: The platform's message id; empty if it has none.
        batch: The batch that claimed it; ``None`` while it is buffered.
        to: Whom it turns to: the one it quotes first, then those it mentions.
        confided: Whether its sender asked right before or afterwards to keep it to oneself.
    """

    id: int
    session: str
    sender: str
    name: str
    text: str
    at: float
    ref: str = ""
    batch: int | None = None
    to: tuple[Addressee, ...] = ()
    confided: bool = False

    @property
    def is_human(self) -> bool:
        return self.sender != BOT

    @property
    def is_nobodys(self) -> bool:
        """Whether nobody knows who said it."""
        return self.sender.endswith(f":{NOBODY}")

    @property
    def mentions(self) -> tuple[str, ...]:
        """Ids of the users it turns to, each once."""
        users = dict.fromkeys(each.user for each in self.to)
        return tuple(user for user in users if user not in ("", BOT))


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one Session that are learned together, in one episode."""

    id: int
    session: Session
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Erased:
    """That messages are gone for good, and the presence of ``user`` with them, if any.

    ``is_aged``: for their age only, as nobody asked for it.
    """

    messages: tuple[int, ...]
    user: str = ""
    is_aged: bool = False


@dataclass(frozen=True, slots=True)
class Presence:
    """That a user was in a group from ``since`` (first real message) to ``until``."""

    circle: str
    user: str
    since: float
    until: float | None = None


@dataclass(frozen=True, slots=True)
class PresenceReset:
    """That the intervals of a user's presence follow anew, as they are now."""

    user: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """That another bot on the same memory wrote; what its rows became is told besides.

    Attributes:
        tables: Where.
        is_whole: Whether everything was compared, with another server than before.
    """

    tables: frozenset[str]
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf the memory is asked.

    Attributes:
        user: Who speaks; ``None`` if nobody in particular does.
        circle: Where the answer will be read; in a group, by others too.
        persona: The persona that answers.
        accounts: All accounts of ``user``, ``user`` included.
    """

    user: str | None
    circle: str
    is_group: bool
    persona: str
    accounts: frozenset[str] = field(default_factory=frozenset)


def asker_of(session: Session, user: str | None, accounts: Iterable[str] = ()) -> Asker:
    """The asker who speaks in ``session``; ``accounts`` are the user's other ones."""
    own = frozenset({user, *accounts} if user else ())
    return Asker(user, session.circle, session.is_group, session.persona, own)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message to the bot; made once for each of AstrBot's events.

    Attributes:
        user: User id of who speaks.
        name: What they are called at the moment.
        text: What they say.
        to: Whom it mentions, each once; the bot as well, if it is spoken to in a group.
        quote: What it quotes.
        ref: The platform's id of it, with the time, as some count from one again; empty if it
            has none.
        account: The account of ours that hears it, where each has ids of its own for messages.
        is_shared: Whether other accounts of ours may hear it as well, in the same group.
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
    account: str = ""
    is_shared: bool = False
    is_admin: bool = False
    accounts: frozenset[str] = field(default_factory=frozenset)
    message: Message | None = None

    @property
    def asker(self) -> Asker:
        """On whose behalf the memory is asked."""
        return asker_of(self.session, self.user, self.accounts)

    @property
    def ids(self) -> tuple[int, ...]:
        """Id of its message, if that is stored: what is being answered is no memory yet."""
        return (self.message.id,) if self.message else ()

    @property
    def is_owner(self) -> bool:
        """Whether everybody's memory may be shown: to an admin, where nobody else reads."""
        return self.is_admin and not self.session.is_group


def continues(started_at: float, last_at: float, messages: int, at: float, zone: tzinfo) -> bool:
    """Whether a message at ``at`` belongs to an episode that has so many messages.

    One ends with a gap of ten minutes (or a clock set back), 200 messages, or local midnight.
    """
    if messages >= MAX_MESSAGES or abs(at - last_at) >= GAP:
        return False
    first, new = (datetime.fromtimestamp(each, zone) for each in (started_at, at))
    return first.date() == new.date()
