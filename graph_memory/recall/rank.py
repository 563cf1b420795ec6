"""How relevant each visible memory is, and whether it is relevant at all.

Words and meaning are brought to 0…1 within the query and fused; a conversation that
fits as a whole lifts its lines; what is about the asker, or touches someone who was
named, is preferred a little. ``evidence`` is kept apart from ``score``: the score puts
memories in order, the evidence says whether there is anything to remind of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model import Fact
from ..retention import strength
from .associate import associate
from .documents import Document
from .index import Index
from .questions import Question
from .sight import Sight
from .signals import Bag, Scores, best, meaning, words

LEXICAL, DENSE = 0.4, 0.6
PARTS = 0.8
"""Weight of the best single question in a message of several; the rest is the whole."""
CONVERSATION, CONVERSATION_TOP = 0.4, 3
"""Weight of the mean of a conversation's best lines."""
SPEAKER, PERSONAL = 0.02, 0.06
"""Preference for what is known about the asker; more if they speak of themselves."""
NAMED = 0.15
"""Preference for facts about a node that was named, damped by its degree."""
MENTION = 2.5
"""Evidence from being named, damped likewise, at most 1: in full up to three facts."""
HOP, HOP_SEEDS, HOP_DEGREE = 0.1, 3, 30
"""Preference for facts one hop from the best facts, through nodes of low degree."""
FADING = 0.2
"""Share of a fact's score that fades with retention."""
REPLACED = 0.6
"""Factor for what is known to be no longer true."""
CANDIDATES = 64

CLOSE = 0.16
"""Cosine above the floor that is evidence by itself."""
COVERED, COVERED_BLINDLY = 0.3, 0.2
"""Share of the query's words that is evidence by itself: where the meaning is known, and
where it is not."""
DOUBT = 0.5
"""Factor for words of which the meaning says that they mean something else."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with what speaks for it.

    Attributes:
        score: Its place in the order; only comparable within one query.
        evidence: 1 is enough to remind of it; comparable between queries.
        signals: What the score is made of, for the trace.
        replaced: The visible fact that replaces it.
    """

    position: int
    document: Document
    score: float
    evidence: float
    foreign: bool
    signals: dict[str, float]
    replaced: Fact | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first; own before foreign ones.

    Attributes:
        visible: How many documents were looked at.
        named: Nodes that the question names, and by which name.
    """

    candidates: list[Candidate] = field(default_factory=list)
    visible: int = 0
    named: dict[str, str] = field(default_factory=dict)


def rank(index: Index, sight: Sight, question: Question, now: float, rate: float) -> Ranking:
    """Order what is visible by how well it answers.

    Args:
        now: Seconds since the epoch, for retention.
        rate: The setting ``time_decay_rate``.
    """
    named = index.named(question.text, sight.views)
    if not len(sight):
        return Ranking(named=named)
    bag = Bag(index, sight)
    found = [words(bag, part) for part in question.parts]
    close = meaning(index, sight, question.vector)
    relevance = fuse([each.scores for each in found], close)
    relevance = lift_conversations(relevance, sight)
    relevance = associate(index, sight, bag, question.parts[0], relevance)
    coverage = np.maximum.reduce([each.coverage for each in found])
    boost, mentioned = _near(index, sight, relevance, named)
    own = index.documents.about(question.asker.accounts, sight.numbers)
    boost[own] += PERSONAL if question.personal else SPEAKER
    relevance = relevance + boost
    evidence = mentioned + _evidence(coverage, close)
    order = [position for position in best(relevance, CANDIDATES) if relevance[position] > 0]
    outdated = _outdated(index, sight, order)
    candidates: list[Candidate] = []
    for position in order:
        document = index.documents[int(sight.numbers[position])]
        source = document.source
        kept = strength(source, now, rate) if isinstance(source, Fact) else 1.0
        score = float(relevance[position]) * (1 - FADING + FADING * kept)
        replaced = outdated.get(position)
        signals = {
            "words": round(float(coverage[position]), 4),
            "meaning": round(float(close[position]), 4) if close is not None else 0.0,
            "near": round(float(boost[position]), 4),
            "retention": round(kept, 4),
        }
        candidates.append(
            Candidate(
                position,
                document,
                score * REPLACED if replaced else score,
                float(evidence[position]),
                bool(sight.foreign[position]),
                signals,
                replaced,
            )
        )
    candidates.sort(key=lambda c: (c.foreign, -c.score, -c.document.at, c.document.key))
    return Ranking(candidates, len(sight), named)


def _evidence(coverage: Scores, close: Scores | None) -> Scores:
    if close is None:
        return coverage / COVERED_BLINDLY
    by_words = coverage / COVERED * np.where(close < 0, DOUBT, 1.0)
    evidence: Scores = by_words + np.maximum(close, 0.0) / CLOSE
    return evidence


def fuse(lexical: list[Scores], close: Scores | None) -> Scores:
    """One relevance, 0…1, of the words of each part and the meaning of the whole."""
    fused = [_fuse(scores, close) for scores in lexical]
    if len(fused) == 1:
        return fused[0]
    best: Scores = np.maximum.reduce(fused[1:])
    return PARTS * best + (1 - PARTS) * fused[0]


def _fuse(lexical: Scores, close: Scores | None) -> Scores:
    most = float(lexical.max())
    by_words = lexical / most if most > 0 else lexical
    if close is None:
        return by_words.copy()
    low, high = min(0.0, float(close.min())), float(close.max())
    by_meaning = (close - low) / (high - low) if high > low else np.zeros(len(close))
    return LEXICAL * by_words + DENSE * by_meaning


def lift_conversations(relevance: Scores, sight: Sight) -> Scores:
    """Add to each memory the mean of the best of its conversation (itself, if alone)."""
    starts = np.flatnonzero(~sight.follows)
    sizes = np.diff(np.r_[starts, len(relevance)])
    left = relevance.copy()
    top = np.zeros(len(starts))
    for nth in range(CONVERSATION_TOP):
        # Conversations lie together, so that a maximum of each is taken in one go.
        most = np.maximum.reduceat(left, starts)
        top += np.where(sizes > nth, most, 0.0)
        left[_firsts(left == np.repeat(most, sizes), starts, sizes)] = -np.inf
    lift = CONVERSATION * top / np.minimum(sizes, CONVERSATION_TOP)
    lifted: Scores = relevance + np.repeat(lift, sizes)
    return lifted


def _firsts(
    chosen: NDArray[np.bool_], starts: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The first of the chosen positions in each conversation."""
    positions = np.flatnonzero(chosen)
    conversation = np.repeat(np.arange(len(starts)), sizes)[positions]
    return positions[np.r_[True, conversation[1:] != conversation[:-1]]]


def _near(
    index: Index, sight: Sight, relevance: Scores, named: dict[str, str]
) -> tuple[Scores, Scores]:
    """What being near a node adds to relevance and to evidence, by position.

    Near are the facts about a named node, and those about a node of the best facts. A
    node of many facts says little about each of them.
    """
    boost, mentioned = np.zeros(len(sight)), np.zeros(len(sight))
    for node in sorted(named):
        facts = sight.positions[index.touching(node, sight)]
        damped = 1 + math.log1p(len(facts))
        boost[facts] += NAMED / damped
        mentioned[facts] = np.maximum(mentioned[facts], min(1.0, MENTION / damped))
    for node, weight in sorted(_reached(index, sight, relevance, named).items()):
        facts = sight.positions[index.touching(node, sight)]
        if len(facts) <= HOP_DEGREE:
            boost[facts] += HOP * weight / (1 + math.log1p(len(facts)))
    return boost, mentioned


def _reached(
    index: Index, sight: Sight, relevance: Scores, named: dict[str, str]
) -> dict[str, float]:
    """Entities of the best facts, with the best relevance; not through those named."""
    reached: dict[str, float] = {}
    for position in best(relevance, HOP_SEEDS):
        source = index.documents[int(sight.numbers[position])].source
        if isinstance(source, Fact):
            for node in (source.subject, source.object):
                if node.startswith("e:") and node not in named and index.knows(node, sight.views):
                    reached[node] = max(reached.get(node, 0.0), float(relevance[position]))
    return reached


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
