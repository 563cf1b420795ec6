"""Token budget: what calls of models cost by day and purpose, with a daily limit.

A day is one of the calendar where people chat.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from ..dates import day_of, midnight
from ..errors import ExtractionError, Failure, HeldBackError
from ..privacy.redaction import redacted
from ..retention import DAY
from ..store import Journal
from ..supervisor import NEVER, Supervisor
from ..text import tokens
from . import Answer, LanguageModel, ToolSchema
from .breaker import Breaker, RefusedError

logger = logging.getLogger("graph_memory.inference")

ASK_TIMEOUT = 180.0
"""Seconds after which a model that does not answer has failed."""
SHARES = 4
"""One person may cost the day's limit divided by how many people there are, at most this."""
_MOST_ESTIMATED = 100_000
"""Characters of an answer whose cost is estimated; an endless one costs no time."""
_KEPT = 62 * DAY
"""Seconds for which a day is kept."""


_ADD = """
    INSERT INTO spending VALUES (?, ?, 1, ?, ?) ON CONFLICT (day, purpose) DO UPDATE SET
        calls = calls + 1,
        tokens_in = tokens_in + excluded.tokens_in,
        tokens_out = tokens_out + excluded.tokens_out
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls and tokens."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class Account:
    """Today's costs by purpose.

    ``limit`` is in tokens a day, 0 for any number; ``blocked_for`` the seconds until models
    may be asked again.
    """

    limit: int = 0
    costs: Mapping[str, Cost] = field(default_factory=dict)
    blocked_for: float = 0.0

    @property
    def tokens(self) -> int:
        """What was spent, in and out."""
        return sum(cost.tokens for cost in self.costs.values())


class TokenBudget:
    """The account of model calls, kept in the journal, by days of a zone.

    Attributes:
        people: Who has ever said anything; together they share a day.
    """

    def __init__(
        self, journal: Journal, zone: tzinfo, now: Callable[[], float], limit: int = 0
    ) -> None:
        self._journal = journal
        self._zone = zone
        self._now = now
        self._limit = limit
        self._days: dict[str, dict[str, Cost]] = {}
        self.people = set[str]()
        self._unsaved: list[tuple[str, str, int, int]] = []
        # Not written down, since that would say who chats how much: a restart forgets it.
        self._by_person: dict[tuple[str, str], float] = {}
        self._job = Supervisor(
            "gm-spending", self._save, logger, "what models cost is not written down"
        )

    async def load(self) -> None:
        """Read what was counted before, by others as well."""
        query = "SELECT * FROM spending"
        found = await self._journal.look(lambda db: db.execute(query).fetchall())
        self._days = {}
        for day, purpose, *counts in found:
            self._days.setdefault(day, {})[purpose] = Cost(*counts)
        for call in self._unsaved:
            self._count(*call)

    async def close(self) -> None:
        """Wait until what was counted is kept."""
        await self._job.idle()
        await self._job.close()

    def metered(
        self, model: LanguageModel, purpose: str, breaker: Breaker | None = None
    ) -> LanguageModel:
        """Model whose calls are counted under a purpose and end after :data:`ASK_TIMEOUT`.

        Beyond the limit, and while ``breaker`` is open, it raises ``HeldBackError``.
        """
        return _Metered(self, model, purpose, breaker)

    @property
    def blocked_for(self) -> float:
        """Seconds until models may be asked again; 0 if they may."""
        return self.today().blocked_for

    def share_blocked_for(self, user: str) -> float:
        """Seconds until somebody may use more than their share of a day; 0 for now."""
        share = self._limit / min(max(len(self.people), 1), SHARES)
        spent = self._by_person.get((self._day(), user), 0.0)
        return self._until_midnight() if share and spent >= share else 0.0

    def over_share(self) -> frozenset[str]:
        """Who may use nothing more today; see :meth:`share_blocked_for`."""
        return frozenset(who for _, who in self._by_person if self.share_blocked_for(who))

    def charge(self, said: Mapping[str, int], request: str, answer: Answer) -> None:
        """Put what an answer has cost down to people, by how many characters each said."""
        day, cost = self._day(), sum(_cost(request, answer))
        self._by_person = {key: spent for key, spent in self._by_person.items() if key[0] == day}
        for user, characters in said.items():
            spent = self._by_person.get((day, user), 0.0)
            self._by_person[day, user] = spent + cost * characters / sum(said.values())

    def add(self, purpose: str, tokens_in: int, tokens_out: int) -> None:
        """Count one call; it is written down in the background."""
        call = (self._day(), purpose, tokens_in, tokens_out)
        self._count(*call)
        self._unsaved.append(call)
        self._job.start()
        self._job.wake()

    def _count(self, day: str, purpose: str, tokens_in: int, tokens_out: int) -> None:
        costs = self._days.setdefault(day, {})
        known = costs.get(purpose, Cost())
        more = known.tokens_in + tokens_in, known.tokens_out + tokens_out
        costs[purpose] = Cost(known.calls + 1, *more)

    def today(self) -> Account:
        """What was spent since midnight."""
        account = Account(self._limit, dict(self._days.get(self._day(), {})))
        is_spent = self._limit and account.tokens >= self._limit
        return replace(account, blocked_for=self._until_midnight()) if is_spent else account

    def daily(self) -> dict[str, int]:
        """Tokens of each of the last days that had any, by its date."""
        return {
            day: sum(cost.tokens for cost in costs.values()) for day, costs in self._days.items()
        }

    async def _save(self) -> float:
        """Add what is new to what is written down, to which others may have added as well."""
        calls = list(self._unsaved)
        oldest = (day_of(self._now() - _KEPT, self._zone).isoformat(),)

        def work(db: sqlite3.Connection, _tell: object) -> None:
            db.executemany(_ADD, calls)
            db.execute("DELETE FROM spending WHERE day < ?", oldest)

        await self._journal.alter(work)
        del self._unsaved[: len(calls)]
        return NEVER

    def _day(self) -> str:
        return day_of(self._now(), self._zone).isoformat()

    def _until_midnight(self) -> float:
        now = self._now()
        return max(1.0, midnight(now, self._zone, days=1) - now)


class _Metered:
    """A language model whose calls are counted."""

    def __init__(
        self, spending: TokenBudget, model: LanguageModel, purpose: str, breaker: Breaker | None
    ) -> None:
        self._spending = spending
        self._model = model
        self._purpose = purpose
        self._call = breaker.call if breaker else nullcontext

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        """Ask once, without secrets, if there is something left to spend."""
        account = self._spending.today()
        if account.blocked_for:
            raise HeldBackError(f"the {account.limit} tokens a day may cost are spent")
        prompt = await asyncio.to_thread(_redacted, prompt)
        try:
            with self._call():
                return await self._counted(system, prompt, tool, where)
        except RefusedError as error:
            raise HeldBackError(f"the model is left alone for a while: {error}") from None
        except TimeoutError as error:
            reason = f"the model did not answer within {ASK_TIMEOUT:g} s"
            raise ExtractionError(reason, Failure.TIMEOUT) from error

    async def _counted(
        self, system: str, prompt: str, tool: ToolSchema | None, where: str
    ) -> Answer:
        answer: Answer | None = None
        try:
            async with asyncio.timeout(ASK_TIMEOUT):
                answer = await self._model.ask(system, prompt, tool=tool, where=where)
        finally:
            asked = system + prompt + (json.dumps(tool.parameters) if tool else "")
            self._spending.add(self._purpose, *_cost(asked, answer))
        return answer


def _redacted(prompt: str) -> str:
    """A prompt without secrets, line by line: the date below 我忘了密码 is none.

    Messages, which may have secrets over several lines, are masked before each becomes one.
    """
    return "\n".join(redacted(line) for line in prompt.split("\n"))


def _cost(asked: str, answer: Answer | None) -> tuple[int, int]:
    """Tokens in and out; estimated if the provider does not say. A failure costs none."""
    if answer is None:
        return 0, 0
    said = answer.tokens_out or tokens(_said(answer)[:_MOST_ESTIMATED])
    return answer.tokens_in or tokens(asked), said


def _said(answer: Answer) -> str:
    if answer.arguments is None:
        return answer.text
    try:
        return answer.text + json.dumps(answer.arguments, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return answer.text
