"""One run: a corpus goes through the product's own journal and recall, and is asked for."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from graph_memory.inference import Embedder
from graph_memory.model import (
    Asker,
    Fact,
    Message,
    Session,
    asker_of,
    session_of,
    stable_id,
    user_id,
)
from graph_memory.recall import Item, Recaller, RecallOptions
from graph_memory.recall.index import Index
from graph_memory.recall.visible import VisibleSet
from graph_memory.settings import Settings
from graph_memory.store import Journal
from graph_memory.text import tokens
from tests.makers import context, fact, put

from .corpus import OWNER, Corpus, Person, Query
from .metrics import Scores, Shown, Used, covered, within
from .plain import Plain

PLATFORM = "eval"
PERSONA = "default"
BUDGET = 600
ALL, MOST = RecallOptions(40), 50
"""Items asked for: enough for the first twenty places, in any length, and for the budget."""

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Report:
    scores: Scores = field(default_factory=Scores)
    plain: Scores = field(default_factory=Scores)
    items: int = 0
    foreign: int = 0
    documents: int = 0

    def summary(self) -> dict[str, object]:
        """JSON-ready figures: ``all`` and every category of questions, ``rrf`` (plain
        retrieval, with its categories below it) and single numbers."""
        plain = self.plain.table()
        return {
            **self.scores.table(),
            "rrf": {**plain.pop("all", {}), "categories": plain},
            "leak": self.foreign / max(1, self.items),
            "documents": self.documents,
        }


def nobody(stage: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(slots=True)
class Perfect:
    """A reranker that knows the evidence of ``query``.

    Attributes:
        told: By owner: the messages that each text shows.
    """

    told: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    query: Query | None = None

    async def scores(self, query: str, texts: list[str]) -> list[float]:
        """1 for each text that shows some of the evidence."""
        assert self.query
        gold = frozenset().union(*self.query.slots)
        told = self.told[self.query.owner]
        return [float(bool(gold & told[text])) for text in texts]


class Trial:
    """A corpus in one memory, each of its people in a private chat of their own.

    Facts stand ``alone``, without the messages that they rest on, if that is asked for.
    """

    def __init__(
        self,
        corpus: Corpus,
        journal: Journal,
        embedder: Embedder | None,
        reranker: Perfect | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self._corpus = corpus
        self._alone = alone
        self._reranker = reranker
        self._journal = journal
        self._embedder = embedder
        self._used: list[Used] = []
        self._ids: dict[int, str] = {}
        self._facts: dict[str, frozenset[str]] = {}

    async def run(self, progress: Progress = nobody) -> Report:
        """Ingest and ask everything."""
        report = Report()
        async with self.recaller() as recaller:
            await self.fill(recaller, progress)
            report.documents = recaller.items
            for number, query in enumerate(self._corpus.queries):
                await self._ask(recaller, query, report)
                progress("asking", number + 1, len(self._corpus.queries))
        if not self._alone and not self._reranker:
            await self._compare(report, progress)
        return report

    async def fill(self, recaller: Recaller, progress: Progress = nobody) -> None:
        """Ingest everything and wait for its vectors."""
        await self._ingest(progress)
        if self._embedder:
            recaller.use(self._embedder)
            progress("embedding", 0, recaller.items)
        await recaller.settle()
        if self._reranker:
            recaller.reranker = self._reranker
            for owner in self._corpus.people:
                told = await recaller.inspect(asker(owner), _texts)
                self._reranker.told[owner] = {
                    text: self._facts[source.id]
                    if isinstance(source, Fact)
                    else frozenset({self._ids[source.id]})
                    for text, source in told.items()
                }

    @asynccontextmanager
    async def recaller(self) -> AsyncIterator[Recaller]:
        """Recall on the journal, from now on."""
        newest = max(
            (line.at for person in self._corpus.people.values() for line in person.lines),
            default=0.0,
        )
        settings = Settings(recall_deadline=10_000)
        recaller = Recaller(context(self._journal, settings, now=lambda: newest))
        recaller.follow()
        await recaller.start()
        try:
            yield recaller
        finally:
            await recaller.close()

    async def _ingest(self, progress: Progress) -> None:
        """Write everything that was said and learned into the journal."""
        for number, (owner, person) in enumerate(self._corpus.people.items()):
            session = private_chat(owner)
            stored: dict[str, Message] = {}
            for line in () if self._alone else person.lines:
                name = owner if line.speaker == OWNER else line.speaker
                said = Message(0, session.id, sender(owner, line.speaker), name, line.text, line.at)
                stored[line.id] = await self._journal.append(said, session)
                self._ids[stored[line.id].id] = line.id
            await self._learn(owner, person, stored)
            progress("ingesting", number + 1, len(self._corpus.people))

    async def _learn(self, owner: str, person: Person, stored: dict[str, Message]) -> None:
        session = private_chat(owner)
        facts, times = [], {line.id: line.at for line in person.lines}
        for each in person.observations:
            evidence = tuple(stored[id].id for id in each.sources if id in stored)
            at = max((times[id] for id in each.sources if id in times), default=0.0)
            id, thing = (stable_id(kind, owner, each.id) for kind in "fe")
            facts.append(
                fact(
                    session, sender(owner, each.speaker), thing, each.text, id=id,
                    predicate="other", at=at, evidence=evidence,
                )
            )  # fmt: skip
            self._facts[id] = frozenset(each.sources)
        if facts:
            await put(self._journal, session, *facts)

    async def _ask(self, recaller: Recaller, query: Query, report: Report) -> None:
        if self._reranker:
            self._reranker.query = query
        who, own = asker(query.owner), private_chat(query.owner).id
        found = await recaller._safely(who, query.text, ALL)
        block = await recaller.remind(
            who, query.text, RecallOptions(MOST, budget=BUDGET, previous=query.previous)
        )
        given = await recaller.remind(who, query.text, RecallOptions(previous=query.previous))
        items = [self.shown(item) for item in given.items]
        self._used.append(Used(items, len(items), tokens(given.block)))
        report.items += len(found.items)
        report.foreign += sum(item.session != own for item in found.items)
        ranked = [self.shown(item) for item in found.items]
        shown = [self.shown(item) for item in block.items]
        report.scores.add(query, ranked, shown, self._used[-1])

    async def rewards(self, recaller: Recaller) -> list[float]:
        """By question: the evidence among the first ten and in a default reminder, half each."""
        found = []
        for query in self._corpus.queries:
            who = asker(query.owner)
            ranked = await recaller._safely(who, query.text, ALL)
            given = await recaller.remind(who, query.text, RecallOptions(previous=query.previous))
            first = within([self.shown(item) for item in ranked.items], 10)
            both = (first, [self.shown(item) for item in given.items])
            found.append(sum(covered(query, items) for items in both) / 2)
        return found

    def shown(self, item: Item) -> Shown:
        if item.kind == "fact":
            return Shown(self._facts[item.id])
        return Shown(frozenset(self._ids[id] for id in item.messages), len(item.messages))

    async def _compare(self, report: Report, progress: Progress) -> None:
        """The same with plain retrieval, each memory by itself."""
        plain: dict[str, Plain] = {}
        for owner, person in self._corpus.people.items():
            own = [_written(line.speaker, line.text) for line in person.lines]
            vectors = await self._embedder.passages(own) if self._embedder else None
            plain[owner] = Plain(own, vectors)
        for number, (query, used) in enumerate(zip(self._corpus.queries, self._used, strict=True)):
            lines = self._corpus.people[query.owner].lines
            vector = await self._embedder.query(query.text) if self._embedder else None
            order = plain[query.owner].rank(query.text, vector)
            ranked = [Shown(frozenset({lines[n].id})) for n in order]
            costs = [tokens(f"- 2024-01-01 {lines[n].speaker}: {lines[n].text}") for n in order]
            total = np.cumsum(costs)
            fitting, equal = (ranked[: (total <= most).sum()] for most in (BUDGET, used.tokens))
            report.plain.add(query, ranked, fitting, replace(used, shown=equal))
            progress("comparing", number + 1, len(self._corpus.queries))


def _texts(index: Index, visible: VisibleSet) -> dict[str, Fact | Message]:
    """What an asker sees, by its text."""
    documents = map(index.documents.__getitem__, visible.numbers.tolist())
    return {each.text: each.source for each in documents if isinstance(each.source, Fact | Message)}


def private_chat(owner: str) -> Session:
    """Where one person's memory is."""
    return session_of(PLATFORM, "", owner, PERSONA)


def asker(owner: str) -> Asker:
    """One person who asks their own memory."""
    session = private_chat(owner)
    return asker_of(session, session.owner)


def sender(owner: str, speaker: str) -> str:
    """User id of who speaks in somebody's memory."""
    return user_id(PLATFORM, owner if speaker == OWNER else speaker)


def _written(speaker: str, text: str) -> str:
    return text if speaker == OWNER else f"{speaker}: {text}"
