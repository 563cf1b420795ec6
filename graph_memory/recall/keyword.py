"""Keyword search: every visible document that holds some words, and a few like it.

Reminding is selective, searching complete: what holds all the words has no floor to pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..model import Fact, Message
from ..privacy.redaction import MASK
from ..privacy.scope import View
from ..text import CJK, content, in_either_form, normalise, terms
from .documents import message_key
from .index import Index
from .lexical import search_terms, ungrouped
from .query import Question, RecallOptions
from .ranking import NOWHERE, Candidate, Ranking, SearchContext, rank
from .render import Item, Renderer, TokenTally, wording
from .selection import copies, select
from .visible import VisibleSet
from .weights import FEW, WEAK

SIMILAR = FEW
"""Memories that do not hold the words and are shown as well."""
WORD = 2
"""Search terms up to which a question is a word."""
_SPACE = re.compile(rf"[\s,，。！？!?、；;：:()（）\"“”「」『』《》【】~{MASK[0]}]+|\.+(?!\w)")
_LATIN = re.compile(r"[a-z][a-z'’]*")
_HAN = re.compile(f"[{CJK}]+")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Attributes:
        items: Some of what holds the words, best first.
        total: How much does.
        similar: What is only similar, best first.
    """

    items: tuple[Item, ...] = ()
    total: int = 0
    similar: tuple[Item, ...] = ()


def find(
    index: Index,
    views: Mapping[str, View],
    question: Question,
    options: RecallOptions,
    context: SearchContext,
    words: Sequence[str],
    start: int,
    most: int,
) -> SearchResult:
    """What holds some words of a question, from ``start`` on; no I/O, no clock.

    At most ``most`` are similar; if nothing holds the words of a longer question, whatever
    answers it.
    """
    question = index.comparable(question)
    visible = index.visible(views)
    ranking = rank(index, visible, question, options, context)
    language = wording(question.said, context.language)
    renderer = Renderer(index, visible, question.asker, language, context.zone, context.now)
    known = {each.position: each for each in ranking.candidates}
    found = dict.fromkeys(_holding(index, visible, words))
    found |= dict.fromkeys(_heirs(index, visible, found))
    some = [known.get(at) or candidate_at(index, visible, at) for at in found]
    repeated = copies(index, some) | _restated(some)
    holding = [
        each
        for each in some
        if each.document.source.id not in options.exclude and each.document.key not in repeated
    ]
    holding.sort(
        key=lambda c: (c.foreign, c.replaced is not None, -c.score, -c.document.at, c.document.key)
    )
    there = {each.document.key for each in some}
    chosen = select(index, visible, ranking, question.said, options, TokenTally(renderer)).chosen
    similar = [each for each in chosen if each.document.key not in there]
    size = len(terms(question.text))
    if size <= WORD:  # of which there is little evidence, and what stands beside has as much
        similar = [each for each in similar if _is_similar(index, question, ranking, each)]
    if holding or size <= FEW:
        similar = similar[:most]
    page = holding[start : start + options.limit]
    return SearchResult(
        tuple(map(renderer.item, page)), len(holding), tuple(map(renderer.item, similar))
    )


def _is_similar(index: Index, question: Question, ranking: Ranking, candidate: Candidate) -> bool:
    """Whether a memory itself is similar: by words, meaning, kind or person."""
    document, source = candidate.document, candidate.document.source
    if candidate.position == NOWHERE:  # of the time that is asked for
        return True
    part, one = question.parts[candidate.part], index.identities.canonical
    if isinstance(source, Fact):
        is_named = not {one(source.subject), one(source.object)}.isdisjoint(map(one, ranking.named))
        if is_named or source.predicate in part.predicates:
            return True
    if not set(search_terms(document.text)).isdisjoint(part.words):
        return True
    if index.vectors is None or not question.vectors:
        return False
    numbers = np.array([index.documents.number(document.key)])
    (near,) = index.vectors.cosines(numbers, question.vectors[candidate.part])
    return float(near) - index.vectors.floor >= WEAK


def keywords(text: str) -> list[str]:
    """The words that are searched for, as documents hold them."""
    return list(dict.fromkeys(filter(None, _SPACE.split(ungrouped(normalise(text))))))


def _heirs(index: Index, visible: VisibleSet, positions: Iterable[int]) -> Iterator[int]:
    """Positions of what replaces some facts, and of what replaces that."""
    for position in positions:
        key = index.documents[int(visible.numbers[position])].key
        passed = {key}
        while (newer := index.replaced_by(key, visible.views)) and newer.id not in passed:
            key = newer.id
            passed.add(key)
            number = index.documents.number(key)
            if number is not None and (at := int(visible.positions[number])) >= 0:
                yield at


def _restated(candidates: Sequence[Candidate]) -> set[str]:
    """Keys of messages of which a fact that was learned from them says every word.

    With facts that a listed one replaces in the same words: that they are over, say.
    """
    sources = [each.document.source for each in candidates]
    said = {each.id: each for each in sources if isinstance(each, Message)}
    facts = [each for each in sources if isinstance(each, Fact)]
    stated = {each.id: normalise(each.statement) for each in facts}
    over = {
        each.document.key
        for each in candidates
        if each.replaced
        and stated.get(each.replaced.id) == stated.get(str(each.document.source.id), "")
    }
    return over | {
        message_key(id)
        for fact in facts
        for id in fact.claimed or fact.evidence[:1]
        if id in said and content(said[id].text) <= content(fact.statement)
    }


def candidate_at(index: Index, visible: VisibleSet, position: int, score: float = 0.0) -> Candidate:
    """A visible document as if it had been ranked."""
    document = index.documents[int(visible.numbers[position])]
    newer = index.replaced_by(document.key, visible.views)
    return Candidate(position, document, 0, score, 0.0, bool(visible.foreign[position]), (), newer)


def _holding(index: Index, visible: VisibleSet, words: Sequence[str]) -> Iterator[int]:
    """Positions of the documents that hold all of some words."""
    tests = [_test(word) for word in words]
    for position, number in enumerate(visible.numbers.tolist() if tests else ()):
        text = index.documents[number].text
        if all(test(text) for test in tests):
            yield position


def _test(word: str) -> Callable[[str], object]:
    """Whether a text holds a word; one of letters begins there, or is in another form."""
    is_short = len(word) <= FEW
    if _LATIN.fullmatch(word):
        stem, end = next(iter(terms(word)), word), "(?![a-z])"
        begun = re.escape(word) + (end if is_short else "")
        pattern = rf"(?<![a-z0-9])(?:{begun}|{re.escape(stem)}(?:e?s|e?d|ing)?{end})"
    elif word.isdecimal() and is_short:
        pattern = rf"(?<!\d){word}(?!\d)"
    elif _HAN.fullmatch(word):  # as it stands, which is quicker
        return re.compile(in_either_form(word)).search
    else:
        return lambda text: word in ungrouped(normalise(text))
    found = re.compile(pattern)
    return lambda text: found.search(normalise(text))
