"""A chat that goes on elsewhere: its number, or its whole platform, has changed.

Rows and messages stay as they are; only their Sessions say that they belong to the new
chat. Who was present there is taken over up to now: whether somebody has come along shows
when they speak. Undoing the change takes presence back as well.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field, replace
from functools import partial

from ..errors import FormatError
from ..journal import Draft, Journal, arrivals, attendance, contents
from ..journal.rows import write
from ..model import GROUP, PRIVATE, Change, Link, Row, Session, stable_id, user_id
from .merge import OWNER
from .sources.base import split_circle


@dataclass(frozen=True, slots=True)
class Remap:
    """What moving a chat would do.

    Attributes:
        circles: The circles that move, and where to.
        sessions: How many Sessions they have.
    """

    circles: dict[str, str] = field(default_factory=dict)
    sessions: int = 0


async def preview(journal: Journal, old: str, new: str) -> Remap:
    """What :func:`remap` would do.

    Args:
        old, new: Two circles of a kind, two user ids (their private chats), or two
            platforms (all chats there).

    Raises:
        FormatError: They are not that.
    """
    way = _way(old, new)
    return await journal.look(lambda db: _plan(db, *way))


async def remap(journal: Journal, old: str, new: str, at: float) -> Change | None:
    """Let a chat's memories belong to another one; ``None`` if there are none.

    Accounts whose private chats move are linked to the new ones: they are one person's.

    Raises:
        FormatError: As :func:`preview`.
    """
    way = _way(old, new)
    return await journal.alter(partial(_remap, way=way, at=at))


def _way(old: str, new: str) -> tuple[str, str]:
    kinds = [_kind(each) for each in (old, new)]
    if kinds[0] != kinds[1] or old == new:
        raise FormatError("old and new must be of a kind, and not the same").told("way")
    if kinds[0] == "user":
        old, new = (_private(each) for each in (old, new))
    return old, new


def _kind(place: str) -> str:
    colons = place.count(":")
    if not place or place.startswith(":") or place.endswith(":"):
        raise FormatError(f"{place[:80]!r} is no chat, account or platform").told(
            "place", name=place[:80]
        )
    if not colons:
        return "platform"
    if colons == 1:
        return "user"
    return split_circle(place)[1]


def _private(user: str) -> str:
    platform, account = user.split(":", 1)
    return f"{platform}:{PRIVATE}:{account}"


def _plan(db: sqlite3.Connection, old: str, new: str) -> Remap:
    moved = {each.circle: _moved(each.circle, old, new) for each in _sessions(db, old)}
    return Remap(moved, len(_sessions(db, old)))


def _sessions(db: sqlite3.Connection, old: str) -> list[Session]:
    found = contents.sessions(db).values()
    return [each for each in found if each.circle == old or each.circle.startswith(f"{old}:")]


def _moved(circle: str, old: str, new: str) -> str:
    return new if circle == old else f"{new}{circle.removeprefix(old)}"


def _remap(
    db: sqlite3.Connection, tell: arrivals.Tell, *, way: tuple[str, str], at: float
) -> Change | None:
    sessions = _sessions(db, way[0])
    rows: list[Row] = []
    for session in sessions:
        circle = _moved(session.circle, *way)
        platform, kind, key = split_circle(circle)
        owner = "" if kind == GROUP else user_id(platform, key)
        # Where to write to is not known until somebody speaks there.
        rows.append(replace(session, circle=circle, owner=owner, umo=""))
        if owner and owner != session.owner:
            a, b = sorted((session.owner, owner))
            rows.append(Link(stable_id("k", a, b), a, b))
    change = write(db, Draft(OWNER, attendance.MOVED, rows), at)
    if change:
        tell(change)
        attendance.accompany(db, change, tell)
    return change
