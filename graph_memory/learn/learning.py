"""The write path's front door: hears what is said and learns from it in the background.

Everything is in the journal before anything else happens to it. One task claims what is
due (``buffer.py``) and starts batches (``queue.py``); after a kill the next start picks
up both where they were.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import tzinfo

from ..breaker import Breaker
from ..complaint import Complaint
from ..errors import ClosedError
from ..journal import Event, Journal, Rows
from ..model import BOT, Addressee, Change, Erased, Fact, Message, Quote, Session, User
from ..ports import LanguageModel
from ..scope import Attendance
from ..settings import Settings
from ..text import clean, clean_name
from ..token_budget import Cost, TokenBudget
from .buffer import Buffers
from .learner import PURPOSE, Besides, Learner, Likeness
from .lesson import Teacher
from .pauses import Pauses
from .queue import RETRY_AFTER, Queue
from .record import cutter, latest_episode, record
from .resolve import Rules
from .status import LearningStatus
from .words import without_request

logger = logging.getLogger("graph_memory.learn")

GRACE = 1.0
"""Seconds for which a new message is left alone (see :class:`Buffers`)."""
REMEMBER_TIMEOUT = 20.0
"""Seconds for which :meth:`Learning.remember` waits for the model."""
_LONGEST_SLEEP = 60.0
"""The computer's clock may be set meanwhile."""


class Learning:
    """Hears, buffers and learns.

    Attributes:
        breaker: Holds all batches back while the model is down.
        pauses: Who asked that nothing new be remembered.
        look_again: To be told that batches were added to the journal's queue.

    Args:
        model: Extracts what is worth remembering; ``None``: batches are done as soon as
            they are claimed, and conversations are kept word for word.
        zone: Whose midnight ends an episode and whose dates the model is told.
        attendance: Kept up to date by the owner.
        grace, retry_after: See :data:`GRACE`, :data:`RETRY_AFTER`.
        likeness, teach: See :class:`Learner`.
        spending: Where calls are counted, and whose limit holds; its own by default.
    """

    def __init__(
        self,
        journal: Journal,
        model: LanguageModel | None,
        settings: Settings,
        *,
        zone: tzinfo,
        attendance: Attendance,
        now: Callable[[], float] = time.time,
        grace: float = GRACE,
        retry_after: tuple[float, ...] = RETRY_AFTER,
        breaker: Breaker | None = None,
        spending: TokenBudget | None = None,
        likeness: Likeness | None = None,
        teach: Teacher | None = None,
    ) -> None:
        self._journal = journal
        self._has_model = model is not None
        self._settings = settings
        self._zone = zone
        self._now = now
        self._spending = spending or TokenBudget(journal, zone, now, settings.daily_llm_tokens)
        self.pauses = Pauses(journal, now)
        rules = Rules(settings.policy, attendance, zone, settings.time_decay_rate)
        self.breaker = breaker or Breaker("the language model that learns")
        self._learner = Learner(
            journal, model, rules, self._spending, now, self.breaker, likeness, teach
        )
        self._buffers = Buffers(settings, grace)
        self._people: set[str] = set()
        self._queue = Queue(
            journal,
            self._learner.learn,
            wake=self._wake_up,
            now=now,
            breaker=self.breaker,
            held=lambda: self._spending.blocked_for,
            held_for=self._share_pause,
            retry_after=retry_after,
        )
        self.look_again = self._queue.look_again
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def retune(self, settings: Settings) -> None:
        """Let memories fade by other settings from now on."""
        self._learner.retune(settings.time_decay_rate)

    async def start(self) -> None:
        """Pick up what was left and begin to work in the background."""
        self._journal.listen(self._on_event)
        await self._spending.load()
        await self.pauses.load()
        for session in await self._journal.read(lambda rows: list(rows.scan(Session))):
            self._buffers.know(session)
        self._people |= await self._journal.read(lambda rows: {u.id for u in rows.scan(User)})
        for buffer in await self._journal.buffers():
            for message in await self._journal.pending(buffer.session):
                self._buffers.put(message, self._now(), time.monotonic())
        self._loop = asyncio.create_task(self._run(), name="gm-learning")

    async def close(self) -> None:
        """Stop; what is not learned stays in the journal. Harmless when stopped."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
        await self._queue.close()
        await self._spending.close()
        self._idle.set()

    async def settle(self) -> None:
        """Wait until nothing is due and nothing is under way."""
        self._idle.clear()
        self._wake_up()
        if self._loop is not None:
            await self._idle.wait()

    async def hear(
        self,
        session: Session,
        sender: str,
        name: str,
        text: str,
        *,
        at: float | None = None,
        ref: str = "",
        to: tuple[Addressee, ...] = (),
        quote: Quote | None = None,
    ) -> Message | None:
        """Store what a person said; when this returns it is on disk.

        Args:
            sender, name: User id, and what the user is called here.
            at: When it was said; now if not given.
            ref: The platform's message id; a second message with it is not stored.
            to, quote: Whom it mentions, and what it quotes.

        Returns:
            The message; ``None`` if there is nothing to be learned from it: it is
            empty, said in a group and group learning is off, or by or among people who
            asked for a pause.
        """
        text = clean(text)
        if not text or (session.is_group and not self._settings.enable_group_learning):
            return None
        if self.pauses.covers(session, sender):
            return None
        said = self._now() if at is None else at
        message = Message(0, session.id, sender, clean_name(name), text, said, ref, to=to)
        return (await self._journal.append(message, session, quote)).message

    async def reply(
        self, session: Session, text: str, *, at: float | None = None, to: str = ""
    ) -> Message | None:
        """Store what the bot said, to whom if to anybody; see :meth:`hear`."""
        if self.pauses.covers(session, to):
            return None
        return await self.hear(session, BOT, "", text, at=at)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Message):
            self._buffers.put(event, self._now(), time.monotonic())
            if event.is_human:
                self._people.add(event.sender)
            self._wake_up()
        elif isinstance(event, Erased):
            self._buffers.drop(event.messages)
        elif isinstance(event, Change):
            for op in event.ops:
                if op.kind == Session.kind and isinstance(op.row, Session):
                    self._buffers.know(op.row)

    async def flush(self, circle: str | None = None) -> int:
        """Learn now what is buffered or waiting, in one chat window or everywhere.

        For admins: what the chats have cost today is not asked about.

        Returns:
            How many batches were learned.

        Raises:
            ClosedError: Learning was not started, or was stopped.
        """
        self._check_open()
        attempts = await self._urge_waiting(circle)
        for session in self._buffers.waiting(circle):
            await self._claim_all(session, attempts=attempts)
        # What was claimed by another meanwhile, but nothing a second time.
        attempts |= await self._urge_waiting(circle, again=False)
        if attempts:
            await asyncio.wait(attempts)
        return sum(attempt.result() for attempt in attempts)

    async def _urge_waiting(
        self, circle: str | None, *, again: bool = True
    ) -> set[asyncio.Future[bool]]:
        queue = await self._journal.queue()
        batches = [b.id for b in queue if b.state == "waiting" and self._is_in(b.session, circle)]
        try:
            return set(self._queue.urge(batches, probe=True, again=again, by_admin=True))
        except ClosedError:  # meanwhile; what waits is learned after the next start
            return set()

    async def remember(
        self,
        session: Session,
        user: str,
        name: str,
        text: str,
        *,
        to: tuple[Addressee, ...] = (),
        quote: Quote | None = None,
        besides: Besides | None = None,
    ) -> tuple[Fact, ...]:
        """Learn now what a user asks to be remembered; a change of their own says so.

        If the model finds nothing in it, or is not there, it is kept as it was said.
        ``besides`` adds to that change.

        Returns:
            The facts it became; empty if nothing may be stored here (see :meth:`hear`).

        Raises:
            ClosedError: Learning was not started, or was stopped.
        """
        self._check_open()
        said = without_request(clean(text))
        message = await self.hear(session, user, name, said, to=to, quote=quote)
        if message is None:
            return ()
        await self._claim_all(session.id)
        (claimed,) = await self._journal.messages([message.id]) or [message]
        if claimed.batch is not None and self._has_model:
            attempt = self._queue.urge([claimed.batch], again=False)
            await asyncio.wait(attempt, timeout=REMEMBER_TIMEOUT)
        if not await self._learner.confirm(message, besides) and claimed.batch is not None:
            await self._learner.keep(await self._journal.batch(claimed.batch), message, besides)
        return await self._citing(session, message.id)

    async def revive(self) -> int:
        """Let batches that were given up be tried again; returns how many."""
        revived = await self._journal.revive()
        self._queue.look_again()
        return revived

    async def status(self, circle: str | None = None) -> LearningStatus:
        """How learning is doing; of batches, in one chat window or everywhere."""
        cost = self._spending.today().costs.get(PURPOSE, Cost())
        queue = [b for b in await self._journal.queue() if self._is_in(b.session, circle)]
        held = [b for b in queue if b.state == "waiting" and self._share_pause(b.author)]
        return LearningStatus.of(queue, held, len(self._buffers), self._learner.last_at, cost)

    def _share_pause(self, author: str) -> float:
        """Seconds for which somebody's batches wait: they have cost their share of the day."""
        return self._spending.share_blocked_for(author, len(self._people))

    def _check_open(self) -> None:
        if self._loop is None:
            raise ClosedError("learning has stopped")

    def _is_in(self, session: str, circle: str | None) -> bool:
        found = self._buffers.session(session)
        return circle is None or (found is not None and found.circle == circle)

    async def _citing(self, session: Session, message: int) -> tuple[Fact, ...]:
        def find(rows: Rows) -> tuple[Fact, ...]:
            return tuple(f for f in rows.find(Fact, session=session.id) if message in f.evidence)

        return await self._journal.read(find)

    def _wake_up(self) -> None:
        self._wake.set()

    async def _run(self) -> None:
        trouble = Complaint(logger, "learning is held up, it will be tried again")
        while True:
            self._wake.clear()
            try:
                for session in self._buffers.due(self._now(), time.monotonic()):
                    await self._claim_all(session, self._buffers.settled(session, time.monotonic()))
                delay = min(
                    await self._queue.step(), self._buffers.next(self._now(), time.monotonic())
                )
                trouble.withdraw()
            except ClosedError:
                return
            except Exception as error:
                trouble.make(error)
                delay = _LONGEST_SLEEP / 2
            if delay > 0 and not self._queue.is_busy and not self._wake.is_set():
                self._idle.set()
            try:
                async with asyncio.timeout(min(max(delay, 0.0), _LONGEST_SLEEP)):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _claim_all(
        self,
        session: str,
        newest: int | None = None,
        attempts: set[asyncio.Future[bool]] | None = None,
    ) -> None:
        """Make batches of what a Session has buffered.

        Args:
            newest: The newest message to take; ``None`` takes all there is now.
            attempts: If given, the batches are tried now, and whether they were learned
                is added; a batch may be learned before the next one is made.
        """
        held = [id for id in self._buffers.held(session) if newest is None or id <= newest]
        if not held:
            return
        while True:
            last = await self._journal.read(lambda rows: latest_episode(rows, session))
            claimed = await self._journal.claim(
                session, cutter(last, held[-1], self._zone), record(last, self._zone)
            )
            if claimed is None:
                break
            self._buffers.drop(m.id for m in claimed[0].messages)
            self._queue.look_again()
            if attempts is not None:
                attempts.update(self._queue.urge([claimed[0].id], again=False, by_admin=True))
        # Whatever the journal does not have any more has been removed or claimed.
        self._buffers.drop(held)
