"""The journal: asynchronous reads and writes of everything that is kept.

Two threads own a SQLite connection each, one to write and one to read: so every write sees
the newest state, and a long look into the memory delays no message.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import JournalError
from ..model import Batch, Change, Message, Presence, Quote, Session
from ..supervisor import LongWork, Supervisor
from . import copies, presence, queries
from . import messages as mail
from .connection import (
    Storage,
    Watch,
    Worker,
    failing,
    open_to_read,
    open_to_write,
    reading,
    transacting,
)
from .messages import Backlog, QueuedBatch
from .outbox import Heard, Outbox
from .postgres import AWAY, Bot
from .replica import Replica, leave
from .rows import (
    Draft,
    Event,
    Rows,
    Tell,
    forget_texts,
    note,
    noted,
    read_change,
    select_messages,
    write,
)
from .schema import migrate, open_tables

logger = logging.getLogger("graph_memory.store")

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Bars = Callable[[sqlite3.Connection], Callable[[Heard, float], bool]]
Slices = Generator[None, None, T]
"""Long work: wherever it yields, what it did so far may be committed by itself."""
OUTBOX = "outbox.sqlite3"
"""Name of the file beside the journal where messages wait for a server."""
STALE = 600.0
"""Seconds without the server after which others may long have taken back what is here."""
FOLLOWING = 0.5
"""Seconds between two looks at what other bots wrote."""
RETRY = (2.0, 5.0)
"""Seconds until a server that is away is tried again."""
SLICE = 0.05
"""Seconds of long work in one transaction: so long a message waits for it."""
SWITCHING = 0.0002
"""Seconds that a thread at long work keeps the interpreter while another waits for it."""
PATIENCE = 5.0
"""Seconds that a chat waits for the disk. Then it goes on, and the message counts as not
stored; if its write was under way it may still arrive, once."""


class Journal:
    """The journal of one data directory; ``storage`` says whether it can be written."""

    _at_long_work: ClassVar[int] = 0  # of the process: one may be opened while another closes
    _interval: ClassVar[float] = 0.0

    def __init__(
        self, path: Path, now: Callable[[], float], server: str = "", bars: Bars | None = None
    ) -> None:
        self.path = path
        self._now = now
        self.replica = Replica(server, now) if server else None
        self._bars, self._reached_at = bars, float("-inf")
        self.takes_leases = True
        """Whether this process does what one bot should do for all."""
        self.doings: dict[str, Callable[..., Awaitable[object]]] = {"leave": self._leave}
        """What must not be forgotten while a server is away, by name; see :meth:`surely`."""
        self._outbox = Outbox(path.with_name(OUTBOX), self, now) if server else None
        self._following = Supervisor(
            "gm-following", self._follow, logger, "what other bots write is not seen", retry=RETRY
        )
        self.works = LongWork(now)
        self.storage = Storage()
        self._watch = Watch(path)
        self._writer = Worker("gm-journal", self.storage, writes=path)
        self._reader = Worker("gm-journal-reader", self.storage)
        self._loop = asyncio.get_running_loop()
        self._listeners: list[tuple[Callable[[Any], None], tuple[type, ...]]] = []
        self._events: list[Event] = []
        self.heard_at = float("-inf")
        """When the last message came, monotonic seconds."""
        self._patient = 0

    @classmethod
    async def open(
        cls,
        path: Path,
        now: Callable[[], float] = time.time,
        server: str = "",
        bars: Bars | None = None,
    ) -> Journal:
        """Open or create the file and migrate it.

        Args:
            server: How to reach the server that several bots share; empty for none.
            bars: Makes what tells whether a message that waited for that server, said at a time
                of all bots' clock, is not to be stored any more.

        Raises:
            DamagedError: Damaged or foreign.
            JournalError: Newer, not writable, or a migration failed.
        """
        journal = cls(path, now, server, bars)
        try:
            await journal._writer.start(journal._connect)
            await journal._reader.start(lambda: open_tables(open_to_read(path)))
            if journal.replica:
                await journal._join()
        except BaseException:
            await journal.close()
            raise
        return journal

    def _connect(self) -> sqlite3.Connection:
        def save(name: str) -> None:
            copies.save(self.path, name, self._now())

        def prepare(db: sqlite3.Connection) -> None:
            migrate(db, self.path, save)
            if self.replica:
                self.replica.attach(db)
            else:
                leave(db)

        db = open_to_write(self.path, prepare)
        self._watch.check(db)
        return open_tables(db)

    async def close(self) -> None:
        """Finish what is under way and close the file; does nothing when closed."""
        await self._following.close()
        if self._outbox:
            await self._outbox.close()
        await self._reader.stop()
        await self._writer.stop()
        if self.replica:
            self.replica.server.close()

    def listen(self, listener: Callable[[Any], None], *kinds: type) -> None:
        """Have ``listener`` called on the event loop with all that is committed, in order.

        That is so even if whoever asked for the commit was cancelled meanwhile. It must be
        quick and must not raise.

        Args:
            kinds: The classes of :data:`Event` that it follows; all by default.
        """
        self._listeners.append((listener, kinds or (object,)))

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            if self._outbox:
                self._outbox.take(event)
            if isinstance(event, Message):
                self.heard_at = time.monotonic()
            for listener, kinds in self._listeners:
                if isinstance(event, kinds):
                    listener(event)

    # --------------------------------------------------------------- other bots

    async def _join(self) -> None:
        """Take over what others wrote; what is here is of use while the server is away."""
        try:
            await self._follow()
        except JournalError as error:
            if error.kind != AWAY:
                raise
        if self._outbox:
            await self._outbox.open()

    async def begin(self) -> None:
        """Begin to follow other bots and to deliver to them; once somebody listens.

        What was told before would be known to nobody: neither in what had been read then, nor
        heard.
        """
        if self._outbox:
            await self._outbox.start()
            self._following.start()

    async def _follow(self) -> float:
        """Take over what was published elsewhere; returns seconds until the next look."""

        def follow(db: sqlite3.Connection, replica: Replica) -> bool:
            events: list[Event] = []
            is_new = replica.follow(db, events.append)
            self.announce(events)
            return is_new

        if replica := self.replica:
            await self._writer.run(lambda db: follow(db, replica))
            self._reached()
        return FOLLOWING

    def _reached(self) -> None:
        self._reached_at = time.monotonic()
        self.storage.reached()

    @property
    def is_stale(self) -> bool:
        """Whether other bots may long have forgotten what is still here."""
        return bool(self.replica) and time.monotonic() - self._reached_at > STALE

    async def deliver(
        self, entries: list[tuple[int, Heard]], since: int
    ) -> list[Message | None] | None:
        """Store messages of the outbox in order, each once, but those that are barred.

        Args:
            entries: By their numbers there.
            since: Nothing is stored, and ``None`` returned, unless those up to this one are here.
        """

        replica = self.replica
        assert replica  # only who shares a journal has an outbox

        def work(db: sqlite3.Connection) -> list[Message | None] | None:
            done = replica.delivering(db, since)
            if done < since:
                return None
            stored: list[Message | None] = []
            is_barred = self._bars(db) if self._bars else lambda _heard, _at: False
            for number, heard in entries:
                said = heard.message.at + (heard.ahead or self._ahead)
                if was_delivered(number, done):
                    stored.append(mail.stored(db, heard.message))
                else:
                    stored.append(None if is_barred(heard, said) else self._add(db, heard))
            for circle in {heard.session.circle for _, heard in entries}:
                replica.serve(db, circle)
            note(db, replica.delivery, str(max(done, entries[-1][0])))
            return stored

        return await self._transact(work)

    async def delivered(self) -> int:
        """Up to which number messages of the outbox are in the journal."""
        return int(await self.note(self.replica.delivery) or 0) if self.replica else 0

    def clock(self) -> float:
        """The time that all bots on the memory go by, seconds since the epoch."""
        return self._now() + self._ahead

    @property
    def _ahead(self) -> float:
        return self.replica.ahead if self.replica else 0.0

    async def surely(self, what: str, *given: Any) -> Any:
        """Do one of :attr:`doings`, now or once the server is there again.

        Returns:
            What it returns; ``None`` if it is still to be done.
        """
        try:
            return await self.doings[what](*given)
        except JournalError as error:
            if self._outbox is None or error.kind != AWAY:
                raise
            await self._outbox.intend(what, given)
            return None

    async def intended(self) -> list[tuple[str, list[Any]]]:
        """What is to be done once the server is there, in order."""
        found = await self._outbox.intended() if self._outbox else []
        return [(what, given) for _, what, given in found]

    async def lease(self, name: str, seconds: float, batch: int = 0) -> bool:
        """Take or prolong a lease; with no other bot on the memory it is ours.

        Args:
            batch: Nobody gets it unless this batch waits still.
        """
        if not (replica := self.replica):
            return True
        if not self.takes_leases:
            return False

        def work(db: sqlite3.Connection) -> bool:
            query = "SELECT 1 FROM batch WHERE id = ? AND state = 'waiting'"
            if batch and not db.execute(query, (batch,)).fetchone():
                return False
            return replica.lease(db, name, self.clock(), seconds)

        return await self._transact(work)

    async def give(self, name: str) -> None:
        """Give a lease back."""
        if replica := self.replica:
            await self._transact(lambda db: replica.give(db, name))

    async def serves(self, circle: str) -> bool:
        """Whether this bot was the last to hear a chat window."""
        replica = self.replica
        return replica is None or await self.look(lambda db: replica.serves(db, circle))

    async def report(self) -> list[Bot]:
        """Let the server hear of this bot; returns all on the memory."""
        if not (replica := self.replica):
            return []
        return await self._writer.run(lambda _db: replica.server.report(replica.instance))

    async def vacuum(self) -> None:
        """Have the server write over what was erased."""
        if replica := self.replica:
            await self._writer.run(lambda _db: replica.server.vacuum())

    @property
    def waiting_messages(self) -> int:
        """How many messages wait for a server."""
        return self._outbox.waiting if self._outbox else 0

    def announce(self, events: list[Event]) -> None:
        """Tell listeners, from whatever thread."""
        if events and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, events)

    # ------------------------------------------------------- reading and writing

    async def look(self, work: Work[T]) -> T:
        """Run a query on the reading connection, which has the tables of each kind."""
        return await self._reader.run(work)

    async def read(self, work: Callable[[Rows], T]) -> T:
        """Run ``work`` on the rows as they are now, on the reading thread."""
        return await self.look(lambda db: work(Rows(db)))

    async def _transact(
        self, work: Work[T], patience: float | None = None, *, is_local: bool = False
    ) -> T:
        def transaction(db: sqlite3.Connection) -> T:
            self._events = []
            if self.replica and not is_local:
                result = self.replica.write(db, checked, self._events.append)
                self._reached()
            else:
                with transacting(db):
                    result = checked(db)
            self.announce(self._events)
            return result

        def checked(db: sqlite3.Connection) -> T:
            self._watch.check(db)
            return work(db)

        return await self._writer.run(transaction, None if self._patient else patience)

    async def alter(
        self, work: Callable[[sqlite3.Connection, Tell], T], patience: float | None = None
    ) -> T:
        """Run ``work`` in a transaction, with what tells listeners."""
        return await self._transact(lambda db: work(db, self._events.append), patience)

    async def in_slices(self, work: Callable[[sqlite3.Connection, Tell], Slices[T]]) -> T:
        """Run long work in short transactions, between which others write.

        What is committed when it fails, or is killed, stays: it notes what is left to do.
        """
        steps: Slices[T] | None = None

        def some(db: sqlite3.Connection) -> list[T]:
            nonlocal steps
            steps = steps or work(db, lambda event: self._events.append(event))
            until = time.monotonic() + SLICE
            try:
                next(steps)
                while time.monotonic() < until:
                    next(steps)
            except StopIteration as end:
                return [end.value]
            return []

        with self.long_work():
            while not (done := await self._transact(some)):
                pass
        return done[0]

    async def survey(self, work: Work[T]) -> T:
        """Run a long look into the memory on a thread and a connection of its own.

        Raises:
            JournalError: It cannot be read.
        """

        def look() -> T:
            with failing(f"{self.path.name} cannot be read"), reading(self.path) as db:
                return work(db)

        with self.long_work():
            return await asyncio.to_thread(look)

    async def commit(self, resolve: Callable[[Rows], Draft | None]) -> Change | None:
        """Resolve a draft against the newest state and write it, in one transaction."""

        def work(db: sqlite3.Connection, tell: Tell) -> Change | None:
            draft = resolve(Rows(db))
            return write(db, draft, self._now(), tell) if draft else None

        return await self.alter(work)

    async def tidy(self, work: Work[T]) -> T:
        """Run maintenance that no transaction can hold."""
        try:
            return await self._writer.run(work)
        finally:
            self._watch.shrunk()

    @contextmanager
    def long_work(self) -> Iterator[None]:
        """Messages that come meanwhile wait for their turn, however long it takes.

        Questions do not: Python's threads change places more often.
        """
        if not Journal._at_long_work:
            Journal._interval = sys.getswitchinterval()
            sys.setswitchinterval(min(SWITCHING, self._interval))
        Journal._at_long_work += 1
        self._patient += 1
        try:
            yield
        finally:
            self._patient -= 1
            Journal._at_long_work -= 1
            if not Journal._at_long_work:
                sys.setswitchinterval(self._interval)

    @contextmanager
    def snapshot(self) -> Iterator[Rows]:
        """The rows as they are now, for the calling thread; raises ``JournalError``."""
        with reading(self.path) as db:
            yield Rows(db)

    async def change(self, number: int) -> Change | None:
        """One change."""
        return await self.look(lambda db: read_change(db, number))

    # --------------------------------------------------------------- messages

    async def append(
        self,
        message: Message,
        session: Session,
        quote: Quote | None = None,
        *,
        account: str = "",
        is_shared: bool = False,
    ) -> Message:
        """Store a message, its Session if that is new, and its sender's presence.

        Of what it quotes, only who said it and where it is are stored. Returns it with its
        id; the one that was stored earlier if it was sent twice, or to two accounts of ours.

        Args:
            account, is_shared: See :class:`Turn`.
        """

        heard = Heard(message, session, quote, account, is_shared)
        if self._outbox:
            return await self._outbox.hear(replace(heard, ahead=self._ahead), PATIENCE)
        return await self._transact(lambda db: self._add(db, heard), PATIENCE)

    def _add(self, db: sqlite3.Connection, heard: Heard) -> Message:
        message, session, account = heard.message, heard.session, heard.account
        if heard.is_shared and (known := mail.copied(db, message, account)):
            return known
        mail.place(db, session, self._now(), self._events.append)
        quote = heard.quote
        to = (mail.addressee(db, session.circle, quote, account),) if quote else ()
        told = replace(message, to=to + message.to)
        said, is_new = mail.add(db, told, session, self._events.append, account)
        self._events += [said, *mail.confide(db, said, self._now())] if is_new else []
        return said

    async def retag(self, message: int, session: Session) -> bool:
        """Move a buffered message to another Session; false if it was claimed already.

        One that waits for a server stays where it was heard.
        """
        if message < 0:
            return False

        def work(db: sqlite3.Connection) -> bool:
            mail.place(db, session, self._now(), self._events.append)
            query = "UPDATE OR IGNORE message SET session = ? WHERE id = ? AND batch IS NULL"
            moved = db.execute(query, (session.id, message)).rowcount > 0
            if moved:
                self._events += mail.by_ids(db, [message])
            return moved

        return await self._transact(work, PATIENCE)

    async def leave(self, circle: str, user: str, at: float) -> list[Presence]:
        """Record that a user left a group; returns the intervals that ended."""
        return list(await self.surely("leave", circle, user, at) or ())

    async def _leave(self, circle: str, user: str, at: float) -> list[Presence]:
        def work(db: sqlite3.Connection) -> list[Presence]:
            ended = presence.leave(db, circle, user, at)
            self._events += ended
            return ended

        return await self._transact(work, PATIENCE)

    async def presences(self) -> list[Presence]:
        """All intervals of presence."""
        return await self.look(presence.presences)

    async def messages(self, ids: Iterable[int]) -> list[Message]:
        """Messages by id, in order of id; missing ones are left out."""
        wanted = list(ids)
        return await self.look(lambda db: mail.by_ids(db, wanted))

    async def newest_messages(self, limit: int) -> list[Message]:
        """The newest messages, oldest first."""
        return await self.look(
            lambda db: select_messages(db, "ORDER BY id DESC LIMIT ?", (limit,))[::-1]
        )

    async def pending(self, session: str = "") -> list[Message]:
        """The buffered messages of a Session, or of all, oldest first."""
        return await self.look(lambda db: mail.pending(db, session))

    # ---------------------------------------------------------------- batches

    async def claim(
        self,
        session: str,
        plan: Callable[[Rows, Session, list[Message]], tuple[int, Draft]],
    ) -> tuple[Batch, Change | None] | None:
        """Make a batch of a Session's oldest buffered messages, if there are any.

        Args:
            plan: How many of the buffered messages belong to the batch, and what the claim itself
                writes (people, episode), in the same transaction.
        """

        def work(db: sqlite3.Connection) -> tuple[Batch, Change | None] | None:
            waiting = mail.pending(db, session)
            owner = Rows(db).get(Session, session)
            if not (owner and waiting):
                return None
            count, draft = plan(Rows(db), owner, waiting)
            if not count:
                return None
            change = write(db, draft, self._now(), self._events.append)
            return mail.read_batch(db, mail.open_batch(db, waiting[:count], self._now())), change

        return await self._transact(work)

    async def batch(self, id: int) -> Batch:
        """A batch with its messages; raises ``NotFoundError``."""
        return await self.look(lambda db: mail.read_batch(db, id))

    async def queue(self, authors: Collection[str] = ()) -> list[QueuedBatch]:
        """Batches that are waiting or dead, oldest first; see :func:`messages.queue`."""
        return await self.look(lambda db: mail.queue(db, authors))

    async def backlog(
        self, sessions: Iterable[str] | None = None, authors: Collection[str] = ()
    ) -> Backlog:
        """How many batches are waiting or dead; see :func:`messages.backlog`."""
        return await self.look(lambda db: mail.backlog(db, sessions, authors))

    async def fail(self, batch: int, error: str, next_at: float | None) -> None:
        """Record a failed attempt, unless it was learned; without ``next_at`` it is dead."""
        query = "UPDATE batch SET attempts = attempts + 1, error = ?, state = ?, next_at = ?"
        values = (error, "dead" if next_at is None else "waiting", next_at or 0.0, batch)
        await self._transact(
            lambda db: db.execute(f"{query} WHERE id = ? AND state != 'learned'", values)
        )

    async def revive(self) -> int:
        """Let all dead batches be tried again; returns how many."""
        query = "UPDATE batch SET state = 'waiting', attempts = 0, next_at = 0"
        return await self._transact(lambda db: db.execute(f"{query} WHERE state = 'dead'").rowcount)

    # ------------------------------------------------------- vectors and notes

    async def vectors(self, model: str, hashes: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Cached vectors of ``model`` by hash of their text; missing ones are left out."""
        query = "SELECT data FROM vector WHERE model = ? AND text_hash = ?"

        def work(db: sqlite3.Connection) -> dict[bytes, NDArray[np.float32]]:
            found = ((h, db.execute(query, (model, h)).fetchone()) for h in hashes)
            return {h: np.frombuffer(row[0], np.float32) for h, row in found if row}

        return await self.look(work)

    async def put_vectors(self, model: str, vectors: dict[bytes, NDArray[np.float32]]) -> None:
        """Cache vectors of ``model``, each of shape ``(dim,)``, by hash of their text."""
        rows = [(model, h, np.asarray(v, np.float32).tobytes()) for h, v in vectors.items()]
        query = "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)"
        await self._transact(lambda db: db.executemany(query, rows), is_local=True)

    async def forget_vectors(self, texts: list[str]) -> None:
        """Delete the cached vectors of some texts."""
        await self._transact(lambda db: forget_texts(db, texts), is_local=True)

    async def note(self, key: str) -> str | None:
        """A small value kept beside the memory (``webui_key``, …)."""
        return await self.look(lambda db: noted(db, key))

    async def set_note(self, key: str, value: str, patience: float | None = None) -> None:
        await self._transact(lambda db: note(db, key, value), patience)

    async def probe(self) -> None:
        """Raise ``JournalError`` if it could not be written and still cannot be."""
        if self.storage.kind:
            await self.set_note("probe", str(self._now()), PATIENCE)

    async def counts(self) -> dict[str, int]:
        """How many rows of each kind, messages, buffered messages, changes there are."""
        return await self.look(queries.counts)


def was_delivered(number: int, done: int) -> bool:
    """Whether a message is in the journal, which has those up to ``done``."""
    return number <= done


def finished(steps: Slices[T]) -> T:
    """The result of long work that is done at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(T, end.value)
