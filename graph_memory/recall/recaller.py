"""Recall for one memory: reminders within a deadline, searches, traces."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from ..context import Context
from ..errors import ClosedError, EmbeddingError, RerankError, brief
from ..inference import Embedder, Reranker, Vectors
from ..inference.breaker import Breaker, RefusedError
from ..model import (
    Asker,
    Change,
    Episode,
    Erased,
    Fact,
    Message,
    Presence,
    PresenceReset,
    Session,
    is_entity,
)
from ..privacy.scope import OPEN, View
from ..supervisor import LogOnce
from .documents import Source
from .index import Index
from .index_sync import IndexSync
from .query import (
    Question,
    RecallOptions,
    Subquery,
    asks,
    compose,
    first_person,
    is_personal,
    is_small_talk,
    split,
)
from .ranking import SIGNALS, Ranking, SearchContext, rank, reranked
from .render import Item, Renderer, TokenTally, framed, is_told, preamble, wording
from .search import SIMILAR, SearchResult, find, keywords
from .selection import Reason, Selection, select
from .traces import Trace, TracedCandidate, TraceFile, Traces, reread
from .visible import ViewCache, VisibleSet

logger = logging.getLogger("graph_memory.recall")

T = TypeVar("T")

EMBEDDING_SHARE = 0.75
"""Share of the deadline that embedding the question may take."""
PATIENCE = 5.0
"""Seconds that a search may take."""
LIKENESS = 10.0
"""Seconds that learning waits for the vectors of what was just said."""
RERANKED = 20
"""Candidates that a reranker is asked about."""
RERANKING_SHARE = 0.9
"""Share of the deadline after which a reranker is not waited for any more."""
SITTING = 3_600.0
"""Seconds after which a short question no longer leans on the one before it."""

DEFAULTS = RecallOptions()


@dataclass(frozen=True, slots=True)
class Explained:
    """A memory that was shown.

    Attributes:
        kind, id: As of an :class:`Item`.
        reasons: Most telling first: ``profile``, ``name``, ``words``, ``meaning``, ``near``
            or ``conversation``.
        fact: The fact that it is, if it is one.
    """

    kind: str
    id: str
    text: str
    at: float
    reasons: tuple[str, ...]
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a reply was reminded of, and how many others were dropped why."""

    shown: tuple[Explained, ...]
    dropped: dict[Reason, int]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found: items, best first, and the block to inject, if there is any."""

    items: tuple[Item, ...]
    block: str
    trace: Trace


def search(
    index: Index,
    views: Mapping[str, View],
    question: Question,
    options: RecallOptions,
    context: SearchContext,
    scores: Mapping[str, float] | None = None,
) -> Recall:
    """Find, choose and render what to remind of; no I/O, no clock.

    ``scores`` are those of a reranker, by key.
    """
    started = time.perf_counter()
    question, visible = index.comparable(question), index.visible(views)
    ranking = rank(index, visible, question, options, context)
    ranking = reranked(ranking, scores) if scores else ranking
    words = wording(question.said, context.language)
    renderer = Renderer(index, visible, question.asker, words, context.zone, context.now)
    lead = preamble([*options.lead, options.records], words, options.budget)
    tally = TokenTally(renderer, options.budget, lead)
    selection = select(index, visible, ranking, question.said, options, tally)
    if not selection.chosen:
        lead = preamble(options.lead, words, options.budget)
    # Once is enough; it was chosen nevertheless, or the lines that have it were left out.
    shown = [each for each in selection.chosen if not is_told(each.document.source, lead)]
    block = renderer.block(shown, lead)
    items = tuple(renderer.item(candidate) for candidate in selection.chosen)
    trace = Trace(
        question.asker,
        context.now,
        question.text,
        ranking.named,
        ranking.visible,
        bool(question.vectors),
        cache(partial(_weighed, ranking, selection)),
        block,
        {"search": round((time.perf_counter() - started) * 1000, 3)},
        newest=max(0, next(reversed(index.messages), 0)),  # if it is delivered
    )
    return Recall(items, block, trace)


def as_said(index: Index, views: Mapping[str, View], questions: Sequence[str]) -> list[str]:
    """Questions in the first person of whom they name, see :func:`first_person`."""
    numbers, found = index.visible(views).numbers, list[str]()
    for text in questions:
        named = index.named(text, views).items()
        known = {word for node, word in named if not is_entity(node)}
        found.append(first_person(text, known | index.documents.speakers(text, numbers)))
    return found


def shortlist(
    index: Index,
    views: Mapping[str, View],
    question: Question,
    options: RecallOptions,
    context: SearchContext,
) -> dict[str, str]:
    """Texts of the best candidates, by key, for a reranker."""
    question, visible = index.comparable(question), index.visible(views)
    ranking = rank(index, visible, question, options, context)
    best = [each.document for each in ranking.candidates if not each.bears]
    return {document.key: document.text for document in best[:RERANKED]}


def _weighed(ranking: Ranking, selection: Selection) -> tuple[TracedCandidate, ...]:
    """All candidates and what became of them."""
    reasons = {candidate.document.key: reason for candidate, reason in selection.dropped}
    chosen = {candidate.document.key for candidate in selection.chosen}
    return tuple(
        TracedCandidate(
            each.document.key,
            each.document.text,
            each.score,
            max(0.0, each.evidence),
            {name: round(value, 4) for name, value in zip(SIGNALS, each.signals, strict=False)},
            None
            if each.document.key in chosen
            else reasons.get(each.document.key, Reason.DUPLICATE),
        )
        for each in ranking.candidates
    )


def explain(index: Index, visible: VisibleSet, trace: Trace) -> Explanation:
    """Explain a trace, as far as it is still visible."""
    shown: list[Explained] = []
    dropped: Counter[Reason] = Counter()
    for candidate in trace.candidates:
        if (record := index.summaries.get(candidate.id, visible.views)) and not candidate.dropped:
            shown.append(
                Explained(
                    Episode.kind, record.id, record.summary, record.started_at, ("conversation",)
                )
            )
            continue
        number = index.documents.number(candidate.id)
        if number is None or visible.positions[number] < 0:
            continue
        if candidate.dropped is not None:
            dropped[candidate.dropped] += 1
            continue
        document = index.documents[number]
        reasons = _reasons(index, document.source, candidate.signals, trace)
        kind, id = document.kind.name.lower(), str(document.source.id)
        fact = document.source if isinstance(document.source, Fact) else None
        shown.append(Explained(kind, id, document.text, document.at, reasons, fact))
    return Explanation(tuple(shown), dict(dropped), trace.problem)


def _reasons(
    index: Index, source: Source, signals: Mapping[str, float], trace: Trace
) -> tuple[str, ...]:
    one = index.identities.canonical
    nodes = {source.subject, source.object} if isinstance(source, Fact) else set()
    holds = {
        "profile": bool(nodes & trace.asker.accounts),
        "name": bool({one(node) for node in nodes} & {one(node) for node in trace.named}),
        "words": signals.get("words", 0.0) > 0,
        "meaning": signals.get("meaning", 0.0) > 0,
    }
    last = "near" if signals.get("near", 0.0) > 0 else "conversation"
    return tuple(reason for reason, is_so in holds.items() if is_so) or (last,)


class Recaller:
    """Recall for one memory. Made on the event loop; see :meth:`start`.

    Attributes:
        traces: Of the last reminders.
        reranker, rerank_breaker: The model that reranks, if any, and the breaker around it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._views = ViewCache(context.settings.policy, context.attendance)
        self._sync = IndexSync(context.journal)
        self._embedder: Embedder | None = None
        self._expected: dict[str, tuple[tuple[Subquery, ...], asyncio.Future[Any]]] = {}
        self.traces = Traces()
        self._file = TraceFile(context, self.traces, self._sync)
        self._troubles = LogOnce(logger)
        self.reranker: Reranker | None = None
        self.rerank_breaker = Breaker("the model that reranks")

    @property
    def ready(self) -> bool:
        """Whether everything that was there at the start can be recalled."""
        return self._sync.ready

    @property
    def problem(self) -> str:
        """Why recall is behind the journal; empty if it is not."""
        return self._sync.problem

    @property
    def items(self) -> int:
        """Number of documents."""
        return len(self._sync.index.documents)

    @property
    def vectors(self) -> int:
        """How many documents have a vector of the model in use."""
        dense = self._sync.index.vectors
        return dense.count if dense else 0

    async def start(self) -> None:
        """Begin to build the index, in the background."""
        self._views.learn(await self._context.journal.read(lambda rows: list(rows.scan(Session))))
        self._sync.start()
        await self._file.load()

    def use(self, embedder: Embedder | None) -> None:
        """Use another embedder, or none; documents are embedded in the background."""
        self._embedder = embedder
        self._sync.use(embedder)

    def follow(self) -> None:
        """Follow the journal from now on."""
        listen = self._context.journal.listen
        listen(self._views.follow, Change, Presence, PresenceReset, Erased)
        listen(self._sync.take, Message)
        listen(self._on_change, Change)
        listen(self._on_erased, Erased)

    def _on_change(self, change: Change) -> None:
        self._sync.take(*change.ops)
        if any(op.after is None for op in change.ops):
            self._file.follow(change)

    def _on_erased(self, erased: Erased) -> None:
        self._sync.take(*erased.messages)
        self._file.follow(erased)

    def visible(self, asker: Asker) -> Mapping[str, View]:
        """What an asker may see, by Session id."""
        is_stale = self._context.journal.is_stale
        return self._views.near(asker) if is_stale else self._views.of(asker)

    async def explain(self, asker: Asker) -> Explanation | None:
        """What the last reply was reminded of, as far as ``asker`` may see it.

        In a group that is the last one to anybody. ``None`` if there was none since the start.
        """
        for trace in self.traces.of(asker.circle):
            is_theirs = asker.is_group or (asker.user and trace.asker.user == asker.user)
            if is_theirs and trace.asker.is_group == asker.is_group:
                break
        else:
            return None
        return await self.inspect(asker, lambda index, visible: explain(index, visible, trace))

    async def retrace(self, trace: Trace) -> Trace:
        """A trace as far as what was weighed is still there; for the owner.

        Raises:
            ClosedError: Recall is closed.
        """
        views = self._views.of(trace.asker, OPEN)
        return await self._sync.run(reread, self._sync.index, views, trace)

    async def likeness(self, messages: list[int], facts: list[str]) -> dict[str, float]:
        """Cosine of each fact with the nearest of some messages, visible or not."""
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LIKENESS):
                    await self._sync.settle(examples=False)
            return await self._sync.run(self._sync.index.likeness, messages, facts)
        except ClosedError:
            return {}

    async def settle(self) -> None:
        """Wait until the index reflects the journal and its vectors are complete."""
        await self._sync.settle()

    async def rebuild(self) -> None:
        """Build the index anew from the journal, or raise ``JournalError``."""
        await self._sync.rebuild()

    async def close(self) -> None:
        """Stop the background work."""
        await self._file.close()
        await self._sync.close()
        self.traces.clear()

    # ------------------------------------------------------------------ asking

    @property
    def embeds_beside(self) -> bool:
        """Whether a question may be embedded while the host is busy.

        A model that holds Python's lock for 9 ms would hold all else up by 20.
        """
        return self._embedder is not None and self._embedder.parallel

    def expect(self, text: str) -> None:
        """Begin to embed a message of which :meth:`remind` will be asked in a moment."""
        if self._embedder and not is_small_talk(text):
            parts = split(query := compose(text))
            asked = [self._embedder.query(part.text) for part in parts]
            task = asyncio.gather(*asked, return_exceptions=True)
            self._expected[query] = parts, task
            task.add_done_callback(lambda _: self._expected.pop(query, None))

    async def remind(self, asker: Asker, text: str, options: RecallOptions = DEFAULTS) -> Recall:
        """What to remind the language model of before it answers ``text``.

        Keeps ``recall_deadline`` and never raises; without an embedding in time it goes by
        words and names.
        """
        budget = options.budget or self._context.settings.injection_token_budget
        brief = not options.limit and not options.budget  # who asks for an amount gets it
        last = next(iter(self.traces.of(asker.circle)), None)
        is_late = last is not None and self._context.now() - last.at > SITTING
        # Whether the turn before is the asker's own, as far as is known, and recent.
        goes_on = last is None or (last.asker.user in asker.accounts and not is_late)
        previous = options.previous if goes_on else ""
        options = replace(options, budget=budget, brief=brief, previous=previous)
        found = await self._safely(asker, text, options)
        self.traces.add(found.trace, options.message)
        return found

    async def find(
        self,
        asker: Asker,
        text: str,
        limit: int = 10,
        *,
        person: str = "",
        start: int = 0,
        similar: int = SIMILAR,
        exclude: Collection[int] = (),
    ) -> SearchResult:
        """All that holds some words, a page of it, and memories that are similar.

        Args:
            person: Whom it is about, which what holds the words need not say.
            start: How many of what holds the words are left out.
            similar: At most so many similar ones.
        """
        options = RecallOptions(limit, exclude=exclude)
        words = keywords(text)
        asked = text if person in text else f"{person} {text}"
        try:
            async with asyncio.timeout(PATIENCE):
                seconds, views = PATIENCE / 2, self.visible(asker)
                question, context = await self._question(asker, asked, options, seconds, views)
                given = (self._sync.index, views, question, options, context, words, start, similar)
                return await self._sync.run(find, *given)
        except (ClosedError, TimeoutError) as error:
            self._troubles.report("search", error, key=type(error).__name__)
            return SearchResult()

    async def rehearse(self, asker: Asker, text: str, *, unscoped: bool = False) -> Recall:
        """What :meth:`remind` would say, for the owner only; ``unscoped``: without scope.

        It leaves no trace.
        """
        budget = self._context.settings.injection_token_budget
        options = RecallOptions(budget=budget, brief=True)
        views = self._views.of(asker, OPEN) if unscoped else None
        return await self._safely(asker, text, options, views)

    async def inspect(self, asker: Asker, work: Callable[[Index, VisibleSet], T]) -> T:
        """Run ``work`` on what an asker sees, on the index's thread.

        Raises:
            ClosedError: Recall is closed.
        """
        views = self.visible(asker)
        index = self._sync.index
        return await self._sync.run(lambda: work(index, index.visible(views)))

    async def _safely(
        self,
        asker: Asker,
        text: str,
        options: RecallOptions,
        views: Mapping[str, View] | None = None,
    ) -> Recall:
        options = replace(options, limit=options.limit or self._context.settings.retrieval_top_k)
        deadline = self._context.settings.recall_deadline / 1000
        problem = ""
        try:
            async with asyncio.timeout(deadline):
                if text.strip():
                    views = self.visible(asker) if views is None else views
                    embed_by = time.monotonic() + deadline * EMBEDDING_SHARE
                    return await self._recall(asker, text, options, embed_by, views)
        except ClosedError:
            problem = "closed"
        except TimeoutError:
            problem = f"not found within {deadline:g} s"
            self._troubles.report(f"recall: {problem}", key="deadline")
        except Exception as error:
            problem = brief(error)
            self._troubles.report("recall", error, key=type(error).__name__)
        words = wording(text, self._context.settings.language)
        block = framed(preamble(options.lead, words, options.budget), words["note"])
        now, query = self._context.now(), compose(text)
        return Recall((), block, Trace(asker, now, query, block=block, problem=problem))

    async def _recall(
        self,
        asker: Asker,
        text: str,
        options: RecallOptions,
        embed_by: float,
        views: Mapping[str, View],
    ) -> Recall:
        started = time.monotonic()
        seconds = embed_by - started
        question, context = await self._question(asker, text, options, seconds, views)
        embedded = time.monotonic()
        given = (self._sync.index, views, question, options, context)
        scores, by = None, started + (embed_by - started) / EMBEDDING_SHARE * RERANKING_SHARE
        if self.reranker and not (options.brief and is_small_talk(text)):
            scores = await self._rerank(question.text, await self._sync.run(shortlist, *given), by)
        compared = time.monotonic()
        found = await self._sync.run(search, *given, scores)
        timing = {
            "embedding": round((embedded - started) * 1000, 3),
            **({"reranking": round((compared - embedded) * 1000, 3)} if scores else {}),
            "total": round((time.monotonic() - started) * 1000, 3),
        }
        trace = replace(found.trace, timing={**timing, **found.trace.timing})
        return replace(found, trace=trace)

    async def _question(
        self,
        asker: Asker,
        text: str,
        options: RecallOptions,
        seconds: float,
        views: Mapping[str, View],
    ) -> tuple[Question, SearchContext]:
        """What is searched for, with its vectors if they come within some seconds."""
        settings, by = self._context.settings, time.monotonic() + seconds
        query = compose(text, options.previous)
        parts, _ = self._expected.get(query) or (split(query), None)
        is_idle = options.brief and is_small_talk(text)  # of which nothing is reminded
        asked = [] if is_idle else [part.text for part in parts]
        vectors, model = await self._embed(asked, by)
        if vectors and any(asks(each) and not is_personal(each) for each in asked):
            said = await self._sync.run(as_said, self._sync.index, views, asked)
            others, other = await self._embed(said, by) if said != asked else ((), "")
            if others and other == model:  # else the embedder was exchanged meanwhile
                both = np.add(vectors, others)
                vectors = tuple(both / np.linalg.norm(both, axis=1, keepdims=True))
        context = SearchContext(
            self._context.now(), self._context.zone, settings.time_decay_rate, settings.language
        )
        return Question(asker, text, query, parts, vectors, model), context

    async def _rerank(self, query: str, texts: dict[str, str], by: float) -> dict[str, float]:
        """Scores of texts by key, none if they come too late or not at all."""
        if len(texts) < 2 or self.reranker is None:
            return {}
        try:
            with self.rerank_breaker.call():
                async with asyncio.timeout(max(0.0, by - time.monotonic())):
                    scores = await self.reranker.scores(query, list(texts.values()))
        except (TimeoutError, RerankError, RefusedError) as error:
            self._troubles.report(f"recall is not reranked: {error or 'too slow'}", key="reranking")
            return {}
        return dict(zip(texts, scores, strict=True))

    async def _embed(self, parts: list[str], by: float) -> tuple[tuple[Vectors, ...], str]:
        """Vectors of the parts of a query, none if too late, and their model."""
        embedder = self._embedder
        if embedder is None or not parts:
            return (), ""
        try:
            async with asyncio.timeout(max(0.0, by - time.monotonic())):
                found = await asyncio.gather(*(embedder.query(part) for part in parts))
                return tuple(found), embedder.name
        except (TimeoutError, EmbeddingError, ClosedError) as error:
            self._troubles.report(
                f"recall goes by words and names: {error or 'too slow'}", key="embedding"
            )
            return (), embedder.name
