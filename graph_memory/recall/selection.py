"""Selection of candidates within limit and budget, without duplicates."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import NamedTuple

import numpy as np

from ..model import Episode, Fact, Message
from ..remember_requests import without_request
from ..text import content, normalise, significance, terms
from .documents import Source
from .index import Index
from .lexical import search_terms
from .query import RecallOptions, only_asks
from .ranking import NOWHERE, Candidate, Ranking
from .render import TokenTally
from .visible import Citation, VisibleSet
from .weights import BESIDE, BRIEF, FAIR, FEW, MINOR, NEAR, SAME, SHORT

SOME = BESIDE / 2
"""Evidence that the first memory needs, and each that makes a reminder longer than short."""

_NUMBERS = re.compile(r"\d+")


class Reason(StrEnum):
    """Why a candidate was left out."""

    FLOOR = "floor"
    """Too little speaks for it."""
    EXCLUDED = "excluded"
    """The message that is being answered."""
    CONTEXT = "context"
    """The language model has it in front of it already."""
    ECHO = "echo"
    """It only says what was just said."""
    DUPLICATE = "duplicate"
    """Something that was chosen says it."""
    LIMIT = "limit"
    """Enough was chosen."""
    BUDGET = "budget"
    """It does not fit into the token budget."""


@dataclass(slots=True)
class Selection:
    """Candidates that were chosen, best first, and what became of the others."""

    chosen: list[Candidate] = field(default_factory=list)
    dropped: list[tuple[Candidate, Reason]] = field(default_factory=list)


def select(
    index: Index,
    visible: VisibleSet,
    ranking: Ranking,
    asked: str,
    options: RecallOptions,
    tally: TokenTally,
) -> Selection:
    """Choose among ranked candidates; repetitions of ``asked`` are left out."""
    selection = Selection()
    left: list[Candidate] = []
    said, exclude = normalise(asked), frozenset(options.exclude)
    shown = "\n".join(normalise(text) for text in options.context)
    repeated = copies(index, ranking.candidates)
    for candidate in ranking.candidates:
        reason = _already(index, candidate.document.source, said, shown, exclude)
        if candidate.document.key in repeated:
            reason = Reason.DUPLICATE
        if reason:
            selection.dropped.append((candidate, reason))
        else:
            left.append(candidate)
    best = _best([each for each in left if not each.bears], ranking.needed)
    relevant: list[Candidate] = []
    for candidate in left:
        top, evidence = best.get(candidate.part), candidate.evidence
        is_beside = top is None or (evidence < SOME and candidate.score < MINOR * top.score)
        if candidate.bears:
            relevant.append(candidate)
        elif is_beside or evidence < 0:
            selection.dropped.append((candidate, Reason.FLOOR))
        else:
            relevant.append(candidate)
    asked_for = frozenset(filter(significance, search_terms(asked)))
    facts = _facts_of_messages(ranking.cited, left, asked_for)
    brief = best if options.brief else {}
    chooser = _Chooser(
        index, visible, tally, selection, asked_for, brief, ranking.many, ranking.past
    )
    chooser.fill(relevant, facts, options.limit)
    return selection


@dataclass(eq=False, slots=True)
class _Chooser:
    """Chooses relevant candidates one by one, within limit and budget, nothing twice."""

    _index: Index
    _visible: VisibleSet
    _tally: TokenTally
    _selection: Selection
    _asked_for: frozenset[str]
    _best: Mapping[int, Best]
    _many: Collection[int]
    _past: Collection[int]
    _chosen: Counter[int] = field(default_factory=Counter)
    _numbers: list[int] = field(default_factory=list)
    _messages: set[int] = field(default_factory=set)
    _stated: dict[int, list[Fact]] = field(default_factory=dict)
    _keys: set[str] = field(default_factory=set)
    # Terms of the chosen texts, by the numbers in them.
    _texts: dict[tuple[str, ...], list[frozenset[str]]] = field(default_factory=dict)

    def fill(self, relevant: list[Candidate], facts: Mapping[int, Candidate], limit: int) -> None:
        """Choose the first that fit; ``facts`` take the place of messages, by position."""
        chosen, dropped = self._selection.chosen, self._selection.dropped
        late = deque[tuple[Candidate, Candidate]]()
        waiting = deque(relevant)
        while waiting and len(chosen) < limit:
            candidate = waiting.popleft()
            shown = facts.get(candidate.position, candidate)
            if not self._is_worth_it(shown, candidate.part):
                dropped.append((candidate, Reason.FLOOR))
            elif self._is_long_repetition(shown):
                late.append((candidate, shown))
                continue
            else:
                self._take(candidate, shown)
            source = candidate.document.source
            if shown is not candidate and source.id not in self._messages:
                late.append((candidate, candidate))  # it says a little more
        while late and len(chosen) < limit:
            candidate, shown = late.popleft()
            if self._is_worth_it(shown, candidate.part):
                self._take(candidate, shown)
            else:
                dropped.append((candidate, Reason.FLOOR))
        left = (*waiting, *(candidate for candidate, _ in late))
        dropped += [(each, Reason.LIMIT) for each in left]

    def _take(self, candidate: Candidate, shown: Candidate) -> None:
        dropped, document = self._selection.dropped, shown.document
        numbers = tuple(sorted(_NUMBERS.findall(document.text)))
        is_there = document.key in self._keys or document.source.id in self._messages
        words = frozenset[str]()
        if not is_there:
            words = frozenset(search_terms(document.text))
            is_there = any(_is_alike(words, other) for other in self._texts.get(numbers, ()))
        if is_there:
            dropped.append((candidate, Reason.DUPLICATE))
            return
        if not self._tally.take(shown):
            dropped.append((candidate, Reason.BUDGET))
            return
        self._chosen[candidate.part] += not shown.bears
        self._messages |= self._told(document.source)
        self._keys.add(document.key)
        if shown.position != NOWHERE:
            self._numbers.append(int(self._visible.numbers[shown.position]))
        self._texts.setdefault(numbers, []).append(words)
        self._selection.chosen.append(shown)
        if shown is not candidate:
            dropped.append((candidate, Reason.DUPLICATE))

    def _is_worth_it(self, shown: Candidate, part: int) -> bool:
        """Whether a memory belongs into the reminder, if that is to be brief."""
        top, count, newer = self._best.get(part), self._chosen[shown.part], shown.replaced
        if top is None or shown.bears or shown.position == NOWHERE:
            return True
        if shown.part in self._many:
            is_evident = count < FEW and shown.evidence >= SOME
            return is_evident or shown.score >= FAIR * top.score
        if newer is not None and shown.part not in self._past:
            text = shown.document.text
            if not unsaid([newer], text, self._asked_for):
                return False  # it says all that is asked for, and is as relevant
        if isinstance(shown.document.source, Episode) and self._chosen.total() >= FEW:
            return False  # it is as long as several facts
        is_fair, is_evident = shown.score >= FAIR * top.score, shown.evidence >= SOME
        if is_evident and (not count or shown.score >= NEAR * top.score):
            return True
        # Of those that say the same, all but the first have a low score.
        is_strong = is_fair or shown.evidence >= SAME * top.evidence
        if is_evident and count < FEW and is_strong:
            return True
        is_short = count and is_fair and shown.evidence > 0
        return bool(is_short) and self._tally.price(shown) <= SHORT - self._tally.total

    def _told(self, source: Source) -> set[int]:
        """Messages of which the memories that are chosen, one more, say what is asked for."""
        told: set[int] = set()
        if not isinstance(source, Fact):
            return told
        for id in source.claimed:
            facts, message = self._stated.setdefault(id, []), self._index.message(id)
            facts.append(source)
            if message and not unsaid(facts, message.text, self._asked_for):
                told |= set() if _says_more(message, facts) else {id}
        return told

    def _is_long_repetition(self, shown: Candidate) -> bool:
        # No text has more tokens than characters.
        if self._tally.budget is None or len(shown.document.text) < BRIEF:
            return False
        vectors = self._index.vectors
        if vectors is None or not self._numbers or shown.position == NOWHERE:
            return False
        told = vectors.vector(int(self._visible.numbers[shown.position]))
        if told is None or self._tally.price(shown) < BRIEF:
            return False
        cosines = vectors.cosines(np.array(self._numbers, np.intp), told)
        return bool((cosines >= SAME).any())


def _says_more(message: Message, facts: Sequence[Fact]) -> bool:
    """Whether a message says much that is not in facts learned from it."""
    said = content(without_request(message.text))
    left = said.difference(*(content(fact.statement) for fact in facts))
    return len(left) >= MINOR * len(said) and not only_asks(message.text)


def _is_alike(words: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts have most words in common."""
    fewer, more = sorted((len(words), len(other)))
    if fewer < SAME * more:
        return False
    common = len(words & other)
    return common >= SAME * max(1, fewer + more - common)


def copies(index: Index, candidates: Collection[Candidate]) -> set[str]:
    """Keys of anonymous messages that another candidate repeats with the sender."""
    sources = [(each.document.key, each.document.source) for each in candidates]
    said = [(key, source) for key, source in sources if isinstance(source, Message)]
    unknown = [(key, message) for key, message in said if message.is_nobodys]
    if not unknown:
        return set()

    def words(message: Message) -> tuple[str, str]:
        session = index.sessions.get(message.session)
        return session.circle if session else message.session, normalise(message.text)

    spoken = {words(message) for _, message in said if not message.is_nobodys}
    return {key for key, message in unknown if words(message) in spoken}


class Best(NamedTuple):
    """The best score and the most evidence for a question."""

    score: float
    evidence: float


def _best(candidates: list[Candidate], needed: Sequence[float]) -> dict[int, Best]:
    """What is best for each question with enough evidence; nothing if all lack it."""
    best: dict[int, float] = {}
    evidence: dict[int, float] = {}
    for each in candidates:
        part = each.part
        if each.evidence >= 0 and each.score > best.get(part, -inf):
            best[part] = each.score
        if each.evidence > evidence.get(part, 0.0):
            evidence[part] = each.evidence
    enough = dict(enumerate(needed))
    if not any(most >= enough.get(part, BESIDE) for part, most in evidence.items()):
        return {}
    return {part: Best(best[part], most) for part, most in evidence.items() if most >= BESIDE}


def unsaid(facts: Sequence[Fact], message: str, asked_for: frozenset[str]) -> int:
    """How many terms of a question a message has and facts learned from it have not."""
    left = asked_for.intersection(search_terms(message))
    for fact in facts if left else ():
        left = left.difference(search_terms(fact.statement))
    return len(left)


def _facts_of_messages(
    cited: list[Citation], candidates: list[Candidate], asked_for: frozenset[str]
) -> dict[int, Candidate]:
    """The best fact to stand for each message, by position; one that holds first."""
    by_position = {each.position: each for each in candidates if each.position != NOWHERE}
    found: dict[int, tuple[tuple[int, bool, float, str], Candidate]] = {}
    for position, place in cited:
        fact, said = by_position.get(position), by_position.get(place)
        if fact is None or said is None:
            continue
        source, message = fact.document.source, said.document.source
        if not isinstance(source, Fact) or not isinstance(message, Message):
            continue
        if message.id not in source.claimed:
            continue
        lacking = unsaid([source], message.text, asked_for)
        if lacking > FEW:
            continue
        order = lacking, fact.replaced is not None, -fact.score, fact.document.key
        if place not in found or order < found[place][0]:
            found[place] = order, fact
    return {place: fact for place, (_, fact) in found.items()}


def _already(
    index: Index, source: Source, asked: str, context: str, exclude: Collection[int]
) -> Reason | None:
    """Why the reader has a memory in front of them already; texts are normalised."""
    if isinstance(source, Message):
        if source.id in exclude:
            return Reason.EXCLUDED
        text = normalise(source.text)
        words = terms(text) if len(text) <= len(asked) else [text, ""]
        if text == asked or (len(words) < 2 and "".join(words) in asked):
            return Reason.ECHO
    if isinstance(source, Episode):
        is_current = any(source.first_message <= id <= source.last_message for id in exclude)
        return Reason.CONTEXT if is_current else None
    evidence = source.evidence if isinstance(source, Fact) else (source.id,)
    for id in evidence:
        said = index.message(id) if context else None
        text = normalise(said.text) if said else ""
        # Who asks whether it is so only has its words.
        whole = rf"(?<!\w){re.escape(text)}(?!\w)"
        is_there = said and text in context and re.search(whole, context)
        if id not in exclude and not is_there:
            return None
    return Reason.CONTEXT if evidence else None
