"""Presence in groups as imports and renamed chats tell of it.

An imported interval carries the id of its import and stands beside the memory's own, which
it never changes: so an import is undone by deleting what carries its id. A chat that moved
takes copies along, which begin to the instant where those they were made of begin.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..model import Change, Erased, Presence, Session
from .contents import sessions

Tell = Callable[[Change | Presence | Erased], None]


def cover(
    db: sqlite3.Connection, source: str, circle: str, user: str, at: float, tell: Tell
) -> None:
    """Let an interval of an import cover the moment at which somebody spoke.

    It lasts until the next one of the memory's own or of this import begins.
    """
    spans = db.execute(
        "SELECT since, until FROM presence WHERE circle = ? AND user = ? AND import IN ('', ?)"
        " ORDER BY since",
        (circle, user, source),
    ).fetchall()
    if any(since <= at and (until is None or at <= until) for since, until in spans):
        return
    following = next((since for since, _ in spans if since > at), None)
    _put(db, Presence(circle, user, at, following), source, tell)


def adopt(db: sqlite3.Connection, source: str, presence: Presence, tell: Tell) -> None:
    """Enter an interval that a file tells of, unless one begins there already.

    One that is open ends where this journal knows that the user left: an old file lets
    nobody back in.
    """
    spans = db.execute(
        "SELECT until FROM presence WHERE circle = ? AND user = ? AND import != ?",
        (presence.circle, presence.user, source),
    ).fetchall()
    if presence.until is None and spans and all(until is not None for (until,) in spans):
        left = max(until for (until,) in spans)
        if left >= presence.since:
            presence = replace(presence, until=left)
    _put(db, presence, source, tell)


def withdraw(db: sqlite3.Connection, source: str, tell: Tell) -> None:
    """Delete the intervals of an import."""
    users = db.execute("SELECT DISTINCT user FROM presence WHERE import = ?", (source,)).fetchall()
    db.execute("DELETE FROM presence WHERE import = ?", (source,))
    _tell_again(db, {user for (user,) in users}, tell)


def follow(db: sqlite3.Connection, change: Change, tell: Tell) -> None:
    """Let presence follow the groups whose Sessions a change moved, or moved back.

    Whoever was in the old chat window counts as having been in the new one up to the
    change: whether they came along shows when they speak.
    """
    for home, old, new in _moves(change):
        users = set()
        if old != home and not _is_held(db, home, old):
            users = _remove_copies(db, home, old)
        if new != home:
            db.execute(
                "INSERT OR IGNORE INTO presence SELECT :new, user, since,"
                " min(coalesce(until, :at), :at), import FROM presence"
                " WHERE circle = :home AND since <= :at",
                {"home": home, "new": new, "at": change.at},
            )
            found = db.execute("SELECT DISTINCT user FROM presence WHERE circle = ?", (new,))
            users |= {user for (user,) in found}
        _tell_again(db, users, tell)


def _moves(change: Change) -> set[tuple[str, str, str]]:
    """Home, old and new chat window of the groups' Sessions that a change moved."""
    found = set()
    for op in change.ops:
        old, new = op.was, op.row
        if isinstance(old, Session) and isinstance(new, Session) and old.is_group:
            found.add((_home(op.id), old.circle, new.circle))
    return {way for way in found if way[1] != way[2]}


def _home(session: str) -> str:
    """The chat window a Session was first heard in, which its id is made of."""
    return session.partition("#")[0].replace("%23", "#").replace("%25", "%")


def _is_held(db: sqlite3.Connection, home: str, circle: str) -> bool:
    """Whether a Session that was first heard elsewhere still belongs to a chat window."""
    return any(each.circle == circle and _home(id) == home for id, each in sessions(db).items())


def _remove_copies(db: sqlite3.Connection, home: str, circle: str) -> set[str]:
    found = db.execute(
        "SELECT p.user, p.since FROM presence p JOIN presence h ON h.circle = :home"
        " AND h.user = p.user AND h.since = p.since"
        " WHERE p.circle = :circle AND p.until IS NOT NULL",
        {"home": home, "circle": circle},
    ).fetchall()
    db.executemany(
        "DELETE FROM presence WHERE circle = ? AND user = ? AND since = ?",
        [(circle, user, since) for user, since in found],
    )
    return {user for user, _ in found}


def _put(db: sqlite3.Connection, presence: Presence, source: str, tell: Tell) -> None:
    values = presence.circle, presence.user, presence.since, presence.until, source
    if db.execute("INSERT OR IGNORE INTO presence VALUES (?, ?, ?, ?, ?)", values).rowcount:
        tell(presence)


def _tell_again(db: sqlite3.Connection, users: Iterable[str], tell: Tell) -> None:
    """Let listeners take over the intervals of some users as they stand now."""
    for user in sorted(users):
        tell(Erased((), user))
        for row in db.execute(
            "SELECT circle, user, since, until FROM presence WHERE user = ?", (user,)
        ):
            tell(Presence(*row))
