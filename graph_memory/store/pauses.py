"""Pauses of remembering, asked for by people or for whole chat windows.

A pause of a person holds everywhere they speak. What was remembered before stays and can
be recalled; what others say about them is others' own word. A pause that is over, and a
message that was taken back, leave a gap, which no import fills.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection
from math import inf
from typing import Literal

from ..model import Session, without_home
from .journal import Journal
from .rows import Tell

Kind = Literal["user", "circle"]


def pauses(db: sqlite3.Connection) -> list[tuple[str, str, float]]:
    """Kind, id and time of all that are in force."""
    return db.execute("SELECT kind, id, at FROM pause ORDER BY kind, id").fetchall()


def leave_gap(db: sqlite3.Connection, circle: str, user: str, since: float, until: float) -> None:
    """Note a time of which nothing is to come in; an empty key stands for any."""
    db.execute("INSERT OR REPLACE INTO gap VALUES (?, ?, ?, ?)", (circle, user, since, until))


def _past(db: sqlite3.Connection) -> list[tuple[str, str, float, float]]:
    return db.execute("SELECT circle, user, since, until FROM gap").fetchall()


Pause = tuple[str, str, float, float | None]
"""Kind and id, since when, and until when if it is over."""


def every_pause(db: sqlite3.Connection) -> list[Pause]:
    """All pauses, those in force first."""
    over: list[Pause] = [
        ("circle" if circle else "user", circle or user, since, until)
        for circle, user, since, until in sorted(_past(db))
        if not (circle and user)  # else it is of a message that was taken back
    ]
    return [(kind, id, at, None) for kind, id, at in pauses(db)] + over


def put_pause(
    db: sqlite3.Connection, kind: str, id: str, at: float, until: float | None = None
) -> None:
    """Store nothing new of a user or chat window; ``until``: it was so till then."""
    if until is None:
        db.execute("INSERT OR IGNORE INTO pause VALUES (?, ?, ?)", (kind, id, at))
    else:
        leave_gap(db, *(("", id) if kind == "user" else (id, "")), at, until)


class Gaps:
    """When nothing was to be stored, and of whom: pauses and messages taken back."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._spans: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for circle, user, *span in _past(db):
            self._spans[without_home(circle), user].append((span[0], span[1]))
        for kind, id, at in pauses(db):
            self._spans[("", id) if kind == "user" else (id, "")].append((at, inf))

    def __bool__(self) -> bool:
        return bool(self._spans)

    def hold(self, circle: str, users: Collection[str], since: float, until: float) -> bool:
        """Whether what one of some people said in a chat window may fall into a gap.

        Args:
            users: Empty if nobody knows who spoke.
        """
        people = ["", *(users or {user for _, user in self._spans})]
        circle = without_home(circle)
        return any(
            begun <= until and since <= over
            for key in ((place, user) for place in ("", circle) for user in people)
            for begun, over in self._spans.get(key, ())
        )


def carry(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Let the pauses of a journal, and no others, hold in an older one; add its gaps."""
    new.execute("DELETE FROM pause")  # somebody may have ended theirs since
    for pause in pauses(old):
        put_pause(new, *pause)
    for gap in _past(old):
        leave_gap(new, *gap)


class Pauses:
    """The pauses of one journal."""

    def __init__(self, journal: Journal, now: Callable[[], float]) -> None:
        self._journal = journal
        self._now = now
        self._known: set[tuple[str, str]] = set()
        journal.doings |= {"pause": self._pause, "resume": self._resume}

    async def load(self) -> None:
        """Read what is in force."""
        self._known = {(kind, id) for kind, id, _ in await self._journal.look(pauses)}
        for what, given in await self._journal.intended():
            if what in ("pause", "resume"):
                change = self._known.add if what == "pause" else self._known.discard
                change((given[0], given[1]))

    def holds(self, kind: Kind, id: str) -> bool:
        """Whether a user or a chat window asked for a pause."""
        return (kind, id) in self._known

    def covers(self, session: Session, user: str) -> bool:
        """Whether nothing that ``user`` says in ``session`` may be stored."""
        return not self._known.isdisjoint({("circle", session.circle), ("user", user)})

    async def pause(self, kind: Kind, id: str) -> None:
        """Store nothing new; when this returns it is on disk."""
        self._known.add((kind, id))  # first: what is said meanwhile is not stored either
        await self._journal.surely("pause", kind, id, self._now())
        self._known.add((kind, id))  # again: what was read meanwhile may lack it

    async def resume(self, kind: Kind, id: str) -> None:
        """Store what is said again."""
        await self._journal.surely("resume", kind, id, self._now())
        self._known.discard((kind, id))

    async def _pause(self, kind: Kind, id: str, at: float) -> None:
        await self._journal.alter(lambda db, _tell: put_pause(db, kind, id, at))

    async def _resume(self, kind: Kind, id: str, at: float) -> None:
        def resume(db: sqlite3.Connection, _tell: Tell) -> None:
            query = "DELETE FROM pause WHERE kind = ? AND id = ? RETURNING at"
            for (since,) in db.execute(query, (kind, id)).fetchall():
                put_pause(db, kind, id, since, max(since, at))  # a clock may be set back

        await self._journal.alter(resume)
