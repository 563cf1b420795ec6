"""Learning service: stores what people say and extracts memory in the background.

One loop claims what is due (``batching.py``) and has batches extracted (``extractor.py``), a
few at a time, those of one Session in order. While the breaker is open or the day's tokens
are spent, none is started and none given up: an outage costs one call a pause.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import inf

from ..context import Context, Part
from ..errors import (
    ClosedError,
    Failure,
    GraphMemoryError,
    HeldBackError,
    JournalError,
    NotFoundError,
    brief,
    failure_of,
)
from ..inference import LanguageModel
from ..inference.breaker import Breaker, BreakerState
from ..model import (
    BOT,
    Addressee,
    Batch,
    Change,
    Elsewhere,
    Erased,
    Fact,
    Message,
    Participation,
    Session,
    Turn,
    User,
)
from ..privacy.scope import in_confidence
from ..remember_requests import without_request
from ..store import QueuedBatch
from ..store.messages import Backlog
from ..store.pauses import Pauses
from ..supervisor import LogOnce, Supervisor
from ..text import clean, clean_name
from .batching import Buffers, claimer, requests
from .extractor import Besides, Extractor, Likeness
from .prompt import Extend

logger = logging.getLogger("graph_memory.learning")

GRACE = 1.0
"""Seconds for which a new message is left alone (see :class:`Buffers`)."""
REMEMBER_TIMEOUT = 20.0
"""Seconds for which :meth:`Learning.remember` waits for the model."""
CONCURRENCY = 2
RETRY_AFTER = (30.0, 120.0, 600.0, 3_600.0)
"""Seconds to wait after each failed attempt; after the next one the batch is dead."""
LEASE = 240.0
"""Seconds for which a batch is one bot's: longer than a model may take."""
EAR = 60.0
"""Seconds after which the bot that listens to a group is replaced, if it misses what others
hear."""
_PAUSE = 30.0
"""Seconds to wait when the journal itself fails."""
HELD_UP = "learning pauses, it goes on by itself"


@dataclass(slots=True)
class _Ear:
    """The bot that listens to a group; its account and where it writes to name it.

    Attributes:
        missed_at: Since when others hear something and it does not.
    """

    own: tuple[str, str]
    session: Session
    missed_at: float = inf


@dataclass(frozen=True, slots=True)
class LearningStatus(Backlog):
    """How learning is doing.

    Batches of people who have cost their share of the day are held.

    Attributes:
        buffered: Messages that no batch has claimed.
        last_learned_at: Since the start; ``None`` if nothing was.
    """

    buffered: int
    last_learned_at: float | None

    @property
    def failure(self) -> str:
        """Why the newest batch failed, if one did."""
        return Failure.read(self.error).value


class Learning(Part):
    """Hears, buffers and learns.

    Attributes:
        breaker: Holds all batches back while the model is down.
        pauses: Who asked that nothing new be remembered.

    Args:
        model: Extracts what is worth remembering; ``None``: conversations are kept word for
            word, and batches done as soon as they are claimed.
        likeness, extend: See :class:`Extractor`.
    """

    def __init__(
        self,
        context: Context,
        model: LanguageModel | None,
        *,
        grace: float = GRACE,
        breaker: Breaker | None = None,
        likeness: Likeness | None = None,
        extend: Extend | None = None,
    ) -> None:
        super().__init__(context)
        self._has_model = model is not None
        self._budget = context.budget
        self.pauses = Pauses(context.journal, context.now)
        self.breaker = breaker or Breaker("the language model that learns")
        self._extractor = Extractor(context, model, self.breaker, likeness, extend)
        self._buffers = Buffers(context.settings, grace)
        self._ears: dict[str, _Ear] = {}
        self._waiting: list[QueuedBatch] = []
        self._held: frozenset[str] = frozenset()
        self._is_stale = True
        self._is_reading = False
        self._running: dict[str, asyncio.Task[None]] = {}
        self._urgent: dict[int, asyncio.Future[bool]] = {}
        self._released: set[int] = set()
        self._wanted: set[int] = set()
        self._leased: dict[int, float] = {}
        self._was_down = False
        self._paused_until = -inf
        self._trouble = LogOnce(logger)
        self._is_closed = False
        text = "learning is held up, it will be tried again"
        self._job = Supervisor("gm-learning", self._work_off, logger, text, longest=60.0)

    async def start(self) -> None:
        """Pick up what was left and begin to work in the background."""
        listen = self._journal.listen
        listen(self._on_message, Message)
        listen(self._on_change, Change)
        listen(lambda gone: self._buffers.drop(gone.messages), Erased)
        listen(self._on_written, Elsewhere)
        await self.pauses.load()
        for session in await self._journal.read(lambda rows: list(rows.scan(Session))):
            self._buffers.know(session)
        claimed = await self._journal.read(
            lambda rows: {p.session for p in rows.scan(Participation)}
        )
        for id in claimed:
            self._buffers.begin(id)
        users = await self._journal.read(lambda rows: [user.id for user in rows.scan(User)])
        self._budget.people.update(users)
        for message in await self._journal.pending():
            self._buffers.put(message, self._now(), time.monotonic())
        self._job.start()

    async def close(self) -> None:
        """Stop; what is not learned stays in the journal."""
        self._is_closed = True
        await self._job.close()
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for id in list(self._urgent):
            self._answer(id, learned=False)

    async def settle(self) -> None:
        """Wait until nothing is due and nothing is under way."""
        while self._job.is_running:
            await self._job.idle()
            if not self._running:
                return
            await asyncio.wait(self._running.values())

    # ----------------------------------------------------------------- hearing

    async def hear(self, turn: Turn, *, at: float | None = None) -> Message | None:
        """Store what a person said; when this returns it is on disk.

        Args:
            at: When it was said; now if not given.

        Returns:
            The message, stored once for each ``ref``; ``None`` if nothing is to be learned
            from it: it is empty, the lists of who is remembered leave out who said it (for the
            bot: whom it answers), or somebody there asked for a pause.
        """
        text, session = clean(turn.text), turn.session
        whose = turn.to[0].user if turn.user == BOT and turn.to else turn.user
        if not text or not self.hears(session, whose):
            return None
        name, said = clean_name(turn.name), self._now() if at is None else at
        if turn.is_shared or self._ears:
            session = self._listen(turn)
        # What a model notes down of a message that is to be kept is to be kept as well.
        kept = turn.message is not None and in_confidence(turn.message)
        message = Message(
            0, session.id, turn.user, name, text, said, turn.ref, to=turn.to, confided=kept
        )
        return await self._journal.append(
            message, session, turn.quote, account=turn.account, is_shared=turn.is_shared
        )

    def hears(self, session: Session, user: str) -> bool:
        """Whether what a user says in a chat is stored, by settings and pauses."""
        is_listed = self._context.settings.remembers(session, user)
        return is_listed and not self.pauses.covers(session, user)

    def _listen(self, turn: Turn) -> Session:
        """Where something is kept that several bots hear: with the one that listens there.

        Otherwise the bots of two personas in one group would cut each other's batches short.
        """
        circle, now = turn.session.circle, self._now()
        ear, own = self._ears.get(circle), (turn.account, turn.session.umo)
        if not turn.is_shared:
            is_same = ear is not None and ear.session.id == turn.session.id
            return ear.session if ear and is_same else turn.session
        if ear is None or own == ear.own or now > ear.missed_at + EAR:
            ear = self._ears[circle] = _Ear(own, turn.session)
        ear.missed_at = min(ear.missed_at, inf if own == ear.own else now)
        return ear.session

    async def reply(
        self, session: Session, text: str, *, at: float | None = None, to: str = ""
    ) -> Message | None:
        """Store what the bot said, to whom if to anybody; see :meth:`hear`."""
        addressee = (Addressee(to),) if to else ()
        return await self.hear(Turn(session, BOT, "", text, to=addressee), at=at)

    def _on_message(self, message: Message) -> None:
        if message.id > 0:  # others wait for a server
            self._buffers.put(message, self._now(), time.monotonic())
            if message.is_human:
                self._budget.people.add(message.sender)
            self._job.wake()

    def turn_to(self, session: Session) -> None:
        """A persona was switched to: what was said there to the others is learned now."""
        self._buffers.turn_to(session)
        self._job.wake()

    def _on_change(self, change: Change) -> None:
        for op in change.ops:
            if isinstance(op.row, Session):
                self._buffers.know(op.row)
            elif isinstance(op.row, Participation):
                self._buffers.begin(op.row.session)

    def _on_written(self, elsewhere: Elsewhere) -> None:
        if "batch" in elsewhere.tables:
            self._leased.clear()
            self.look_again()

    # ----------------------------------------------------------------- on request

    async def flush(self, circle: str | None = None) -> int:
        """Learn now, for admins, what one chat window or all have buffered or waiting.

        Returns:
            How many batches were learned, whatever the chats have cost today.

        Raises:
            ClosedError: Learning was not started, or was stopped.
        """
        self._check_open()
        self.breaker.hurry()
        attempts = await self._retry_waiting(circle)
        for session in self._buffers.waiting(circle):
            await self._claim_all(session, self._buffers.held(session), attempts)
        # What was claimed by another meanwhile, but nothing a second time.
        attempts |= await self._retry_waiting(circle, untried=True)
        if attempts:
            await asyncio.wait(attempts)
        return sum(attempt.result() for attempt in attempts)

    async def _retry_waiting(
        self, circle: str | None, *, untried: bool = False
    ) -> set[asyncio.Future[bool]]:
        places = set(self._buffers.places(circle))
        batches = [
            batch.id
            for batch in await self._journal.queue()
            if batch.state == "waiting" and batch.session in places
            if not (untried and batch.attempts)
        ]
        return set() if self._is_closed else set(self.retry_now(batches, by_admin=True))

    async def remember(self, turn: Turn, *, besides: Besides | None = None) -> tuple[Fact, ...]:
        """Learn now what a user asks to be remembered; a change of their own says so.

        What the model finds nothing in is kept as it was said. ``besides`` adds to the change.

        Returns:
            The facts it became; empty if nothing may be stored here (see :meth:`hear`).

        Raises:
            ClosedError: Learning was not started, or was stopped.
            NotFoundError: It was taken back while the model was asked.
        """
        self._check_open()
        message = await self.hear(replace(turn, text=without_request(clean(turn.text))))
        if message is None:
            return ()
        here = turn.session  # another bot may be who listens there
        if message.session != here.id and await self._journal.retag(message.id, here):
            (message,) = await self._journal.messages([message.id])
        await self._claim_all(message.session, self._buffers.held(message.session))
        (claimed,) = await self._journal.messages([message.id]) or [message]
        if claimed.batch is not None and self._has_model:
            queue = await self._journal.queue()
            untried = [b.id for b in queue if b.id == claimed.batch and not b.attempts]
            if attempt := self.retry_now(untried):
                await asyncio.wait(attempt, timeout=REMEMBER_TIMEOUT)
        if not await self._extractor.confirm(message, besides) and claimed.batch is not None:
            await self._extractor.keep(await self._journal.batch(claimed.batch), message, besides)
        return tuple(await self._journal.read(lambda rows: rows.resting(Fact, message)))

    async def revive(self) -> int:
        """Let batches that were given up be tried again; returns how many."""
        revived = await self._journal.revive()
        self.look_again()
        return revived

    async def status(self, circle: str | None = None) -> LearningStatus:
        """How learning is doing; of batches, in one chat window or everywhere."""
        sessions = None if circle is None else self._buffers.places(circle)
        found = await self._journal.backlog(sessions, self._budget.over_share())
        last = self._extractor.last_at
        return LearningStatus(**asdict(found), buffered=len(self._buffers), last_learned_at=last)

    def look_again(self) -> None:
        """Batches were added to the journal's queue, or may be tried again."""
        self._is_stale = True
        self._job.wake()

    def retry_now(
        self, batches: Iterable[int], *, by_admin: bool = False
    ) -> list[asyncio.Future[bool]]:
        """Have batches tried now, whatever back-off they are in, unless the model is down.

        Args:
            by_admin: Whatever share of the day their authors have cost.

        Returns:
            For each, whether it was learned by the attempt that follows.

        Raises:
            ClosedError: Learning was stopped.
        """
        if self._is_closed:
            raise ClosedError("learning has stopped")
        loop = asyncio.get_running_loop()
        found = []
        for id in batches:
            found.append(self._urgent.setdefault(id, loop.create_future()))
            if by_admin:
                self._wanted.add(id)
        self.look_again()
        return found

    def _check_open(self) -> None:
        if not self._job.is_running:
            raise ClosedError("learning has stopped")

    # ----------------------------------------------------------------- the loop

    async def _work_off(self) -> float:
        """Claim what is due and start what can be started; returns seconds until more is."""
        clock = time.monotonic()
        waits = self._buffers.waits(self._now(), clock)
        due = [session for session, wait in waits.items() if wait <= 0]
        for session in due:
            await self._claim_all(session, self._buffers.held(session, clock))
        later = await self.step()
        return 0.0 if due else min(later, *waits.values(), inf)

    async def _claim_all(
        self,
        session: str,
        held: list[int],
        attempts: set[asyncio.Future[bool]] | None = None,
    ) -> None:
        """Make batches of what a Session has buffered.

        Args:
            held: The messages, in order.
            attempts: If given, each batch is tried at once, and whether that learned it added.
        """
        while held:
            claimed = await self._journal.claim(session, claimer(self._context.zone, held[-1]))
            if claimed is None:
                break
            self._buffers.drop(m.id for m in claimed[0].messages)
            self.look_again()
            is_held = self.breaker.retry_in > 0 or self._budget.blocked_for > 0
            asked = {message.sender for message in requests(claimed[0])}
            if asked and (is_held or any(map(self._budget.share_blocked_for, asked))):
                await self._extractor.keep_requests(claimed[0])
            if attempts is not None:
                attempts.update(self.retry_now([claimed[0].id], by_admin=True))
        # Whatever the journal does not have any more has been removed or claimed.
        self._buffers.drop(held)

    async def step(self) -> float:
        """Start what can be started; returns seconds until there may be more to do."""
        pause = self._paused_until - asyncio.get_running_loop().time()
        if pause > 0:
            return pause
        if self._waiting and self._held != self._budget.over_share():
            self._is_stale = True
        while self._is_stale:  # again if a batch ended meanwhile: it may be on the list still
            self._is_stale, self._is_reading = False, True
            self._held = self._budget.over_share()
            try:
                queue = await self._journal.queue(self._held)
            finally:
                self._is_reading = False
            self._waiting = [batch for batch in queue if batch.state == "waiting"]
        present = {item.id for item in self._waiting}
        for id in [] if self._running else self._urgent.keys() - present:
            self._answer(id, learned=False)
        if not self._waiting:
            return inf
        pause, held = self.breaker.retry_in, self._budget.blocked_for
        if pause > 0 or held > 0:
            self._was_down = self._was_down or pause > 0
            for item in self._waiting:
                self._answer(item.id, learned=False)
            return max(pause, held)
        is_down = self.breaker.state is BreakerState.HALF_OPEN
        if self._was_down and not is_down:
            self._was_down = False
            self._released = {item.id for item in self._waiting}
        return self._start_batches(1 if is_down else CONCURRENCY)

    def _start_batches(self, most: int) -> float:
        """Start what is to be tried now; returns seconds until the next may be."""
        now = self._now()
        for item in list(self._waiting):
            if len(self._running) >= most:
                return inf
            if item.session not in self._running and self._wait(item, now) <= 0:
                self._waiting.remove(item)
                self._released.discard(item.id)
                task = asyncio.create_task(self._work(item), name=f"gm-learn-{item.id}")
                self._running[item.session] = task
        # What belongs to a Session under way is looked at when that ends.
        free = (item for item in self._waiting if item.session not in self._running)
        return min((self._wait(item, now) for item in free), default=inf)

    def _wait(self, item: QueuedBatch, now: float) -> float:
        """Seconds until a batch may be tried."""
        share = 0.0 if item.id in self._wanted else self._budget.share_blocked_for(item.author)
        if share:
            self._answer(item.id, learned=False)
            return share
        if item.id in self._urgent or item.id in self._released:
            return 0.0
        wait = max(item.next_at, self._leased.get(item.id, 0.0)) - now
        # Longer than any back-off: the clock has been set back since.
        return 0.0 if wait > RETRY_AFTER[-1] else wait

    def _answer(self, id: int, *, learned: bool) -> None:
        self._wanted.discard(id)
        future = self._urgent.pop(id, None)
        if future is not None and not future.done():
            future.set_result(learned)

    # ----------------------------------------------------------------- one batch

    async def _work(self, item: QueuedBatch) -> None:
        learned = False
        try:
            learned = await self._attempt(item)
            self._trouble.clear(HELD_UP)
        except (Exception, asyncio.CancelledError) as error:  # an SDK may cancel its own calls
            # Not even the failure could be recorded; do not spin.
            if not (self._is_closed or isinstance(error, ClosedError)):
                self._paused_until = asyncio.get_running_loop().time() + _PAUSE
                self._trouble.report(HELD_UP, error)
        finally:
            del self._running[item.session]
            self._answer(item.id, learned=learned)
            if learned and not self._is_reading:  # a long queue is not read for each of its batches
                self._waiting = [batch for batch in self._waiting if batch.id != item.id]
                self._job.wake()
            else:
                self.look_again()

    async def _attempt(self, item: QueuedBatch) -> bool:
        await self._journal.probe()  # no call of the model for what cannot be stored
        if not await self._journal.lease(lease := f"batch {item.id}", LEASE, item.id):
            self._leased[item.id] = self._now() + LEASE
            return False
        try:
            return await self._learn(item)
        finally:
            with suppress(JournalError):  # else it ends by itself
                await self._journal.give(lease)

    async def _learn(self, item: QueuedBatch) -> bool:
        batch: Batch | None = None
        try:
            batch = await self._journal.batch(item.id)
            await self._extractor.learn(batch)
        except NotFoundError as error:  # it was erased, or the journal is damaged
            await self._journal.fail(item.id, failure_of(error), None)
            return False
        except ClosedError:
            raise
        except Exception as error:
            if not isinstance(error, HeldBackError):  # which is no attempt
                await self._fail(item, error)
            if batch:
                await self._extractor.keep_requests(batch)
            return False
        return True

    async def _fail(self, batch: QueuedBatch, error: Exception) -> None:
        is_ours = not isinstance(error, GraphMemoryError)
        kind = failure_of(error)
        delay = None
        is_down = self.breaker.state is not BreakerState.CLOSED
        # A runaway, asked again, would only do it again.
        if kind is not Failure.RUNAWAY and (is_down or batch.attempts < len(RETRY_AFTER)):
            delay = RETRY_AFTER[min(batch.attempts, len(RETRY_AFTER) - 1)]
        logger.log(
            logging.DEBUG if is_down and not is_ours else logging.WARNING,
            "batch %d was not learned (attempt %d, %s): %s",
            batch.id,
            batch.attempts + 1,
            "dead" if delay is None else f"next in {delay:g} s",
            brief(error),
            exc_info=error if is_ours else None,
        )
        next_at = None if delay is None else self._now() + delay
        await self._journal.fail(batch.id, kind, next_at)
