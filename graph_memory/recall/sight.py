"""What one asker sees: the only documents that anything is computed from.

Non-interference rests on this module. Whoever ranks works on *positions* in a
:class:`Sight`, arrays over the visible documents alone; lengths, frequencies,
neighbours and citations of other documents cannot enter because they are not there.
All sums over documents are of whole numbers, so that they do not depend on the order
in which the documents came.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..episode import GAP
from ..scope import ALWAYS, Rank, View
from .documents import Documents, Kind, Numbers
from .flow import Flags, Flow
from .growable import Growable

MOST_KEPT = 300_000
"""Documents of the sights that are kept, those of all sights together: some 25 MB."""
_SPARE = 8
"""One part in so many of ``Sight.positions`` is for documents to come."""

Citation = tuple[int, int]
"""A fact and a message that it rests on, as positions."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The visible documents.

    Attributes:
        views: What the asker may see of each Session.
        numbers: Document numbers by position, shape ``(n,)``; documents of one Session
            together, its messages in order.
        positions: Positions by document number; -1 is hidden, and so is what came later.
        foreign: By position: whether another persona's.
        kind: By position.
        flow: The conversations.
        lengths: By position: search terms of a document in its context, in tenths.
        facts, messages: Citations: ``facts[i]`` rests on ``messages[i]`` (positions).
    """

    views: Mapping[str, View]
    numbers: Numbers
    positions: Numbers
    foreign: Flags
    kind: NDArray[np.int8]
    flow: Flow
    lengths: NDArray[np.int64]
    facts: Numbers
    messages: Numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def citations(self, messages: list[int]) -> list[Citation]:
        """Facts that rest on some messages.

        -1, where there is nothing in sight, is no message.
        """
        wanted = np.zeros(len(self) + 1, np.bool_)  # the last one is for -1
        wanted[messages] = True
        some = wanted.take(self.messages).nonzero()[0]
        return list(zip(self.facts[some].tolist(), self.messages[some].tolist(), strict=True))


class Citations:
    """Which facts rest on which messages, as pairs of document numbers."""

    def __init__(self) -> None:
        self._facts = Growable(np.intp)
        self._messages = Growable(np.intp)

    def add(self, fact: int, message: int) -> None:
        self._facts.append(fact)
        self._messages.append(message)

    def drop(self, number: int) -> None:
        """Forget all pairs with a document."""
        kept = (self._facts.values != number) & (self._messages.values != number)
        for column in (self._facts, self._messages):
            left = column.values[kept]
            column.resize(len(left))
            column.values[:] = left

    def has(self, message: int) -> bool:
        """Whether a fact rests on a message."""
        return bool((self._messages.values == message).any())

    def seen(self, positions: Numbers) -> tuple[Numbers, Numbers]:
        """The pairs of which both are visible, as positions."""
        facts, messages = positions[self._facts.values], positions[self._messages.values]
        both = ((facts >= 0) & (messages >= 0)).nonzero()[0]
        return facts[both], messages[both]


class Sights:
    """What askers see, kept until something changes that they see.

    In a lively group everything somebody says is new to all who are there, but what others
    are told elsewhere makes no work here.
    """

    def __init__(self, documents: Documents, citations: Citations) -> None:
        self._documents = documents
        self._citations = citations
        self._kept: OrderedDict[int, tuple[Sight, int]] = OrderedDict()
        self._size = 0

    def of(self, views: Mapping[str, View]) -> Sight:
        """What ``views``, which are not altered any more, show now."""
        key = id(views)
        sight, version = self._kept.pop(key, (None, 0))
        if sight is not None and not (sight.views is views and self._holds(sight, version)):
            self._size -= _size(sight)
            sight = None
        if sight is None:
            sight, version = look(self._documents, self._citations, views), self._documents.version
            self._size += _size(sight)
        self._kept[key] = sight, version
        while self._size > MOST_KEPT and len(self._kept) > 1:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._size -= _size(oldest)
        return sight

    def _holds(self, sight: Sight, version: int) -> bool:
        """Whether a sight of this version shows what is there now."""
        if len(sight.positions) < self._documents.size:
            return False
        if version == self._documents.version:
            return True
        changed = self._documents.changed
        return all(changed.get(session, 0) <= version for session in sight.views)


def _size(sight: Sight) -> int:
    return len(sight) + len(sight.positions) // 10


def look(documents: Documents, citations: Citations, views: Mapping[str, View]) -> Sight:
    """What ``views`` show of the documents."""
    sessions = sorted(views.keys() & documents.shelves.keys())
    shelves = [documents.shelves[session].numbers() for session in sessions]
    sizes = [len(shelf) for shelf in shelves]
    numbers = np.concatenate(shelves) if shelves else np.zeros(0, np.intp)
    place = np.repeat(np.arange(len(sessions)), sizes)
    rank = _rank(documents, numbers, place, [views[session] for session in sessions])
    shown = (rank != Rank.HIDDEN) & ~documents.muted.values[numbers]
    numbers, place = numbers[shown], place[shown]
    positions = np.full(documents.size + documents.size // _SPARE, -1, np.intp)
    positions[numbers] = np.arange(len(numbers))
    kind = documents.kind.values[numbers]
    flow = Flow(_follows(documents.since.values[numbers], kind, place))
    facts, messages = citations.seen(positions)
    return Sight(
        views=views,
        numbers=numbers,
        positions=positions,
        foreign=rank[shown] == Rank.FOREIGN,
        kind=kind,
        flow=flow,
        lengths=flow.spread_all(documents.length.values[numbers].astype(np.int64)),
        facts=facts,
        messages=messages,
    )


def _rank(
    documents: Documents, numbers: Numbers, place: NDArray[np.intp], views: list[View]
) -> NDArray[np.int8]:
    """``View.rank`` of many documents at a time; a test holds the two together.

    Args:
        place: Which of ``views`` each document falls under.
    """
    knows = np.array([view.knows for view in views], np.int8)[place]
    rest = np.array([view.rest for view in views], np.int8)[place]
    rank = np.where(documents.knows.values[numbers], knows, rest)
    for at, view in enumerate(views):
        if view.windows == ALWAYS:
            continue
        part = np.flatnonzero(place == at)
        since = documents.since.values[numbers[part]]
        until = documents.until.values[numbers[part]]
        inside = np.zeros(len(part), np.bool_)
        for start, end in view.windows:
            inside |= (start <= since) & (until <= end)
        rank[part[~inside]] = Rank.HIDDEN
    return rank


def _follows(at: NDArray[np.float64], kind: NDArray[np.int8], place: NDArray[np.intp]) -> Flags:
    is_message = kind == Kind.MESSAGE
    follows = np.zeros(len(at), np.bool_)
    near = (np.diff(place) == 0) & (np.abs(np.diff(at)) < GAP)
    follows[1:] = is_message[1:] & is_message[:-1] & near
    return follows
