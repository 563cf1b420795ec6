"""Transcripts of chats: searched by their words, opened word for word.

A record here is an episode, also one of messages that wait to be learned. What was
forgotten and the answers to it are left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TypeVar

from ..context import Context, Part
from ..dates import past_periods
from ..errors import NotFoundError
from ..learning.batching import upcoming
from ..model import Asker, Episode, Message, Session, continues, is_entity
from ..privacy.redaction import disclosed
from ..privacy.scope import Rank, View
from ..recall import Recaller, called
from ..store import Rows, queries
from ..store import messages as mail
from ..store.queries import Deadline, Search
from ..visible_rows import VisibleRows

T = TypeVar("T")

FOUND = 10
"""Messages that one search shows."""
Shows = Callable[[Message | Episode], bool]
PATIENCE = 1.5
"""Seconds for a search, in which others wait for the journal."""
MAX_WORD = 60
LISTED = 10
MOST_LINES = 1_000
"""Lines of a record that are read."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found, with its record if the asker may see all of that."""

    message: Message
    session: Session
    record: Episode | None


@dataclass(frozen=True, slots=True)
class TranscriptHits:
    """What a search found, newest first; ``is_whole``: all was looked through.

    ``is_known``: somebody bears the name; ``is_dated``: the time was understood.
    """

    hits: tuple[Hit, ...] = ()
    is_known: bool = True
    is_dated: bool = True
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Transcript:
    """An opened record; ``missing`` counts messages that are deleted or not shown."""

    record: Episode
    lines: tuple[Message, ...]
    missing: int


class Transcripts(Part):
    """Looks through the records of one memory."""

    def __init__(self, context: Context, recall: Recaller) -> None:
        super().__init__(context)
        self._recall = recall

    async def search(
        self,
        asker: Asker,
        keyword: str,
        person: str = "",
        time: str = "",
        exclude: Collection[int] = (),
    ) -> TranscriptHits:
        """What people said, as far as the asker may see it.

        Args:
            keyword: Words, all of which occur.
            person: Name of who said it, or who is spoken of.
            time: As in ``dates.past_periods``.
            exclude: Ids of messages not to show.
        """
        spans = past_periods(time, self._now(), self._zone) if time else []
        is_dated = bool(spans) or not time
        nodes: set[str] = set()
        if person:
            nodes = await self._recall.inspect(
                asker, lambda index, visible: called(index, visible, asker, person)
            )
            if not nodes:
                return TranscriptHits(is_known=False, is_dated=is_dated)
        is_self = nodes == asker.accounts
        search = Search(
            [word[:MAX_WORD] for word in keyword.split()],
            sorted(node for node in nodes if not is_entity(node)),
            [] if is_self or len(person) < 2 else [person[:MAX_WORD]],  # 鱼 is in many words
            spans,
            FOUND,
        )
        pace = Deadline(PATIENCE)
        hits = await self._read(asker, lambda found: found.search(search, exclude, pace))
        return TranscriptHits(tuple(hits), is_dated=is_dated, is_whole=not pace.is_late)

    async def recent(self, asker: Asker, session: Session) -> list[Episode]:
        """The last records of a Session, newest first."""
        return await self._read(asker, lambda found: found.newest(session.id))

    def goes_on(self, record: Episode) -> bool:
        """Whether what is said now would belong to a record."""
        start, last = record.started_at, record.ended_at
        return continues(start, last, record.messages, self._now(), self._zone)

    async def open(self, asker: Asker, id: str, reader: Asker | None = None) -> Transcript:
        """One record that the asker may see all of, or a ``NotFoundError``.

        Args:
            reader: Who reads it: the asker; ``None`` if a model does.
        """
        return await self._read(asker, lambda found: found.open(id, reader))

    async def _read(self, asker: Asker, work: Callable[[_Reading], T]) -> T:
        views, zone = self._own(asker), self._zone
        return await self._journal.look(lambda db: work(_Reading(db, asker, views, zone)))

    def _own(self, asker: Asker) -> Mapping[str, View]:
        """The Sessions of the persona that is asked, as far as the asker may see them."""
        found = self._recall.visible(asker)
        return {id: view for id, view in found.items() if view.rest is Rank.OWN}


class _Reading:
    """The records in some Sessions, as far as an asker may see them."""

    def __init__(
        self, db: sqlite3.Connection, asker: Asker, views: Mapping[str, View], zone: tzinfo
    ) -> None:
        self._db = db
        self._views = views
        self._zone = zone
        self._rows = Rows(db)
        self._visible = VisibleRows(
            self._rows, asker, lambda session: views.get(session.id), Rank.OWN
        )

    def newest(self, session: str) -> list[Episode]:
        """The last records of a Session."""
        return newest_records(self._db, session, LISTED, self._zone, self._visible.shows)

    def search(self, search: Search, exclude: Collection[int], pace: Deadline) -> list[Hit]:
        """The newest messages that fit, each said once."""
        found: list[Message] = []
        with pace.kept(self._db):
            for session in self._views:
                found += self._told(session, search, exclude)
                found.sort(key=lambda message: (-message.at, -message.id))
                del found[FOUND:]
        shows, zone = self._visible.shows, self._zone
        waiting = {id: _upcoming(self._db, id, zone, shows) for id in {m.session for m in found}}
        hits = [hit for m in found if (hit := self._hit(m, waiting[m.session].values()))]
        spoken = {(h.session.circle, h.message.text) for h in hits if not h.message.is_nobodys}
        return [
            hit
            for hit in hits
            if not hit.message.is_nobodys or (hit.session.circle, hit.message.text) not in spoken
        ]

    def _told(self, session: str, search: Search, exclude: Collection[int]) -> list[Message]:
        """The newest messages of a Session that fit and were not forgotten."""
        told: list[Message] = []
        windows = self._views[session].windows
        while len(told) < search.limit:
            page = queries.search_messages(self._db, session, windows, search)
            shown = filter(self._visible.shows, (m for m in page if m.id not in exclude))
            told += [read for message in shown if (read := self._read(message, search))]
            if len(page) < search.limit:
                break
            search = replace(search, below=page[-1].id)
        return told[: search.limit]

    def _read(self, message: Message, search: Search) -> Message | None:
        """A message as it may be read, if that fits: what is masked confirms no guess."""
        read = disclosed(message)
        return read if read.text == message.text or search.fits(read) else None

    def _hit(self, message: Message, waiting: Iterable[Episode]) -> Hit | None:
        session, id = self._visible.session(message.session), message.id
        if session is None:
            return None
        shows = self._visible.shows
        holding = (each for each in waiting if each.first_message <= id <= each.last_message)
        record = next(filter(shows, holding), None)
        return Hit(message, session, record or self._rows.episode(message.session, id, shows))

    def open(self, id: str, reader: Asker | None) -> Transcript:
        """One record, word for word."""
        record, shows = self._rows.get(Episode, id), self._visible.shows
        for session in [record.session] if record else self._views:
            record = _upcoming(self._db, session, self._zone, shows).get(id, record)
        if record is None or record.is_record or not self._visible.shows(record):
            raise NotFoundError(f"there is no record {id}")
        said = self._rows.messages_of(record, MOST_LINES)
        lines = tuple(disclosed(each, reader) for each in said if self._visible.shows(each))
        return Transcript(record, lines, max(0, record.messages - len(lines)))


def newest_records(
    db: sqlite3.Connection, session: str, limit: int, zone: tzinfo, shows: Shows = bool
) -> list[Episode]:
    """The last records of a Session, newest first, with what waits to be learned."""
    found = {each.id: each for each in queries.newest_episodes(db, session, limit, shows)}
    found |= _upcoming(db, session, zone, shows)
    seen = filter(shows, found.values())
    return sorted(seen, key=lambda each: (-each.ended_at, each.id))[:limit]


def _upcoming(
    db: sqlite3.Connection, session: str, zone: tzinfo, shows: Shows
) -> dict[str, Episode]:
    """The records that the messages waiting to be learned will change or make.

    Of what is shown, which may be less than there will be.
    """
    waiting = [message for message in mail.pending(db, session) if shows(message)]
    last = Rows(db).episode(session, shows=shows) if waiting else None
    return {each.id: each for each in upcoming(last, session, waiting, zone)}
