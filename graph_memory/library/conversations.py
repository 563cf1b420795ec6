"""Conversations and what was done to the memory, as the owner reads them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from ..context import Part
from ..dates import day_of
from ..errors import NotFoundError
from ..model import EPISODE, Change, Episode, Fact, Level, Message, Session
from ..privacy.redaction import disclosed
from ..retention import DAY
from ..store import Rows, queries
from ..store.queries import Cursor, LogEntry, Page, RecordFilter
from .facts import sessions_of

MAX_LINES = 400
"""Messages of an episode that are shown at a time."""


@dataclass(frozen=True, slots=True)
class Record:
    """An episode or a summary, with names of ``people`` who spoke by user id."""

    episode: Episode
    session: Session
    people: dict[str, str]


@dataclass(frozen=True, slots=True)
class OpenRecord:
    """A record, opened: a summary with its parts, or an episode with what was said.

    Attributes:
        messages: The first :data:`MAX_LINES`, with the ``facts`` that rest on each.
        missing: How many messages are not there any more, or not shown.
    """

    record: Record
    parts: list[Record]
    messages: list[Message]
    facts: dict[int, list[Fact]]
    missing: int


@dataclass(frozen=True, slots=True)
class Scene:
    """A message in its conversation."""

    message: Message
    session: Session
    lines: list[Message]
    has_earlier: bool
    has_later: bool


@dataclass(frozen=True, slots=True)
class Day:
    """What one day brought."""

    day: date
    facts: int
    messages: int


class Conversations(Part):
    """Reads conversations and the change log, for the owner; secrets are masked."""

    async def browse(self, wanted: RecordFilter | None = None) -> Page[Record]:
        """One page of episodes and summaries, newest first."""

        def work(db: sqlite3.Connection) -> Page[Record]:
            found = queries.find_records(db, wanted or RecordFilter())
            return found.holding(_records(db, found.items))

        return await self._journal.look(work)

    async def levels(self) -> dict[str, int]:
        """How many episodes there are, and summaries of each :class:`Level`."""
        counted = await self._journal.look(queries.levels)
        return {level: counted.get(level, 0) for level in (EPISODE, *Level)}

    async def read(self, id: str) -> OpenRecord:
        """One record with its messages or the records it sums up, or ``NotFoundError``."""

        def work(db: sqlite3.Connection) -> OpenRecord:
            rows = Rows(db)
            episode = rows.require(Episode, id)
            (record,) = _records(db, [episode])
            if episode.is_record:
                parts = [
                    part for id in episode.parts[:MAX_LINES] if (part := rows.get(Episode, id))
                ]
                parts.sort(key=lambda part: (part.started_at, part.id))
                return OpenRecord(record, _records(db, parts), [], {}, 0)
            said = rows.messages_of(episode, MAX_LINES)
            shown, facts = {message.id for message in said}, dict[int, list[Fact]]()
            for fact in rows.find(Fact, session=episode.session):
                for message in shown.intersection(fact.evidence):
                    facts.setdefault(message, []).append(fact)
            missing = max(0, episode.messages - len(said))
            return OpenRecord(record, [], list(map(disclosed, said)), facts, missing)

        return await self._journal.look(work)

    async def scene(self, message: int, near: int = 6) -> Scene:
        """A message with as many before and after it; ``NotFoundError`` if it is gone."""

        def work(db: sqlite3.Connection) -> Scene:
            lines = list(map(disclosed, queries.around(db, message, near + 1)))
            here = next((n for n, line in enumerate(lines) if line.id == message), None)
            if here is None:
                raise NotFoundError(f"there is no message {message} any more")
            session = lines[here].session
            return Scene(
                lines[here],
                sessions_of(Rows(db), {session})[session],
                lines[max(0, here - near) : here + near + 1],
                here > near,
                len(lines) - here - 1 > near,
            )

        return await self._journal.look(work)

    async def growth(self, days: int) -> list[Day]:
        """What each of the last days brought, oldest first, today last."""
        today = day_of(self._now(), self._zone)
        first = today - timedelta(days=days - 1)
        since = self._now() - (days + 1) * DAY
        facts, said = Counter[date](), Counter[date]()
        for began, learned, told in await self._journal.look(lambda db: queries.grown(db, since)):
            day = day_of(began, self._zone)
            facts[day] += learned
            said[day] += told
        span = (first + timedelta(days=number) for number in range(days))
        return [Day(day, facts[day], said[day]) for day in span]

    # ------------------------------------------------------------------ change log

    async def changes(
        self, actor: str = "", reason: str = "", place: Cursor | None = None, limit: int = 50
    ) -> Page[LogEntry]:
        """One page of the change log, newest first."""
        return await self._journal.look(
            lambda db: queries.find_changes(db, actor, reason, place, limit)
        )

    async def acts(self) -> tuple[list[str], list[str]]:
        """Actors and reasons that the change log names."""
        return await self._journal.look(queries.actors_and_reasons)

    async def change(self, number: int) -> Change:
        """One change, with all it did, or a ``NotFoundError``."""
        found = await self._journal.change(number)
        if found is None:
            raise NotFoundError(f"there is no change {number}")
        return found


def _records(db: sqlite3.Connection, episodes: Iterable[Episode]) -> list[Record]:
    some, rows = list(episodes), Rows(db)
    names = queries.names(db, {user for each in some for user in each.participants})
    sessions = sessions_of(rows, {each.session for each in some})
    return [
        Record(
            each,
            sessions[each.session],
            {user: names.get(user, user) for user in each.participants},
        )
        for each in some
    ]
