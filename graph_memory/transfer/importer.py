"""Import of one file: counted first, then written straight into the journal.

A message that is there already is found by what its platform calls it, or by who said what
when. So an import that was killed is simply done again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import batched
from pathlib import Path

from ..deletion import retraction
from ..errors import FormatError, JournalError
from ..model import Episode, Fact, Forgotten, Message, Row, Session
from ..privacy.redaction import disclosed
from ..settings import Remembers, Settings
from ..store import Journal, Rows, contents, presence
from ..store import messages as mail
from ..store.connection import reading
from ..store.journal import Slices
from ..store.pauses import Gaps, put_pause
from ..store.rows import EXPIRED, Draft, Tell, reserve, write
from ..supervisor import Progress
from . import files
from .deduplication import Said, join, referred, requoted
from .files import Stop
from .import_runs import OWNER, STEP, Run, saved
from .intake import Intake
from .sources import Options

logger = logging.getLogger("graph_memory.transfer")

EXAMPLES = 5
_Marks = set[tuple[str, str]]
_FORGOTTEN = (
    "SELECT json_extract(o.value, '$[1]') FROM change c, json_each(c.ops) o"
    " WHERE c.reason IN ('forget', ?) AND json_extract(o.value, '$[0]') = ?"
    " AND json_extract(o.value, '$[3]') IS NULL"
)
"""Facts that somebody had forgotten, as far as the log has their ids."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would bring.

    Attributes:
        messages, new: How many messages the file holds, and how many are not here yet.
        rows: How many rows of each kind.
        chats: Title and circle, persona, and how many messages, of each Session.
        since, until: First and last message; ``None`` if there is none.
        examples: Name and text of a few messages.
        skipped: How much was left out, by reason: ``origin`` (nobody knows which chat),
            ``empty``, ``double``, ``system``, ``recalled``, ``time``, ``broken``, ``paused``; and
            how many people, who asked to be ``forgotten``.
        batches, tokens: What learning all of it would take of the model, about.
        state: ``new``, or ``running`` or ``done`` if it was begun or brought in before.
    """

    format: str
    messages: int
    new: int
    rows: dict[str, int]
    chats: list[tuple[str, str, int]]
    since: float | None
    until: float | None
    examples: list[tuple[str, str]]
    skipped: dict[str, int] = field(default_factory=dict)
    batches: int = 0
    tokens: int = 0
    state: str = "new"


@dataclass(frozen=True, slots=True)
class Brought:
    """What an import brought; ``run`` counts earlier attempts at it as well."""

    run: Run
    messages: int
    rows: int


@dataclass(slots=True)
class Importer:
    """One import of one file.

    Attributes:
        directory: The data directory.
        format: Kind of the file, a key of ``SOURCES``.
        remembers: Whether what somebody says in a chat comes in at all.
        learns: Whether it is to be learned from, in the background.
        stop: Set it to have either end soon.
    """

    directory: Path
    journal: Journal
    path: Path
    format: str
    options: Options
    now: Callable[[], float]
    remembers: Remembers = Settings().remembers
    learns: bool = False
    stop: Stop = field(default_factory=Stop)

    async def preview(self, progress: Progress) -> Plan:
        """Read and check all of the file; nothing is written to the memory.

        Raises:
            FormatError: It is not what it should be: what is wrong, and where.
            JournalError: There is no room, or it cannot be read.
        """
        return await asyncio.to_thread(self._preview, progress)

    def _preview(self, steps: Progress) -> Plan:
        with reading(self.journal.path) as db, closing(self._take_in(db, steps)) as intake:
            return _plan(db, intake, self._run(db), steps)

    async def run(self, steps: Progress) -> Brought:
        """Bring everything in that is not here yet; a second time changes nothing.

        Raises:
            FormatError: As :meth:`preview`; nothing has changed.
            JournalError: The journal cannot be written, or somebody was forgotten meanwhile;
                what came in so far stays, and the next attempt goes on from there.
        """
        task = await asyncio.to_thread(self._begin, steps)
        intake, run = task.intake, task.run
        before = run.count, run.rows
        try:
            await self.journal.in_slices(task.bring)
        except Exception:  # if it was cancelled, the journal's thread may be reading from it still
            intake.close()
            raise
        intake.close()
        logger.info("import %s: %d messages, %d rows came in", run.id, run.count, run.rows)
        return Brought(run, run.count - before[0], run.rows - before[1])

    def _begin(self, steps: Progress) -> _ImportTask:
        with reading(self.journal.path) as db:
            intake, run = self._take_in(db, steps), self._run(db)
            # What a memory's own file brings was learned there.
            run.learns = run.learns or (self.learns and intake.batches > 0)
            return _ImportTask(intake, run, _deleted(db), self.now(), steps)

    def _run(self, db: sqlite3.Connection) -> Run:
        """The run of this file as an earlier attempt left it, or a new one."""
        id = self._digest()
        found = next((run for run in saved(db) if run.id == id and run.state != "undone"), None)
        since, name = Rows(db).last_change(), self.path.name
        return found or Run(id, self.format, self.now(), "new", since=since, name=name)

    def _digest(self) -> str:
        """What stands for a file's contents and how they are read."""
        key = f"{self.format}:{self.options.key}"
        found = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8)
        for part in (self.path, self.path.with_name(f"{self.path.name}-wal")):
            if part.is_file():
                with part.open("rb") as file:
                    while block := file.read(1 << 20):
                        found.update(block)
                        self.stop.look()
        return found.hexdigest()

    def _take_in(self, db: sqlite3.Connection, steps: Progress) -> Intake:
        """All of the file, checked, without those who asked to be forgotten."""
        intake = Intake(self.format, self.options.zone)
        try:
            files.require_room(self.directory, self.path)
            for number, piece in enumerate(files.SOURCES[self.format](self.path, self.options)):
                if number % STEP == 0:
                    self.stop.look()
                intake.add(piece)
                steps.take(1)
            intake.finish(partial(_held, db), Gaps(db), self.remembers, steps)
            intake.erase(self.directory, retraction.all_marks(db))
            for session in contents.sessions(intake.db):
                intake.stand(contents.messages(db, session))
        except BaseException as error:
            intake.close()
            raise _readable(error) from error
        return intake


def _readable(error: BaseException) -> BaseException:
    """What people can be told of an error in a source."""
    match error:
        case UnicodeEncodeError():
            return FormatError("half of a character (a lone surrogate) is no text")
        case UnicodeDecodeError():
            return FormatError("is no UTF-8").told("no_utf8")
        case OSError():
            return FormatError(f"the file cannot be read: {error}").told("unreadable")
        case sqlite3.Error():
            return JournalError(f"the file cannot be taken in: {error}")
        case _:
            return error


def _held(db: sqlite3.Connection, circle: str, ids: Collection[str]) -> Iterator[Said]:
    """What the memory holds of a chat window, under any persona, moved or not."""
    sessions = contents.sessions(db).items()
    here = [id for id, each in sessions if each.circle == circle or id in ids]
    return (Said(m.ref, m.sender, m.text, m.at) for id in here for m in contents.messages(db, id))


def _deleted(db: sqlite3.Connection) -> _Marks:
    """Marks of what was forgotten or retracted: it may not come in meanwhile."""
    marks = {(mark, "") for mark in retraction.all_marks(db)}
    return marks.union(Rows(db).erasures())


def _is_forgotten(here: Rows, row: Row) -> bool:
    """Whether all that a row rests on is not to be recalled in this memory."""
    muted = (Forgotten.of(getattr(row, "session", ""), id).id for id in row.cited)
    return bool(row.cited) and all(here.get(Forgotten, id) for id in muted)


def _found(db: sqlite3.Connection, intake: Intake, message: Message, *, keeps: bool) -> int | None:
    """The number of a message that is in the memory already."""
    if keeps:  # numbers were reserved: what has this one came with an earlier attempt
        found = db.execute("SELECT id FROM message WHERE id = ?", (message.id,)).fetchone()
    elif message.ref:
        query = "SELECT id FROM message WHERE session = ? AND sender = ? AND ref = ? AND ref != ''"
        found = db.execute(query, (message.session, message.sender, message.ref)).fetchone()
    else:
        return intake.twin(message)
    return int(found[0]) if found else None


def _plan(db: sqlite3.Connection, intake: Intake, run: Run, steps: Progress) -> Plan:
    count = "SELECT session, count(*) FROM message GROUP BY session"
    counts: dict[str, int] = dict(intake.db.execute(count).fetchall())
    sessions = sorted(contents.sessions(intake.db).values(), key=lambda s: -counts.get(s.id, 0))
    span = "SELECT min(at), max(at), count(*) FROM message"
    since, until, messages = intake.db.execute(span).fetchone()
    return Plan(
        format=run.format,
        messages=messages,
        new=_new(db, intake, steps),
        rows=dict(intake.db.execute("SELECT kind, count(*) FROM row GROUP BY kind").fetchall()),
        chats=[
            (f"{each.title} {each.circle}".strip(), each.persona, counts.get(each.id, 0))
            for each in sessions
        ],
        since=since,
        until=until,
        examples=[(each.name, each.text) for each in map(disclosed, intake.examples(EXAMPLES))],
        skipped=dict(+intake.skipped),
        batches=intake.batches,
        tokens=intake.tokens,
        state=run.state,
    )


def _new(db: sqlite3.Connection, intake: Intake, steps: Progress) -> int:
    new = 0
    for message in contents.messages(intake.db):
        number = _found(db, intake, message, keeps=False)
        if number is None:
            new += 1
        else:
            intake.settle(message.id, number)
        steps.take(1)
    return new


class _ImportTask:
    """An import under way."""

    def __init__(
        self, intake: Intake, run: Run, deleted: _Marks, at: float, steps: Progress
    ) -> None:
        self.intake, self.run = intake, run
        self._deleted, self._at = deleted, at  # one time for all of it
        self._steps = steps
        steps.take(0, contents.size(intake.db))
        self._sessions = contents.sessions(intake.db)
        self._batches: dict[int, int] = {}
        self._forgotten: set[str] = set()

    def bring(self, db: sqlite3.Connection, tell: Tell) -> Slices[None]:
        """Bring everything in, and note with each piece how far it is."""
        for work, count in self._pieces():
            if (deleted := _deleted(db)) != self._deleted:
                self._look_again(deleted)
            work(db, tell)
            self.run.save(db)
            self._steps.take(count)
            yield

    def _pieces(self) -> Iterator[tuple[Callable[[sqlite3.Connection, Tell], None], int]]:
        """What is to be done, and how many messages or rows each piece has."""
        yield self._begin, 0
        for said in batched(contents.messages(self.intake.db), STEP):
            yield partial(self._messages, said), len(said)
        yield self._presences, 0
        for rows in batched(contents.rows(self.intake.db), STEP):
            yield partial(self._rows, rows), len(rows)
        yield self._finish, 0

    def _look_again(self, deleted: _Marks) -> None:
        """Go on unless somebody was forgotten, or something of the file taken back."""
        marks = {mark for mark, _ in deleted - self._deleted}
        is_erasure = any(at for _, at in deleted ^ self._deleted)
        if is_erasure or retraction.held(self.intake.db, marks):
            text = "somebody was forgotten meanwhile; import the file again"
            raise JournalError(text).told("forgotten_meanwhile")
        self._deleted = deleted

    def _begin(self, db: sqlite3.Connection, tell: Tell) -> None:
        run = self.run
        if run.state == "new" and contents.is_empty(db):
            run.keeps = True
            highest = self.intake.db.execute("SELECT max(id) FROM batch").fetchone()[0] or 0
            # No number that is referred to may become that of something else one day.
            reserve(db, {"message": self.intake.highest, "batch": highest})
        run.keeps = run.keeps and run.state in ("new", "running")
        run.state = "running"
        self._forgotten = {id for (id,) in db.execute(_FORGOTTEN, (EXPIRED, Fact.kind))}
        here = contents.sessions(db)
        new: list[Row] = [each for id, each in self._sessions.items() if id not in here]
        self._put(db, new, run.reason, tell)
        over = {(kind, id, at) for kind, id, at, until in contents.every_pause(db) if until}
        for pause in (p for p in contents.every_pause(self.intake.db) if p[:3] not in over):
            put_pause(db, *pause)
        if run.keeps:
            for batch in contents.claims(self.intake.db):
                self._claim(db, batch.id)

    def _put(self, db: sqlite3.Connection, rows: list[Row], reason: str, tell: Tell) -> None:
        if change := write(db, Draft(OWNER, reason, rows), self._at, tell):
            self.run.rows += len(change.ops)

    def _messages(self, page: Sequence[Message], db: sqlite3.Connection, tell: Tell) -> None:
        for message in page:
            found = _found(db, self.intake, message, keeps=self.run.keeps)
            if found is None:
                found = self._store(db, message, tell)
            elif message.confided:  # since it was brought here, perhaps
                query = "UPDATE message SET confided = 1 WHERE id = ? AND NOT confided"
                if db.execute(query, (found,)).rowcount:
                    tell(mail.by_ids(db, [found])[0])
            self.intake.settle(message.id, found)

    def _store(self, db: sqlite3.Connection, message: Message, tell: Tell) -> int:
        run, batch = self.run, message.batch
        if not run.keeps:
            numbers = self.intake.numbers(referred(message))
            number = None if batch is None else self._claim(db, batch)
            message = replace(requoted(message, numbers), id=0, batch=number)
        stored = mail.insert(db, message, run.id)
        session = self._sessions[message.session]
        # A memory that was exported says itself who was there.
        if run.format != files.OWN_FORMAT and session.is_group and message.is_human:
            presence.cover(db, run.id, session.circle, message.sender, message.at, tell)
        tell(stored)
        run.count += 1
        return stored.id

    def _claim(self, db: sqlite3.Connection, id: int) -> int:
        """The number that a batch has in the memory."""
        if id not in self._batches:
            batch, error = contents.claim(self.intake.db, id)
            self._batches[id] = self._begun(db, id) or mail.put_claim(
                db, batch if self.run.keeps else replace(batch, id=0), error, self.run.id
            )
        return self._batches[id]

    def _begun(self, db: sqlite3.Connection, id: int) -> int | None:
        """The number that an earlier attempt at this import gave to a batch."""
        if self.run.keeps:
            found = db.execute("SELECT id FROM batch WHERE id = ?", (id,)).fetchone()
            return int(found[0]) if found else None
        live = "SELECT l.number FROM message m JOIN live l ON l.id = m.id WHERE m.batch = ?"
        query = "SELECT batch FROM message WHERE id = ? AND import = ?"
        numbers = self.intake.db.execute(live, (id,)).fetchall()
        found = (db.execute(query, (number, self.run.id)).fetchone() for (number,) in numbers)
        return next((int(row[0]) for row in found if row and row[0]), None)

    def _presences(self, db: sqlite3.Connection, tell: Tell) -> None:
        for each in contents.presences(self.intake.db):
            presence.adopt(db, self.run.id, each, tell)

    def _rows(self, some: Sequence[Row], db: sqlite3.Connection, tell: Tell) -> None:
        here = Rows(db)
        new: dict[tuple[str, str], Row] = {}
        wider: dict[tuple[str, str], Row] = {}
        for row in self._renumbered(some):
            key = row.kind, row.id
            standing = here.get(type(row), row.id)
            is_gone = row.id in self._forgotten or _is_forgotten(here, row)
            if standing is None and is_gone:
                continue
            rows = new if standing is None else wider
            rows[key] = join(rows.get(key) or standing, row)
        self._put(db, list(new.values()), self.run.reason, tell)
        self._put(db, list(wider.values()), self.run.widening, tell)

    def _renumbered(self, some: Sequence[Row]) -> Iterator[Row]:
        others = [row for row in some if not isinstance(row, Session)]
        if self.run.keeps:
            yield from others
            return
        numbers = self.intake.numbers(id for row in others for id in referred(row))
        for row in others:
            moved = row.renumbered(numbers, self.intake.span)
            if isinstance(moved, Episode) and moved.parts:
                moved = replace(moved, parts=self._parts(moved.parts))
            if moved is not None:
                yield moved

    def _parts(self, parts: Iterable[str]) -> tuple[str, ...]:
        """The ids that the parts of a record have in the memory."""
        found = {id: Rows(self.intake.db).get(Episode, id) for id in parts}
        moved = {id: row and row.renumbered({}, self.intake.span) for id, row in found.items()}
        return tuple(row.id if row else id for id, row in moved.items())

    def _finish(self, db: sqlite3.Connection, tell: Tell) -> None:
        self.run.state = "done"
