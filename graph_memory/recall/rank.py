"""How relevant each visible memory is, and whether it is relevant at all.

Each question of a message is searched for by itself: words and meaning are brought to 0…1
and fused; a conversation that fits as a whole lifts its lines; a second step leads from
what was found to what belongs to it, or, if all things of a kind are asked for, to the
others of the kind; what is about the asker, near to someone who was named or of the time
that was named is preferred a little. ``evidence`` is kept apart from ``score``: the score
puts memories in order, the evidence says whether there is anything to remind of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

import numpy as np

from ..model import Fact
from ..retention import strength
from .associate import associate
from .documents import Document
from .index import Index
from .nearness import near
from .questions import Part, Question
from .relevance import fuse, lift_conversations
from .sight import Sight
from .signals import Bag, Scores, best, meaning, words
from .times import Span, spans
from .vary import vary
from .vote import vote

SPEAKER, PERSONAL = 0.02, 0.06
"""Preference for what is known about the asker; more if they speak of themselves."""
TIMELY, GRACE = 0.2, 7 * 86_400.0
"""Preference for what was said at a time that is named, and half of it for what was said
in the week after: people tell what happened."""
FADING = 0.2
"""Share of a fact's score that fades with retention."""
REPLACED = 0.6
"""Factor for what is known to be no longer true."""
CANDIDATES = 64

CLOSE = 0.16
"""Cosine above the floor that is evidence by itself."""
COVERED, COVERED_BLINDLY = 0.3, 0.14
"""Share of the query's words that is evidence by itself: where the meaning is known, and
where it is not."""
DOUBT = 0.5
"""Factor for words of which the meaning says that they mean something else."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with what speaks for it.

    Attributes:
        part: Which question it answers.
        score: Its place in the order of that question.
        evidence: 1 is enough to remind of it; comparable between queries.
        signals: What the score is made of, for the trace.
        replaced: The visible fact that replaces it.
    """

    position: int
    document: Document
    part: int
    score: float
    evidence: float
    foreign: bool
    signals: dict[str, float]
    replaced: Fact | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first; own before foreign ones, questions taking turns.

    Attributes:
        visible: How many documents were looked at.
        named: Nodes that the question names, and by which name.
    """

    candidates: list[Candidate] = field(default_factory=list)
    visible: int = 0
    named: dict[str, str] = field(default_factory=dict)


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


def rank(index: Index, sight: Sight, question: Question, clock: Clock) -> Ranking:
    """Order what is visible by how well it answers."""
    named = index.named(question.text, sight.views)
    if not len(sight):
        return Ranking(named=named)
    bag = Bag(index, sight)
    base = np.zeros(len(sight))
    own = index.documents.about(question.asker.accounts, sight.numbers)
    base[own] = PERSONAL if question.personal else SPEAKER
    lists = [
        _answer(index, sight, bag, question, number, part, named, base, clock)
        for number, part in enumerate(question.parts)
    ]
    candidates = _in_turns(lists)
    candidates.sort(key=lambda c: c.foreign)
    return Ranking(candidates, len(sight), named)


def _answer(
    index: Index,
    sight: Sight,
    bag: Bag,
    question: Question,
    number: int,
    part: Part,
    named: dict[str, str],
    base: Scores,
    clock: Clock,
) -> list[Candidate]:
    """Candidates for one question, best first."""
    found = words(bag, part.terms)
    close = meaning(index, sight, question.vector(number))
    relevance = lift_conversations(fuse(found.scores, close), sight)
    if part.many:
        relevance = vote(index, sight, bag, part.terms, relevance)
    else:
        relevance = associate(index, sight, bag, part.terms, relevance)
    boost, mentioned = near(index, sight, relevance, named)
    boost += base + _timely(index, sight, spans(part.text, clock.now, clock.zone))
    relevance = relevance + boost
    evidence = mentioned + _evidence(found.coverage, close)
    order = [position for position in best(relevance, CANDIDATES) if relevance[position] > 0]
    outdated = _outdated(index, sight, order)
    candidates: list[Candidate] = []
    for position in order:
        document = index.documents[int(sight.numbers[position])]
        source = document.source
        kept = strength(source, clock.now, clock.rate) if isinstance(source, Fact) else 1.0
        score = float(relevance[position]) * (1 - FADING + FADING * kept)
        replaced = outdated.get(position)
        signals = {
            "words": round(float(found.coverage[position]), 4),
            "meaning": round(float(close[position]), 4) if close is not None else 0.0,
            "near": round(float(boost[position]), 4),
            "retention": round(kept, 4),
        }
        candidates.append(
            Candidate(
                position,
                document,
                number,
                score * REPLACED if replaced else score,
                float(evidence[position]),
                bool(sight.foreign[position]),
                signals,
                replaced,
            )
        )
    candidates.sort(key=lambda c: (c.foreign, -c.score, -c.document.at, c.document.key))
    numbers = [int(sight.numbers[candidate.position]) for candidate in candidates]
    scores = [candidate.score for candidate in candidates]
    varied = vary(index, part, numbers, scores)
    return [candidates[place] for place in varied]


def _in_turns(lists: Sequence[list[Candidate]]) -> list[Candidate]:
    """The best of each list, then the second of each …, everything once."""
    if len(lists) == 1:
        return lists[0]
    merged: dict[int, Candidate] = {}
    for place in range(max(len(each) for each in lists)):
        for each in lists:
            if place < len(each):
                merged.setdefault(each[place].position, each[place])
    return list(merged.values())


def _timely(index: Index, sight: Sight, times: Sequence[Span]) -> Scores:
    boost = np.zeros(len(sight))
    if times:
        at = index.documents.since.values[sight.numbers]
        for start, end in times:
            inside = (start <= at) & (at < end)
            after = (end <= at) & (at < end + GRACE)
            np.maximum(boost, np.where(inside, TIMELY, np.where(after, TIMELY / 2, 0.0)), out=boost)
    return boost


def _evidence(coverage: Scores, close: Scores | None) -> Scores:
    if close is None:
        return coverage / COVERED_BLINDLY
    by_words = coverage / COVERED * np.where(close < 0, DOUBT, 1.0)
    evidence: Scores = by_words + np.maximum(close, 0.0) / CLOSE
    return evidence


def _outdated(index: Index, sight: Sight, positions: list[int]) -> dict[int, Fact]:
    """What replaces each of some documents, if anything does.

    A message is outdated if all visible facts that rest on it are.
    """
    found: dict[int, Fact] = {}
    standing: set[int] = set()
    pairs = [(position, position) for position in positions]
    for fact, document in pairs + sight.citations(positions):
        key = index.documents[int(sight.numbers[fact])].key
        newer = index.replaced_by(key, sight.views)
        if newer is None:
            if fact != document:
                standing.add(document)
        elif document not in found or newer.id > found[document].id:
            found[document] = newer
    return {position: newer for position, newer in found.items() if position not in standing}
