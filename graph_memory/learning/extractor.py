"""Extraction of one batch: context, model call, parsing, resolution, commit."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..context import Context, Part
from ..errors import NotFoundError
from ..inference import LanguageModel
from ..inference.breaker import Breaker
from ..model import Batch, Fact, Message
from ..privacy.redaction import disclosed
from ..remember_requests import without_request
from ..retention import RESTATED, used
from ..store import Draft, Rows
from ..store.rows import ASKED
from ..text import one_line, terms, told_by
from ..visible_rows import LearnerRows
from .batching import requests
from .parse import Extraction, FactClaim, parse
from .prompt import (
    VERSION,
    ContextBuilder,
    Extend,
    ExtractionExtension,
    PromptContext,
    compose,
    speakers,
)
from .resolver import resolve

PURPOSE = "learn"
"""What the calls are counted under."""
ASKED_IMPORTANCE = 0.8
"""Importance of what somebody asked to be remembered."""

Besides = Callable[[Rows, Draft], None]
"""Adds rows to a change that says what somebody asked to be remembered."""
Likeness = Callable[[list[int], list[str]], Awaitable[Mapping[str, float]]]
"""Given ids of messages and of facts: how like a message each fact is, if that is known."""


@dataclass(frozen=True, slots=True)
class _Material:
    """What extracting a batch needs of the journal, without what was forgotten.

    There is no builder if nothing was said that a model could learn from.
    """

    batch: Batch
    erasures: list[tuple[str, str]]
    builder: ContextBuilder | None = None
    extensions: Sequence[ExtractionExtension] = ()


def readable(batch: Batch, visible: LearnerRows) -> Batch:
    """A batch as it is learned from: masked, in a group without confidences."""
    return replace(batch, messages=tuple(disclosed(m) for m in batch.messages if visible.shows(m)))


IN_VAIN = 2
"""Letters in a row that show a fact without use, after which others come before it."""


class Extractor(Part):
    """Learns batches, one call of the model for each.

    Args:
        model: ``None``: batches are done with an empty change.
        breaker: Goes around every call of the model.
        likeness: Ranks the known facts that the model is offered; ``None``: their words do.
        extend: What the same call is asked besides; ``None``: nothing.
    """

    def __init__(
        self,
        context: Context,
        model: LanguageModel | None,
        breaker: Breaker,
        likeness: Likeness | None = None,
        extend: Extend | None = None,
    ) -> None:
        super().__init__(context)
        self._model = context.budget.metered(model, PURPOSE, breaker) if model else None
        self._likeness = likeness
        self._extend = extend
        self._idle: dict[str, Counter[str]] = {}
        self.last_at: float | None = None

    async def learn(self, batch: Batch) -> None:
        """Learn a batch, if it is not learned.

        Raises:
            HeldBackError: The model was not asked: it fails, or today's tokens are spent.
            ExtractionError: It failed or answered nonsense.
            JournalError: The change could not be written.
        """
        while not await self._learn(batch):
            # While the model was thinking something was taken back, forgotten or confided, or
            # somebody erased.
            batch = await self._journal.batch(batch.id)
        self.last_at = self._context.now()

    async def _learn(self, batch: Batch) -> bool:
        """Learn a batch; nothing, and false, if it is not what it was in the end."""
        material = await self._journal.read(lambda rows: self._material(rows, batch))
        if self._model is None or material.builder is None:
            return await self._commit(batch, material, None, PromptContext())
        said = [m.id for m in material.batch.messages if m.is_human]
        facts = [fact.id for fact in material.builder.facts]
        likeness = await self._likeness(said, facts) if self._likeness else {}
        idle = self._idle.get(batch.session.id, Counter())
        tired = {id for id, count in idle.items() if count >= IN_VAIN}
        fill = material.builder.fill  # by the rows it has: they are read on one thread
        known = await self._journal.read(lambda _: fill(likeness, tired))
        extensions, zone = material.extensions, self._context.zone
        request = compose(material.batch, known, zone, extensions, self._context.settings)
        answer = await self._model.ask(
            request.system, request.prompt, tool=request.tool, where=batch.session.umo
        )
        self._context.budget.charge(_said(material.batch), request.system + request.prompt, answer)
        # In a thread: what a model writes may take half a second to be mended.
        fields = [name for extension in extensions for name in extension.properties]
        relations = [each.partition("|")[0] for each in self._context.settings.extra_relations]
        extraction = await asyncio.to_thread(parse, answer, fields, relations)
        # What is not shown this time has another chance.
        in_vain = (f.id for n, f in known.facts.items() if n not in extraction.known)
        self._idle[batch.session.id] = Counter({id: idle[id] + 1 for id in in_vain})
        return await self._commit(batch, material, extraction, known)

    def _material(self, rows: Rows, batch: Batch) -> _Material:
        erasures = rows.erasures()
        if self._model is None:
            return _Material(batch, erasures)
        visible = self._context.learnable(rows, batch.session)
        batch = readable(batch, visible)
        if not any(m.is_human and terms(m.text) for m in batch.messages):
            return _Material(batch, erasures)
        builder = ContextBuilder(visible, batch)
        extensions = self._extend(rows, batch, builder.context) if self._extend else ()
        return _Material(batch, erasures, builder, extensions)

    async def _commit(
        self, whole: Batch, material: _Material, extraction: Extraction | None, known: PromptContext
    ) -> bool:
        """Write what was learned; nothing, and false, if ``whole`` is not whole any more."""
        held, now = [message.id for message in whole.messages], self._context.now()
        is_whole, asked = True, list[Message]()

        def draft(rows: Rows) -> Draft | None:
            nonlocal is_whole, asked
            asked = _unlearned(rows, material.batch)
            is_same = [*map(rows.message, held)] == [*whole.messages]
            is_told = not any(map(rows.is_forgotten, material.batch.messages))
            is_whole = is_same and is_told and rows.erasures() == material.erasures
            if not is_whole:
                return None
            if extraction is None:
                return Draft("learn", "learned", batch=whole.id)
            changes = resolve(rows, material.batch, extraction, known, self._context, now)
            found = changes.draft("learn", "learned", batch=whole.id)
            found.prompt = VERSION
            for extension in material.extensions:
                extension.write(rows, found, extraction.extra, now)
            return found

        if await self._journal.commit(draft):
            for message in asked:
                if not await self.confirm(message):  # the model made nothing of it
                    await self.keep(material.batch, message)
        return is_whole

    async def keep_requests(self, batch: Batch) -> None:
        """Keep what a batch that has to wait asks to be remembered, as it stands, once."""

        def work(rows: Rows) -> list[Message]:
            return _unlearned(rows, readable(batch, self._context.learnable(rows, batch.session)))

        for message in await self._journal.read(work):
            await self.keep(batch, message)

    async def confirm(self, message: Message, besides: Besides | None = None) -> bool:
        """Enter what was learned from a message as a change of its author's, who asked.

        ``besides`` adds to the change. Returns whether anything was learned from it.
        """

        def draft(rows: Rows) -> Draft:
            facts = rows.resting(Fact, message)
            now, rate = self._context.now(), self._context.settings.time_decay_rate
            made = Draft(message.sender, ASKED)
            for fact in facts:  # what was asked comes last, by which an undo knows it
                others = (id for id in fact.evidence if id != message.id)
                last = replace(fact, evidence=(*others, message.id))
                made.put.append(used(last, now, RESTATED, rate))
            if besides and facts:
                besides(rows, made)
            return made

        return await self._journal.commit(draft) is not None

    async def keep(self, batch: Batch, message: Message, besides: Besides | None = None) -> None:
        """Make a message of a batch a fact as it stands, with its author's name.

        Raises:
            NotFoundError: It is in the batch no more: it was taken back.
        """
        numbers = {each.id: number for number, each in enumerate(batch.messages, 1)}
        if message.id not in numbers:
            raise NotFoundError(f"message {message.id} was taken back")

        def draft(rows: Rows) -> Draft | None:
            if not rows.has_messages([message.id]):
                return None  # taken back meanwhile
            changes = resolve(rows, batch, answer, known, self._context, self._context.now())
            made = changes.draft(message.sender, ASKED)
            if besides:
                besides(rows, made)
            return made

        said = without_request(disclosed(message).text)
        claim = FactClaim(
            subject="我",
            predicate="other",
            object=one_line(said, 32),
            statement=told_by(message.name, said, 300),
            importance=ASKED_IMPORTANCE,
            evidence=(numbers[message.id],),
        )
        answer = Extraction(facts=(claim,))
        known = PromptContext(speakers(batch))
        await self._journal.commit(draft)


def _unlearned(rows: Rows, batch: Batch) -> list[Message]:
    """What a batch asks to be remembered, as far as no fact rests on it."""
    asked = requests(batch)
    facts = rows.find(Fact, session=batch.session.id) if asked else []
    known = {id for fact in facts for id in fact.evidence}
    return [message for message in asked if message.id not in known]


def _said(batch: Batch) -> dict[str, int]:
    """How many characters each person said in a batch."""
    said: Counter[str] = Counter()
    for message in (each for each in batch.messages if each.is_human):
        said[message.sender] += len(message.text)
    return said
