"""Which of the candidates are reminded of: nothing twice, nothing without reason.

A message of which a fact was learned is shown as that fact, which says the same in
fewer words; a fact stands for the messages it rests on.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ..model import Episode, Fact, Message
from ..text import normalise
from .index import Index
from .rank import NOWHERE, Candidate, Ranking
from .render import Tally
from .sight import Citation, Sight
from .trace import Reason
from .vocabulary import search_terms

ENOUGH = 0.8
"""Evidence that at least one memory needs; without it nothing is reminded of."""
BESIDE = 0.4
"""Evidence that a question needs if another one in the message has enough, or if it is
hardly small talk by itself."""
SOME = 0.2
"""Evidence that each further memory needs, unless its score comes near the best."""
NEAR = 0.3
"""Share of the best score from which a memory belongs to what is relevant."""
LONG, SAME = 40, 0.9
"""Tokens from which a memory comes last in a block if one before it means the same, which
is from this cosine: it would cost as much as two or three that are new."""
ALIKE = 0.9
"""Share of common terms from which two texts of the same numbers say the same."""

_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the caller wants.

    Attributes:
        limit: Most memories to choose.
        budget: Tokens they may cost; ``None`` for any.
        context: Texts that the language model has in front of it already.
        exclude: Ids of messages not to be shown.
        profile: Whether what is known about the asker is preferred.
    """

    limit: int
    budget: int | None = None
    context: Sequence[str] = ()
    exclude: Collection[int] = ()
    profile: bool = True


@dataclass(slots=True)
class Choice:
    """What was chosen, best first, and what became of each other candidate."""

    chosen: list[Candidate] = field(default_factory=list)
    dropped: list[tuple[Candidate, Reason]] = field(default_factory=list)


def choose(
    index: Index,
    sight: Sight,
    ranking: Ranking,
    asked: str,
    wish: Wish,
    tally: Tally,
) -> Choice:
    """Choose among ranked candidates.

    Args:
        asked: What was said; memories that only repeat it are left out.
        tally: Of the block that will show them.
    """
    choice = Choice()
    known = _Known(index, asked, wish)
    copies = _copies(index, ranking.candidates)
    left: list[Candidate] = []
    for candidate in ranking.candidates:
        reason = known.already(candidate)
        if candidate.document.key in copies:
            reason = Reason.DUPLICATE
        if reason:
            choice.dropped.append((candidate, reason))
        else:
            left.append(candidate)
    floors = _floors(left, ranking.earnest)
    facts = _facts_of_messages(ranking.cited, left)
    said = _Said(index, sight)
    relevant: list[Candidate] = []
    for candidate in left:
        near = floors.get(candidate.part)
        if near is None or (candidate.evidence < SOME and candidate.score < near):
            choice.dropped.append((candidate, Reason.FLOOR))
        else:
            relevant.append(candidate)

    def take(candidate: Candidate, shown: Candidate) -> None:
        if said.has(shown):
            choice.dropped.append((candidate, Reason.DUPLICATE))
        elif wish.budget is not None and tally.total + tally.price(shown) > wish.budget:
            choice.dropped.append((candidate, Reason.BUDGET))
        else:
            said.add(shown)
            if wish.budget is not None:
                tally.add(shown)
            choice.chosen.append(shown)
            if shown is not candidate:
                choice.dropped.append((candidate, Reason.DUPLICATE))

    def is_long(shown: Candidate) -> bool:
        # No text has more tokens than characters, which are counted at once.
        some = wish.budget is not None and len(shown.document.text) >= LONG
        return some and tally.price(shown) >= LONG

    waiting, late = deque(relevant), deque[Candidate]()
    while waiting and len(choice.chosen) < wish.limit:
        candidate = waiting.popleft()
        shown = _shown_as(candidate, facts)
        if is_long(shown) and said.means(shown):
            late.append(candidate)
        else:
            take(candidate, shown)
    while late and len(choice.chosen) < wish.limit:
        candidate = late.popleft()
        take(candidate, _shown_as(candidate, facts))
    choice.dropped += [(candidate, Reason.LIMIT) for candidate in (*waiting, *late)]
    return choice


def _copies(index: Index, candidates: Collection[Candidate]) -> set[str]:
    """Keys of messages that nobody is known to have said, where another candidate says who."""
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


def _floors(candidates: list[Candidate], earnest: Collection[int]) -> dict[int, float]:
    """Score from which a memory belongs to what is relevant, for each question that has any.

    Beside a question that the memory knows something about, another one is hardly small
    talk, and neither are those that are ``earnest`` by themselves.
    """
    best: dict[int, float] = {}
    evidence: dict[int, float] = {}
    for each in candidates:
        part = each.part
        if each.score > best.get(part, -inf):
            best[part] = each.score
        if each.evidence > evidence.get(part, 0.0):
            evidence[part] = each.evidence
    enough = {part: BESIDE if part in earnest else ENOUGH for part in evidence}
    if not any(most >= enough[part] for part, most in evidence.items()):
        return {}
    return {part: NEAR * best[part] for part, most in evidence.items() if most >= BESIDE}


def messages_of(candidate: Candidate) -> frozenset[int]:
    """The messages whose content a memory stands for."""
    source = candidate.document.source
    if isinstance(source, Fact):
        return frozenset(source.evidence)
    return frozenset({source.id}) if isinstance(source, Message) else frozenset()


def _facts_of_messages(
    cited: list[Citation], candidates: list[Candidate]
) -> dict[int, list[Candidate]]:
    """Candidate facts by the position of the messages they rest on, best first."""
    by_position = {each.position: each for each in candidates if each.position != NOWHERE}
    found: dict[int, list[Candidate]] = defaultdict(list)
    for fact, message in cited:
        if fact in by_position:
            found[message].append(by_position[fact])
    for facts in found.values():
        facts.sort(key=lambda c: (-c.score, c.document.key))
    return found


def _shown_as(candidate: Candidate, facts: dict[int, list[Candidate]]) -> Candidate:
    stated = facts.get(candidate.position)
    return stated[0] if stated else candidate


class _Known:
    """What need not be said because the reader has it in front of them."""

    def __init__(self, index: Index, asked: str, wish: Wish) -> None:
        self._index = index
        self._asked = normalise(asked)
        self._context = "\n".join(normalise(text) for text in wish.context)
        self._exclude = frozenset(wish.exclude)
        self._nothing = not self._context and not self._exclude

    def already(self, candidate: Candidate) -> Reason | None:
        source = candidate.document.source
        if isinstance(source, Message):
            if source.id in self._exclude:
                return Reason.EXCLUDED
            text = normalise(source.text)
            if text == self._asked:
                return Reason.ECHO
            return Reason.CONTEXT if text in self._context else None
        if self._nothing:
            return None
        if isinstance(source, Episode):
            current = any(source.first_message <= id <= source.last_message for id in self._exclude)
            return Reason.CONTEXT if current else None
        if source.evidence and all(self._in_context(id) for id in source.evidence):
            return Reason.CONTEXT
        return None

    def _in_context(self, message: int) -> bool:
        if message in self._exclude or not self._context:
            return message in self._exclude
        found = self._index.message(message)
        return found is not None and normalise(found.text) in self._context


class _Said:
    """What the chosen memories say."""

    def __init__(self, index: Index, sight: Sight) -> None:
        self._index = index
        self._sight = sight
        self._numbers: list[int] = []
        self._messages: set[int] = set()
        self._keys: set[str] = set()
        # By the numbers in them; most texts have none, or others than were said.
        self._texts: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}

    def add(self, candidate: Candidate) -> None:
        text = candidate.document.text
        self._messages |= messages_of(candidate)
        self._keys.add(candidate.document.key)
        if candidate.position != NOWHERE:
            self._numbers.append(int(self._sight.numbers[candidate.position]))
        self._texts[_numbers(text)].append(text)

    def has(self, candidate: Candidate) -> bool:
        covered = messages_of(candidate)
        if candidate.document.key in self._keys or (covered and covered <= self._messages):
            return True
        text = candidate.document.text
        others = self._texts.get(_numbers(text))
        return others is not None and self._is_alike(text, others)

    def means(self, candidate: Candidate) -> bool:
        """Whether one of the chosen memories means the same."""
        dense = self._index.dense
        if dense is None or not self._numbers or candidate.position == NOWHERE:
            return False
        number = int(self._sight.numbers[candidate.position])
        if not dense.has(number):
            return False
        cosines = dense.cosines(np.array(self._numbers, np.intp), dense.vector(number))
        return bool((cosines >= SAME).any())

    def _is_alike(self, text: str, others: list[str]) -> bool:
        """Whether a text has most words in common with one of others."""
        words = self._of(text)
        for other in map(self._of, others):
            fewer, more = len(words), len(other)
            if fewer > more:
                fewer, more = more, fewer
            if fewer < ALIKE * more:
                continue
            common = len(words & other)
            if common >= ALIKE * max(1, fewer + more - common):
                return True
        return False

    def _of(self, text: str) -> frozenset[str]:
        if text not in self._words:
            self._words[text] = frozenset(search_terms(text))
        return self._words[text]


def _numbers(text: str) -> tuple[str, ...]:
    """The numbers in a text: two texts that have the same, and most words in common, say
    the same."""
    return tuple(sorted(_NUMBERS.findall(text)))
