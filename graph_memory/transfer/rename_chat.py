"""Renaming of a chat: its number, or its whole platform, has changed.

Rows and messages stay as they are; only their Sessions say that they belong to the new
chat window.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from ..errors import FormatError
from ..model import GROUP, Change, Link, Row, Session, user_id
from ..store import Draft, Journal, contents
from ..store.pauses import pauses, put_pause
from ..store.rows import Tell, write
from .file_format import split_circle
from .import_runs import OWNER

_REASON = "move"


async def full_names(journal: Journal, old: str, new: str) -> tuple[str, str]:
    """The circles that two bare numbers stand for, if one chat has the old one.

    Anything else is returned as it is.
    """

    def look(db: sqlite3.Connection) -> set[str]:
        circles = {session.circle for session in contents.sessions(db).values()}
        return {circle for circle in circles if circle.rpartition(":")[2] == old}

    found = await journal.look(look) if ":" not in f"{old}{new}" else set()
    if len(found) != 1:
        return old, new
    (circle,) = found
    return circle, f"{circle.removesuffix(old)}{new}"


async def preview_renaming(journal: Journal, old: str, new: str) -> list[tuple[str, str]]:
    """What :func:`rename_chat` would do: the circle of each Session, and its new one.

    Args:
        old, new: Two circles of a kind, two user ids (their private chats), or two
            platforms (all chats there); anything else raises ``FormatError``.
    """
    _require_alike(old, new)
    moved = await journal.look(lambda db: _moved(db, old, new))
    return [(each.circle, circle) for each, circle in moved]


async def rename_chat(journal: Journal, old: str, new: str, at: float) -> Change | None:
    """Let a chat's memories belong to another one; ``None`` if there are none.

    Accounts whose private chats are renamed are linked to the new ones: they are one
    person's.
    """
    _require_alike(old, new)
    with journal.long_work():
        return await journal.alter(lambda db, tell: _rename(db, old, new, at, tell))


def _require_alike(old: str, new: str) -> None:
    if _kind(old) != _kind(new) or old == new:
        raise FormatError("old and new must be of a kind, and not the same").told("way")


def _kind(place: str) -> str:
    colons = place.count(":")
    if not place or place.startswith(":") or place.endswith(":"):
        error = FormatError(f"{place[:80]!r} is no chat, account or platform")
        raise error.told("place", name=place[:80])
    if not colons:
        return "platform"
    return "user" if colons == 1 else split_circle(place)[1]


def _moved(db: sqlite3.Connection, old: str, new: str) -> list[tuple[Session, str]]:
    """The Sessions that are renamed, and the circle that each is in then."""
    found: list[tuple[Session, str]] = []
    for each in contents.sessions(db).values():
        if _kind(old) == "user" and each.owner == old:
            kind = each.circle.split(":", 2)[1]
            found.append((each, new.replace(":", f":{kind}:", 1)))
        elif _kind(old) != "user" and f"{each.circle}:".startswith(f"{old}:"):
            found.append((each, new + each.circle.removeprefix(old)))
    return found


def _rename(db: sqlite3.Connection, old: str, new: str, at: float, tell: Tell) -> Change | None:
    rows: list[Row] = []
    for session, circle in _moved(db, old, new):
        platform, kind, key = split_circle(circle)
        owner = "" if kind == GROUP else user_id(platform, key)
        # Where to write to is not known until somebody speaks there.
        rows.append(replace(session, circle=circle, owner=owner, umo=""))
        if owner and owner != session.owner:
            rows.append(Link.of(session.owner, owner))
    for kind, id, since in pauses(db):  # whoever asked for one asked where they were
        if f"{id}:".startswith(f"{old}:"):
            put_pause(db, kind, new + id.removeprefix(old), since)
    return write(db, Draft(OWNER, _REASON, rows), at, tell)
