"""Who was in a group without being heard there now: as what is imported tells, or as a chat
that moved takes along. And how that is taken back.

Whatever widens an interval is noted with the act that did it: afterwards nobody could tell
what had been there before. A note is kept under a hash of circle, user and beginning.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from ..model import Change, Erased, Presence, Session
from . import messages as mail
from .rows import Rows, read_change

Tell = Callable[[Change | Presence | Erased], None]
Place = tuple[str, str, float]
"""Circle, user and beginning of an interval."""
MOVED = "move"
"""Reason of the change by which a chat moved."""
_HEARD = ""
"""Act of an interval that begins where it does because of a message, since another went."""
_CHANGE = "change "
_MARK = "attended:"


@dataclass(frozen=True, slots=True)
class _Note:
    """That an act made an interval what it is.

    Attributes:
        act: An import by its id, or a change.
        before: When the interval began before; ``None`` if there was none.
    """

    act: str
    before: float | None


def was_there(
    db: sqlite3.Connection, act: str, circle: str, user: str, at: float, tell: Tell
) -> None:
    """See to it that an interval of presence covers a moment: the next one begins earlier,
    or, if none follows, one is opened."""
    spans = db.execute(
        "SELECT since, until FROM presence WHERE circle = ? AND user = ? ORDER BY since",
        (circle, user),
    ).fetchall()
    if any(since <= at and (until is None or at <= until) for since, until in spans):
        return
    until, note = None, _Note(act, None)
    if following := next((span for span in spans if span[0] > at), None):
        since, until = following
        known = _noted(db, (circle, user, since))
        if known and known.act == act:
            _unnote(db, [(circle, user, since)])
            note = known
        else:  # what another act noted stays: it may still be taken back
            note = _Note(act, since)
        _remove(db, [(circle, user, since)])
    _put(db, Presence(circle, user, at, until), note, tell)


def attend(db: sqlite3.Connection, act: str, presence: Presence, tell: Tell) -> None:
    """Take over an interval of presence.

    One that is open ends where this journal knows that the user left: what was written
    down earlier does not let anybody back in.
    """
    spans = db.execute(
        "SELECT since, until FROM presence WHERE circle = ? AND user = ?",
        (presence.circle, presence.user),
    ).fetchall()
    if any(since == presence.since for since, _ in spans):
        return
    if presence.until is None and spans and all(until is not None for _, until in spans):
        left = max(until for _, until in spans)
        if left >= presence.since:
            presence = replace(presence, until=left)
    _put(db, presence, _Note(act, None), tell)


def accompany(db: sqlite3.Connection, change: Change, tell: Tell) -> None:
    """Let those who were in groups that a change moved have been where they are now, too, up
    to the change: whether somebody has come along shows when they speak."""
    circles = dict(_moved(change).values())
    for there in mail.presences(db):
        here = circles.get(there.circle)
        if here and there.since <= change.at:
            until = change.at if there.until is None else min(change.at, there.until)
            attend(db, _act(change.id), replace(there, circle=here, until=until), tell)


def follow(db: sqlite3.Connection, undone: int, change: Change, tell: Tell) -> None:
    """Let presence follow when a move is undone, or when that is.

    Args:
        undone: The change that was taken back, by ``change``.
    """
    moves, cause = True, read_change(db, undone)
    while cause and cause.undoes is not None:
        moves, cause = not moves, read_change(db, cause.undoes)
    if cause is None or cause.reason != MOVED:
        return
    if moves:
        recede(db, _act(undone), tell)
    else:
        accompany(db, change, tell)


def come_back(db: sqlite3.Connection, change: Change, tell: Tell) -> None:
    """Take back what a move did to presence once its last Session is where it was: a chat
    that is spoken in again is its own again."""
    if not _moved(change):
        return
    for act in sorted({note.act for note in _notes(db).values() if note.act.startswith(_CHANGE)}):
        move = read_change(db, int(act.removeprefix(_CHANGE)))
        there = _moved(move) if move else {}
        standing = {id: Rows(db).get(Session, id) for id in there}
        if not any(row and row.circle == there[id][1] for id, row in standing.items()):
            recede(db, act, tell)


def _moved(change: Change) -> dict[str, tuple[str, str]]:
    """The groups' Sessions that a change moved: the circles they were in, and came to."""
    found = {}
    for op in change.ops:
        if op.kind == Session.kind:
            old, new = op.was, op.row
            if isinstance(old, Session) and isinstance(new, Session) and old.is_group:
                found[op.id] = old.circle, new.circle
    return {id: ways for id, ways in found.items() if ways[0] != ways[1]}


def recede(db: sqlite3.Connection, act: str, tell: Tell, begun: Collection[Place] = ()) -> None:
    """Take back what an act did to presence: nobody was anywhere longer than without it.

    Who was heard meanwhile, and needed no interval of their own for it, gets one from then.

    Args:
        begun: Intervals that began with a message that is gone.
    """
    notes = _notes(db)
    mine = {key: note.before for key, note in notes.items() if note.act == act}
    gone: dict[Presence, float | None] = {}
    for presence in mail.presences(db):
        place = presence.circle, presence.user, presence.since
        key = _key(place)
        note = notes.get(key)
        if key in mine:
            before = gone[presence] = _standing(place, mine[key], notes, mine)
            if before is not None:
                _mend(db, (presence.circle, presence.user, before), notes, mine)
        elif place in begun and (note is None or note.act == _HEARD):
            gone[presence] = None
        elif note:
            _mend(db, place, notes, mine)
    _remove(db, [(each.circle, each.user, each.since) for each in gone])
    db.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in mine])
    for circle in {presence.circle for presence in gone}:
        _begin_later(db, {p: at for p, at in gone.items() if p.circle == circle}, circle)
    users = {presence.user for presence in gone}
    for user in sorted(users):
        tell(Erased((), user))
    for presence in mail.presences(db):
        if presence.user in users:
            tell(presence)


def forget(db: sqlite3.Connection, user: str) -> None:
    """Delete the intervals of a user, and all notes on them."""
    found = db.execute("SELECT circle, since FROM presence WHERE user = ?", (user,)).fetchall()
    for circle, since in found:
        at: float | None = since
        while at is not None:
            note = _noted(db, (circle, user, at))
            _unnote(db, [(circle, user, at)])
            at = note.before if note else None
    db.execute("DELETE FROM presence WHERE user = ?", (user,))


def _standing(
    place: Place, before: float | None, notes: dict[str, _Note], mine: dict[str, float | None]
) -> float | None:
    """The beginning to go back to; ``None`` if it rests on messages and is to be looked for."""
    circle, user, _ = place
    while before is not None:
        key = _key((circle, user, before))
        if key not in mine:
            return None if key in notes and notes[key].act == _HEARD else before
        before = mine[key]
    return None


def _act(change: int) -> str:
    return f"{_CHANGE}{change}"


def _mend(
    db: sqlite3.Connection, place: Place, notes: dict[str, _Note], mine: dict[str, float | None]
) -> None:
    """Let what another act will go back to be no state that is taken back now."""
    circle, user, since = place
    while note := notes.get(_key((circle, user, since))):
        before = _standing(place, note.before, notes, mine)
        if before != note.before:
            _write(db, (circle, user, since), replace(note, before=before))
        if before is None:
            return
        since = before


def _begin_later(db: sqlite3.Connection, gone: dict[Presence, float | None], circle: str) -> None:
    """Let intervals of a circle that are gone begin when they would have begun otherwise."""
    users = {presence.user for presence in gone}
    said: dict[str, list[float]] = defaultdict(list)
    for user, at in db.execute(
        "SELECT m.sender, m.at FROM row s CROSS JOIN message m ON m.session = s.id"
        " WHERE s.kind = 'session' AND json_extract(s.data, '$.circle') = ? ORDER BY m.at",
        (circle,),
    ):
        if user in users:
            said[user].append(at)
    spans: dict[str, list[tuple[float, float | None]]] = defaultdict(list)
    for presence in mail.presences(db):
        if presence.circle == circle:
            spans[presence.user].append((presence.since, presence.until))
    # Those that were there before first: who is in them needs no other.
    for presence, before in sorted(gone.items(), key=lambda item: (item[1] is None, item[0].since)):
        heard = (at for at in said[presence.user] if _covers(presence.since, presence.until, at))
        others = spans[presence.user]
        first = next((at for at in heard if not any(_covers(*span, at) for span in others)), None)
        start = min((at for at in (first, before) if at is not None), default=None)
        if start is None:
            continue
        others.append((start, presence.until))
        db.execute(
            "INSERT OR IGNORE INTO presence VALUES (?, ?, ?, ?)",
            (circle, presence.user, start, presence.until),
        )
        if start != before:
            _write(db, (circle, presence.user, start), _Note(_HEARD, None))


def _covers(since: float, until: float | None, at: float) -> bool:
    return since <= at and (until is None or at <= until)


def _put(db: sqlite3.Connection, presence: Presence, note: _Note, tell: Tell) -> None:
    circle, user, since = presence.circle, presence.user, presence.since
    db.execute("INSERT INTO presence VALUES (?, ?, ?, ?)", (circle, user, since, presence.until))
    _write(db, (circle, user, since), note)
    tell(presence)


def _remove(db: sqlite3.Connection, places: Iterable[Place]) -> None:
    db.executemany("DELETE FROM presence WHERE circle = ? AND user = ? AND since = ?", places)


# -------------------------------------------------------------------------- notes


def _key(place: Place) -> str:
    circle, user, since = place
    named = "\x1f".join((circle, user, repr(since)))
    return f"{_MARK}{hashlib.blake2b(named.encode(), digest_size=16).hexdigest()}"


def _write(db: sqlite3.Connection, place: Place, note: _Note) -> None:
    value = json.dumps([note.act, note.before])
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_key(place), value))


def _noted(db: sqlite3.Connection, place: Place) -> _Note | None:
    found = db.execute("SELECT value FROM meta WHERE key = ?", (_key(place),)).fetchone()
    return _Note(*json.loads(found[0])) if found else None


def _unnote(db: sqlite3.Connection, places: Iterable[Place]) -> None:
    db.executemany("DELETE FROM meta WHERE key = ?", [(_key(place),) for place in places])


def _notes(db: sqlite3.Connection) -> dict[str, _Note]:
    found = db.execute("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_MARK}%",))
    return {key: _Note(*json.loads(value)) for key, value in found}
