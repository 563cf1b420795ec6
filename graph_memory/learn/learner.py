"""What is done with one batch: ask, parse, resolve, commit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from ..breaker import Breaker, RefusedError
from ..errors import ExtractionError, HeldBackError
from ..journal import Draft, Journal, Rows
from ..model import Batch, Message
from ..ports import Answer, LanguageModel
from ..text import is_chinese, one_line, terms, tokens
from .extraction import Extraction, FactClaim
from .known import Known, gather, speakers
from .outlook import Outlook
from .parse import parse
from .prompt import Request, compose
from .resolve import Resolution, Rules, resolve
from .usage import Usage
from .words import without_request

PURPOSE = "learn"
"""What the calls are counted under."""
ASK_TIMEOUT = 180.0
"""Seconds after which a model that does not answer has failed."""
ASKED_IMPORTANCE = 0.8
"""Importance of what somebody asked to be remembered."""


class Learner:
    """Learns batches, one call of the model for each.

    Args:
        model: ``None``: batches are done with an empty change.
        breaker: Goes around every call of the model.
    """

    def __init__(
        self,
        journal: Journal,
        model: LanguageModel | None,
        rules: Rules,
        usage: Usage,
        now: Callable[[], float],
        breaker: Breaker,
    ) -> None:
        self._journal = journal
        self._model = model
        self._rules = rules
        self._usage = usage
        self._now = now
        self._breaker = breaker
        self.last_at: float | None = None

    async def learn(self, batch: Batch) -> None:
        """Learn a batch; nothing happens if it has been learned already.

        Raises:
            HeldBackError: The model has been failing and was not asked.
            ExtractionError: It failed or answered nonsense.
            JournalError: The change could not be written.
        """
        while not await self._learn(batch):
            # Something was taken back, or somebody erased, while the model was thinking.
            batch = await self._journal.batch(batch.id)
        self.last_at = self._now()

    async def _learn(self, batch: Batch) -> bool:
        """Learn a batch; nothing, and false, if it is not what it was in the end."""
        held = [message.id for message in batch.messages]
        erasures = await self._journal.read(Rows.erasures)
        extraction: Extraction | None = None
        known = Known()
        if self._model is not None:
            batch = await self._journal.read(lambda rows: self._without_forgotten(rows, batch))
            if _has_words(batch):
                known = await self._journal.read(lambda rows: self._gather(rows, batch))
                request = compose(batch, known, self._rules.zone)
                extraction = parse(await self._ask(self._model, request, batch.session.umo))
        now = self._now()
        is_whole = True

        def draft(rows: Rows) -> Draft | None:
            nonlocal is_whole
            is_whole = rows.has_messages(held) and rows.erasures() == erasures
            return resolve(rows, batch, extraction, known, self._rules, now) if is_whole else None

        await self._journal.commit(draft)
        return is_whole

    async def keep(self, batch: Batch, message: Message) -> None:
        """Make a message of a batch a fact as it stands, with its author's name."""

        def draft(rows: Rows) -> Draft | None:
            if not rows.has_messages([message.id]):
                return None  # taken back meanwhile
            work = Resolution(rows, batch, answer, known, self._rules, self._now())
            return work.sheet.draft(message.sender, "remember")

        said = without_request(message.text)
        colon = "：" if is_chinese(said) else ": "
        claim = FactClaim(
            subject="我",
            predicate="other",
            object=one_line(said, 32),
            statement=one_line(f"{message.name}{colon}{said}" if message.name else said, 300),
            importance=ASKED_IMPORTANCE,
            evidence=(1 + [m.id for m in batch.messages].index(message.id),),
        )
        answer = Extraction(worth=True, facts=(claim,))
        known = Known(people=speakers(batch))
        await self._journal.commit(draft)

    def _outlook(self, rows: Rows, batch: Batch) -> Outlook:
        return Outlook(rows, batch.session, self._rules.policy, self._rules.attendance)

    def _without_forgotten(self, rows: Rows, batch: Batch) -> Batch:
        outlook = self._outlook(rows, batch)
        kept = tuple(m for m in batch.messages if not outlook.is_forgotten(m))
        return replace(batch, messages=kept)

    def _gather(self, rows: Rows, batch: Batch) -> Known:
        return gather(self._outlook(rows, batch), batch, self._rules.zone)

    async def _ask(self, model: LanguageModel, request: Request, where: str) -> Answer:
        try:
            with self._breaker.call():
                return await self._ask_counted(model, request, where)
        except RefusedError as error:
            raise HeldBackError(f"the model is left alone for a while: {error}") from None

    async def _ask_counted(self, model: LanguageModel, request: Request, where: str) -> Answer:
        answer: Answer | None = None
        try:
            async with asyncio.timeout(ASK_TIMEOUT):
                answer = await model.ask(
                    request.system, request.prompt, tool=request.tool, where=where
                )
        except TimeoutError as error:
            raise ExtractionError(f"the model did not answer within {ASK_TIMEOUT:g} s") from error
        finally:
            await self._count(request, answer)
        return answer

    async def _count(self, request: Request, answer: Answer | None) -> None:
        """Count a call; providers that do not say what it cost are estimated."""
        if answer is None:
            await self._usage.add(PURPOSE, 0, 0)
            return
        asked = request.system + request.prompt + json.dumps(request.tool.parameters)
        await self._usage.add(
            PURPOSE, answer.tokens_in or tokens(asked), answer.tokens_out or tokens(_said(answer))
        )


def _said(answer: Answer) -> str:
    if answer.arguments is None:
        return answer.text
    try:
        return answer.text + json.dumps(answer.arguments, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return answer.text


def _has_words(batch: Batch) -> bool:
    """Whether people said anything that a model could learn from."""
    return any(m.is_human and terms(m.text) for m in batch.messages)
