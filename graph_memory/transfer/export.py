"""Export of a memory: all of it, or what there is of one person."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..deletion.plan import DeletionPlan, plan_for_user
from ..model import (
    Entity,
    Fact,
    Mention,
    Name,
    Row,
    Session,
    encode,
)
from ..store import Journal, contents
from ..store.connection import reading
from . import files
from .file_format import Piece, end, header, line, pack
from .files import Stop
from .importer import Progress

_TOLD = 1_000
"""Lines between two reports."""


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
