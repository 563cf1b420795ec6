"""Sources of imports: one module for each kind of file, and what all share."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from operator import itemgetter
from pathlib import Path
from typing import Any

from ...errors import FormatError
from ...model import GROUP, NO_PERSONA, Session
from ...store.connection import open_to_read
from ...store.rows import PAGE, paged
from ..file_format import Piece, split_circle
from ..intake import ChatWindow, Skipped, SourceLine

_BETWEEN = {"lark": "%"} | dict.fromkeys(
    ("aiocqhttp", "qq_official", "qq_official_webhook", "slack"), "_"
)
"""What is between sender and group in the id of a Session under AstrBot's ``unique_session``."""

Pieces = Iterator[Piece | SourceLine | Skipped]


@dataclass(frozen=True, slots=True)
class Options:
    """What the owner says about a file.

    Attributes:
        zone: Of times that name none.
        persona: Of conversations that name none.
        platform: Type of the platform whose accounts a file names.
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

    def place(self) -> ChatWindow | None:
        """The chat window of what does not say where it was said."""
        if not self.into:
            return None
        platform, kind, key = split_circle(self.into)
        return ChatWindow(platform, *((key, "") if kind == GROUP else ("", key)))

    def session(self) -> Session | None:
        """The Session of what does not say where it was said."""
        place = self.place()
        return place.session(self.persona) if place else None


def place_of(umo: Any, platforms: Mapping[str, str]) -> ChatWindow | None:
    """The chat window behind a unified message origin of AstrBot.

    ``None`` for another form and for an unknown platform.
    """
    platform, kind, session = [*str(umo or "").split(":", 2), "", ""][:3]
    type = platforms.get(platform, "")
    if not type or not session:
        return None
    if kind == "GroupMessage":
        account, _, group = session.rpartition(_BETWEEN.get(type, "\0"))
        return ChatWindow(type, group, account, f"{platform}:{kind}:{group}")
    if kind != "FriendMessage":
        return None
    # A web chat's session is made of the user's name and a number.
    account = session.split("!")[1] if session.startswith("webchat!") else session
    return ChatWindow(type, "", account, str(umo)) if account else None


def circle_meant(text: str, platform: str) -> str:
    """The circle that somebody wrote, of ``platform`` if it names none.

    Raises:
        FormatError: It is none.
    """
    plain = text.replace("：", ":")
    circle = f"{platform}:{plain}" if plain.count(":") == 1 else plain
    if circle:
        split_circle(circle)
    return circle


@contextmanager
def database(path: Path, *tables: str) -> Iterator[tuple[sqlite3.Connection, set[str]]]:
    """A database that another program may be using, and the names of its tables.

    Raises:
        FormatError: It cannot be read, or has none of ``tables``.
    """
    try:
        with closing(open_to_read(path)) as db:
            db.execute("BEGIN")
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            found = {name for (name,) in db.execute(query)}
            if found.isdisjoint(tables):
                raise FormatError(f"it has none of the tables {', '.join(tables)}").told("alien")
            yield db, found
    except sqlite3.Error as error:
        raise FormatError(f"the database cannot be read: {error}").told("unreadable") from error


def pages(db: sqlite3.Connection, query: str, limit: int = PAGE) -> Iterator[tuple[Any, ...]]:
    """Rows of a table, page by page.

    Args:
        query: Takes the number after which to go on, the first column, and a limit.
    """
    return paged(lambda after: db.execute(query, (after, limit)).fetchall(), -1, itemgetter(0))


def objects(data: Any) -> list[dict[str, Any]]:
    """The objects in a list; none if it is no list."""
    return [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []


def parsed(text: Any) -> Any:
    """What a JSON text says; ``None`` if it is none."""
    try:
        return json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None
