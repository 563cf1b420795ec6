"""Lookup by person and time among the visible documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

import numpy as np

from ..dates import Span
from ..model import Asker, Episode, Fact, Message, Name
from ..scope import Rank, span
from ..text import normalise
from .documents import Document, Kind, Source, message_key
from .index import Index
from .query import question
from .ranking import Candidate
from .recaller import Item
from .render import Renderer, Wording
from .visible import VisibleSet

MOST_LOOKED_AT = 5_000
"""Documents that are looked through for what was said of a person or at a time."""
FOUND = 3
"""Best facts whose nodes count as found."""
_MARK = re.compile(r"\((\w+)\)$")
_MYSELF = frozenset({"我", "我自己", "自己", "本人", "me", "myself", "i", "user", "用户"})


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is looked up.

    Attributes:
        text: The question; may be empty.
        person: What somebody is called; empty for anybody.
        spans: When it was said or began to be true; empty for any time.
        exclude: Ids of messages not to show.
    """

    asker: Asker
    text: str
    person: str = ""
    spans: Sequence[Span] = ()
    limit: int = 12
    exclude: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What was found.

    Attributes:
        items: Best first; without a question the newest first, facts before the rest.
        named: Nodes that the question names, and the person; of merged ones the survivor.
        found: Nodes of the best facts, best first; likewise.
        is_personal: Whether the asker speaks of themselves.
        is_known: Whether anybody is called as the person is said to be.
    """

    items: tuple[Item, ...]
    named: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    is_personal: bool = False
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Telling:
    """In which words memories are shown.

    Attributes:
        zone: Of the dates.
    """

    words: Wording
    zone: tzinfo


def excerpt(
    index: Index, visible: VisibleSet, wanted: Inquiry, ranked: Iterable[Item], telling: Telling
) -> Excerpt:
    """Part of a search that is of a person and a time.

    Without a question, or if none of it fits, what else there is of that person and time.

    Args:
        ranked: What a search for the question found, best first.
    """
    people = called(index, visible, wanted.asker, wanted.person) if wanted.person else set()
    if wanted.person and not people:
        return Excerpt((), is_known=False)
    named = set(index.named(wanted.text, visible.views)) | people
    survivors = {index.identities.canonical(node) for node in named}
    theirs = _Filter(index, visible, people, wanted.spans)
    fit = [
        (position, item.score)
        for item in ranked
        if (position := _position(index, visible, _key(item))) is not None and theirs.fits(position)
    ]
    if not fit and (people or wanted.spans):
        fit = [(position, 0.0) for position in theirs.all(wanted.exclude)]
    fit = fit[: wanted.limit]
    items = tuple(_tell(index, visible, wanted.asker, fit, telling))
    found = _survivors(index, _nodes(index, visible, fit))
    asked = question(wanted.asker, f"{wanted.person} {wanted.text}")
    return Excerpt(items, tuple(sorted(survivors)), found, asked.personal)


def standing(index: Index, visible: VisibleSet, ids: Iterable[str]) -> dict[str, Fact]:
    """Those of some facts that the asker sees as their persona's own and not replaced.

    Of merged nodes they name the survivor, as the graph does.
    """
    found: dict[str, Fact] = {}
    for id in ids:
        position = _position(index, visible, id)
        if position is None or visible.foreign[position]:
            continue
        source = _document(index, visible, position).source
        if isinstance(source, Fact) and index.replaced_by(id, visible.views) is None:
            subject, object = map(index.identities.canonical, (source.subject, source.object))
            found[id] = replace(source, subject=subject, object=object)
    return found


def told(
    index: Index, visible: VisibleSet, asker: Asker, ids: Iterable[str], telling: Telling
) -> dict[str, Item]:
    """Facts as lines, by id; what the asker does not see is left out."""
    places = [(at, 0.0) for id in ids if (at := _position(index, visible, id)) is not None]
    return {item.id: item for item in _tell(index, visible, asker, places, telling)}


def signed(
    index: Index, visible: VisibleSet, asker: Asker, said: Iterable[Source], telling: Telling
) -> list[str]:
    """Who said each of some memories, as the asker is told."""
    renderer = Renderer(index, visible, asker, telling.words, telling.zone)
    return [renderer.who(each) for each in said]


def called(index: Index, visible: VisibleSet, asker: Asker, person: str) -> set[str]:
    """The nodes that are called so where the asker may know it.

    Who shares a name is told apart by the mark with which they are shown.
    """
    if normalise(person) in _MYSELF:
        return set(asker.accounts)
    named = index.named(person, visible.views)
    found = {one for node in named for one in index.identities.nodes(node)}
    mark = _MARK.search(normalise(person))
    return {one for one in found if mark and one.endswith(mark[1])} or found


def _key(item: Item) -> str:
    return message_key(int(item.id)) if item.kind == Kind.MESSAGE.name.lower() else item.id


def _position(index: Index, visible: VisibleSet, key: str) -> int | None:
    number = index.documents.number(key)
    position = int(visible.positions[number]) if number is not None else -1
    return position if position >= 0 else None


def _document(index: Index, visible: VisibleSet, position: int) -> Document:
    return index.documents[int(visible.numbers[position])]


def _nodes(index: Index, visible: VisibleSet, places: list[tuple[int, float]]) -> Iterator[str]:
    facts = (_document(index, visible, position).source for position, _ in places)
    best = [fact for fact in facts if isinstance(fact, Fact)][:FOUND]
    ends = (node for fact in best for node in (fact.subject, fact.object))
    yield from dict.fromkeys(map(index.identities.canonical, ends))


def _survivors(index: Index, nodes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(index.identities.canonical(node) for node in nodes))


def _tell(
    index: Index,
    visible: VisibleSet,
    asker: Asker,
    places: Iterable[tuple[int, float]],
    telling: Telling,
) -> Iterator[Item]:
    renderer = Renderer(index, visible, asker, telling.words, telling.zone)
    for position, score in places:
        document = _document(index, visible, position)
        newer = index.replaced_by(document.key, visible.views)
        foreign = bool(visible.foreign[position])
        shown = Candidate(position, document, 0, score, 0.0, foreign, (), newer)
        source = document.source
        yield Item(
            document.kind.name.lower(),
            str(source.id),
            renderer.line(shown),
            document.at,
            score,
            source.session,
            foreign,
            (source.id,) if isinstance(source, Message) else (),
        )


def _may_know(visible: VisibleSet, name: Name) -> bool:
    view = visible.views.get(name.session)
    return view is not None and view.rank(*span(name)) is Rank.OWN


class _Filter:
    """Whether a document is of a person and a time."""

    def __init__(
        self, index: Index, visible: VisibleSet, people: set[str], spans: Sequence[Span]
    ) -> None:
        self._index = index
        self._sight = visible
        self._people = people
        self._spans = spans
        self._names = {
            name.norm
            for node in people
            for name in index.names.of(node)
            if len(name.norm) > 1 and _may_know(visible, name)
        }

    def fits(self, position: int) -> bool:
        """Whether the document at a position is of the person and the time."""
        source = _document(self._index, self._sight, position).source
        return self._is_theirs(source) and self._is_then(source)

    def _is_then(self, source: Fact | Message | Episode) -> bool:
        if not self._spans:
            return True
        _, since, until = span(source)
        times = [(since, until)]
        if isinstance(source, Fact) and source.valid_from is not None:
            times.append((source.valid_from, source.valid_from))
        return any(
            start < end and since < end and until >= start
            for start, end in self._spans
            for since, until in times
        )

    def _is_theirs(self, source: Fact | Message | Episode) -> bool:
        if not self._people:
            return True
        if isinstance(source, Fact):
            nodes, text = {source.subject, source.object, source.speaker}, source.statement
        elif isinstance(source, Message):
            nodes, text = {source.sender}, source.text
        else:
            nodes, text = set(source.participants), source.summary
        if self._people & nodes:
            return True
        text = normalise(text)
        return any(name in text for name in self._names)

    def all(self, exclude: Sequence[int]) -> Iterator[int]:
        """Everything that fits: facts, then the rest, each the newest first."""
        visible = self._sight
        at = self._index.documents.since.values[visible.numbers]
        order = np.lexsort((-at, visible.kind != Kind.FACT, visible.foreign))[:MOST_LOOKED_AT]
        stated: set[int] = set()
        for position in (int(each) for each in order):
            source = _document(self._index, visible, position).source
            if isinstance(source, Fact):
                if self.fits(position):
                    stated.update(source.evidence)
                    yield position
            elif source.id not in stated and source.id not in exclude and self.fits(position):
                yield position
