"""The door to recall: reminds within a deadline, and never raises."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import TypeVar

from ..breaker import Breaker, RefusedError
from ..errors import ClosedError, EmbeddingError, ExtractionError, brief
from ..journal import Event, Journal
from ..model import Asker, Change, Erased, Message, Presence, Session
from ..ports import Embedder, LanguageModel, Vectors
from ..scope import Attendance, View
from ..settings import Settings
from ..token_budget import TokenBudget
from .audit import Difference
from .choose import Wish
from .feed import Feed
from .index import Index
from .likeness import likeness
from .questions import compose, split
from .render import led, wording
from .search import Manner, Recall, Request, search
from .sight import Sight
from .trace import Trace, Traces
from .views import Views
from .vocabulary import forget
from .why import Explanation, explain, own

logger = logging.getLogger("graph_memory.recall")

T = TypeVar("T")

PURPOSE = "rewrite"
"""What the calls of the language model are counted under."""
EMBEDDING_SHARE = 0.75
"""Share of the deadline that embedding the question may take; the rest is for search."""

_REWRITE = (
    "Rewrite the last line as one self-contained search query for a memory of earlier "
    "chats: resolve pronouns, keep names, numbers and language. Answer with the query only."
)


class Recaller:
    """Recall for one memory. Made on the event loop; see :meth:`start`.

    Attributes:
        breaker: Around the model that rewrites queries. One that is down, or too slow for
            the deadline, is not waited for.
    """

    def __init__(
        self,
        journal: Journal,
        settings: Settings,
        *,
        zone: tzinfo,
        attendance: Attendance,
        now: Callable[[], float] = time.time,
        model: LanguageModel | None = None,
        spending: TokenBudget | None = None,
    ) -> None:
        self._journal = journal
        self._settings = settings
        self._now = now
        self._model = spending.metered(model, PURPOSE) if spending and model else model
        self._spending = spending
        self._views = Views(settings.policy, attendance)
        self._feed = Feed(journal)
        self._embedder: Embedder | None = None
        self._traces = Traces()
        self._manner = Manner(zone, settings.language, settings.time_decay_rate)
        self._complaints: set[str] = set()
        self.breaker = Breaker("the language model that rewrites queries")

    @property
    def ready(self) -> bool:
        """Whether everything that was there at the start can be recalled."""
        return self._feed.ready

    @property
    def problem(self) -> str:
        """Why recall is behind the journal; empty if it is not."""
        return self._feed.problem

    @property
    def items(self) -> int:
        """How many documents can be recalled."""
        return len(self._feed.index.documents)

    @property
    def vectors(self) -> int:
        """How many documents have a vector of the model in use."""
        dense = self._feed.index.dense
        return dense.count if dense else 0

    async def start(self) -> None:
        """Begin to build the index, in the background."""
        self._views.learn(await self._journal.read(lambda rows: list(rows.scan(Session))))
        self._feed.start()

    def use(self, embedder: Embedder | None) -> None:
        """Use another embedder, or none; documents are embedded in the background."""
        self._embedder = embedder
        self._feed.use(embedder)

    def retune(self, settings: Settings) -> None:
        """Let memories fade by other settings from now on."""
        self._settings = settings
        self._manner = replace(self._manner, rate=settings.time_decay_rate)

    def on_event(self, event: Event) -> None:
        """Follow the journal."""
        if isinstance(event, Change | Presence | Erased):
            self._views.follow(event)
        if isinstance(event, Change | Message | Erased):
            self._feed.take(event)
        if isinstance(event, Erased):
            forget()
        if isinstance(event, Erased) and event.user:
            self._traces.clear()

    def visible(self, asker: Asker) -> Mapping[str, View]:
        """What an asker may see, by Session id."""
        return self._views.of(asker)

    def traces(self, circle: str) -> list[Trace]:
        """The last recalls for a circle, newest first."""
        return self._traces.of(circle)

    def recent(self) -> list[Trace]:
        """The last recalls of all circles, newest first: for what only the owner looks at."""
        return self._traces.recent()

    async def explain(self, asker: Asker) -> Explanation | None:
        """What the last reply was reminded of, as far as ``asker`` may see it.

        Returns:
            ``None`` if nothing was asked here since the start.
        """
        trace = own(self._traces.of(asker.circle), asker)
        if trace is None:
            return None
        views = self.visible(asker)

        def work(index: Index) -> Explanation:
            return explain(index, index.look(views), trace)

        return await self._feed.run(work, self._feed.index)

    async def likeness(self, messages: list[int], facts: list[str]) -> dict[str, float]:
        """How like the nearest of some messages each fact is; see ``likeness.py``.

        Nothing is embedded for it, and the caller answers for who may see what.
        """
        try:
            return await self._feed.run(likeness, self._feed.index, messages, facts)
        except ClosedError:
            return {}

    async def settle(self) -> None:
        """Wait until the index reflects the journal and its vectors are complete."""
        await self._feed.settle()

    async def rebuild(self) -> Difference:
        """Build the index anew from the journal; returns what was wrong with the old one.

        Raises:
            JournalError: The journal cannot be read.
        """
        return await self._feed.rebuild()

    async def close(self) -> None:
        """Stop the background work."""
        await self._feed.close()
        self._traces.clear()

    # ------------------------------------------------------------------ asking

    async def remind(
        self,
        asker: Asker,
        text: str,
        *,
        context: Sequence[str] = (),
        previous: str = "",
        budget: int | None = None,
        exclude: Collection[int] = (),
        where: str = "",
        lead: Sequence[str] = (),
        profile: bool = True,
    ) -> Recall:
        """What to remind the language model of before it answers ``text``.

        Takes no longer than the deadline of the settings and never raises: without an
        embedding in time it goes by words and names, without anything it is empty.

        Args:
            context: Texts that the model has in front of it; they are not repeated.
            previous: What was said before, for a message that leans on it.
            budget: Tokens of the block; default: the setting.
            exclude: Ids of messages not to show (the one that is being answered).
            where: Session's ``umo``, for the model that rewrites queries.
            lead: Lines that go first in the block, whatever is recalled.
            profile: Whether what is known about the asker is preferred.
        """
        limit = self._settings.retrieval_top_k
        tokens = budget or self._settings.injection_token_budget
        wish = Wish(limit, tokens, context, exclude, profile)
        deadline = self._settings.recall_deadline / 1000
        found = await self._safely(asker, text, wish, previous, where, deadline)
        if lead:
            block = led(found.block, lead, wording(text, self._settings.language))
            found = replace(found, block=block, trace=replace(found.trace, block=block))
        self._traces.add(found.trace)
        return found

    async def search(
        self, asker: Asker, text: str, limit: int = 10, *, exclude: Collection[int] = ()
    ) -> Recall:
        """What the memory holds about ``text``, for commands and tools."""
        deadline = self._settings.recall_deadline / 1000
        wish = Wish(limit, exclude=exclude)
        return await self._safely(asker, text, wish, "", "", deadline)

    async def rehearse(self, asker: Asker, text: str, *, unscoped: bool = False) -> Recall:
        """What :meth:`remind` would say, for the owner to look at; it leaves no trace.

        Args:
            unscoped: Look at everything, as if ``asker`` might be told all of it. Never
                to be shown to anybody but the owner.
        """
        wish = Wish(self._settings.retrieval_top_k, self._settings.injection_token_budget)
        deadline = self._settings.recall_deadline / 1000
        views = self._views.everything(asker) if unscoped else None
        return await self._safely(asker, text, wish, "", "", deadline, views)

    async def inspect(self, asker: Asker, work: Callable[[Index, Sight], T]) -> T:
        """Run ``work`` on what an asker sees, on the index's thread.

        Raises:
            ClosedError: Recall is closed.
        """
        views = self.visible(asker)
        index = self._feed.index
        return await self._feed.run(lambda: work(index, index.look(views)))

    async def _safely(
        self,
        asker: Asker,
        text: str,
        wish: Wish,
        previous: str,
        where: str,
        deadline: float,
        views: Mapping[str, View] | None = None,
    ) -> Recall:
        started = time.monotonic()
        problem = ""
        try:
            async with asyncio.timeout(deadline):
                embed_by = started + deadline * EMBEDDING_SHARE
                return await self._recall(asker, text, wish, previous, where, embed_by, views)
        except ClosedError:
            problem = "closed"
        except TimeoutError:
            problem = f"not found within {deadline:g} s"
            self._complain("deadline", problem)
        except Exception as error:
            problem = brief(error)
            self._complain(type(error).__name__, problem, error)
        return Recall((), "", Trace(asker, self._now(), text, problem=problem))

    async def _recall(
        self,
        asker: Asker,
        text: str,
        wish: Wish,
        previous: str,
        where: str,
        embed_by: float,
        views: Mapping[str, View] | None,
    ) -> Recall:
        started = time.monotonic()
        if not text.strip():
            return Recall((), "", Trace(asker, self._now()))
        query = compose(text, previous)
        if self._settings.enable_query_rewriting and self._model:
            query = await self._rewrite(query, where, embed_by)
        parts = split(query)
        vectors, model = await self._embed([part.text for part in parts], embed_by)
        embedded = time.monotonic()
        seen = self.visible(asker) if views is None else views
        request = Request(asker, seen, text, query, wish, vectors, model, parts)
        found = await self._feed.run(search, self._feed.index, request, self._manner, self._now())
        timing = {
            "embedding": _milliseconds(embedded - started),
            "total": _milliseconds(time.monotonic() - started),
        }
        trace = replace(found.trace, timing={**timing, **found.trace.timing})
        return replace(found, trace=trace)

    async def _rewrite(self, query: str, where: str, by: float) -> str:
        """The query with what a language model makes of it; unchanged if that fails."""
        assert self._model
        if self._spending and self._spending.blocked_for:
            return query
        try:
            with self.breaker.call():
                async with asyncio.timeout((by - time.monotonic()) / 2):
                    answer = await self._model.ask(_REWRITE, query, where=where)
        except (TimeoutError, ExtractionError, RefusedError):
            return query
        return f"{query}\n{answer.text.strip()[:500]}"

    async def _embed(self, parts: list[str], by: float) -> tuple[tuple[Vectors, ...], str]:
        """Vectors of the parts of a query and the model they are of; none if too late.

        A message is mostly one question and costs one embedding; several are embedded
        together.
        """
        embedder = self._embedder
        if embedder is None:
            return (), ""
        try:
            async with asyncio.timeout(max(0.0, by - time.monotonic())):
                found = await asyncio.gather(*(embedder.query(part) for part in parts))
                return tuple(found), embedder.name
        except (TimeoutError, EmbeddingError, ClosedError) as error:
            self._complain("embedding", f"recall goes by words and names: {error or 'too slow'}")
            return (), embedder.name

    def _complain(self, kind: str, message: str, error: Exception | None = None) -> None:
        """Log a problem once; it is in every trace anyway."""
        if kind not in self._complaints:
            self._complaints.add(kind)
            logger.warning("recall: %s", message, exc_info=error)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
