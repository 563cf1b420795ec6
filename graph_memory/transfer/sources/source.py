"""Source: a file that can be imported, and what its owner says about it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, Protocol

from ...errors import ClosedError, FormatError
from ...model import GROUP, NO_PERSONA, PRIVATE, Session, session_of
from ..file_format import Piece
from ..intake import Skipped, SourceLine

_SHARED = re.compile(r"(\d+)_(\d+)")
"""Session id of a group under AstrBot's ``unique_session``: sender and group."""

Pieces = Iterator[Piece | SourceLine | Skipped]


@dataclass(frozen=True, slots=True)
class Options:
    """What the owner says about a source.

    Attributes:
        zone: Of times that name none.
        persona: Of conversations that name none.
        platform: Type of the platform whose accounts a source names.
        platforms: Platform type by id, as AstrBot's settings have them.
        bots: Accounts of the bot.
        into: Circle of what does not say where it was said; empty: it stays outside.
        now: Time of what does not say when.
    """

    zone: tzinfo = UTC
    persona: str = NO_PERSONA
    platform: str = ""
    platforms: Mapping[str, str] = field(default_factory=dict)
    bots: frozenset[str] = frozenset()
    into: str = ""
    now: float = 0.0

    @property
    def key(self) -> str:
        """What of it decides about what comes in."""
        platforms = sorted(self.platforms.items())
        return repr((self.persona, self.platform, platforms, sorted(self.bots), self.into))

    def session(self) -> Session | None:
        """The Session of what does not say where it was said."""
        if not self.into:
            return None
        platform, kind, key = split_circle(self.into)
        group, account = (key, "") if kind == GROUP else ("", key)
        return session_of(platform, group, account, self.persona)


class Source(Protocol):
    """Something a memory can be fed from.

    Attributes:
        format: Its name.
        path: Where it is.
    """

    format: str
    path: Path

    def read(self, options: Options) -> Pieces:
        """All of it, piece by piece. Blocks.

        Raises:
            FormatError: It is not what it should be.
        """


class Stop:
    """Asked between two pieces of work whether to go on."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Go on no longer."""
        self._event.set()

    def look(self) -> None:
        """Raise if that was said.

        Raises:
            ClosedError: It was.
        """
        if self._event.is_set():
            raise ClosedError("the import was stopped")


@dataclass(frozen=True, slots=True)
class Origin:
    """A chat window as AstrBot names it."""

    platform: str
    group: str
    account: str
    umo: str


def origin(umo: str, platforms: Mapping[str, str]) -> Origin | None:
    """The chat window behind a unified message origin.

    ``None`` if nobody can tell: another form, an unknown platform.
    """
    platform, kind, session = [*umo.split(":", 2), "", ""][:3]
    type = platforms.get(platform, "")
    if not type or not session:
        return None
    if kind == "GroupMessage":
        shared = _SHARED.fullmatch(session)
        group = shared[2] if shared else session
        return Origin(type, group, "", f"{platform}:{kind}:{group}")
    if kind != "FriendMessage":
        return None
    # A web chat's session is made of the user's name and a number.
    account = session.split("!")[1] if session.startswith("webchat!") else session
    return Origin(type, "", account, umo) if account else None


def split_circle(circle: str) -> tuple[str, str, str]:
    """Platform, kind and key of a circle.

    Raises:
        FormatError: It is none.
    """
    platform, kind, key = [*circle.split(":", 2), "", ""][:3]
    if not platform or kind not in (GROUP, PRIVATE) or not key:
        error = FormatError(f"{circle[:80]!r} is no chat; write platform:group:number", 0, "into")
        raise error.told("no_chat", name=circle[:80])
    return platform, kind, key


def pages(read: Callable[[int], list[tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    """Rows of a table, one page after the other.

    Args:
        read: The page that follows the row of a number, which is the first column.
    """
    after = -1
    while page := read(after):
        after = page[-1][0]
        yield from page
