"""Care that comes by itself: follow-ups that are due, and whether to speak at all.

What a model meant to come back for is a row of the journal, so it survives restarts. When
it is due it is dropped if the user has talked meanwhile, and put off during quiet hours,
beyond the daily limit and while models may not be asked. Then the model is shown the record
and decides; it may be silent. A follow-up is noted as done before it is sent: a kill in
between loses a message, and never sends one twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Protocol

from ..complaint import Complaint
from ..errors import ClosedError, ExtractionError, Failure, GraphMemoryError, NotFoundError
from ..hours import midnight, quiet_hours
from ..journal import Draft, Event, Journal, Rows, history
from ..learn import Learning
from ..locales import say
from ..model import Change, Erased, Message, Session
from ..ports import LanguageModel
from ..retention import DAY
from ..settings import Settings
from ..text import clean_name, fenced
from ..token_budget import TokenBudget
from . import inner, lead, plans
from .companion_rows import FollowUp, FollowUpStatus, InnerState
from .control import Intent, Word, read
from .plans import ACTOR

logger = logging.getLogger("graph_memory.companion")

PURPOSE = "proactive"
ASK_TIMEOUT = 120.0
STALE = DAY
"""Seconds after which nobody remembers what it was about: the bot was down, say."""
SHOWN = 20
"""Messages that the model is shown."""
MAX_LINE = 300
MAX_TEXT = 1_000
"""Characters of what is sent."""
_LONGEST_SLEEP = 60.0
"""The computer's clock may be set meanwhile."""


class Voice(Protocol):
    """Speaks to people where nobody has asked anything."""

    async def persona(self, session: Session) -> str | None:
        """The prompt of the persona of a chat; ``None`` if another one is on there now."""

    def turn(self, session: Session) -> AbstractAsyncContextManager[None]:
        """While it lasts no reply is under way in a chat."""

    async def say(self, session: Session, text: str) -> bool:
        """Send a message and let it be part of the conversation; whether it was sent."""


@dataclass(frozen=True, slots=True)
class Means:
    """What it takes to speak first."""

    voice: Voice
    model: LanguageModel
    learning: Learning
    spending: TokenBudget


class Care:
    """The follow-ups of one memory.

    Attributes:
        is_on: Whether the settings want it.
    """

    def __init__(
        self,
        journal: Journal,
        settings: Settings,
        *,
        zone: tzinfo,
        now: Callable[[], float],
    ) -> None:
        self.is_on = "proactive" in settings.companion
        self._journal = journal
        self._language = settings.language
        self._quiet = quiet_hours(settings.quiet_hours)
        self._limit = settings.proactive_daily_limit
        self._zone = zone
        self._now = now
        self._means: Means | None = None
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    # ------------------------------------------------------------- start, stop

    def start(
        self, voice: Voice, model: LanguageModel, learning: Learning, spending: TokenBudget
    ) -> None:
        """Begin to plan, and to speak through ``voice``.

        Args:
            model: Decides, and finds the words.
            learning: Stores what was said, and knows who asked for a pause: nobody speaks
                first to them.
        """
        if not self.is_on or self._loop is not None:
            return
        model = spending.metered(model, PURPOSE)
        self._means = Means(voice, model, learning, spending)
        self._journal.listen(self._follow)
        self._loop = asyncio.create_task(self._run(), name="gm-care")

    async def close(self) -> None:
        """Stop; what waits stays in the journal. Harmless when stopped."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
        self._idle.set()

    async def settle(self) -> None:
        """Wait until nothing is due that could be done now."""
        self._idle.clear()
        self._wake.set()
        if self._loop is not None:
            await self._idle.wait()

    def _follow(self, event: Event) -> None:
        is_ours = isinstance(event, Change) and any(op.kind == FollowUp.kind for op in event.ops)
        if is_ours or isinstance(event, Erased):
            self._wake.set()

    # ------------------------------------------------------------------- plans

    async def plan(self, session: Session, user: str, intent: Intent) -> Change | None:
        """Note that the model means to come back to a user; in private chats only."""
        means = self._means
        if means is None or session.is_group or means.learning.pauses.covers(session, user):
            return None
        now = self._now()
        return await self._journal.commit(
            lambda rows: plans.planned(rows, session, user, intent, now)
        )

    async def standing(self, session: Session) -> list[FollowUp]:
        """What is planned in a Session and not overtaken, the next one first."""

        def look(rows: Rows) -> list[FollowUp]:
            return plans.waiting(rows, session.id)

        found = await self._journal.read(look)
        return [row for row in found if not await self._is_back(session, row)]

    async def cancel(self, row: FollowUp, actor: str) -> None:
        """Let one be.

        Raises:
            NotFoundError: It does not wait any more.
        """
        done = await self._journal.commit(
            lambda rows: plans.settled(rows, row, FollowUpStatus.DROPPED, actor)
        )
        if done is None:
            raise NotFoundError("it does not wait any more")

    async def _is_back(self, session: Session, row: FollowUp) -> bool:
        return await self._journal.look(
            lambda db: history.heard_since(db, session.circle, row.created_at)
        )

    # -------------------------------------------------------------- background

    async def _run(self) -> None:
        trouble = Complaint(logger, "follow-ups are held up")
        while True:
            self._wake.clear()
            try:
                delay = await self._step()
                trouble.withdraw()
            except ClosedError:
                return
            except Exception as error:
                trouble.make(error)
                delay = _LONGEST_SLEEP
            if delay > 0 and not self._wake.is_set():
                self._idle.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(max(delay, 0.0), _LONGEST_SLEEP)):
                    await self._wake.wait()

    async def _step(self) -> float:
        """Do what is due; returns the seconds until there may be more to do."""
        later = float("inf")
        assert self._means
        for row in await self._journal.read(plans.waiting):
            now = self._now()
            at = row.due_at
            if at <= now:
                at = await self._attempt(self._means, row, now)
            later = min(later, at - now)
        return later

    async def _attempt(self, means: Means, row: FollowUp, now: float) -> float:
        """Try one that is due; returns when to look at it again, if ever."""
        session = await self._journal.read(lambda rows: rows.get(Session, row.session))
        never = float("inf")
        if (
            session is None
            or session.is_group
            or now - row.due_at > STALE
            or means.learning.pauses.covers(session, row.user)
            or await self._is_back(session, row)
        ):
            await self._settle(row, FollowUpStatus.DROPPED)
            return never
        if later := await self._held(means.spending, row, now):
            return later
        try:
            text = await self._words(means, session, row)
        except GraphMemoryError as error:
            logger.info("a follow-up could not be asked about: %s", error)
            await self._commit(lambda rows: plans.failed(rows, row, now))
            return never
        if not text:
            await self._settle(row, FollowUpStatus.DROPPED)
            return never
        await self._speak(means, session, row, text)
        return never

    async def _held(self, spending: TokenBudget, row: FollowUp, now: float) -> float | None:
        """Until when one has to wait, whatever it is about."""
        if self._quiet and (end := self._quiet.until(now, self._zone)):
            return end
        count = await self._journal.read(
            lambda rows: plans.done_today(rows, row.user, now, self._zone)
        )
        if count >= self._limit:
            return midnight(now, self._zone, days=1)
        return now + spending.blocked_for if spending.blocked_for else None

    async def _words(self, means: Means, session: Session, row: FollowUp) -> str:
        """What the persona wants to say; empty if nothing.

        Raises:
            ExtractionError: The model failed.
        """
        persona = await means.voice.persona(session)
        if persona is None:  # the user talks to another one now
            return ""
        prompt = await self._record(session, row)
        system = f"{persona}\n\n{say(self._language, 'care_system')}".strip()
        try:
            async with asyncio.timeout(ASK_TIMEOUT):
                answer = await means.model.ask(system, prompt, where=session.umo)
        except TimeoutError as error:
            reason = f"no answer within {ASK_TIMEOUT:g} s"
            raise ExtractionError(reason, Failure.TIMEOUT) from error
        said = read(answer.text.strip(), frozenset(Word))
        return "" if Word.SILENCE in said.words else said.text[:MAX_TEXT]

    async def _record(self, session: Session, row: FollowUp) -> str:
        """What the model is shown: fenced, a line each, as data."""
        language, now = self._language, self._now()

        def look(rows: Rows) -> InnerState | None:
            return rows.get(InnerState, inner.inner_id(session.id))

        state = await self._journal.read(look)
        said = await self._journal.look(lambda db: history.newest_of(db, session.id, SHOWN))
        muted = await self._journal.read(lambda rows: [m.id for m in said if rows.is_forgotten(m)])
        local = datetime.fromtimestamp(now, self._zone)
        ago = lead.elapsed(now - row.created_at, language)
        return "\n".join(
            [
                "<record>",
                say(language, "care_now", when=f"{local:%Y-%m-%d %H:%M}", ago=ago),
                say(language, "care_reason", reason=fenced(row.reason, MAX_LINE)),
                *(inner.lines(state, language) if state else ()),
                say(language, "care_said"),
                *(self._line(message) for message in said if message.id not in muted),
                "</record>",
            ]
        )

    def _line(self, message: Message) -> str:
        at = datetime.fromtimestamp(message.at, self._zone)
        who = clean_name(message.name) if message.is_human else say(self._language, "care_bot")
        return f"{at:%m-%d %H:%M} {who or '?'}: {fenced(message.text, MAX_LINE)}"

    async def _speak(self, means: Means, session: Session, row: FollowUp, text: str) -> None:
        """Send it while no other reply is under way, unless something happened meanwhile."""
        async with means.voice.turn(session):
            now = self._now()
            if await self._is_back(session, row):
                await self._settle(row, FollowUpStatus.DROPPED)
                return
            done = await self._settle(row, FollowUpStatus.DONE, now)
            if done is None:
                return
            (noted,) = (op.after for op in done.ops)
            assert noted
            if await means.voice.say(session, text):
                with contextlib.suppress(GraphMemoryError):
                    await means.learning.reply(session, text, to=row.user)
                return
            sent = FollowUp(**noted)
            await self._commit(lambda rows: plans.failed(rows, sent, now))

    async def _settle(
        self, row: FollowUp, status: FollowUpStatus, at: float | None = None
    ) -> Change | None:
        return await self._commit(lambda rows: plans.settled(rows, row, status, ACTOR, at))

    async def _commit(self, draft: Callable[[Rows], Draft | None]) -> Change | None:
        return await self._journal.commit(draft)
