"""Learning service: stores what people say and extracts memory in the background.

Everything is in the journal before anything else happens to it. One loop claims what is
due (``batching.py``) and starts batches (``extractor.py``), a few at a time, those of one
Session one after the other; after a kill the next start picks up both where they were. No
lock is held while a model thinks. While the breaker is open nothing is started, and when
its pause is over one batch finds out for all of them: an outage costs one call a pause,
however many batches wait, and no batch is given up because of it. Nor is one when the
day's tokens are spent: all of them wait for midnight, as those of somebody do who has cost
their share of the day.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from ..breaker import Breaker, BreakerState
from ..context import Context
from ..errors import (
    ClosedError,
    Failure,
    GraphMemoryError,
    HeldBackError,
    NotFoundError,
    brief,
    failure_of,
)
from ..model import BOT, Batch, Change, Erased, Fact, Message, Session, User
from ..ports import LanguageModel
from ..store import Event, QueuedBatch, Rows
from ..store.pauses import Pauses
from ..supervisor import LogOnce, Supervisor
from ..text import clean, clean_name
from ..token_budget import Cost
from ..turn import Turn
from .batching import Buffers, claim_writer, cutter, without_request
from .extractor import PURPOSE, Besides, Extractor, Likeness
from .prompt import Extend

logger = logging.getLogger("graph_memory.learning")

GRACE = 1.0
"""Seconds for which a new message is left alone (see :class:`Buffers`)."""
REMEMBER_TIMEOUT = 20.0
"""Seconds for which :meth:`Learning.remember` waits for the model."""
CONCURRENCY = 2
RETRY_AFTER = (30.0, 120.0, 600.0, 3_600.0)
"""Seconds to wait after each failed attempt; after the next one the batch is dead."""
_PAUSE = 30.0
"""Seconds to wait when the journal itself fails."""
HELD_UP = "learning pauses, it goes on by itself"


@dataclass(frozen=True, slots=True)
class LearningStatus:
    """How learning is doing.

    Attributes:
        buffered: Messages that no batch has claimed.
        waiting, dead: Batches to be tried (again), and given up.
        failed, failure: Number of the newest batch that failed and is not learned yet, and
            why; 0 and empty if there is none.
        over_share: Waiting batches of people who have cost their share of the day.
        last_learned_at: Since the start; ``None`` if nothing was.
        calls, tokens_in, tokens_out: Asked of the model today.
    """

    buffered: int
    waiting: int
    dead: int
    failed: int
    failure: str
    over_share: int
    last_learned_at: float | None
    calls: int
    tokens_in: int
    tokens_out: int


class Learning:
    """Hears, buffers and learns.

    Attributes:
        breaker: Holds all batches back while the model is down.
        pauses: Who asked that nothing new be remembered.

    Args:
        model: Extracts what is worth remembering; ``None``: batches are done as soon as
            they are claimed, and conversations are kept word for word.
        grace, retry_after: See :data:`GRACE`, :data:`RETRY_AFTER`.
        likeness, extend: See :class:`Extractor`.
    """

    def __init__(
        self,
        context: Context,
        model: LanguageModel | None,
        *,
        grace: float = GRACE,
        retry_after: tuple[float, ...] = RETRY_AFTER,
        breaker: Breaker | None = None,
        likeness: Likeness | None = None,
        extend: Extend | None = None,
    ) -> None:
        self._context = context
        self._journal = context.journal
        self._now = context.now
        self._has_model = model is not None
        self._retry_after = retry_after
        self.pauses = Pauses(context.journal, context.now)
        self.breaker = breaker or Breaker("the language model that learns")
        self._extractor = Extractor(context, model, self.breaker, likeness, extend)
        self._buffers = Buffers(context.settings, grace)
        self._people: set[str] = set()
        self._waiting: list[QueuedBatch] = []
        self._is_stale = True
        self._running: dict[str, asyncio.Task[None]] = {}
        self._urgent: dict[int, asyncio.Future[bool]] = {}
        self._released: set[int] = set()
        self._wanted: set[int] = set()
        self._tried: set[int] = set()
        self._was_down = False
        self._paused_until = -inf
        self._trouble = LogOnce(logger)
        self._is_closed = False
        text = "learning is held up, it will be tried again"
        self._job = Supervisor("gm-learning", self._work_off, logger, text, longest=60.0)

    async def start(self) -> None:
        """Pick up what was left and begin to work in the background."""
        self._journal.listen(self._on_event)
        await self._context.budget.load()
        await self.pauses.load()
        for session in await self._journal.read(lambda rows: list(rows.scan(Session))):
            self._buffers.know(session)
        self._people |= await self._journal.read(lambda rows: {u.id for u in rows.scan(User)})
        for buffer in await self._journal.buffers():
            for message in await self._journal.pending(buffer.session):
                self._buffers.put(message, self._now(), time.monotonic())
        self._job.start()

    async def close(self) -> None:
        """Stop; what is not learned stays in the journal. A second time does nothing."""
        self._is_closed = True
        await self._job.close()
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for id in list(self._urgent):
            self._answer(id, learned=False)
        await self._context.budget.close()

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

        A second message with the same ``ref`` is not stored.

        Args:
            at: When it was said; now if not given.

        Returns:
            The message; ``None`` if there is nothing to be learned from it: it is
            empty, said in a group and group learning is off, or by or among people who
            asked for a pause.
        """
        text, session = clean(turn.text), turn.session
        if not text or (session.is_group and not self._context.settings.enable_group_learning):
            return None
        if self.pauses.covers(session, turn.user):
            return None
        name, said = clean_name(turn.name), self._now() if at is None else at
        message = Message(0, session.id, turn.user, name, text, said, turn.ref, to=turn.to)
        return (await self._journal.append(message, session, turn.quote)).message

    async def reply(
        self, session: Session, text: str, *, at: float | None = None, to: str = ""
    ) -> Message | None:
        """Store what the bot said, to whom if to anybody; see :meth:`hear`."""
        if self.pauses.covers(session, to):
            return None
        return await self.hear(Turn(session, BOT, "", text), at=at)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Message):
            self._buffers.put(event, self._now(), time.monotonic())
            if event.is_human:
                self._people.add(event.sender)
            self._job.wake()
        elif isinstance(event, Erased):
            self._buffers.drop(event.messages)
        elif isinstance(event, Change):
            for op in event.ops:
                if isinstance(op.row, Session):
                    self._buffers.know(op.row)

    # ----------------------------------------------------------------- on request

    async def flush(self, circle: str | None = None) -> int:
        """Learn now what is buffered or waiting, in one chat window or everywhere.

        For admins: what the chats have cost today is not asked about.

        Returns:
            How many batches were learned.

        Raises:
            ClosedError: Learning was not started, or was stopped.
        """
        self._check_open()
        attempts = await self._retry_waiting(circle)
        for session in self._buffers.waiting(circle):
            await self._claim_all(session, attempts=attempts)
        # What was claimed by another meanwhile, but nothing a second time.
        attempts |= await self._retry_waiting(circle, again=False)
        if attempts:
            await asyncio.wait(attempts)
        return sum(attempt.result() for attempt in attempts)

    async def _retry_waiting(
        self, circle: str | None, *, again: bool = True
    ) -> set[asyncio.Future[bool]]:
        queue = await self._journal.queue()
        batches = [b.id for b in queue if b.state == "waiting" and self._is_in(b.session, circle)]
        try:
            return set(self.retry_now(batches, probe=True, again=again, by_admin=True))
        except ClosedError:  # meanwhile; what waits is learned after the next start
            return set()

    async def remember(self, turn: Turn, *, besides: Besides | None = None) -> tuple[Fact, ...]:
        """Learn now what a user asks to be remembered; a change of their own says so.

        If the model finds nothing in it, or is not there, it is kept as it was said.
        ``besides`` adds to that change.

        Returns:
            The facts it became; empty if nothing may be stored here (see :meth:`hear`).

        Raises:
            ClosedError: Learning was not started, or was stopped.
        """
        self._check_open()
        message = await self.hear(replace(turn, text=without_request(clean(turn.text))))
        if message is None:
            return ()
        await self._claim_all(turn.session.id)
        (claimed,) = await self._journal.messages([message.id]) or [message]
        if claimed.batch is not None and self._has_model:
            attempt = self.retry_now([claimed.batch], again=False)
            await asyncio.wait(attempt, timeout=REMEMBER_TIMEOUT)
        if not await self._extractor.confirm(message, besides) and claimed.batch is not None:
            await self._extractor.keep(await self._journal.batch(claimed.batch), message, besides)

        def citing(rows: Rows) -> tuple[Fact, ...]:
            facts = rows.find(Fact, session=turn.session.id)
            return tuple(fact for fact in facts if message.id in fact.evidence)

        return await self._journal.read(citing)

    async def revive(self) -> int:
        """Let batches that were given up be tried again; returns how many."""
        revived = await self._journal.revive()
        self.look_again()
        return revived

    async def status(self, circle: str | None = None) -> LearningStatus:
        """How learning is doing; of batches, in one chat window or everywhere."""
        cost = self._context.budget.today().costs.get(PURPOSE, Cost())
        queue = [b for b in await self._journal.queue() if self._is_in(b.session, circle)]
        waiting = [batch for batch in queue if batch.state == "waiting"]
        failed = next((batch for batch in reversed(queue) if batch.error), None)
        return LearningStatus(
            buffered=len(self._buffers),
            waiting=len(waiting),
            dead=sum(1 for batch in queue if batch.state == "dead"),
            failed=failed.id if failed else 0,
            failure=Failure.read(failed.error).value if failed else "",
            over_share=sum(1 for batch in waiting if self._share_pause(batch.author)),
            last_learned_at=self._extractor.last_at,
            calls=cost.calls,
            tokens_in=cost.tokens_in,
            tokens_out=cost.tokens_out,
        )

    def look_again(self) -> None:
        """Batches were added to the journal's queue, or may be tried again."""
        self._is_stale = True
        self._job.wake()

    def retry_now(
        self,
        batches: Iterable[int],
        *,
        probe: bool = False,
        again: bool = True,
        by_admin: bool = False,
    ) -> list[asyncio.Future[bool]]:
        """Have batches tried now, whatever back-off they are in.

        While the model is down they are not tried.

        Args:
            probe: Find out with one of them whether it still is.
            again: Also those that have been tried since the start.
            by_admin: Whatever share of the day their authors have cost.

        Returns:
            For each, whether it was learned by the attempt that follows.

        Raises:
            ClosedError: Learning was stopped.
        """
        if self._is_closed:
            raise ClosedError("learning has stopped")
        if probe:
            self.breaker.hurry()
        loop = asyncio.get_running_loop()
        found = []
        for id in batches:
            found.append(self._urgent.get(id) or loop.create_future())
            if by_admin:
                self._wanted.add(id)
            if id in self._tried and not again and id not in self._urgent:
                found[-1].set_result(False)
            else:
                self._urgent[id] = found[-1]
        self.look_again()
        return found

    def _check_open(self) -> None:
        if not self._job.is_running:
            raise ClosedError("learning has stopped")

    def _is_in(self, session: str, circle: str | None) -> bool:
        found = self._buffers.session(session)
        return circle is None or (found is not None and found.circle == circle)

    # ----------------------------------------------------------------- the loop

    async def _work_off(self) -> float:
        """Claim what is due and start what can be started; returns seconds until more is."""
        for session in self._buffers.due(self._now(), time.monotonic()):
            await self._claim_all(session, self._buffers.stable(session, time.monotonic()))
        return min(await self.step(), self._buffers.next(self._now(), time.monotonic()))

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
            last = await self._journal.read(lambda rows: rows.episode(session))
            claimed = await self._journal.claim(
                session,
                cutter(last, held[-1], self._context.zone),
                claim_writer(last, self._context.zone),
            )
            if claimed is None:
                break
            self._buffers.drop(m.id for m in claimed[0].messages)
            self.look_again()
            if attempts is not None:
                attempts.update(self.retry_now([claimed[0].id], again=False, by_admin=True))
        # Whatever the journal does not have any more has been removed or claimed.
        self._buffers.drop(held)

    async def step(self) -> float:
        """Start what can be started.

        Returns:
            Seconds until there may be more to do; ``inf`` if only :meth:`look_again` or
            a batch that ends will bring it.
        """
        pause = self._paused_until - asyncio.get_running_loop().time()
        if pause > 0:
            return pause
        await self._read_queue()
        pause, held = self.breaker.retry_in, self._context.budget.blocked_for
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

    async def _read_queue(self) -> None:
        """Read which batches wait, and answer for those that are gone."""
        while self._is_stale:  # again if a batch ended meanwhile: it may be on the list still
            self._is_stale = False
            queue = await self._journal.queue()
            self._waiting = [b for b in queue if b.state == "waiting"]
            self._tried.intersection_update(batch.id for batch in queue)
            self._wanted.intersection_update(batch.id for batch in queue)
        present = {item.id for item in self._waiting}
        for id in [] if self._running else self._urgent.keys() - present:
            self._answer(id, learned=False)

    def _start_batches(self, most: int) -> float:
        """Start what is to be tried now; returns seconds until the next may be."""
        now = self._now()
        for item in self._waiting:
            if self._over_share(item) > 0:
                self._answer(item.id, learned=False)
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

    def _share_pause(self, author: str) -> float:
        """Seconds for which somebody's batches wait who has cost their share of the day."""
        return self._context.budget.share_blocked_for(author, len(self._people))

    def _over_share(self, item: QueuedBatch) -> float:
        """Seconds for which a batch is held back, unless an admin asked for it."""
        return 0.0 if item.id in self._wanted else self._share_pause(item.author)

    def _wait(self, item: QueuedBatch, now: float) -> float:
        """Seconds until a batch may be tried."""
        if over := self._over_share(item):
            return over
        if item.id in self._urgent or item.id in self._released:
            return 0.0
        wait = item.next_at - now
        # Longer than any back-off: the clock has been set back since.
        return 0.0 if wait > max(self._retry_after, default=0.0) else wait

    def _answer(self, id: int, *, learned: bool) -> None:
        future = self._urgent.pop(id, None)
        if future is not None and not future.done():
            future.set_result(learned)

    # ----------------------------------------------------------------- one batch

    async def _work(self, item: QueuedBatch) -> None:
        learned = False
        try:
            learned = await self._attempt(item)
            self._trouble.clear(HELD_UP)
        except (ClosedError, NotFoundError):
            pass  # a batch that is gone was erased
        except Exception as error:
            # Not even the failure could be recorded; do not spin.
            self._paused_until = asyncio.get_running_loop().time() + _PAUSE
            self._trouble.report(HELD_UP, error)
        finally:
            del self._running[item.session]
            self._tried.add(item.id)
            self._answer(item.id, learned=learned)
            self.look_again()

    async def _attempt(self, item: QueuedBatch) -> bool:
        await self._journal.probe()  # no call of the model for what cannot be stored
        try:
            batch = await self._journal.batch(item.id)
        except NotFoundError as error:  # a damaged journal; it must not stop the others
            await self._journal.fail(item.id, failure_of(error), None)
            return False
        try:
            await self._extractor.learn(batch)
        except (ClosedError, NotFoundError):
            raise
        except HeldBackError:
            return False  # not an attempt
        except Exception as error:
            await self._fail(batch, error)
            return False
        return True

    async def _fail(self, batch: Batch, error: Exception) -> None:
        is_ours = not isinstance(error, GraphMemoryError)
        kind = failure_of(error)
        delay = None
        is_down = self.breaker.state is not BreakerState.CLOSED
        if kind is Failure.RUNAWAY:
            pass  # asked again, the model would only do it again
        elif batch.attempts < len(self._retry_after):
            delay = self._retry_after[batch.attempts]
        elif is_down and self._retry_after:
            delay = self._retry_after[-1]
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
