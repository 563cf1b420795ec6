"""Outbox: messages on their way to a shared journal, on disk here first.

A message counts as stored once it is in the outbox, whatever becomes of the server or of this
process. They are delivered in order and each once: the journal notes, in the very transaction,
up to which number they came from this bot. They are kept for a while after that, should the
server lose what it had; whoever is erased goes from here as well.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model import Addressee, Change, Elsewhere, Erased, Message, Op, Quote, Session, encode
from ..retention import DAY
from ..supervisor import NEVER, Supervisor
from .connection import Storage, Worker, open_to_write, transacting
from .rows import Event, reserve

if TYPE_CHECKING:
    from .journal import Journal

logger = logging.getLogger("graph_memory.store")

SOME = 50
"""Messages in one delivery."""
KEPT = 7 * DAY
"""Seconds for which a message is kept after its delivery."""
RETRY = (1.0, 2.0, 5.0)
"""Seconds until a delivery that failed is tried again."""
_TABLES = Path(__file__).with_suffix(".sql").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Heard:
    """A message and all that storing it takes; see ``Journal.append``.

    Attributes:
        ahead: Seconds by which the clock of all bots was ahead of this machine's when it was
            heard; 0 if that was not known.
    """

    message: Message
    session: Session
    quote: Quote | None = None
    account: str = ""
    is_shared: bool = False
    ahead: float = 0.0

    def written(self) -> str:
        """It as JSON."""
        return json.dumps(asdict(self) | {"session": encode(self.session)}, ensure_ascii=False)

    @classmethod
    def read(cls, body: str) -> Heard:
        data: dict[str, Any] = json.loads(body)
        said = data["message"]
        said["to"] = tuple(Addressee(**each) for each in said["to"])
        data |= {"message": Message(**said), "session": Session.of_data(data["session"])}
        return cls(**data | {"quote": Quote(**data["quote"]) if data["quote"] else None})


class Outbox:
    """The outbox of one bot, which delivers to a journal."""

    def __init__(self, path: Path, journal: Journal, now: Callable[[], float]) -> None:
        self._path, self._journal, self._now = path, journal, now
        self._worker = Worker("gm-outbox", Storage(), writes=path)
        self._asking: dict[int, asyncio.Future[Message]] = {}
        self._shown: set[int] = set()
        self._events: deque[Erased | Elsewhere] = deque()
        self._mark = 0  # up to which number they were delivered, as far as is known here
        self._job = Supervisor(
            "gm-delivery", self._step, logger, "messages wait for the server", retry=RETRY
        )
        self.waiting = 0

    async def open(self) -> None:
        """Open it, without what was erased, and number from above what was delivered."""
        mark = self._mark = await self._journal.delivered()
        await self._worker.start(lambda: open_to_write(self._path, _prepare))
        ids = await self._worker.run(lambda db: _begin(db, mark))
        there = {message.id for message in await self._journal.messages(ids)}
        self._events.append(Erased(tuple(set(ids) - there)))

    async def start(self) -> None:
        """Tell of what waits, and begin to deliver it."""
        for number, body in await self._worker.run(lambda db: _waiting(db, -1)):
            self.waiting += 1
            self._show(number, Heard.read(body))
        self._job.start()

    async def close(self) -> None:
        """Stop; what waits is delivered after the next start."""
        await self._job.close()
        await self._worker.stop()

    async def hear(self, heard: Heard, patience: float) -> Message:
        """Take a message; when this returns it is on disk.

        Returns:
            It as it is stored, or, if the server does not answer in ``patience`` seconds,
            with a negative id of its own for the time being.
        """
        body, said = heard.written(), heard.message
        query = "INSERT INTO outgoing (session, sender, at, body) VALUES (?, ?, ?, ?)"
        values = (said.session, said.sender, self._now(), body)
        number = await self._worker.run(
            lambda db: db.execute(query, values).lastrowid or 0, patience
        )
        self.waiting += 1
        stored: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asking[number] = stored
        self._job.wake()
        try:
            if self._journal.storage.kind != "away":
                async with asyncio.timeout(patience):
                    return await asyncio.shield(stored)
        except TimeoutError:
            pass
        finally:
            self._asking.pop(number, None)
        is_stored = stored.done() and not stored.cancelled()
        return stored.result() if is_stored else self._show(number, heard)

    def _show(self, number: int, heard: Heard) -> Message:
        """Let a message that waits be recalled."""
        said = replace(heard.message, id=-number)
        place = Op(Session.kind, heard.session.id, None, encode(heard.session))
        self._shown.add(number)
        self._journal.announce([Change(0, self._now(), "chat", "session", (place,)), said])
        return said

    async def intend(self, what: str, given: Iterable[object]) -> None:
        """Have something done once all messages are delivered; it is on disk then."""
        values = (what, json.dumps(list(given), ensure_ascii=False))
        query = "INSERT INTO intent (what, given) VALUES (?, ?)"
        await self._worker.run(lambda db: db.execute(query, values))
        self._job.wake()

    async def intended(self) -> list[tuple[int, str, list[Any]]]:
        """What is to be done, in order, each with its number."""
        query = "SELECT number, what, given FROM intent ORDER BY number"
        found = await self._worker.run(lambda db: db.execute(query).fetchall())
        return [(number, what, json.loads(given)) for number, what, given in found]

    async def _step(self) -> float:
        while self._events:
            await self._follow(self._events[0])
            self._events.popleft()
        some = await self._worker.run(lambda db: _waiting(db, SOME))
        if not some:
            await self._carry_out()
            return NEVER
        entries = [(number, Heard.read(body)) for number, body in some]
        stored = await self._journal.deliver(entries, self._mark)
        if stored is None:  # the server lost what came before, which goes first
            await self._send_again()
            return 0.0
        self._mark = entries[-1][0]
        numbers = [number for number, _ in entries]
        old = self._now() - KEPT
        await self._worker.run(
            lambda db: _delivered(db, zip(numbers, stored, strict=True), old), None
        )
        self.waiting = max(0, self.waiting - len(some))
        for (number, heard), message in zip(entries, stored, strict=True):
            if (asking := self._asking.get(number)) and not asking.done():
                asking.set_result(message or heard.message)
        if gone := self._shown & set(numbers):
            self._shown -= gone
            self._journal.announce([Erased(tuple(-number for number in gone))])
        return 0.0

    def take(self, event: Event) -> None:
        """Follow what the journal tells: what is erased, and what a server may have lost."""
        if isinstance(event, Erased) or (isinstance(event, Elsewhere) and event.is_whole):
            self._events.append(event)
            self._job.wake()

    async def _follow(self, event: Erased | Elsewhere) -> None:
        if isinstance(event, Erased):
            await self._worker.run(lambda db: _erase(db, event))
            return
        await self._send_again()

    async def _carry_out(self) -> None:
        for number, what, given in await self.intended():
            await self._journal.doings[what](*given)
            await self._worker.run(partial(_carried_out, number))

    async def _send_again(self) -> None:
        mark = self._mark = await self._journal.delivered()
        self.waiting = await self._worker.run(lambda db: _send_again(db, mark))


def _carried_out(number: int, db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM intent WHERE number = ?", (number,))


def _prepare(db: sqlite3.Connection) -> None:
    db.executescript(_TABLES)


def _begin(db: sqlite3.Connection, delivered: int) -> list[int]:
    """Number from above what was delivered; returns the ids of what was.

    What was delivered to a server that has lost it since waits again, and was not erased.
    """
    _send_again(db, delivered)
    reserve(db, {"outgoing": delivered})
    found = db.execute("SELECT message FROM outgoing WHERE message IS NOT NULL").fetchall()
    return [id for (id,) in found]


def _send_again(db: sqlite3.Connection, delivered: int) -> int:
    """Let what a server lost be delivered once more; returns how many wait."""
    db.execute("UPDATE outgoing SET message = NULL WHERE number > ?", (delivered,))
    query = "SELECT count(*) FROM outgoing WHERE message IS NULL"
    return int(db.execute(query).fetchone()[0])


def _waiting(db: sqlite3.Connection, limit: int) -> list[tuple[int, str]]:
    query = "SELECT number, body FROM outgoing WHERE message IS NULL ORDER BY number LIMIT ?"
    return db.execute(query, (limit,)).fetchall()


def _delivered(
    db: sqlite3.Connection, stored: Iterable[tuple[int, Message | None]], old: float
) -> None:
    gone = []
    with transacting(db):
        for number, message in stored:
            if message is None:
                gone.append((number,))
            else:
                query = "UPDATE outgoing SET message = ? WHERE number = ?"
                db.execute(query, (message.id, number))
        db.execute("DELETE FROM outgoing WHERE message IS NOT NULL AND at < ?", (old,))
    _clean(db, lambda: db.executemany("DELETE FROM outgoing WHERE number = ?", gone))


def _erase(db: sqlite3.Connection, gone: Erased) -> None:
    """Delete what is not to be delivered again."""

    def delete() -> None:
        ids = [(id,) for id in gone.messages]
        db.executemany("DELETE FROM outgoing WHERE message = ?", ids)
        if gone.user:
            db.execute("DELETE FROM outgoing WHERE sender = ?", (gone.user,))

    _clean(db, delete)


def _clean(db: sqlite3.Connection, delete: Callable[[], object]) -> None:
    """Delete from the file and its log."""
    before = db.total_changes
    delete()
    if db.total_changes > before:  # not when what waited got its own number
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
