"""Presence in groups, as it was heard, imported or moved with its chat.

An imported interval carries the id of its import and stands beside the memory's own, which
it never changes. A chat that moved takes copies along, which begin to the instant where those
they were made of begin.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..model import Change, Presence, PresenceReset, Session

Tell = Callable[[Change | Presence | PresenceReset], None]


def presences(db: sqlite3.Connection) -> list[Presence]:
    """All intervals of presence by circle, user and beginning."""
    query = "SELECT circle, user, since, until FROM presence ORDER BY circle, user, since"
    return [Presence(*row) for row in db.execute(query)]


def enter(db: sqlite3.Connection, presence: Presence, tell: Tell) -> None:
    """Open an interval, unless the memory's own one is open by then."""
    where = (presence.circle, presence.user)
    query = "SELECT 1 FROM presence WHERE circle = ? AND user = ? AND since <= ? AND until IS NULL"
    if db.execute(f"{query} AND import = ''", (*where, presence.since)).fetchone():
        return
    db.execute(
        "INSERT OR REPLACE INTO presence (circle, user, since) VALUES (?, ?, ?)",
        (*where, presence.since),
    )
    tell(presence)


def leave(db: sqlite3.Connection, circle: str, user: str, at: float) -> list[Presence]:
    """Record that a user left a group; returns the intervals that ended."""
    found = db.execute(
        "UPDATE presence SET until = max(since, ?)"  # a clock may have been set back
        " WHERE circle = ? AND user = ? AND until IS NULL RETURNING circle, user, since, until",
        (at, circle, user),
    ).fetchall()
    return [Presence(*row) for row in found]


def cover(
    db: sqlite3.Connection, source: str, circle: str, user: str, at: float, tell: Tell
) -> None:
    """Let an interval of an import cover the moment at which somebody spoke.

    It lasts until the next one of the memory's own or of this import begins.
    """
    query = "SELECT since, until FROM presence WHERE circle = ? AND user = ?"
    query += " AND import IN ('', ?) ORDER BY since"
    spans = db.execute(query, (circle, user, source)).fetchall()
    if any(since <= at and (until is None or at <= until) for since, until in spans):
        return
    following = next((since for since, _ in spans if since > at), None)
    _put(db, Presence(circle, user, at, following), source, tell)


def adopt(db: sqlite3.Connection, source: str, presence: Presence, tell: Tell) -> None:
    """Enter an interval that a file tells of, unless one begins there already.

    One that is open ends where this journal knows that the user left: an old file lets
    nobody back in.
    """
    query = "SELECT until FROM presence WHERE circle = ? AND user = ? AND import != ?"
    spans = db.execute(query, (presence.circle, presence.user, source)).fetchall()
    if presence.until is None and spans and all(until is not None for (until,) in spans):
        left = max(until for (until,) in spans)
        if left >= presence.since:
            presence = replace(presence, until=left)
    _put(db, presence, source, tell)


def withdraw(db: sqlite3.Connection, source: str, tell: Tell) -> None:
    """Delete the intervals of an import."""
    gone = db.execute("DELETE FROM presence WHERE import = ? RETURNING user", (source,)).fetchall()
    tell_again(db, {user for (user,) in gone}, tell)


def follow(db: sqlite3.Connection, change: Change, tell: Tell) -> None:
    """Let presence follow the groups whose Sessions a change moved, or moved back.

    Whoever was in the old chat window counts as having been in the new one up to the
    change: whether they came along shows when they speak.
    """
    ways = set()
    for op in (op for op in change.ops if op.kind == Session.kind):
        old, new = op.was, op.row
        if isinstance(old, Session) and isinstance(new, Session) and old.is_group:
            ways.add((_home(op.id), old.circle, new.circle))
    for home, before, after in ways:
        if before == after:
            continue
        users = set()
        if before != home and not _is_held(db, home, before):
            users = _remove_copies(db, home, before)
        if after != home:
            db.execute(
                "INSERT OR IGNORE INTO presence SELECT :new, user, since,"
                " min(coalesce(until, :at), :at), import FROM presence"
                " WHERE circle = :home AND since <= :at",
                {"home": home, "new": after, "at": change.at},
            )
            found = db.execute("SELECT DISTINCT user FROM presence WHERE circle = ?", (after,))
            users |= {user for (user,) in found}
        tell_again(db, users, tell)


def _home(session: str) -> str:
    """The chat window a Session was first heard in, which its id is made of."""
    return session.partition("#")[0].replace("%23", "#").replace("%25", "%")


def _is_held(db: sqlite3.Connection, home: str, circle: str) -> bool:
    """Whether a Session that was first heard elsewhere still belongs to a chat window."""
    query = "SELECT id FROM row WHERE kind = 'session' AND json_extract(data, '$.circle') = ?"
    return any(_home(id) == home for (id,) in db.execute(query, (circle,)))


def _remove_copies(db: sqlite3.Connection, home: str, circle: str) -> set[str]:
    gone = db.execute(
        "DELETE FROM presence WHERE circle = :circle AND until IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM presence h WHERE h.circle = :home AND h.user = presence.user"
        " AND h.since = presence.since) RETURNING user",
        {"home": home, "circle": circle},
    ).fetchall()
    return {user for (user,) in gone}


def _put(db: sqlite3.Connection, presence: Presence, source: str, tell: Tell) -> None:
    values = presence.circle, presence.user, presence.since, presence.until, source
    if db.execute("INSERT OR IGNORE INTO presence VALUES (?, ?, ?, ?, ?)", values).rowcount:
        tell(presence)


def tell_again(db: sqlite3.Connection, users: Iterable[str], tell: Tell) -> None:
    """Let listeners take over the intervals of some users as they stand now."""
    for user in sorted(users):
        tell(PresenceReset(user))
    query = "SELECT circle, user, since, until FROM presence"
    query += " WHERE user IN (SELECT value FROM json_each(?))"
    for row in db.execute(query, (json.dumps([*users]),)):
        tell(Presence(*row))
