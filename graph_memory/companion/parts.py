"""Parts of the companion: which are on, and what each of them does."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from ..context import Context, Part
from ..dates import day_of, moment
from ..errors import JournalError
from ..learning.prompt import ExtractionExtension, PromptContext
from ..locales import say
from ..model import Batch, Change, Episode, Fact, Session, Turn
from ..privacy.scope import Rank, View, rank_of
from ..recall import Recaller, language_of
from ..retention import DAY
from ..store import Draft, Rows, queries
from ..text import fenced, tokens
from . import inner_state
from .control_words import Word
from .core_facts import KEPT, MAX_TEXT, CoreFact, CoreFactExtension, CoreFacts, standing
from .inner_state import InnerState, Mood, MoodExtension, inner_id, mood_id
from .proactive import Proactive, elapsed
from .transcripts import Transcripts, newest_records

PATIENCE = 2.0
"""Seconds that reading a Session may take before a reply goes without it."""
RECORDS = 2
"""Recent summaries that are shown."""
RECORDS_BUDGET = 100
"""Most tokens of them."""
MAX_SUMMARY = 60
EPISODES = 8
"""Summaries that are read: some may not be shown."""
SPANS = (7, 30)
"""Periods, in days, of which is told on how many days the user talked."""

Cite = Callable[[Episode], str]
"""Gives a record that is shown its short id."""

TEACHERS: Mapping[str, Callable[[Rows, Batch, PromptContext], ExtractionExtension | None]] = {
    "core_facts": CoreFactExtension,
    "mood": lambda rows, batch, known: MoodExtension(batch),
    "inner_state": inner_state.teach,
}
"""What the parts ask of the call that learns."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Paragraphs before what is recalled; ``records`` stand beside memories only.

    ``has_profile``: core facts replace the profile.
    """

    paragraphs: list[list[str]] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    has_profile: bool = False


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the companion knows of a Session when a reply is asked for.

    Attributes:
        past: Episodes with a summary before the present one, newest first.
        before: When the last of them ended, with a summary or not.
        days: Local days (ordinals) on which the speaker talked lately.
        is_opening: Whether nothing has been answered in the present episode.
    """

    core: list[CoreFact]
    mood: Mood | None
    inner: InnerState | None
    past: list[Episode]
    before: float | None
    days: set[int]
    is_opening: bool


class Companion(Part):
    """The companion of one memory, with the parts (``settings.PARTS``) that are on."""

    def __init__(self, context: Context, recall: Recaller) -> None:
        self.parts = frozenset(context.settings.companion)
        super().__init__(context)
        self._language = context.settings.language
        self._visible = recall.visible
        self.transcripts = Transcripts(context, recall)
        self.proactive = Proactive(context)

    def words(self, session: Session) -> frozenset[Word]:
        """The control words that the chat model is taught in a Session."""
        words = {Word.SILENCE, Word.WANT_MORE} if "control_words" in self.parts else set()
        if "proactive" in self.parts and not session.is_group:
            words.add(Word.PROACTIVE)
        return frozenset(words)

    async def lead(self, turn: Turn, cite: Cite | None = None) -> Lead:
        """What stands before what is recalled; never raises.

        Args:
            cite: Gives a record its short id; ``None`` if the model cannot open records.
        """
        view = self._visible(turn.asker).get(turn.session.id) if self.parts else None
        if view is None:
            return Lead()
        now = self._now()
        try:
            async with asyncio.timeout(PATIENCE):
                state = await self._journal.look(
                    lambda db: _read(db, turn, view, self.parts, now, self._zone)
                )
        except (TimeoutError, JournalError):
            return Lead()
        return self._lead(turn, state, view, cite)

    def _lead(self, turn: Turn, state: SessionState, view: View, cite: Cite | None) -> Lead:
        now, language = self._now(), language_of(turn.text, self._language)
        lead: list[list[str]] = []
        if "metadata" in self.parts and turn.user and state.is_opening:
            lead.append([_occasion(state, now, self._zone, language)])
        if state.mood and rank_of(view, state.mood) is Rank.OWN:
            mood = say(language, f"mood_{state.mood.later(now).name}")
            lead.append([say(language, "lead_mood", mood=mood)])
        inner = state.inner
        if "inner_state" in self.parts and inner is None and state.before is None:
            inner = inner_state.seed(turn.session.id, language)  # how one is with strangers
        if inner and rank_of(view, inner) is Rank.OWN:
            lead.append(inner_state.lines(inner, language))
        core = [row for row in state.core if rank_of(view, row) is Rank.OWN]
        lead += [_core(core, self._zone, language)] if core else []
        records = _records(state.past, cite, self._zone, language) if state.past else []
        return Lead(lead, records, bool(core))

    # ------------------------------------------------------------------ learning

    def teach(
        self, rows: Rows, batch: Batch, known: PromptContext
    ) -> Sequence[ExtractionExtension]:
        """What the call that learns a batch is asked besides."""
        asked = [make(rows, batch, known) for part, make in TEACHERS.items() if part in self.parts]
        return [extension for extension in asked if extension]

    # ---------------------------------------------------------------- core facts

    async def core(self, user: str, session: Session) -> list[CoreFact]:
        """The core facts about an account, which has numbers of its own."""
        return await self._journal.read(
            lambda rows: standing(rows, session.id, [user], self._now())
        )

    def remembering(self, turn: Turn) -> Callable[[Rows, Draft], None] | None:
        """Makes core facts of what somebody asked to be remembered in private."""
        if turn.session.is_group or "core_facts" not in self.parts:
            return None

        def add(rows: Rows, draft: Draft) -> None:
            shelf = CoreFacts(rows, turn.session.id, turn.user, self._now())
            facts = [row for row in draft.put if isinstance(row, Fact) and row.evidence]
            for fact in facts[:KEPT]:
                if rows.has_messages(fact.evidence):
                    shelf.keep([fact.statement], fact.said_at, fact.evidence)
            shelf.write(draft)

        return add

    async def alter(
        self,
        session: Session,
        numbers: Collection[int],
        actor: str,
        change: Callable[[CoreFact], CoreFact | None],
    ) -> Change:
        """Change some of the actor's own core facts at once.

        Args:
            change: Returns the new row for the old one; ``None`` deletes it.

        Raises:
            NotFoundError: None has such a number, or nothing would change.
        """

        def draft(rows: Rows) -> Draft:
            made = Draft(actor, "core")
            own = standing(rows, session.id, [actor], self._now())
            for row in (each for each in own if each.number in numbers):
                if wanted := change(row):
                    made.put.append(wanted)
                else:
                    made.drop.append((CoreFact.kind, row.id))
            return made

        return await self._enact(draft, "core facts")


def _read(
    db: sqlite3.Connection, turn: Turn, view: View, parts: Collection[str], now: float, zone: tzinfo
) -> SessionState:
    """What is known of the Session of a turn, as far as parts that are on tell of it."""
    rows, session, message = Rows(db), turn.session.id, turn.message
    records = newest_records(db, session, 2, zone)
    first = records[0].first_message if records else 0
    told, days, is_opening = list[Episode](), set[int](), False
    if message is not None and message.id >= first > 0:
        is_opening = not rows.has_reply(session, first, message.id)
    if is_opening and "records" in parts:
        told = queries.newest_episodes(
            db, session, EPISODES, lambda each: rank_of(view, each) is Rank.OWN, told=True
        )
    if message and is_opening and "metadata" in parts:
        visits = queries.visits(db, session, now - (SPANS[-1] + 1) * DAY)
        visits += [(each.started_at, list(each.participants)) for each in records]
        days = {day_of(at, zone).toordinal() for at, people in visits if message.sender in people}
    return SessionState(
        standing(rows, session, turn.asker.accounts, now) if "core_facts" in parts else [],
        rows.get(Mood, mood_id(session)) if "mood" in parts else None,
        rows.get(InnerState, inner_id(session)) if "inner_state" in parts else None,
        [each for each in told if each.last_message < first],
        records[1].ended_at if len(records) > 1 else None,
        days,
        is_opening,
    )


def _occasion(state: SessionState, at: float, zone: tzinfo, language: str) -> str:
    """What time it is, how long ago the last talk was, and how often the user talks."""
    local = datetime.fromtimestamp(at, zone)
    today = local.toordinal()
    seven, thirty = (sum(today - span < each <= today for each in state.days) for span in SPANS)
    ago = (
        say(language, "lead_first")
        if state.before is None
        else say(language, "lead_last", ago=elapsed(at - state.before, language))
    )
    weekday = say(language, "weekdays").split()[local.weekday()]
    return say(
        language,
        "lead_occasion",
        when=f"{local:%Y-%m-%d} {weekday} {local:%H:%M}",
        ago=ago,
        seven=seven,
        thirty=thirty,
    )


def _core(rows: Sequence[CoreFact], zone: tzinfo, language: str) -> list[str]:
    """The core facts about who speaks, under a heading."""
    lines = [
        say(
            language,
            "lead_core_line",
            number=row.number,
            kind=row.named(language, zone),
            text=fenced(row.text, MAX_TEXT),
        )
        for row in rows
    ]
    return [say(language, "lead_core"), *lines]


def _records(
    episodes: Sequence[Episode], cite: Cite | None, zone: tzinfo, language: str
) -> list[str]:
    """The latest of some episodes, oldest first, under a heading."""
    lines: list[str] = []
    left = RECORDS_BUDGET
    for episode in episodes[:RECORDS]:
        line = f"{moment(episode.started_at, zone)} {fenced(episode.summary, MAX_SUMMARY)}"
        left -= tokens(line) + (8 if cite else 0)
        if left < 0:
            break
        lines.append(f"- [{cite(episode)}] {line}" if cite else f"- {line}")
    if not lines:
        return []
    heading = "lead_records_cited" if cite else "lead_records"
    return [say(language, heading), *reversed(lines)]
