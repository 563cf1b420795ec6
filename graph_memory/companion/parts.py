"""Parts of the companion: which of them are on, and what each of them does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..context import Context
from ..errors import JournalError, NotFoundError
from ..learning.prompt import Extend, ExtractionExtension
from ..learning.prompt_context import PromptContext
from ..model import Asker, Batch, Change, Fact, Row, Session, register
from ..recall import Recaller, language_of
from ..scope import Rank, View, span
from ..store import Draft, Rows
from ..turn import Turn
from . import inner_state, preamble
from .control_words import Word
from .core_facts import CoreFact, CoreFactExtension, CoreFacts, CoreKind, standing
from .inner_state import InnerState, Mood, MoodExtension
from .preamble import Cite, Lead, SessionState
from .proactive import FollowUp, Proactive
from .transcripts import Transcripts

PATIENCE = 2.0
"""Seconds that reading a Session may take before a reply goes without it."""
_KEPT = 3
"""Core facts that one request to remember something makes."""

TEACHERS: Mapping[str, Extend] = {
    "core_facts": CoreFactExtension,
    "mood": lambda rows, batch, known: MoodExtension(batch),
    "inner_state": inner_state.teach,
}
"""What the parts ask of the call that learns."""


class Companion:
    """The companion of one memory. Everything it keeps is a row of one Session.

    Args:
        recall: Knows who may see what.

    Attributes:
        parts: Which parts are on (``settings.PARTS``).
        transcripts: Looks through the records of what was said.
        proactive: Speaks first, when it was meant to.
    """

    def __init__(self, context: Context, recall: Recaller) -> None:
        self.parts = frozenset(context.settings.companion)
        self._journal = context.journal
        self._language = context.settings.language
        self._visible = recall.visible
        self._zone = context.zone
        self._now = context.now
        self.transcripts = Transcripts(context.journal, recall, zone=context.zone, now=context.now)
        self.proactive = Proactive(context)

    def has(self, part: str) -> bool:
        """Whether a part is on (``settings.PARTS``)."""
        return part in self.parts

    def words(self, session: Session) -> frozenset[Word]:
        """The control words that the chat model is to know of in a Session."""
        words = {Word.SILENCE, Word.WANT_MORE} if self.has("control_words") else set()
        if self.has("proactive") and not session.is_group:
            words.add(Word.PROACTIVE)
        return frozenset(words)

    async def lead(self, turn: Turn, cite: Cite | None = None) -> Lead:
        """The lines that go before what is recalled; never raises.

        Args:
            cite: Gives a record its short id, if the model can open it.
        """
        view = self._visible(turn.asker).get(turn.session.id) if self.parts else None
        if view is None:
            return Lead()
        now = self._now()
        try:
            async with asyncio.timeout(PATIENCE):
                state = await self._journal.look(
                    lambda db: preamble.read(
                        db, turn.session.id, turn.asker.accounts, turn.message, now, self._zone
                    )
                )
        except (TimeoutError, JournalError):
            return Lead()
        return self._lead(turn, state, view, cite)

    def _lead(self, turn: Turn, state: SessionState, view: View, cite: Cite | None) -> Lead:
        now, language = self._now(), language_of(turn.text, self._language)
        lines: list[str] = []
        if self.has("metadata") and turn.user and state.is_opening:
            lines.append(preamble.occasion(state, now, self._zone, language))
        if self.has("mood") and state.mood and _shows(view, state.mood):
            lines.append(preamble.mood(state.mood, now, language))
        if self.has("inner_state"):
            inner = state.inner or inner_state.seed(turn.session.id, language)
            if not state.inner or _shows(view, inner):
                lines += inner_state.lines(inner, language)
        core = [row for row in state.core if self.has("core_facts") and _shows(view, row)]
        lines += preamble.core(core, language)
        if self.has("records"):
            past = [episode for episode in state.past if _shows(view, episode)]
            lines += preamble.records(past, cite, self._zone, language)
        return Lead(lines, bool(core))

    # ------------------------------------------------------------------ learning

    def teacher(self) -> Extend | None:
        """What the call that learns is asked besides; ``None`` without such parts."""
        wanted = [teach for part, teach in TEACHERS.items() if self.has(part)]
        if not wanted:
            return None

        def teach(rows: Rows, batch: Batch, known: PromptContext) -> ExtractionExtension | None:
            found = [make(rows, batch, known) for make in wanted]
            return Extensions([lesson for lesson in found if lesson])

        return teach

    # ---------------------------------------------------------------- core facts

    async def core(self, asker: Asker, session: Session) -> list[CoreFact]:
        """The core facts about who asks, as the journal has them."""
        return await self._journal.read(lambda rows: standing(rows, session.id, asker.accounts))

    def remembering(self, turn: Turn) -> Callable[[Rows, Draft], None] | None:
        """Makes core facts of what somebody asked to be remembered in private."""
        if turn.session.is_group or not self.has("core_facts"):
            return None

        def add(rows: Rows, draft: Draft) -> None:
            shelf = CoreFacts(rows, turn.session.id, turn.user, self._now())
            facts = [row for row in draft.put if isinstance(row, Fact) and row.evidence]
            for fact in facts[:_KEPT]:
                if not shelf.rests_on(fact.evidence) and rows.has_messages(fact.evidence):
                    shelf.add(fact.statement, CoreKind.FACT, fact.said_at, fact.evidence)
            shelf.write(draft)

        return add

    async def alter(
        self,
        session: Session,
        asker: Asker,
        number: int,
        actor: str,
        change: Callable[[CoreFact], CoreFact | None],
    ) -> Change:
        """Let a user have one of their own core facts differently, or not at all.

        Args:
            actor: Written into the change.
            change: Given the row as it stands: the row that is to stand, ``None`` for none.

        Raises:
            NotFoundError: There is none with that number, or nothing would change.
        """

        def draft(rows: Rows) -> Draft:
            made = Draft(actor, "core")
            own = standing(rows, session.id, asker.accounts)
            row = next((each for each in own if each.number == number), None)
            if row is None:
                raise NotFoundError(f"there is no core fact {number} here")
            shelf = CoreFacts(rows, session.id, row.user, self._now())
            wanted = change(row)
            shelf.drop(row.id) if wanted is None else shelf.put(wanted)
            shelf.write(made)
            return made

        done = await self._journal.commit(draft)
        if done is None:
            raise NotFoundError(f"core fact {number}: nothing changed")
        return done


def _shows(view: View, row: Row) -> bool:
    return view.rank(*span(row)) is Rank.OWN


@dataclass(frozen=True, slots=True)
class Extensions:
    """Several extensions of the extraction as one."""

    each: Sequence[ExtractionExtension] = field(default=())

    @property
    def properties(self) -> Mapping[str, Any]:
        """The fields of all."""
        return {name: schema for part in self.each for name, schema in part.properties.items()}

    @property
    def lines(self) -> Sequence[str]:
        """The lines of all."""
        return [line for part in self.each for line in part.lines]

    def instructions(self, language: str) -> str:
        """What all fields mean."""
        return "".join(part.instructions(language) for part in self.each)

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Add what all make of the answer."""
        for part in self.each:
            part.write(rows, draft, answer, now)


def register_rows() -> None:
    """Let the journal know the kinds of rows of the companion."""
    register(CoreFact, Mood, InnerState, FollowUp)
