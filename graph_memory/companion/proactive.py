"""Proactive messages: follow-ups that are due, and whether to speak at all.

What a model meant to come back for is a row of the journal, so it survives restarts; at
most one waits in each Session. When it is due it is dropped if the user has talked
meanwhile, and put off during quiet hours, beyond the daily limit and while models may not
be asked. Then the model is shown the record and decides; it may be silent. A follow-up is
noted as done before it is sent: a kill in between loses a message, and never sends one
twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import ClassVar, Protocol

from ..context import Context
from ..errors import ExtractionError, Failure, GraphMemoryError, NotFoundError
from ..hours import midnight, quiet_hours
from ..learning import Learning
from ..locales import say
from ..model import Basis, Change, Erased, Message, Session, SessionRow, stable_id
from ..ports import LanguageModel
from ..retention import DAY
from ..store import Draft, Event, Rows, queries
from ..supervisor import Supervisor
from ..text import clean_name, fenced
from . import inner_state, preamble
from .control_words import Intent, Word, read
from .inner_state import InnerState

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
ACTOR = "companion"
RETRY = (5.0, 60.0, 600.0, 1_800.0)
"""Seconds until a follow-up is tried again that could not be asked about or sent.

The first are short: what fell due while the bot was down is tried when it starts, and a chat
platform finds the bot again some seconds later (OneBot clients wait 5 to 30).
"""
TRIES = len(RETRY) + 1
_KEPT = 30 * DAY
"""For so long it is known what became of a follow-up."""


class FollowUpStatus(StrEnum):
    """What became of a follow-up."""

    WAITING = "waiting"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class FollowUp(SessionRow):
    """That a persona means to come back to a user by itself.

    Attributes:
        user: To whom.
        due_at: When; not before.
        attempts: How often it was tried.
        status: A :class:`FollowUpStatus`.
    """

    kind: ClassVar[str] = "follow_up"
    keys: ClassVar[tuple[str, ...]] = ("user",)
    nodes: ClassVar[tuple[str, ...]] = ("user",)
    times: ClassVar[tuple[str, ...]] = ("created_at",)
    words: ClassVar[tuple[str, ...]] = ("reason",)
    basis: ClassVar[Basis] = Basis.MOMENT

    user: str
    due_at: float
    reason: str
    attempts: int
    created_at: float
    status: str = FollowUpStatus.WAITING.value


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


class Proactive:
    """The follow-ups of one memory.

    Attributes:
        is_on: Whether the settings want it.
    """

    def __init__(self, context: Context) -> None:
        settings = context.settings
        self.is_on = "proactive" in settings.companion
        self._journal = context.journal
        self._budget = context.budget
        self._language = settings.language
        self._quiet = quiet_hours(settings.quiet_hours)
        self._limit = settings.proactive_daily_limit
        self._zone = context.zone
        self._now = context.now
        self._means: Means | None = None
        self._job = Supervisor(
            "gm-proactive",
            self._step,
            logger,
            "follow-ups are held up",
            retry=(_LONGEST_SLEEP,),
            longest=_LONGEST_SLEEP,
        )

    # ------------------------------------------------------------- start, stop

    def start(self, voice: Voice, model: LanguageModel, learning: Learning) -> None:
        """Begin to plan, and to speak through ``voice``.

        Args:
            model: Decides, and finds the words.
            learning: Stores what was said, and knows who asked for a pause: nobody speaks
                first to them.
        """
        if not self.is_on or self._job.is_running:
            return
        self._means = Means(voice, self._budget.metered(model, PURPOSE), learning)
        self._journal.listen(self._follow)
        self._job.start()

    async def close(self) -> None:
        """Stop; what waits stays in the journal."""
        await self._job.close()

    async def settle(self) -> None:
        """Wait until nothing is due that could be done now."""
        await self._job.idle()

    def _follow(self, event: Event) -> None:
        is_ours = isinstance(event, Change) and any(op.kind == FollowUp.kind for op in event.ops)
        if is_ours or isinstance(event, Erased):
            self._job.wake()

    # ------------------------------------------------------------------- plans

    async def plan(self, session: Session, user: str, intent: Intent) -> Change | None:
        """Note that the model means to come back to a user; in private chats only."""
        means = self._means
        if means is None or session.is_group or means.learning.pauses.covers(session, user):
            return None
        now = self._now()
        return await self._journal.commit(lambda rows: planned(rows, session, user, intent, now))

    async def standing(self, session: Session) -> list[FollowUp]:
        """What is planned in a Session and not overtaken, the next one first."""

        def look(rows: Rows) -> list[FollowUp]:
            return waiting(rows, session.id)

        found = await self._journal.read(look)
        return [row for row in found if not await self._is_back(session, row)]

    async def cancel(self, row: FollowUp, actor: str) -> None:
        """Let one be.

        Raises:
            NotFoundError: It does not wait any more.
        """
        done = await self._journal.commit(
            lambda rows: settled(rows, row, FollowUpStatus.DROPPED, actor)
        )
        if done is None:
            raise NotFoundError("it does not wait any more")

    async def _is_back(self, session: Session, row: FollowUp) -> bool:
        return await self._journal.look(
            lambda db: queries.heard_since(db, session.circle, row.created_at)
        )

    # -------------------------------------------------------------- background

    async def _step(self) -> float:
        """Do what is due; returns the seconds until there may be more to do."""
        later = float("inf")
        assert self._means
        for row in await self._journal.read(waiting):
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
        if later := await self._held(row, now):
            return later
        try:
            text = await self._words(means, session, row)
        except GraphMemoryError as error:
            logger.info("a follow-up could not be asked about: %s", error)
            await self._commit(lambda rows: failed(rows, row, now))
            return never
        if not text:
            await self._settle(row, FollowUpStatus.DROPPED)
            return never
        await self._speak(means, session, row, text)
        return never

    async def _held(self, row: FollowUp, now: float) -> float | None:
        """Until when one has to wait, whatever it is about."""
        if self._quiet and (end := self._quiet.until(now, self._zone)):
            return end
        count = await self._journal.read(lambda rows: done_today(rows, row.user, now, self._zone))
        if count >= self._limit:
            return midnight(now, self._zone, days=1)
        return now + self._budget.blocked_for if self._budget.blocked_for else None

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
            return rows.get(InnerState, inner_state.inner_id(session.id))

        state = await self._journal.read(look)
        said = await self._journal.look(lambda db: queries.newest_of(db, session.id, SHOWN))
        muted = await self._journal.read(lambda rows: [m.id for m in said if rows.is_forgotten(m)])
        local = datetime.fromtimestamp(now, self._zone)
        ago = preamble.elapsed(now - row.created_at, language)
        return "\n".join(
            [
                "<record>",
                say(language, "care_now", when=f"{local:%Y-%m-%d %H:%M}", ago=ago),
                say(language, "care_reason", reason=fenced(row.reason, MAX_LINE)),
                *(inner_state.lines(state, language) if state else ()),
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
            await self._commit(lambda rows: failed(rows, sent, now))

    async def _settle(
        self, row: FollowUp, status: FollowUpStatus, at: float | None = None
    ) -> Change | None:
        return await self._commit(lambda rows: settled(rows, row, status, ACTOR, at))

    async def _commit(self, draft: Callable[[Rows], Draft | None]) -> Change | None:
        return await self._journal.commit(draft)


def waiting(rows: Rows, session: str | None = None) -> list[FollowUp]:
    """Those that wait, the next one first."""
    found = rows.scan(FollowUp) if session is None else rows.find(FollowUp, session=session)
    wait = [row for row in found if row.status == FollowUpStatus.WAITING]
    return sorted(wait, key=lambda row: (row.due_at, row.id))


def planned(rows: Rows, session: Session, user: str, intent: Intent, now: float) -> Draft:
    """A new follow-up; what is long settled goes."""
    draft = Draft(ACTOR, "follow_up")
    for row in rows.find(FollowUp, session=session.id):
        if row.status == FollowUpStatus.WAITING:
            draft.put.append(replace(row, status=FollowUpStatus.DROPPED.value))
        elif now - row.due_at > _KEPT:
            draft.drop.append((FollowUp.kind, row.id))
    id = stable_id("fu", session.id, user, repr(now))
    draft.put.append(FollowUp(id, session.id, user, now + intent.delay, intent.reason, 0, now))
    return draft


def settled(
    rows: Rows,
    wanted: FollowUp,
    status: FollowUpStatus,
    actor: str = ACTOR,
    at: float | None = None,
) -> Draft | None:
    """Let one be done with, if it is still what it was; ``at`` is when it was done."""
    if rows.get(FollowUp, wanted.id) != wanted:
        return None
    due = wanted.due_at if at is None else at
    return Draft(actor, "follow_up", put=[replace(wanted, status=status.value, due_at=due)])


def failed(rows: Rows, wanted: FollowUp, now: float) -> Draft | None:
    """Let one be tried again later, or not any more."""
    if rows.get(FollowUp, wanted.id) != wanted:
        return None
    attempts = wanted.attempts + 1
    if attempts >= TRIES:
        new = replace(wanted, attempts=attempts, status=FollowUpStatus.DROPPED.value)
    else:
        new = replace(
            wanted,
            attempts=attempts,
            due_at=now + RETRY[attempts - 1],
            status=FollowUpStatus.WAITING.value,
        )
    return Draft(ACTOR, "follow_up", put=[new])


def done_today(rows: Rows, user: str, now: float, zone: tzinfo) -> int:
    """To how many messages of its own a user was spoken to since midnight."""
    since = midnight(now, zone)
    return sum(
        1
        for row in rows.find(FollowUp, a=user)
        if row.status == FollowUpStatus.DONE and row.due_at >= since
    )
