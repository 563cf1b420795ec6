"""Ranking of the visible documents for the questions of a message.

``score`` puts memories in order; ``evidence`` says whether there is anything to remind of.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from ..dates import Span, spans
from ..model import Fact, Message, is_entity
from ..retention import strength
from ..scope import Rank
from ..stopwords import weight as commonplace
from .documents import Document, Kind
from .index import Index
from .lexical import index_terms
from .query import Question, Subquery, asks, telling
from .scoring import (
    Scores,
    VisiblePostings,
    best,
    fuse,
    idf,
    lexical_scores,
    lift_conversations,
    second_step,
    semantic_scores,
)
from .visible import Citation, VisibleSet

NAMED = 0.15
"""Preference for facts about a node that was named, damped by its degree."""
MENTION = 2.5
"""Evidence from being named, damped likewise, at most 1: in full up to three facts."""
HOP, HOP_SEEDS, HOP_DEGREE = 0.1, 3, 30
"""Preference for facts one hop from the best facts, through nodes of low degree."""
TIMELY, GRACE = 0.3, 7 * 86_400.0
"""Preference for what was said at a time that is named, and half of it for what was said
in the week after: people tell what happened."""
PENALTY = 0.15
"""Share of the best score that a memory loses if one before it says the same."""
ALIKE, SAME = 0.6, 0.95
"""Cosines from which two memories are alike, and say the same."""
VOTERS = 8
"""Best documents that say which words of a question name the kind it asks for."""
MAJORITY = 0.3
"""Share of them that such a word needs."""
ELECTED = 0.5
"""Weight of having all such words."""
SAID = 0.3
"""Share of the best score that a memory loses if all its own words have been said."""
LITTLE, FIRST = 25, 20
"""Percentile of what the first memories say by themselves; nothing is lost by what says as
much that is new."""
SPEAKER, PERSONAL = 0.02, 0.06
"""Preference for what is known about the asker; more if they speak of themselves."""
FADING = 0.2
"""Share of a fact's score that fades with retention."""
REPLACED = 0.6
"""Factor for what is known to be no longer true."""
ASKING = 0.7
"""Factor for a message that only asks; who asks, tells little."""
CANDIDATES = 40
"""Documents that are weighed for a question; more if more may be chosen."""
EQUALS = 64
"""Candidates as good as the last one that are kept beside; the newest ones."""
SIGNALS = ("words", "meaning", "near", "retention")
NOWHERE = -1
"""Position of a record, which is no visible document."""

CLOSE = 0.2
"""Cosine above the floor that is evidence by itself."""
COVERED, COVERED_BLINDLY = 0.3, 0.11
"""Share of the query's words that is evidence by itself: where the meaning is known, and
where it is not."""
WORDS_MOST, DOUBT = 2.0, 0.5
"""Evidence of words at most, and factor for words whose meaning has nothing to do with it."""
ADDRESSED = 0.5
"""Factor for evidence if what was said is about the one it is said to: "how are you?"."""
DIGITS = 6
"""Digits after the point of a score; what is beyond depends on how it was computed."""


class Candidate(NamedTuple):
    """A memory with what speaks for it.

    Attributes:
        part: Which question it answers.
        evidence: 1 is enough to remind of it; comparable between queries.
        signals: What the score is made of, for the trace: see ``SIGNALS``; of records nothing.
        replaced: The visible fact that replaces it.
    """

    position: int
    document: Document
    part: int
    score: float
    evidence: float
    foreign: bool
    signals: tuple[float, ...]
    replaced: Fact | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first; own before foreign ones, questions taking turns.

    Attributes:
        named: Nodes that the question names, and by which name.
        earnest: The questions that are hardly small talk.
        cited: Which facts rest on which of the messages, as positions.
    """

    candidates: list[Candidate] = field(default_factory=list)
    visible: int = 0
    named: dict[str, str] = field(default_factory=dict)
    earnest: frozenset[int] = frozenset()
    cited: list[Citation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What is the same for all searches at one time; ``rate`` is ``time_decay_rate``."""

    now: float
    zone: tzinfo
    rate: float = 1.0
    language: str = "zh"


def rank(
    index: Index,
    visible: VisibleSet,
    question: Question,
    context: SearchContext,
    *,
    limit: int = 0,
    profile: bool = True,
) -> Ranking:
    """Order what is visible by how well it answers; options as in ``RecallOptions``."""
    named = index.named(question.text, visible.views)
    records = _records(index, visible, question, context)
    if not len(visible):
        return Ranking(records, named=named)
    base = np.zeros(len(visible))
    if profile:
        own = index.documents.about(question.asker.accounts, visible.numbers)
        base[own] = PERSONAL if question.personal else SPEAKER
    times = [spans(part.text, context.now, context.zone) for part in question.parts]
    ranker = _Ranker(index, visible, question, context, named, base, max(CANDIDATES, limit))
    lists = [ranker.answer(number, at) for number, at in enumerate(times)]
    candidates = [*records, *interleave(lists)]
    candidates.sort(key=lambda c: c.foreign)
    parts = enumerate(zip(question.parts, times, strict=True))
    earnest = frozenset(n for n, (part, at) in parts if _is_earnest(question, part, at, context))
    return Ranking(candidates, len(visible), named, earnest, ranker.cited)


class _Ranker:
    """Ranks what is visible for each question of one message."""

    def __init__(
        self,
        index: Index,
        visible: VisibleSet,
        question: Question,
        context: SearchContext,
        named: dict[str, str],
        base: Scores,
        count: int,
    ) -> None:
        self._index = index
        self._visible = visible
        self._question = question
        self._context = context
        self._named = named
        self._base = base
        self._count = count
        self._postings = VisiblePostings(index, visible)
        self.cited: list[Citation] = []

    def answer(self, number: int, times: list[Span]) -> list[Candidate]:
        """Candidates for one question, best first."""
        index, visible, question = self._index, self._visible, self._question
        part = question.parts[number]
        lexical, covered = lexical_scores(self._postings, part.terms, part.words)
        close = semantic_scores(index, visible, question.vector(number))
        relevance = lift_conversations(fuse(lexical, close), visible)
        relevance = second_step(index, visible, self._postings, part.terms, relevance, close)
        if part.many:
            relevance = vote(index, visible, self._postings, part.terms, relevance)
        boost, mentioned = nearby(index, visible, relevance, self._named)
        boost += self._base
        if times:
            boost += timely(index, visible, times)
        relevance = relevance + boost
        order = _most_relevant(index, visible, relevance, self._count)
        followed = add_successors(index, visible, order, relevance)
        ranked = len(order)
        # Further facts that rest on these messages: they can be shown as those, in fewer words.
        order += sorted({fact for fact, _ in followed.cited}.difference(order))
        self.cited += followed.cited
        coverage = covered[order]
        meant = close[order] if close is not None else None
        evidence = _evidence(coverage, meant)
        if question.addressed:
            evidence *= ADDRESSED
        evidence += mentioned[order]
        for old, new in followed.heirs:
            at = order.index(new)
            evidence[at] = max(evidence[at], evidence[order.index(old)])
        signals = (coverage, np.zeros(len(order)) if meant is None else meant, boost[order])
        candidates = self._candidates(
            number, order, relevance, evidence, signals, followed.replaced
        )
        best_of, others = _sorted(candidates[:ranked]), _sorted(candidates[ranked:])
        return diversify(index, visible, part, best_of) + others

    def _candidates(
        self,
        number: int,
        order: list[int],
        relevance: Scores,
        evidence: Scores,
        signals: tuple[Scores, ...],
        replaced: dict[int, Fact],
    ) -> list[Candidate]:
        """Candidates at some positions."""
        visible, documents = self._visible, self._index.documents
        rows = zip(
            order,
            visible.numbers[order].tolist(),
            relevance[order].tolist(),
            evidence.tolist(),
            visible.foreign[order].tolist(),
            zip(*(signal.tolist() for signal in signals), strict=True),
            strict=True,
        )
        found: list[Candidate] = []
        for position, at, relevant, evident, foreign, spoke in rows:
            document, newer = documents[at], replaced.get(position)
            factor = kept = 1.0
            if isinstance(document.source, Fact):
                kept = strength(document.source, self._context.now, self._context.rate)
                factor = 1 - FADING + FADING * kept
            elif isinstance(document.source, Message):
                factor = ASKING + (1 - ASKING) * telling(document.source.text)
            score = round(relevant * factor * (REPLACED if newer else 1.0), DIGITS)
            found.append(
                Candidate(
                    position, document, number, score, evident, foreign, (*spoke, kept), newer
                )
            )
        return found


def _is_earnest(
    question: Question, part: Subquery, times: list[Span], context: SearchContext
) -> bool:
    """Whether all things of a kind are asked for, something of one's own or what was."""
    if part.many or question.addressed or not asks(part.text):
        return part.many
    return question.personal or any(end <= context.now for _, end in times)


def _sorted(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.foreign, -c.score, -c.document.at, c.document.key))


def _records(
    index: Index, visible: VisibleSet, question: Question, context: SearchContext
) -> list[Candidate]:
    """Summaries of the time that is asked about as a whole: a question of their own."""
    found = index.summaries.asked(question.text, visible.views, context.now, context.zone)
    return [
        Candidate(
            NOWHERE,
            Document(Kind.EPISODE, record.id, record.summary, record),
            len(question.parts),
            1.0,
            1.0,
            standing is Rank.FOREIGN,
            (),
        )
        for record, standing in found
    ]


def nearby(
    index: Index, visible: VisibleSet, relevance: Scores, named: dict[str, str]
) -> tuple[Scores, Scores]:
    """Boost and evidence, by position, of facts about named nodes and nodes of the best facts.

    A node of many facts says little about each of them.
    """
    boost, mentioned = np.zeros(len(visible)), np.zeros(len(visible))
    for node in dict.fromkeys(index.distinct(named).values()):
        facts = visible.positions[index.touching(node, visible)]
        damped = 1 + math.log1p(len(facts))
        boost[facts] += NAMED / damped
        mentioned[facts] = np.maximum(mentioned[facts], min(1.0, MENTION / damped))
    for node, weight in sorted(_reached(index, visible, relevance, named).items()):
        facts = visible.positions[index.touching(node, visible)]
        if len(facts) <= HOP_DEGREE:
            boost[facts] += HOP * weight / (1 + math.log1p(len(facts)))
    return boost, mentioned


def _reached(
    index: Index, visible: VisibleSet, relevance: Scores, named: dict[str, str]
) -> dict[str, float]:
    """Entities of the best facts, with the best relevance; not through those named."""
    reached: dict[str, float] = {}
    passed = {index.identities.canonical(node) for node in named}
    for position in best(relevance, HOP_SEEDS):
        source = index.documents[int(visible.numbers[position])].source
        if isinstance(source, Fact):
            for node in (source.subject, source.object):
                if not is_entity(node) or index.identities.canonical(node) in passed:
                    continue
                if index.knows(node, visible.views):
                    reached[node] = max(reached.get(node, 0.0), float(relevance[position]))
    best_of: dict[str, float] = {}
    for node, first in index.distinct(reached).items():
        best_of[first] = max(best_of.get(first, 0.0), reached[node])
    return best_of


def timely(index: Index, visible: VisibleSet, times: Sequence[Span]) -> Scores:
    """What being of one of some times adds to relevance, by position."""
    boost = np.zeros(len(visible))
    at = index.documents.since.values[visible.numbers]
    for start, end in times:
        inside = (start <= at) & (at < end)
        after = (end <= at) & (at < end + GRACE)
        np.maximum(boost, np.where(inside, TIMELY, np.where(after, TIMELY / 2, 0.0)), out=boost)
    return boost


@dataclass(frozen=True, slots=True)
class Successors:
    """Facts that replace some documents.

    Attributes:
        replaced: What replaces each of them, if anything does.
        heirs: Who, in this order, is to have the evidence of whom: ``(old, new)``.
        cited: Citations of all of them, old and new.
    """

    replaced: dict[int, Fact] = field(default_factory=dict)
    heirs: list[tuple[int, int]] = field(default_factory=list)
    cited: list[Citation] = field(default_factory=list)


def add_successors(
    index: Index, visible: VisibleSet, order: list[int], relevance: Scores
) -> Successors:
    """Add what replaces some documents to ``order``, as relevant as what it replaces."""
    found = Successors()
    known, left = set(order), list(order)
    while left:
        cited = visible.citations(left)
        found.cited.extend(cited)
        outdated = _outdated(index, visible, left, cited)
        found.replaced.update(outdated)
        left = []
        # Oldest first, so that relevance is handed on along a chain of replacements.
        for old, newer in sorted(outdated.items(), key=lambda o: (o[1].recorded_at, o[1].id)):
            number = index.documents.number(newer.id)
            new = int(visible.positions[number]) if number is not None else -1
            if new < 0:
                continue
            relevance[new] = max(relevance[new], relevance[old])
            found.heirs.append((old, new))
            if new not in known:
                known.add(new)
                order.append(new)
                left.append(new)
    return found


def _outdated(
    index: Index, visible: VisibleSet, positions: list[int], cited: list[Citation]
) -> dict[int, Fact]:
    """What replaces each of some documents, if anything does.

    A message is outdated if all visible facts that rest on it are.
    """
    found: dict[int, Fact] = {}
    standing: set[int] = set()
    pairs = [(position, position) for position in positions] + cited
    numbers = visible.numbers[[fact for fact, _ in pairs]].tolist()
    keys = [index.documents[number].key for number in numbers]
    if not index.replaces_any(keys):
        return found
    for (fact, document), key in zip(pairs, keys, strict=True):
        newer = index.replaced_by(key, visible.views)
        if newer is None:
            if fact != document:
                standing.add(document)
        elif document not in found or newer.id > found[document].id:
            found[document] = newer
    return {position: newer for position, newer in found.items() if position not in standing}


def vote(
    index: Index,
    visible: VisibleSet,
    postings: VisiblePostings,
    query: Mapping[str, float],
    relevance: Scores,
) -> Scores:
    """Relevance with what documents share with the best hits of what was asked.

    "How many people were born in June?" finds those of June first. Most of the hits have
    "born" in common: with it the others rise, without whom nobody can count.
    """
    order = best(relevance, VOTERS)[:VOTERS]
    most = float(relevance[order[0]])
    votes: Counter[str] = Counter()
    for hit in order:
        votes.update(set(index_terms(index.documents[int(visible.numbers[hit])].text)))
    shared = np.zeros(len(visible))
    total = 0.0
    for term in query:
        if (count := votes[term]) < max(2, MAJORITY * len(order)):
            continue
        rare = commonplace(term) * idf(len(visible), postings.occurrences(term))
        np.add.at(shared, postings.having(term), rare * count / len(order))
        total += rare * count / len(order)
    if total <= 0 or most <= 0:
        return relevance
    voted: Scores = relevance + ELECTED * most * shared / total
    return voted


def diversify(
    index: Index, visible: VisibleSet, part: Subquery, ranked: list[Candidate]
) -> list[Candidate]:
    """Maximal-marginal-relevance order of candidates, which come best first.

    Where all things of a kind are asked for, what says little that is new comes later, too.
    """
    if not ranked:
        return []
    numbers = [int(visible.numbers[candidate.position]) for candidate in ranked]
    left = np.array([candidate.score for candidate in ranked])
    most = float(left.max())
    penalties = np.zeros((len(numbers), len(numbers)))
    if index.vectors and (alike := index.vectors.pairwise(numbers)) is not None:
        scaled = (alike.astype(np.float64) - ALIKE) / (SAME - ALIKE)
        penalties = PENALTY * np.minimum(np.maximum(scaled, 0.0), 1.0) * most
    costs_others = ((penalties > 0).sum(1) > 1).tolist()
    own = _OwnWords(index, part, numbers) if part.many else None
    loss = np.zeros(len(ranked))
    worth = left.copy()
    order: list[Candidate] = []
    for _ in ranked:
        place = int(worth.argmax())
        order.append(ranked[place])
        left[place] = worth[place] = -np.inf
        if costs_others[place]:
            np.maximum(loss, penalties[place], out=loss)
            np.subtract(left, loss, out=worth)
        if own:
            worth = left - loss - SAID * most * own.said_after(place)
    return order


class _OwnWords:
    """Words of candidates that are not in the question, and which of them were said."""

    def __init__(self, index: Index, part: Subquery, numbers: list[int]) -> None:
        documents = [set(index_terms(index.documents[number].text)) for number in numbers]
        counts = Counter(term for document in documents for term in document)
        columns = {term: at for at, term in enumerate(sorted(counts.keys() - part.terms.keys()))}
        rare = np.array([commonplace(term) * idf(len(numbers), counts[term]) for term in columns])
        self._worths = np.zeros((len(numbers), len(columns)))
        for row, document in enumerate(documents):
            own = [columns[term] for term in document if term in columns]
            self._worths[row, own] = rare[own]
        self._left = self._worths.sum(1)
        self._enough = max(float(np.percentile(self._left[:FIRST], LITTLE)), 1e-9)

    def said_after(self, place: int) -> Scores:
        """How much of what each candidate says was said, 0…1, once one more is chosen."""
        said = np.flatnonzero(self._worths[place])
        self._left -= self._worths[:, said].sum(1)
        self._worths[:, said] = 0
        return 1 - np.minimum(self._left / self._enough, 1.0)


def interleave(lists: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Candidates of several questions in turns, everything once."""
    merged: dict[int, Candidate] = {}
    for candidate in chain.from_iterable(zip_longest(*lists)):
        if candidate is not None:
            merged.setdefault(candidate.position, candidate)
    return list(merged.values())


def _evidence(coverage: Scores, close: Scores | None) -> Scores:
    if close is None:
        return coverage / COVERED_BLINDLY
    by_meaning = np.maximum(close, 0.0) / CLOSE
    by_words = np.minimum(coverage / COVERED, WORDS_MOST)
    by_words *= DOUBT + (1 - DOUBT) * np.minimum(by_meaning, 1.0)
    evidence: Scores = by_words + by_meaning
    return evidence


def _most_relevant(index: Index, visible: VisibleSet, relevance: Scores, count: int) -> list[int]:
    """Positions of the ``count`` most relevant documents; of thousands of equals the newest."""
    order = best(relevance, count)
    order = order[: np.count_nonzero(relevance[order] > 0)]
    if len(order) <= count + EQUALS:
        return order
    least = relevance[order[count - 1]]
    better = [position for position in order if relevance[position] > least]
    equal = (relevance == least).nonzero()[0]
    room = count + EQUALS - len(better)
    age = -index.documents.since.values[visible.numbers[equal]]
    newest = equal[age <= np.partition(age, room - 1)[room - 1]].tolist()

    def older(position: int) -> tuple[float, str]:
        document = index.documents[int(visible.numbers[position])]
        return -document.at, document.key

    return better + heapq.nsmallest(room, newest, key=older)
