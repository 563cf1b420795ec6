"""Which of the candidates are reminded of: nothing twice, nothing without reason.

A message of which a fact was learned is shown as that fact, which says the same in
fewer words; a fact stands for the messages it rests on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from ..model import Episode, Fact, Message
from ..text import normalise
from .index import Index
from .rank import NOWHERE, Candidate, Ranking
from .sight import Sight
from .trace import Reason
from .vocabulary import search_terms

ENOUGH = 0.8
"""Evidence that at least one memory needs; without it nothing is reminded of."""
BESIDE = 0.4
"""Evidence that a question needs if another one in the message has enough."""
SOME = 0.2
"""Evidence that each further memory needs, unless its score comes near the best."""
NEAR = 0.3
"""Share of the best score from which a memory belongs to what is relevant."""
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
    cost: Callable[[list[Candidate]], int],
) -> Choice:
    """Choose among ranked candidates.

    Args:
        asked: What was said; memories that only repeat it are left out.
        cost: Tokens of the block that shows some candidates.
    """
    choice = Choice()
    known = _Known(index, asked, wish)
    left: list[Candidate] = []
    for candidate in ranking.candidates:
        reason = known.already(candidate)
        if reason:
            choice.dropped.append((candidate, reason))
        else:
            left.append(candidate)
    floors = _floors(left)
    facts = _facts_of_messages(sight, left)
    said = _Said()
    for candidate in left:
        shown = _shown_as(candidate, facts)
        near = floors.get(candidate.part)
        if near is None or (candidate.evidence < SOME and candidate.score < near):
            choice.dropped.append((candidate, Reason.FLOOR))
        elif len(choice.chosen) >= wish.limit:
            choice.dropped.append((candidate, Reason.LIMIT))
        elif said.has(shown):
            choice.dropped.append((candidate, Reason.DUPLICATE))
        elif wish.budget is not None and cost([*choice.chosen, shown]) > wish.budget:
            choice.dropped.append((candidate, Reason.BUDGET))
        else:
            said.add(shown)
            choice.chosen.append(shown)
            if shown is not candidate:
                choice.dropped.append((candidate, Reason.DUPLICATE))
    return choice


def _floors(candidates: list[Candidate]) -> dict[int, float]:
    """Score from which a memory belongs to what is relevant, for each question that has any.

    Beside a question that the memory knows something about, another one is hardly small
    talk.
    """
    best: dict[int, float] = {}
    evidence: dict[int, float] = {}
    for each in candidates:
        best[each.part] = max(best.get(each.part, each.score), each.score)
        evidence[each.part] = max(evidence.get(each.part, 0.0), each.evidence)
    if not any(most >= ENOUGH for most in evidence.values()):
        return {}
    return {part: NEAR * best[part] for part, most in evidence.items() if most >= BESIDE}


def messages_of(candidate: Candidate) -> frozenset[int]:
    """The messages whose content a memory stands for."""
    source = candidate.document.source
    if isinstance(source, Fact):
        return frozenset(source.evidence)
    return frozenset({source.id}) if isinstance(source, Message) else frozenset()


def _facts_of_messages(sight: Sight, candidates: list[Candidate]) -> dict[int, list[Candidate]]:
    """Candidate facts by the position of the messages they rest on, best first."""
    by_position = {each.position: each for each in candidates if each.position != NOWHERE}
    found: dict[int, list[Candidate]] = defaultdict(list)
    for fact, message in sight.citations(list(by_position)):
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

    def already(self, candidate: Candidate) -> Reason | None:
        source = candidate.document.source
        if isinstance(source, Message):
            if source.id in self._exclude:
                return Reason.EXCLUDED
            text = normalise(source.text)
            if text == self._asked:
                return Reason.ECHO
            return Reason.CONTEXT if text in self._context else None
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

    def __init__(self) -> None:
        self._messages: set[int] = set()
        self._keys: set[str] = set()
        self._texts: list[tuple[frozenset[str], list[str]]] = []

    def add(self, candidate: Candidate) -> None:
        self._messages |= messages_of(candidate)
        self._keys.add(candidate.document.key)
        self._texts.append(_gist(candidate))

    def has(self, candidate: Candidate) -> bool:
        covered = messages_of(candidate)
        if candidate.document.key in self._keys or (covered and covered <= self._messages):
            return True
        words, numbers = _gist(candidate)
        return any(numbers == others and _is_alike(words, other) for other, others in self._texts)


def _is_alike(words: frozenset[str], others: frozenset[str]) -> bool:
    fewer, more = sorted((len(words), len(others)))
    if fewer < ALIKE * more:
        return False
    common = len(words & others)
    return common >= ALIKE * max(1, fewer + more - common)


def _gist(candidate: Candidate) -> tuple[frozenset[str], list[str]]:
    """Terms and numbers of a text: two that share both say the same."""
    text = candidate.document.text
    return frozenset(search_terms(text)), sorted(_NUMBERS.findall(text))
