"""The door to recall: reminds within a deadline, and never raises."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from ..errors import ClosedError, EmbeddingError, ExtractionError
from ..journal import Event, Journal
from ..model import Asker, Change, Message, Presence, Session
from ..ports import Embedder, LanguageModel, Vectors
from ..scope import Attendance, View
from ..settings import Settings
from .choose import Wish
from .feed import Feed
from .questions import compose
from .search import Manner, Recall, Request, search
from .trace import Trace, Traces
from .views import Views

logger = logging.getLogger("graph_memory.recall")

EMBEDDING_SHARE = 0.75
"""Share of the deadline that embedding the question may take; the rest is for search."""

_REWRITE = (
    "Rewrite the last line as one self-contained search query for a memory of earlier "
    "chats: resolve pronouns, keep names, numbers and language. Answer with the query only."
)


class Recaller:
    """Recall for one memory. Made on the event loop; see :meth:`start`."""

    def __init__(
        self,
        journal: Journal,
        settings: Settings,
        *,
        zone: tzinfo,
        attendance: Attendance,
        now: Callable[[], float] = time.time,
        model: LanguageModel | None = None,
    ) -> None:
        self._journal = journal
        self._settings = settings
        self._now = now
        self._model = model
        self._views = Views(settings.policy, attendance)
        self._feed = Feed(journal)
        self._embedder: Embedder | None = None
        self._traces = Traces()
        self._manner = Manner(zone, settings.language, settings.time_decay_rate)
        self._complaints: set[str] = set()

    @property
    def ready(self) -> bool:
        """Whether everything that was there at the start can be recalled."""
        return self._feed.ready

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

    def on_event(self, event: Event) -> None:
        """Follow the journal."""
        if isinstance(event, Change | Presence):
            self._views.follow(event)
        if isinstance(event, Change | Message):
            self._feed.take(event)

    def visible(self, asker: Asker) -> Mapping[str, View]:
        """What an asker may see, by Session id."""
        return self._views.of(asker)

    def traces(self, circle: str) -> list[Trace]:
        """The last recalls for a circle, newest first."""
        return self._traces.of(circle)

    async def settle(self) -> None:
        """Wait until the index reflects the journal and its vectors are complete."""
        await self._feed.settle()

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
        """
        limit = self._settings.retrieval_top_k
        wish = Wish(limit, budget or self._settings.injection_token_budget, context, exclude)
        deadline = self._settings.recall_deadline / 1000
        found = await self._safely(asker, text, wish, previous, where, deadline)
        self._traces.add(found.trace)
        return found

    async def search(
        self, asker: Asker, text: str, limit: int = 10, *, exclude: Collection[int] = ()
    ) -> Recall:
        """What the memory holds about ``text``, for commands and tools."""
        deadline = self._settings.recall_deadline / 1000
        wish = Wish(limit, exclude=exclude)
        return await self._safely(asker, text, wish, "", "", deadline)

    async def _safely(
        self, asker: Asker, text: str, wish: Wish, previous: str, where: str, deadline: float
    ) -> Recall:
        started = time.monotonic()
        problem = ""
        try:
            async with asyncio.timeout(deadline):
                return await self._recall(
                    asker, text, wish, previous, where, started + deadline * EMBEDDING_SHARE
                )
        except ClosedError:
            problem = "closed"
        except TimeoutError:
            problem = f"not found within {deadline:g} s"
            self._complain("deadline", problem)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            self._complain(problem, problem, error)
        return Recall((), "", Trace(asker, self._now(), text, problem=problem))

    async def _recall(
        self, asker: Asker, text: str, wish: Wish, previous: str, where: str, embed_by: float
    ) -> Recall:
        started = time.monotonic()
        if not text.strip():
            return Recall((), "", Trace(asker, self._now()))
        query = compose(text, previous)
        if self._settings.enable_query_rewriting and self._model:
            query = await self._rewrite(query, where, embed_by)
        vector, model = await self._embed(query, embed_by)
        embedded = time.monotonic()
        request = Request(asker, self.visible(asker), text, query, wish, vector, model)
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
        try:
            async with asyncio.timeout((by - time.monotonic()) / 2):
                answer = await self._model.ask(_REWRITE, query, where=where)
        except (TimeoutError, ExtractionError) as error:
            self._complain("rewriting", f"queries are not rewritten: {error or 'too slow'}")
            return query
        return f"{query}\n{answer.text.strip()[:500]}"

    async def _embed(self, query: str, by: float) -> tuple[Vectors | None, str]:
        """Vector of a query and the model it is of; ``None`` if it is not to be had in time."""
        embedder = self._embedder
        if embedder is None:
            return None, ""
        try:
            async with asyncio.timeout(max(0.0, by - time.monotonic())):
                return await embedder.query(query), embedder.name
        except (TimeoutError, EmbeddingError, ClosedError) as error:
            self._complain("embedding", f"recall goes by words and names: {error or 'too slow'}")
            return None, embedder.name

    def _complain(self, kind: str, message: str, error: Exception | None = None) -> None:
        """Log a problem once; it is in every trace anyway."""
        if kind not in self._complaints:
            self._complaints.add(kind)
            logger.warning("recall: %s", message, exc_info=error)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
