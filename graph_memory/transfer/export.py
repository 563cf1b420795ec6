"""Export of a memory: all of it, what there is of one person, or what one may see."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from ..deletion.plan import DeletionPlan, plan_for_user
from ..model import (
    Asker,
    Entity,
    Episode,
    Fact,
    Forgotten,
    Mention,
    Message,
    Name,
    Row,
    Session,
    Status,
    encode,
    registered,
)
from ..scope import Attendance, Policy, Rank, View, span, view
from ..store import Journal, Rows, contents
from ..store.connection import reading
from . import files
from .file_format import Piece, end, header, line, pack
from .files import Stop
from .importer import Progress

_TOLD = 1_000
"""Lines between two reports."""
_FORMAT = "graph-memory-mine"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where; ``counts`` of messages and each kind of row."""

    path: Path
    lines: int
    counts: dict[str, int]


@dataclass(slots=True)
class Exporter:
    """Writes a memory, or what there is of one person, into ``exports/``."""

    directory: Path
    journal: Journal
    person: str = ""
    now: Callable[[], float] = time.time
    stop: Stop = field(default_factory=Stop)

    async def run(self, progress: Progress | None = None) -> Exported:
        """Write it.

        Raises:
            JournalError: It could not be read or written; there is no file then.
            ClosedError: ``stop`` was set.
        """
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            if progress:
                loop.call_soon_threadsafe(progress, done, total)

        return await asyncio.to_thread(self._write, tell)

    def _write(self, progress: Progress) -> Exported:
        scope = "person" if self.person else "everything"
        path = files.target(self.directory, scope, self.now())
        counts: dict[str, int] = {}
        with reading(self.journal.path) as db, files.writing(path) as file:
            total = 2 + contents.size(db)
            pieces = of_person(db, self.person) if self.person else everything(db)
            file.write(line(header(scope, self.person)))
            lines = 1
            for piece in pieces:
                data = pack(piece)
                kind = data.get("type") or data["kind"]
                counts[kind] = counts.get(kind, 0) + 1
                file.write(line(data))
                lines += 1
                if lines % _TOLD == 0:
                    self.stop.look()
                    progress(lines, total)
            file.write(line(end(lines)))
        return Exported(path, lines + 1, counts)


def everything(db: sqlite3.Connection) -> Iterator[Piece]:
    """All pieces of a journal, in the order of a file."""
    yield from contents.rows(db)
    yield from contents.claims(db)
    yield from contents.messages(db)
    yield from contents.presences(db)
    yield from contents.pauses(db)


def of_person(db: sqlite3.Connection, user: str) -> Iterator[Piece]:
    """What forgetting a person would touch, with what is needed to read it.

    That is the Sessions it is from, the things it is about and their names there.
    """
    gone = plan_for_user(db, user)
    found = _Touched(gone)
    for row in contents.rows(db):
        found.note(row)
    for message in contents.messages(db):
        if message.id in gone.ids:
            found.sessions.add(message.session)
            found.batches |= {message.batch} - {None}
    for row in contents.rows(db):
        if found.has(row):
            yield row
    for batch in contents.claims(db):
        if batch.id in found.batches:
            yield batch
    for message in contents.messages(db):
        if message.id in gone.ids:
            yield message
    yield from (each for each in contents.presences(db) if each.user == user)
    yield from (pause for pause in contents.pauses(db) if pause[1] == user)


class _Touched:
    """Which rows go with a person."""

    def __init__(self, gone: DeletionPlan) -> None:
        self.sessions = set(gone.sessions)
        self.batches: set[int | None] = set()
        self._gone = gone
        self._nodes: set[tuple[str, str]] = set()
        self._entities: set[str] = set()

    def _is_touched(self, row: Row) -> bool:
        data = encode(row)
        return self._gone.left(row.kind, row.id, data) != data

    def note(self, row: Row) -> None:
        if not self._is_touched(row):
            return
        session = getattr(row, "session", "")
        if session:
            self.sessions.add(session)
        if isinstance(row, Fact):
            self._nodes |= {(session, row.subject), (session, row.object)}
            self._entities |= {row.subject, row.object}

    def has(self, row: Row) -> bool:
        match row:
            case Session():
                return row.id in self.sessions
            case Entity():
                return row.id in self._entities
            case Name() if (row.session, row.node) in self._nodes:
                return True
            case Mention() if (row.session, row.entity) in self._nodes:
                return True
            case _:
                return self._is_touched(row)


def lines_for(
    db: sqlite3.Connection, asker: Asker, policy: Policy, attendance: Attendance, zone: tzinfo
) -> Iterator[str]:
    """What an asker may see, as the lines of a file, decided row by row as in recall.

    No numbers of anything that others said get in, not even ids, which tell how much there is.
    """
    yield line({"kind": "header", "format": _FORMAT, "version": _VERSION})
    seen = [
        (session, found)
        for session in contents.sessions(db).values()
        if (found := view(session, asker, policy, attendance))
    ]
    rows = Rows(db)
    replaced = {
        old
        for session, sight in seen
        for fact in rows.find(Fact, session=session.id)
        if _shows(sight, fact)
        for old in fact.supersedes
    }
    count = 1
    for session, sight in seen:
        for data in _session(db, session, sight, replaced, asker):
            count += 1
            data["time"] = datetime.fromtimestamp(data.pop("at"), zone).isoformat()
            yield line({**data, "chat": session.title or _place(session)})
    yield line({"kind": "end", "lines": count})


def _place(session: Session) -> str:
    return session.circle.split(":", 1)[-1]


def _shows(sight: View, row: Fact | Episode | Message) -> bool:
    return sight.rank(*span(row)) is not Rank.HIDDEN


def _session(
    db: sqlite3.Connection, session: Session, sight: View, replaced: set[str], asker: Asker
) -> Iterator[dict[str, Any]]:
    rows = Rows(db)
    facts = [f for f in rows.find(Fact, session=session.id) if f.status == Status.ACTIVE]
    for fact in sorted(facts, key=lambda fact: (fact.said_at, fact.id)):
        if _shows(sight, fact):
            more = {"outdated": True} if fact.id in replaced else {}
            yield {"kind": "fact", "at": fact.said_at, "text": fact.statement, **more}
    yield from _own(rows, session, sight, asker)
    episodes = [e for e in rows.find(Episode, session=session.id) if e.summary]
    for episode in sorted(episodes, key=lambda episode: (episode.started_at, episode.id)):
        if _shows(sight, episode):
            yield {"kind": "summary", "at": episode.started_at, "text": episode.summary}
    muted = {each.message for each in rows.find(Forgotten, session=session.id)}
    for said in contents.messages_of(db, [session.id]):
        # As in recall: the bot's own lines are none of its memories.
        if said.is_human and said.id not in muted and _shows(sight, said):
            yield {"kind": "message", "at": said.at, "name": said.name, "text": said.text}


def _own(rows: Rows, session: Session, sight: View, asker: Asker) -> Iterator[dict[str, Any]]:
    """What is kept of who asks and shown to nobody else (``Row.exported``)."""
    for kind in registered():
        if not kind.exported:
            continue
        own = [
            row
            for row in rows.find(kind, session=session.id)
            if all(getattr(row, field) in asker.accounts for field in kind.nodes)
            and sight.rank(*span(row)) is Rank.OWN
        ]
        for row in sorted(own, key=lambda row: (row.span, row.id)):
            if text := getattr(row, kind.words[0]):
                yield {"kind": kind.exported, "at": row.span[0], "text": text}
