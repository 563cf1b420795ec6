"""Keyword search: every visible document that holds some words, and a few like it.

Reminding is selective, searching complete: what holds all the words has no floor to pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model import Fact, Message
from ..privacy.redaction import MASK
from ..privacy.scope import View
from ..text import CJK, content, normalise, terms
from .documents import message_key
from .index import Index
from .query import SHORT, Question, RecallOptions
from .ranking import Candidate, SearchContext, rank
from .render import Item, Renderer, wording
from .selection import copies, select
from .visible import VisibleSet

SIMILAR = 3
"""Memories that do not hold the words and are shown as well."""
_SPACE = re.compile(rf"[\s,，。！？!?、；;：:()（）\"“”「」《》{MASK[0]}]+")
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
    visible = index.visible(views)
    ranking = rank(index, visible, question, options, context)
    language = wording(question.said, context.language)
    renderer = Renderer(index, visible, question.asker, language, context.zone, context.now)
    known = {each.position: each for each in ranking.candidates}
    found = dict.fromkeys(_holding(index, visible, words))
    found |= dict.fromkeys(_heirs(index, visible, found))
    some = [known.get(at) or _candidate(index, visible, at) for at in found]
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
    chosen = select(index, visible, ranking, question.said, options, renderer.tally(None)).chosen
    similar = [each for each in chosen if each.document.key not in there]
    if holding or len(terms(question.text)) <= SHORT:
        similar = similar[:most]
    page = holding[start : start + options.limit]
    return SearchResult(
        tuple(map(renderer.item, page)), len(holding), tuple(map(renderer.item, similar))
    )


def keywords(text: str) -> list[str]:
    """The words that are searched for, as documents hold them."""
    return list(dict.fromkeys(filter(None, _SPACE.split(normalise(text)))))


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
    """Keys of messages of which a fact that was learned from them says every word."""
    sources = [each.document.source for each in candidates]
    said = {each.id: each for each in sources if isinstance(each, Message)}
    facts = (each for each in sources if isinstance(each, Fact))
    return {
        message_key(id)
        for fact in facts
        for id in fact.claimed or fact.evidence[:1]
        if id in said and content(said[id].text) <= content(fact.statement)
    }


def _candidate(index: Index, visible: VisibleSet, position: int) -> Candidate:
    document = index.documents[int(visible.numbers[position])]
    newer = index.replaced_by(document.key, visible.views)
    return Candidate(position, document, 0, 0.0, 0.0, bool(visible.foreign[position]), (), newer)


def _holding(index: Index, visible: VisibleSet, words: Sequence[str]) -> Iterator[int]:
    """Positions of the documents that hold all of some words."""
    tests = [_test(word) for word in words]
    for position, number in enumerate(visible.numbers.tolist() if tests else ()):
        text = index.documents[number].text
        if all(test(text) for test in tests):
            yield position


def _test(word: str) -> Callable[[str], object]:
    """Whether a text holds a word; one of letters begins there, or is in another form."""
    if _HAN.fullmatch(word):  # of which there is one form only
        return lambda text: word in text
    if not _LATIN.fullmatch(word):
        return lambda text: word in _plain(text)
    stem = next(iter(terms(word)), word)
    either = rf"{re.escape(word)}|{re.escape(stem)}(?:e?s|e?d|ing)?(?![a-z])"
    pattern = re.compile(rf"(?<![a-z0-9])(?:{either})")
    return lambda text: pattern.search(_plain(text))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
