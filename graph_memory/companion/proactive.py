"""Proactive messages: follow-ups that are due, and whether to speak at all.

At most one follow-up waits in each Session; when it is due the model decides whether to
speak. It is noted as done before it is sent: a kill may lose a message, never send it twice.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sqlite3
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from ..context import Context, Part
from ..dates import midnight, moment, quiet_hours
from ..errors import GraphMemoryError, brief
from ..inference import LanguageModel
from ..learning import Learning
from ..locales import say
from ..model import Basis, Change, Erased, Message, Session, SessionRow, asker_of, stable_id
from ..privacy.redaction import disclosed
from ..retention import DAY
from ..store import Draft, Rows, queries
from ..supervisor import Supervisor
from ..text import clean_name, fenced, normalise
from . import inner_state
from .control_words import Intent, unasked
from .inner_state import InnerState

logger = logging.getLogger("graph_memory.companion")

PURPOSE = "proactive"
STALE = DAY
"""Seconds after which a follow-up is dropped."""
SHOWN = 20
"""Messages that the model is shown."""
MAX_LINE = 300
MAX_TEXT = 1_000
"""Characters of what is sent."""
_LONGEST_SLEEP = 60.0
"""The computer's clock may be set meanwhile."""
ACTOR = "companion"
RETRY = (5.0, 60.0, 600.0, 1_800.0)
"""Seconds until another try; after a start, platforms find the bot some seconds later."""
TRIES = len(RETRY) + 1
_AS_LISTED = re.compile(r"(?:\d\d-\d\d \d\d:\d\d\s)?(?P<name>[^:：\n]{1,64})[:：]\s*")
"""How a line of a chat begins, as models write their own as well."""
HOUR = 3_600.0
_KEPT = 30 * DAY
"""How long finished follow-ups are kept."""


class FollowUpStatus(StrEnum):
    """What became of a follow-up."""

    WAITING = "waiting"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class FollowUp(
    SessionRow,
    kind="follow_up",
    keys=("user",),
    times=("created_at",),
    words=("reason",),
    basis=Basis.MOMENT,
):
    """That a persona means to come back to a user; ``status`` is a `FollowUpStatus`."""

    user: str
    due_at: float
    reason: str
    attempts: int
    created_at: float
    status: str = FollowUpStatus.WAITING.value


class Voice(Protocol):
    """Speaks to people where nobody has asked anything."""

    async def persona(self, session: Session) -> str | None:
        """The prompt of a chat's persona; ``None`` if the chat has another one now."""

    def turn(self, session: Session) -> AbstractAsyncContextManager[None]:
        """A context in which no reply is under way in a chat."""

    async def say(self, session: Session, text: str) -> bool:
        """Send a message as part of the conversation; whether it was sent."""


class Proactive(Part):
    """The follow-ups of one memory."""

    _voice: Voice
    _model: LanguageModel
    _learning: Learning

    def __init__(self, context: Context) -> None:
        settings = context.settings
        self.is_on = "proactive" in settings.companion
        super().__init__(context)
        self._language = settings.language
        self._quiet = quiet_hours(settings.quiet_hours)
        self._limit = settings.proactive_daily_limit
        self._job = Supervisor(
            "gm-proactive",
            self._step,
            logger,
            "follow-ups are held up",
            retry=(_LONGEST_SLEEP,),
            longest=_LONGEST_SLEEP,
        )

    def start(self, voice: Voice, model: LanguageModel, learning: Learning) -> None:
        """Begin to plan, and to speak through ``voice`` to those who asked for no pause."""
        if not self.is_on or self._job.is_running:
            return
        self._voice, self._learning = voice, learning
        self._model = self._context.budget.metered(model, PURPOSE)
        self._journal.listen(self._follow, Change, Erased)
        self._job.start()

    async def close(self) -> None:
        """Stop; what waits stays in the journal."""
        await self._job.close()

    def _follow(self, event: Change | Erased) -> None:
        if isinstance(event, Erased) or any(op.kind == FollowUp.kind for op in event.ops):
            self._job.wake()

    # ------------------------------------------------------------------- plans

    async def plan(self, session: Session, user: str, intent: Intent) -> Change | None:
        """Plan to come back to a user who is heard, in a private chat."""
        is_on = self._job.is_running and not session.is_group
        if not is_on or not self._learning.hears(session, user):
            return None
        now = self._now()

        def planned(rows: Rows) -> Draft:
            draft = Draft(ACTOR, "follow_up")
            for row in rows.find(FollowUp, session=session.id):
                if row.status == FollowUpStatus.WAITING:
                    draft.put.append(replace(row, status=FollowUpStatus.DROPPED.value))
                elif now - row.due_at > _KEPT:
                    draft.drop.append((FollowUp.kind, row.id))
            id, due = stable_id("fu", session.id, user, repr(now)), now + intent.delay
            draft.put.append(FollowUp(id, session.id, user, due, intent.reason, 0, now))
            return draft

        return await self._journal.commit(planned)

    async def standing(self, session: Session) -> list[FollowUp]:
        """What is planned in a Session and not overtaken, the next one first."""
        found = await self._journal.read(lambda rows: rows.find(FollowUp, session=session.id))
        return [row for row in waiting(found) if not await self._is_over(session, row)]

    def earliest(self, row: FollowUp) -> float:
        """When it may be said: not in quiet hours."""
        return (self._quiet and self._quiet.until(row.due_at, self._zone)) or row.due_at

    async def cancel(self, row: FollowUp, actor: str) -> bool:
        """Drop one; false if it does not wait any more."""
        return await self._alter(row, actor, status=FollowUpStatus.DROPPED.value) is not None

    async def overtake(self, session: Session) -> None:
        """Drop what is planned in a Session: its user is back, if only with a picture."""
        if self.is_on and not session.is_group:
            for row in await self.standing(session):
                await self.cancel(row, ACTOR)

    async def _is_over(self, session: Session, row: FollowUp) -> bool:
        """Whether its user has talked since, or had what was said last forgotten."""

        def look(db: sqlite3.Connection) -> bool:
            rows = Rows(db)
            said = [each for each in rows.messages_before(session.id, None, SHOWN) if each.is_human]
            is_forgotten = bool(said) and rows.is_forgotten(said[-1])
            return is_forgotten or queries.heard_since(db, session.circle, row.created_at)

        return await self._journal.look(look)

    async def _is_moot(self, session: Session, row: FollowUp) -> bool:
        """Whether it is over, or its user is not heard (any more)."""
        hears = self._learning.hears(session, row.user)
        return not hears or await self._is_over(session, row)

    async def _alter(self, row: FollowUp, actor: str = ACTOR, **changes: Any) -> FollowUp | None:
        """Let one be otherwise; ``None`` if it is not what it was any more."""
        new = replace(row, **changes)

        def draft(rows: Rows) -> Draft | None:
            is_there = rows.get(FollowUp, row.id) == row
            return Draft(actor, "follow_up", put=[new]) if is_there else None

        return new if await self._journal.commit(draft) else None

    async def _fail(self, row: FollowUp, now: float) -> None:
        """Let one be tried again later, or not any more."""
        attempts, due, status = row.attempts + 1, row.due_at, FollowUpStatus.DROPPED
        if attempts < TRIES:
            due, status = now + RETRY[row.attempts], FollowUpStatus.WAITING
        await self._alter(row, attempts=attempts, due_at=due, status=status.value)

    # -------------------------------------------------------------- background

    async def _step(self) -> float:
        """Do what is due; returns the seconds until there may be more to do."""
        later = float("inf")
        for row in waiting(await self._journal.read(lambda rows: [*rows.scan(FollowUp)])):
            now = self._now()
            at = row.due_at if row.due_at > now else await self._attempt(row, now)
            later = min(later, at - now)
        return later

    async def _attempt(self, row: FollowUp, now: float) -> float:
        """Try one that is due; returns when to look at it again, if ever."""
        session = await self._journal.read(lambda rows: rows.get(Session, row.session))
        if session and not await self._journal.serves(session.circle):
            return float("inf")  # another bot is in that chat
        text = ""
        if (
            session
            and not session.is_group
            and now - row.due_at <= STALE
            and not await self._is_moot(session, row)
        ):
            if later := await self._held(row, now):
                return later
            try:
                text = await self._words(session, row)
            except Exception as error:  # whatever AstrBot raises: others are not held up
                logger.info("a follow-up could not be asked about: %s", brief(error))
                await self._fail(row, now)
                return float("inf")
        if not (session and text and await self._speak(session, row, text)):
            await self._alter(row, status=FollowUpStatus.DROPPED.value)
        return float("inf")

    async def _held(self, row: FollowUp, now: float) -> float | None:
        """Until when one has to wait, whatever it is about."""
        if self._quiet and (end := self._quiet.until(now, self._zone)):
            return end
        since, accounts = midnight(now, self._zone), self._context.identities.accounts(row.user)
        sent = await self._journal.read(
            lambda rows: [each for user in accounts for each in rows.find(FollowUp, a=user)]
        )
        done = [each.due_at for each in sent if each.status == FollowUpStatus.DONE]
        if sum(at >= since for at in done) >= self._limit:
            return midnight(now, self._zone, days=1)
        return now + self._context.budget.blocked_for if self._context.budget.blocked_for else None

    async def _words(self, session: Session, row: FollowUp) -> str:
        """What the persona wants to say; empty if nothing."""
        persona = await self._voice.persona(session)
        if persona is None:  # the user talks to another one now
            return ""
        prompt = await self._record(session, row)
        system = f"{persona}\n\n{say(self._language, 'care_system')}".strip()
        answer = await self._model.ask(system, prompt, where=session.umo)
        text = unasked(answer.text)
        own = {normalise(name) for name in (session.persona, say(self._language, "care_bot"))}
        if (begun := _AS_LISTED.match(text)) and normalise(begun["name"]) in own:
            text = text[begun.end() :]
        return text[:MAX_TEXT]

    async def _record(self, session: Session, row: FollowUp) -> str:
        """What the model is shown: fenced, a line each, as data."""
        language, now, asker = self._language, self._now(), asker_of(session, row.user)

        def look(db: sqlite3.Connection) -> tuple[InnerState | None, list[Message]]:
            rows = Rows(db)
            said = rows.messages_before(session.id, None, SHOWN)
            state = rows.get(InnerState, inner_state.inner_id(session.id))
            visible = self._context.visible(rows, asker)
            return state, [disclosed(message) for message in said if visible.shows(message)]

        state, said = await self._journal.look(look)
        ago = elapsed(now - row.created_at, language)
        return "\n".join(
            [
                "<record>",
                say(language, "care_now", when=moment(now, self._zone), ago=ago),
                say(language, "care_reason", reason=fenced(row.reason, MAX_LINE)),
                *(inner_state.lines(state, language) if state else ()),
                say(language, "care_said"),
                *map(self._line, said),
                "</record>",
            ]
        )

    def _line(self, message: Message) -> str:
        at = datetime.fromtimestamp(message.at, self._zone)
        who = clean_name(message.name) if message.is_human else say(self._language, "care_bot")
        return f"{at:%m-%d %H:%M} {who or '?'}: {fenced(message.text, MAX_LINE)}"

    async def _speak(self, session: Session, row: FollowUp, text: str) -> bool:
        """Send it while no reply is under way; false if something happened meanwhile."""
        async with self._voice.turn(session):
            now = self._now()
            if await self._voice.persona(session) is None or await self._is_moot(session, row):
                return False
            done = await self._alter(row, status=FollowUpStatus.DONE.value, due_at=now)
            if done and await self._voice.say(session, text):
                with contextlib.suppress(GraphMemoryError):
                    await self._learning.reply(session, text, to=row.user)
            elif done:
                await self._fail(done, now)
        return True


def waiting(rows: list[FollowUp]) -> list[FollowUp]:
    """Those that wait, the next one first."""
    wait = [row for row in rows if row.status == FollowUpStatus.WAITING]
    return sorted(wait, key=lambda row: (row.due_at, row.id))


def elapsed(seconds: float, language: str) -> str:
    """A stretch of time, about."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return say(language, "ago_now")
    if seconds < HOUR:
        return say(language, "ago_minutes", count=minutes)
    hours = round(seconds / HOUR)
    if hours < 48:
        return say(language, "ago_hours", count=hours)
    return say(language, "ago_days", count=round(hours / 24))
