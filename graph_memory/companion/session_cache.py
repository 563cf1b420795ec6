"""Cache of what the companion knows of each Session, in step with the journal.

A Session is read when somebody speaks in it for the first time, before the reply is asked
for; from then on the journal's events keep it up to date, so that what goes before the
model costs no disk.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from ..episode import continues
from ..model import EPISODE, Change, Episode, Erased, Message, Op, Row
from ..retention import DAY
from ..store import Event, Journal, Rows, queries
from .core_facts import CoreFact
from .inner_state import InnerState, Mood

MOST = 500
"""Sessions that are kept; the one that was silent longest goes first."""
EPISODES = 8
"""Summaries of each Session that are kept, the newest."""
DAYS = 30
"""For so many days it is known who talked."""
_KEPT = {kind.kind: kind for kind in (CoreFact, Mood, InnerState, Episode)}
_ATTEMPTS = 4


@dataclass(slots=True)
class SessionState:
    """One Session.

    Attributes:
        rows: Core facts, mood, inner state and the newest told episodes, by
            kind and id.
        days: On which local days (ordinals) each user talked.
        since: When what is being talked now began; ``count`` messages so far.
        opening: The first message of a person in it; 0 if there is none, or none is known.
        last_at: When something was said last.
        before: When something was said last before that; ``None`` if nothing ever was.
        told: The message whose reply was told when that was.
    """

    rows: dict[str, dict[str, Row]] = field(default_factory=dict)
    days: dict[str, set[int]] = field(default_factory=dict)
    since: float = 0.0
    opening: int = 0
    is_opened: bool = True
    count: int = 0
    last_at: float | None = None
    before: float | None = None
    told: int = 0

    def core(self, users: frozenset[str]) -> list[CoreFact]:
        """The core facts about some users, by number."""
        found = self.rows.get(CoreFact.kind, {}).values()
        core = [row for row in found if isinstance(row, CoreFact) and row.user in users]
        return sorted((row for row in core if row.text), key=lambda row: (row.number, row.id))

    def episodes(self) -> list[Episode]:
        """Told episodes, newest first."""
        found = self.rows.get(Episode.kind, {}).values()
        told = [row for row in found if isinstance(row, Episode)]
        return sorted(told, key=lambda row: (-row.ended_at, row.id))

    def only(self, kind: type[Row]) -> Row | None:
        """The one row of a kind of which there is one at most."""
        return next(iter(self.rows.get(kind.kind, {}).values()), None)

    def put(self, row: Row) -> None:
        """Take a row in."""
        kept = self.rows.setdefault(row.kind, {})
        if isinstance(row, Episode):
            if row.level != EPISODE:
                return
            if not row.summary:
                kept.pop(row.id, None)
                return
        kept[row.id] = row
        if isinstance(row, Episode) and len(kept) > EPISODES:
            del kept[self.episodes()[-1].id]

    def heard(self, message: Message, zone: tzinfo) -> None:
        """Take note of a message."""
        last = self.last_at
        if last is None or not continues(self.since, last, self.count, message.at, zone):
            self.before, self.since, self.count = last, message.at, 0
            self.opening, self.told, self.is_opened = 0, 0, False
        if not self.is_opened and message.is_human:
            self.opening, self.is_opened = message.id, True
        self.count += 1
        self.last_at = max(message.at, last or message.at)
        if message.is_human:
            self.attended(message.sender, message.at, zone)

    def attended(self, user: str, at: float, zone: tzinfo) -> None:
        """Take note that somebody talked."""
        days = self.days.setdefault(user, set())
        days.add(day(at, zone))
        if len(days) > 2 * DAYS:
            days -= {each for each in days if each <= max(days) - DAYS}


def day(at: float, zone: tzinfo) -> int:
    """The local day of a moment, as an ordinal."""
    return datetime.fromtimestamp(at, zone).toordinal()


class SessionCache:
    """The Sessions in which somebody spoke lately."""

    def __init__(self, journal: Journal, zone: tzinfo) -> None:
        self._journal = journal
        self._zone = zone
        self._states: OrderedDict[str, SessionState] = OrderedDict()
        self._missed: dict[str, bool] = {}
        """Of the Sessions that are being read: whether something happened meanwhile."""

    def of(self, session: str) -> SessionState | None:
        """What is known of a Session; ``None`` if it was not read."""
        return self._states.get(session)

    async def load(self, session: str, now: float) -> None:
        """Read a Session that is not known yet.

        Raises:
            JournalError: It cannot be read.
        """
        if session in self._states:
            self._states.move_to_end(session)
            return
        try:
            for _ in range(_ATTEMPTS):
                self._missed[session] = False
                state = await self._journal.look(lambda db: self._read(db, session, now))
                if not self._missed.get(session, True):
                    self._states.setdefault(session, state)
                    break
        finally:
            self._missed.pop(session, None)
        while len(self._states) > MOST:
            self._states.popitem(last=False)

    def _read(self, db: sqlite3.Connection, session: str, now: float) -> SessionState:
        state, rows = SessionState(), Rows(db)
        for kind in (CoreFact, Mood, InnerState):
            for row in rows.find(kind, session=session):
                state.put(row)
        for episode in queries.newest_episodes(db, session, EPISODES, told=True):
            state.put(episode)
        for at, people in queries.visits(db, session, now - (DAYS + 1) * DAY):
            for user in people:
                state.attended(user, at, self._zone)
        last = queries.last_said(db, session)
        if last is not None:
            state.since = state.last_at = last
            state.count = 1
        return state

    def follow(self, event: Event) -> None:
        """Follow the journal."""
        if isinstance(event, Message):
            self._miss(event.session)
            if state := self._states.get(event.session):
                state.heard(event, self._zone)
        elif isinstance(event, Erased):
            self._states.clear()
            self._missed = dict.fromkeys(self._missed, True)
        elif isinstance(event, Change):
            for op in event.ops:
                if op.kind in _KEPT:
                    self._alter(op)

    def _alter(self, op: Op) -> None:
        session = str((op.after or op.before or {}).get("session", ""))
        self._miss(session)
        state = self._states.get(session)
        if state is None:
            return
        if op.row is not None:
            state.put(op.row)
        else:
            state.rows.get(op.kind, {}).pop(op.id, None)

    def _miss(self, session: str) -> None:
        if session in self._missed:
            self._missed[session] = True
