"""Search of the visible documents: by words, by person, by time.

Reminding is selective, searching complete: what holds all the words has no floor to pass, and
a few that are like it are shown as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..dates import Span
from ..kinship import kin_in, same_kin, without_mine
from ..model import Asker, Fact, Message
from ..privacy.redaction import MASK
from ..privacy.scope import Rank, View, rank_of, span
from ..text import CJK, clean_name, content, in_either_form, is_marked, normalise, simplified, terms
from .documents import Kind, Source, message_key
from .index import Index
from .lexical import WHOLE, in_figures, search_terms, ungrouped
from .query import Question, RecallOptions, asks, is_personal
from .ranking import NOWHERE, Candidate, Ranking, SearchContext, rank
from .render import Item, Renderer, TokenTally, wording
from .selection import copies, select
from .visible import VisibleSet
from .weights import FEW, WEAK

SIMILAR = FEW
"""Memories that do not hold the words and are shown as well."""
WORD = 2
"""Search terms up to which a question is a word."""
MOST_LOOKED_AT = 5_000
"""Documents examined for what was said of a person or at a time, besides likely ones."""
FOUND = 3
"""Best facts whose nodes count as found."""
_MYSELF = frozenset({"我", "我自己", "自己", "本人", "me", "myself", "i", "user", "用户"})
_SPACE = re.compile(rf"[\s,，。！？!?、；;：:()（）\"“”「」『』《》【】~{MASK[0]}]+|\.+(?!\w)")
_LATIN = re.compile(r"[a-z][a-z'’]*")
_HAN = re.compile(f"[{CJK}]+")
_PARTED = rf"(?:[了过過完着][{CJK}]{{0,4}}?|的(?=.(?:[吗吧啊呢]|[^{CJK}]|$)))?"
"""What may stand inside of a verb with its object: 结了婚, 请了三天假; at an end 分的手."""
_OWN = re.compile("^(?:我|我们|咱|咱们)(?:家的?|的)(?=.)")
"""Whose something is, which a memory of it need not say: 我的猫."""
_ASKING = re.compile(
    r"(?:我|咱|你)们?(?:家(?!人|里))?的?|来着|[有是]没?不?[有是]|(?:什么|怎么|啥|多少|哪|几|谁)"
    r"(?:时候|地方|名字|样|办|里|儿|些|个|位|只|种|家|天|年|月|岁|点|号)?|多[久大长高远重]|为(?=什么|啥)"
    r"|[的了是叫在去有对跟和吗呢吧呀啊嘛]"
)
"""What a question asks with, which a memory that answers it has not: 我对…什么, 叫啥."""


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
    language = wording("", context.language)  # that of the answer, whatever is searched for
    renderer = Renderer(index, visible, question.asker, language, context.zone, context.now)
    known = {each.position: each for each in ranking.candidates}
    found = dict.fromkeys(_holding(index, visible, words))
    bare = _bare(question.said, words)
    told = (_tells(index, visible, candidate_at(index, visible, at)) for at in found)
    if bare != words and not any(told):
        found |= dict.fromkeys(_holding(index, visible, bare))
    found |= dict.fromkeys(_heirs(index, visible, found))
    some = [known.get(at) or candidate_at(index, visible, at) for at in found]
    repeated = copies(index, some) | _restated(some)
    holding = [
        each
        for each in some
        if each.document.source.id not in options.exclude and each.document.key not in repeated
    ]
    asked = {each.document.key for each in some if not _tells(index, visible, each)}

    def order(one: Candidate) -> tuple[object, ...]:
        key, at = one.document.key, one.document.at
        return one.foreign, key in asked, one.replaced is not None, -one.score, -at, key

    holding.sort(key=order)
    there = {each.document.key for each in some}
    chosen = select(index, visible, ranking, question.said, options, TokenTally(renderer)).chosen
    similar = [
        each for each in chosen if each.document.key not in there and _tells(index, visible, each)
    ]
    size = len(terms(question.text))
    if size <= WORD:  # of which there is little evidence, and what stands beside has as much
        similar = [each for each in similar if _is_similar(index, question, ranking, each)]
    if holding or size <= FEW:
        similar = similar[:most]
    page = holding[start : start + options.limit]
    return SearchResult(
        tuple(map(renderer.item, page)), len(holding), tuple(map(renderer.item, similar))
    )


def _tells(index: Index, visible: VisibleSet, candidate: Candidate) -> bool:
    """Whether it is no message that only asks, greets or laughs."""
    said = candidate.document.source
    if not isinstance(said, Message):
        return True
    return index.documents.telling(int(visible.numbers[candidate.position]), said.text) > 0


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


def _bare(text: str, words: Sequence[str]) -> list[str]:
    """Words without whose something is; of a question, without what it asks with."""
    if not asks(text):
        return [_OWN.sub("", word) for word in words]
    said = [word for word in words if not _LATIN.fullmatch(word) or terms(word)]
    return [part for word in said for part in _ASKING.split(simplified(word)) if part]


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
    tests = [[_test(each) for each in _same(word)] for word in words]
    for position, number in enumerate(visible.numbers.tolist() if tests else ()):
        text = index.documents[number].text
        if all(any(test(text) for test in some) for some in tests):
            yield position


def _same(word: str) -> list[str]:
    """A word, and what else a relative is called: 妈妈 is 我妈."""
    kin = same_kin(bare) if (bare := without_mine(word)) in kin_in(word) else ()
    return [word, *sorted((each if len(each) > 1 else f"我{each}") for each in kin)]


def _test(word: str) -> Callable[[str], object]:
    """Whether a text holds a word; one of letters begins there, or is in another form."""
    if (figures := in_figures(word)) != word:
        counted, spelled = _test(figures), re.compile(WHOLE + re.escape(word))
        return lambda text: spelled.search(normalise(text)) or counted(text)
    is_short = len(word) <= FEW
    if _LATIN.fullmatch(word):
        stem, end = next(iter(terms(word)), word), "(?![a-z])"
        begun = re.escape(word) + (end if is_short else "")
        found = re.compile(rf"(?<![a-z0-9])(?:{begun}|{re.escape(stem)}(?:e?s|e?d|ing)?{end})")
        return lambda text: found.search(normalise(text))
    if word.isdecimal() and is_short:
        number = re.compile(rf"(?<!\d){word}(?!\d)")
        return lambda text: number.search(in_figures(normalise(text)))
    if _HAN.fullmatch(word):  # as it stands, which is quicker
        parts = in_either_form(word[:1]), in_either_form(word[1:])
        return re.compile((_PARTED if len(word) == 2 else "").join(parts)).search
    is_counted = word[0].isdecimal() and not word.isdecimal()
    whole = re.compile(WHOLE * is_counted + re.escape(word))
    return lambda text: whole.search(in_figures(normalise(text)))


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What was found of a person and a time.

    Attributes:
        items: Best first; without a question the newest first, facts before the rest.
        named: Nodes that the question names, and the person; of merged ones the survivor.
        found: Nodes of the best facts, best first; likewise.
        is_known: Whether anybody is called like the person.
    """

    items: tuple[Item, ...]
    named: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    is_personal: bool = False
    is_known: bool = True


class PersonalIndex:
    """The recall index as one asker sees it."""

    def __init__(self, renderer: Renderer) -> None:
        self.index, self.visible, self.asker = renderer.index, renderer.visible, renderer.asker
        self._renderer = renderer

    def excerpt(
        self,
        ranked: Iterable[Item],
        text: str,
        person: str = "",
        spans: Sequence[Span] = (),
        limit: int = 12,
        exclude: Sequence[int] = (),
    ) -> Excerpt:
        """Items of a search that are of a person and a time; if none, whatever is.

        Args:
            ranked: What a search for ``text`` found, best first.
            person: A name; empty for anybody.
            spans: When it was said or began to be true; empty for any time.
            exclude: Ids of messages not to show.
        """
        index, one = self.index, self.index.identities.canonical
        people = called(index, self.visible, self.asker, person) if person else set()
        if person and not people:
            return Excerpt((), is_known=False)
        named = {one(node) for node in {*index.named(text, self.visible.views), *people}}
        theirs = _Filter(people, self._names(people), spans)
        fit: list[tuple[int, float]] = []
        for item in ranked:
            position = self._position(item.key)
            if position is not None and theirs.fits(self._source(position)):
                fit.append((position, item.score))
        if not fit and (people or spans):
            fit = [(position, 0.0) for position in islice(self._all(theirs, exclude), limit)]
        fit = fit[:limit]
        sources = (self._source(position) for position, _ in fit)
        best = [source for source in sources if isinstance(source, Fact)][:FOUND]
        found = dict.fromkeys(one(node) for fact in best for node in (fact.subject, fact.object))
        asks_of_self = is_personal(f"{person} {text}")
        items = tuple(self._item(position, score) for position, score in fit)
        return Excerpt(items, tuple(sorted(named)), tuple(found), asks_of_self)

    def standing(self, ids: Iterable[str]) -> dict[str, Fact]:
        """The facts that are the asker's persona's own and not replaced, merges resolved."""
        found: dict[str, Fact] = {}
        one = self.index.identities.canonical
        for id in ids:
            position = self._position(id)
            if position is None or self.visible.foreign[position]:
                continue
            source = self._source(position)
            is_current = self.index.replaced_by(id, self.visible.views) is None
            if isinstance(source, Fact) and is_current:
                found[id] = replace(source, subject=one(source.subject), object=one(source.object))
        return found

    def told(self, ids: Iterable[str]) -> dict[str, Item]:
        """Visible facts as lines, by id."""
        positions = (self._position(id) for id in ids)
        items = (self._item(position, 0.0) for position in positions if position is not None)
        return {item.id: item for item in items}

    def signed(self, said: Iterable[Source]) -> list[str]:
        """Who said each of some memories, as the asker is told."""
        return [self._renderer.who(each) for each in said]

    def _position(self, key: str) -> int | None:
        number = self.index.documents.number(key)
        position = int(self.visible.positions[number]) if number is not None else -1
        return position if position >= 0 else None

    def _source(self, position: int) -> Source:
        return self.index.documents[int(self.visible.numbers[position])].source

    def _item(self, position: int, score: float) -> Item:
        return self._renderer.item(candidate_at(self.index, self.visible, position, score))

    def _names(self, people: set[str]) -> set[str]:
        """Names of people, of two letters or more, that the asker's persona knows."""
        names: set[str] = set()
        for name in (name for node in people for name in self.index.names.of(node)):
            seen = self.visible.views.get(name.session)
            if len(name.norm) > 1 and rank_of(seen, name) is Rank.OWN:
                names.add(name.norm)
        return names

    def _all(self, theirs: _Filter, exclude: Sequence[int]) -> Iterator[int]:
        """Everything that fits: facts, then the rest, each the newest first."""
        visible, documents = self.visible, self.index.documents
        at = documents.since[visible.numbers]
        order = np.lexsort((-at, visible.kind != Kind.FACT, visible.foreign))
        if theirs.spans:
            order = order[documents.within(theirs.spans, visible.numbers)[order]]
        is_likely = documents.of(theirs.people, visible.numbers)[order]
        is_likely[:MOST_LOOKED_AT] = True
        order = order[is_likely]
        stated: set[int] = set()
        for position in (int(each) for each in order):
            source = self._source(position)
            if not theirs.fits(source):
                continue
            if isinstance(source, Fact):
                stated.update(source.claimed)
                yield position
            elif source.id not in stated and source.id not in exclude:
                yield position


def called(index: Index, visible: VisibleSet, asker: Asker, person: str) -> set[str]:
    """The nodes with a name that the asker may know; the mark tells namesakes apart."""
    if normalise(person) in _MYSELF:
        return set(asker.accounts)
    named: Iterable[str] = index.named(person, visible.views)
    if not named and clean_name(person):  # of one character, or nothing was learned of it yet
        named = index.bearers(person, visible.views)
    found = {one for node in named for one in index.identities.nodes(node)}
    return {one for one in found if is_marked(person, one)} or found


@dataclass(frozen=True, slots=True)
class _Filter:
    people: set[str]
    names: set[str]
    spans: Sequence[Span]

    def fits(self, source: Source) -> bool:
        return self._is_theirs(source) and self._is_then(source)

    def _is_then(self, source: Source) -> bool:
        if not self.spans:
            return True
        _, since, until, _ = span(source)
        times = [(since, until)]
        if isinstance(source, Fact) and source.valid_from is not None:
            times.append((source.valid_from, source.valid_from))
        return any(
            start < end and since < end and until >= start
            for start, end in self.spans
            for since, until in times
        )

    def _is_theirs(self, source: Source) -> bool:
        if not self.people:
            return True
        if isinstance(source, Fact):
            nodes, text = {source.subject, source.object, source.speaker}, source.statement
        elif isinstance(source, Message):
            nodes, text = {source.sender}, source.text
        else:
            nodes, text = set(source.participants), source.summary
        if self.people & nodes:
            return True
        text = normalise(text)
        return any(name in text for name in self.names)
