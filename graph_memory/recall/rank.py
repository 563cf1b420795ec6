"""How relevant each visible memory is, and whether it is relevant at all.

Each question of a message is searched for by itself: words and meaning are brought to 0…1
and fused; a conversation that fits as a whole lifts its lines; a second step leads from
what was found to what belongs to it, and, if all things of a kind are asked for, to the
others of the kind; what is about the asker, near to someone who was named or of the time
that was named is preferred a little. ``evidence`` is kept apart from ``score``: the score
puts memories in order, the evidence says whether there is anything to remind of.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import NamedTuple

import numpy as np

from ..dates import Span, spans
from ..model import Fact, Message
from ..retention import strength
from ..scope import Rank
from .associate import associate
from .documents import Document, Kind
from .index import Index
from .nearness import near, timely
from .questions import Part, Question, asks, telling
from .relevance import fuse, lift_conversations
from .sight import Citation, Sight
from .signals import Bag, Scores, best, meaning, words
from .successors import follow
from .turns import turns
from .vary import vary
from .vote import vote

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
"""Position of a record, which is no document in sight."""

CLOSE = 0.2
"""Cosine above the floor that is evidence by itself."""
COVERED, COVERED_BLINDLY = 0.3, 0.11
"""Share of the query's words that is evidence by itself: where the meaning is known, and
where it is not."""
WORDS_MOST, DOUBT = 2.0, 0.5
"""Evidence of words at most, and factor for words whose meaning has nothing to do with it."""
ADDRESSED = 0.5
"""Factor for evidence if what was said is about the one it is said to: "how are you?"."""


class Candidate(NamedTuple):
    """A memory with what speaks for it.

    Attributes:
        part: Which question it answers.
        score: Its place in the order of that question.
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
        visible: How many documents were looked at.
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
class Clock:
    """What ranking has to know about time.

    Attributes:
        now: Seconds since the epoch.
        zone: Of the dates that people name.
        rate: The setting ``time_decay_rate``.
    """

    now: float
    zone: tzinfo
    rate: float = 1.0


def rank(
    index: Index,
    sight: Sight,
    question: Question,
    clock: Clock,
    *,
    limit: int = 0,
    profile: bool = True,
) -> Ranking:
    """Order what is visible by how well it answers.

    Args:
        limit: Most memories that may be chosen.
        profile: Whether what is known about the asker is preferred.
    """
    count = max(CANDIDATES, limit)
    named = index.named(question.text, sight.views)
    records = _records(index, sight, question, clock)
    if not len(sight):
        return Ranking(records, named=named)
    bag = Bag(index, sight)
    base = np.zeros(len(sight))
    if profile:
        own = index.documents.about(question.asker.accounts, sight.numbers)
        base[own] = PERSONAL if question.personal else SPEAKER
    times = [spans(part.text, clock.now, clock.zone) for part in question.parts]
    cited: list[Citation] = []
    lists = [
        _answer(index, sight, bag, question, number, named, base, at, clock, count, cited)
        for number, at in enumerate(times)
    ]
    candidates = [*records, *_in_turns(lists)]
    candidates.sort(key=lambda c: c.foreign)
    parts = enumerate(zip(question.parts, times, strict=True))
    earnest = frozenset(n for n, (part, at) in parts if _is_earnest(question, part, at, clock))
    return Ranking(candidates, len(sight), named, earnest, cited)


def _is_earnest(question: Question, part: Part, times: list[Span], clock: Clock) -> bool:
    """Whether all things of a kind are asked for, something of one's own or what was."""
    if part.many or question.addressed or not asks(part.text):
        return part.many
    return question.personal or any(end <= clock.now for _, end in times)


def _answer(
    index: Index,
    sight: Sight,
    bag: Bag,
    question: Question,
    number: int,
    named: dict[str, str],
    base: Scores,
    times: list[Span],
    clock: Clock,
    count: int,
    cited: list[Citation],
) -> list[tuple[Candidate, float]]:
    """Candidates for one question, best first, and what each is worth; see :func:`vary`.

    Their citations are added to ``cited``.
    """
    part = question.parts[number]
    found = words(bag, part.terms, part.words)
    close = meaning(index, sight, question.vector(number))
    relevance = lift_conversations(fuse(found.scores, close), sight)
    relevance = associate(index, sight, bag, part.terms, relevance, close)
    if part.many:
        relevance = vote(index, sight, bag, part.terms, relevance)
    boost, mentioned = near(index, sight, relevance, named)
    boost += base + timely(index, sight, times) if times else base
    relevance = relevance + boost
    order = _candidates(index, sight, relevance, count)
    followed = follow(index, sight, order, relevance)
    ranked = len(order)
    # Further facts that rest on these messages: they can be shown as those, in fewer words.
    order += sorted({fact for fact, _ in followed.cited}.difference(order))
    cited += followed.cited
    coverage = found.coverage[order]
    meant = close[order] if close is not None else None
    evidence = _evidence(coverage, meant)
    if question.addressed:
        evidence *= ADDRESSED
    evidence += mentioned[order]
    for old, new in followed.heirs:
        at = order.index(new)
        evidence[at] = max(evidence[at], evidence[order.index(old)])
    rows = zip(
        order,
        sight.numbers[order].tolist(),
        relevance[order].tolist(),
        evidence.tolist(),
        coverage.tolist(),
        meant.tolist() if meant is not None else [0.0] * len(order),
        boost[order].tolist(),
        sight.foreign[order].tolist(),
        strict=True,
    )
    candidates: list[Candidate] = []
    for position, document_number, relevant, evident, covered, close_to, near_to, foreign in rows:
        document = index.documents[document_number]
        source = document.source
        score, kept = relevant, 1.0
        if isinstance(source, Fact):
            kept = strength(source, clock.now, clock.rate)
            score *= 1 - FADING + FADING * kept
        elif isinstance(source, Message):
            score *= ASKING + (1 - ASKING) * telling(source.text)
        replaced = followed.replaced.get(position)
        if replaced:
            score *= REPLACED
        signals = covered, close_to, near_to, kept
        candidates.append(
            Candidate(position, document, number, score, evident, foreign, signals, replaced)
        )
    best_of, others = _sorted(candidates[:ranked]), _sorted(candidates[ranked:])
    numbers = [int(sight.numbers[candidate.position]) for candidate in best_of]
    scores = [candidate.score for candidate in best_of]
    varied = vary(index, part, numbers, scores)
    return [(best_of[place], worth) for place, worth in varied] + [(each, 0.0) for each in others]


def _sorted(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.foreign, -c.score, -c.document.at, c.document.key))


def _records(index: Index, sight: Sight, question: Question, clock: Clock) -> list[Candidate]:
    """What sums up the time that is asked about, as a whole: a question of its own."""
    found = index.annals.asked(question.text, sight.views, clock.now, clock.zone)
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


def _in_turns(lists: Sequence[list[tuple[Candidate, float]]]) -> list[Candidate]:
    """Candidates of several questions in one order, everything once."""
    if len(lists) == 1:
        return [candidate for candidate, _ in lists[0]]
    merged: dict[int, Candidate] = {}
    for number, place in turns([[worth for _, worth in found] for found in lists]):
        candidate, _ = lists[number][place]
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


def _candidates(index: Index, sight: Sight, relevance: Scores, count: int) -> list[int]:
    """Positions of the ``count`` most relevant documents, in order.

    Thousands may be equally relevant ("在吗" a thousand times). Which of them are kept
    is decided by the documents alone, never by their positions.
    """
    order = best(relevance, count)
    order = order[: np.count_nonzero(relevance[order] > 0)]
    if len(order) <= count + EQUALS:
        return order
    least = relevance[order[count - 1]]
    better = [position for position in order if relevance[position] > least]
    equal = (relevance == least).nonzero()[0]
    room = count + EQUALS - len(better)
    age = -index.documents.since.values[sight.numbers[equal]]
    newest = equal[age <= np.partition(age, room - 1)[room - 1]].tolist()

    def older(position: int) -> tuple[float, str]:
        document = index.documents[int(sight.numbers[position])]
        return -document.at, document.key

    return better + heapq.nsmallest(room, newest, key=older)
