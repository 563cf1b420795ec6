"""Lookup by person and time among the visible documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..dates import Span
from ..model import Asker, Fact, Message
from ..privacy.scope import Rank, rank_of, span
from ..text import clean_name, is_marked, normalise
from .documents import Kind, Source
from .index import Index
from .keyword import candidate_at
from .query import is_personal
from .render import Item, Renderer
from .visible import VisibleSet

MOST_LOOKED_AT = 5_000
"""Documents examined for what was said of a person or at a time, besides likely ones."""
FOUND = 3
"""Best facts whose nodes count as found."""
_MYSELF = frozenset({"我", "我自己", "自己", "本人", "me", "myself", "i", "user", "用户"})


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
