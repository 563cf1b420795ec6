"""A stage becomes part of the memory: in small steps, each of which may be the last.

A message that is there already is found by what its platform calls it, or by who said what
when, and gets no second place; so whatever a kill leaves undone is simply done again.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from ..deletion import erasure
from ..errors import JournalError
from ..journal import Journal, Rows, arrivals, attendance, contents
from ..journal.contents import Claim
from ..journal.pauses import pause
from ..journal.snapshot import reading
from ..model import Episode, Message, Row, Session
from .join import join, referred, renamed, requoted
from .runs import Run, add
from .sources.own import OwnFile
from .stage import Stage

T = TypeVar("T")

STEP = 150
"""Messages or rows of one transaction: a message that is heard meanwhile waits no longer
than one of them takes."""
OWNER = "owner"
"""Actor of the changes of an import."""

Progress = Callable[[int, int], None]
"""Told how many pieces are done, of how many."""


@dataclass(slots=True)
class Arrived:
    """What one step did.

    Attributes:
        pairs: Numbers of messages in the stage and in the memory.
        batches: The same of batches.
    """

    pairs: list[tuple[int, int]] = field(default_factory=list)
    batches: dict[int, int] = field(default_factory=dict)


class Merge:
    """One import under way.

    Args:
        stage: Sealed.
        now: Clock.
    """

    def __init__(self, stage: Stage, journal: Journal, run: Run, now: Callable[[], float]) -> None:
        self._stage = stage
        self._journal = journal
        self._run = run
        self._now = now
        self._sessions: dict[str, Session] = {}
        self._batches: dict[int, int] = {}
        self._done = 0
        self._total = 0

    async def run(self, progress: Progress | None = None) -> None:
        """Bring everything in that is not there yet.

        Raises:
            JournalError: The journal cannot be written, or somebody was forgotten since the
                stage was made; what came in so far stays.
        """
        self._stage.about["begun"] = True
        await self._do(self._stage.note)
        self._total = await self._do(lambda: contents.size(self._stage.db))
        self._sessions = await self._do(lambda: contents.sessions(self._stage.db))
        await self._journal.alter(self._begin)
        if not self._run.keeps:
            await match(self._stage, self._journal)
        await self._messages(progress)
        await self._journal.alter(self._presences)
        await self._rows(progress)
        await self._journal.alter(self._finish)

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)

    def _told(self, count: int, progress: Progress | None) -> None:
        self._done += count
        if progress:
            progress(min(self._done, self._total), self._total)

    # -------------------------------------------------- in the journal's thread

    def _still(self, db: sqlite3.Connection) -> None:
        """Nobody may come in who was forgotten while this was under way."""
        if erasure.marks(db) != self._stage.about.get("marks"):
            raise JournalError("somebody was forgotten meanwhile; import the file again")

    def _begin(self, db: sqlite3.Connection, tell: arrivals.Tell) -> None:
        self._still(db)
        run = self._run
        if not run.messages and not run.rows and not run.changes and arrivals.is_empty(db):
            (batch,) = self._stage.db.execute("SELECT max(id) FROM batch").fetchone()
            run.keeps = True
            # No number that is referred to may become that of something else one day.
            arrivals.reserve(db, self._stage.highest, batch or 0)
        here = Rows(db)
        new = [each for each in self._sessions.values() if here.get(Session, each.id) is None]
        self._put(db, list(new), tell)
        for of, id, at in contents.pauses(self._stage.db):
            pause(db, "user" if of == "user" else "circle", id, at)
        if run.keeps:
            for batch in contents.claims(self._stage.db):
                self._claim(db, batch)
        run.save(db)

    def _put(self, db: sqlite3.Connection, rows: list[Row], tell: arrivals.Tell) -> None:
        change = arrivals.put(db, rows, OWNER, f"import {self._run.id}", self._now(), tell)
        if change:
            add(self._run.changes, [change.id])
            self._run.rows += len(change.ops)

    def _claim(self, db: sqlite3.Connection, batch: Claim, *, anew: bool = False) -> int:
        number = arrivals.claim(db, replace(batch, id=0) if anew else batch)
        add(self._run.batches, [number])
        if self._run.learns and batch.id not in self._stage.speechless:
            add(self._run.unlearned, [number])
        return number

    # ----------------------------------------------------------------- messages

    async def _messages(self, progress: Progress | None) -> None:
        after = 0
        while some := await self._do(partial(self._stage.unmoved, after, STEP)):
            after = some[-1].id
            prepared = await self._do(partial(self._prepare, some))
            done = await self._journal.alter(partial(self._arrive, *prepared))
            await self._do(partial(self._settle, done))
            self._told(len(some), progress)

    def _prepare(
        self, some: list[Message]
    ) -> tuple[list[tuple[Message, list[int], Claim | None]], dict[int, int]]:
        """Messages, which ones of the memory they may be, and their batches; and the numbers
        of what they quote."""
        stage = self._stage
        numbers = stage.numbers(id for message in some for id in referred(message))
        prepared = []
        for message in some:
            twins = [] if self._run.keeps else stage.twins(message)
            batch = None
            if message.batch is not None and not self._run.keeps:
                batch = contents.claim(stage.db, message.batch)
            prepared.append((message, twins, batch))
        return prepared, numbers

    def _arrive(
        self,
        prepared: list[tuple[Message, list[int], Claim | None]],
        numbers: dict[int, int],
        db: sqlite3.Connection,
        tell: arrivals.Tell,
    ) -> Arrived:
        self._still(db)
        done = Arrived()
        taken: set[int] = set()
        for message, twins, batch in prepared:
            found = self._found(db, message, [id for id in twins if id not in taken])
            if found is None:
                if not self._run.keeps:
                    message = requoted(message, numbers)
                found = self._store(db, message, batch, done, tell)
            taken.add(found)
            numbers[message.id] = found
            done.pairs.append((message.id, found))
        self._run.save(db)
        return done

    def _found(self, db: sqlite3.Connection, message: Message, twins: list[int]) -> int | None:
        if self._run.keeps:
            # Numbers were reserved: whatever has this one came with an earlier attempt.
            return message.id if arrivals.is_there(db, message.id) else None
        found = arrivals.by_reference(db, message)
        if found is not None:
            return found
        return next((id for id in twins if arrivals.is_there(db, id)), None)

    def _store(
        self,
        db: sqlite3.Connection,
        message: Message,
        batch: Claim | None,
        done: Arrived,
        tell: arrivals.Tell,
    ) -> int:
        if not self._run.keeps:
            number = None
            if batch is not None:
                known = self._batches.get(batch.id) or done.batches.get(batch.id)
                number = known or self._claim(db, batch, anew=True)
                done.batches[batch.id] = number
            message = replace(message, id=0, batch=number)
        # A memory that was exported says itself who was there.
        session = None if self._run.format == OwnFile.format else self._sessions[message.session]
        stored = arrivals.arrive(db, message, session, self._run.id, tell)
        add(self._run.messages, [stored.id])
        return stored.id

    def _settle(self, done: Arrived) -> None:
        self._batches.update(done.batches)
        with self._stage.at_once():
            self._stage.moved(done.pairs)

    # --------------------------------------------------------------------- rows

    def _presences(self, db: sqlite3.Connection, tell: arrivals.Tell) -> None:
        self._still(db)
        for presence in contents.presences(self._stage.db):
            attendance.attend(db, self._run.id, presence, tell)

    async def _rows(self, progress: Progress | None) -> None:
        while True:
            kind, id = self._run.cursor
            rows = contents.rows(self._stage.db, (kind, id), STEP)
            some: list[Row] = await self._do(lambda rows=rows: list(rows))  # type: ignore[misc]
            last = await self._do(partial(self._end, (kind, id)))
            if last is None:
                return
            coming = await self._do(partial(self._renumbered, some))
            await self._journal.alter(partial(self._join, coming, last))
            self._told(len(some), progress)

    def _end(self, after: tuple[str, str]) -> tuple[str, str] | None:
        """The last row of the step that follows a row; ``None`` if there is none."""
        found = self._stage.db.execute(
            "SELECT kind, id FROM (SELECT kind, id FROM row WHERE (kind, id) > (?, ?)"
            " ORDER BY kind, id LIMIT ?) ORDER BY kind DESC, id DESC LIMIT 1",
            (*after, STEP),
        ).fetchone()
        return (found[0], found[1]) if found else None

    def _renumbered(self, some: list[Row]) -> list[Row]:
        others: list[Row] = [row for row in some if not isinstance(row, Session)]
        if self._run.keeps:
            return others
        numbers = self._stage.numbers(id for row in others for id in referred(row))
        moved = (row.renumbered(numbers, self._stage.span) for row in others)
        return [
            renamed(row, self._names(row)) if isinstance(row, Episode) and row.parts else row
            for row in moved
            if row is not None
        ]

    def _names(self, record: Episode) -> dict[str, str]:
        """The ids that the parts of a record have in the memory."""
        here = Rows(self._stage.db)
        parts = [part for id in record.parts if (part := here.get(Episode, id))]
        moved = [(part.id, part.renumbered({}, self._stage.span)) for part in parts]
        return {old: row.id for old, row in moved if row is not None}

    def _join(
        self,
        coming: list[Row],
        last: tuple[str, str],
        db: sqlite3.Connection,
        tell: arrivals.Tell,
    ) -> None:
        self._still(db)
        here = Rows(db)
        wanted: dict[tuple[str, str], Row] = {}
        for row in coming:
            key = row.kind, row.id
            wanted[key] = join(wanted.get(key) or here.get(type(row), row.id), row)
        self._put(db, list(wanted.values()), tell)
        self._run.cursor = list(last)
        self._run.save(db)

    def _finish(self, db: sqlite3.Connection, tell: arrivals.Tell) -> None:
        self._run.state = "done"
        self._run.save(db)


async def match(stage: Stage, journal: Journal) -> None:
    """Note in a stage what the memory holds of its Sessions, so that it is not doubled."""

    def work() -> None:
        with reading(journal.path) as db, stage.at_once():
            stage.db.execute("DELETE FROM standing")
            for session in contents.sessions(stage.db):
                lines = arrivals.said_in(db, session)
                stage.stand(session, (line[:4] for line in lines if not line[4]))

    await asyncio.to_thread(work)
