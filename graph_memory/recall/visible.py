"""Documents visible to one asker, and the conversations among them.

Non-interference rests on this module: ranking works on *positions* in a :class:`VisibleSet`,
whose arrays hold nothing of any other document.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import GAP, Asker, Change, Erased, Presence, PresenceReset, Session
from ..privacy.scope import ALWAYS, Attendance, Policy, Rank, View, standpoint, view
from .documents import Documents, GrowableArray, Kind, Numbers
from .weights import MINOR, STRONG

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]


class ConversationContext:
    """Conversations among the documents of one :class:`VisibleSet`; for one thread.

    A message has some of the words of its neighbours: an answer is found by its question. Where
    only facts are left, they stand for the messages.

    Args:
        follows: By position: whether a document continues the conversation of the one before.

    Attributes:
        members: Positions of the documents that are not alone, by conversation, in order.
        sizes: Number of members by conversation.
    """

    def __init__(self, follows: Flags) -> None:
        self.follows = follows
        self._followed = np.zeros(len(follows), np.bool_)
        self._followed[:-1] = follows[1:]
        self.members = np.flatnonzero(follows | self._followed)
        continues = follows[self.members]
        self._starts = np.flatnonzero(~continues)
        self._joined = continues.astype(np.float64)
        self._beside = self._joined + self._followed[self.members]
        self.sizes = np.diff(self._starts, append=len(self.members))
        self._slots = np.empty(len(follows), np.intp)

    def spread(
        self, positions: NDArray[np.intp], amounts: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.intp], Values]:
        """Positions and amounts in context, of what some documents have themselves.

        Each position comes once; those returned have no order.
        """
        lends = self.follows.take(positions).nonzero()[0]
        leads = self._followed.take(positions).nonzero()[0]
        if not (len(lends) or len(leads)):
            return positions, amounts.astype(np.float64)
        hits = np.concatenate((positions, positions.take(lends) - 1, positions.take(leads) + 1))
        lent = np.concatenate((amounts, amounts.take(lends) * MINOR, amounts.take(leads) * STRONG))
        # Of the entries for one document the last one to take the slot stands for all.
        turns = np.arange(len(hits))
        self._slots[hits] = turns
        stands = self._slots.take(hits)
        kept = (stands == turns).nonzero()[0]
        return hits.take(kept), np.bincount(stands, lent).take(kept)

    def spread_all(self, amounts: NDArray[np.integer[Any]]) -> Values:
        """Amounts in context of what all documents have themselves, by position."""
        total = amounts.astype(np.float64)
        after = np.flatnonzero(self.follows)
        total[after - 1] += amounts[after] * MINOR
        total[after] += amounts[after - 1] * STRONG
        return total

    def around(self, values: Values) -> Values:
        """By member: the mean of the members right beside it; values are by member."""
        total = np.zeros(len(values))
        joined = self._joined[1:]
        np.multiply(values[:-1], joined, out=total[1:])
        total[:-1] += values[1:] * joined
        return total / self._beside

    def of_members(self, amounts: Values) -> Values:
        """By member: the amount of its conversation."""
        return np.repeat(amounts, self.sizes)

    def best(self, values: Values, count: int) -> Values:
        """By conversation: the sum of its ``count`` highest values, which are by member."""
        left = values.copy()
        total = np.zeros(len(self.sizes))
        for nth in range(count):
            highest = np.maximum.reduceat(left, self._starts)
            total += np.where(self.sizes > nth, highest, 0.0)
            if nth + 1 < count:
                chosen = (left == self.of_members(highest)).nonzero()[0]
                if len(chosen) > len(highest):  # equals: the first in each conversation
                    chosen = chosen[np.searchsorted(chosen, self._starts)]
                left[chosen] = -np.inf
        return total


_ASKERS = 256
"""Askers whose views are kept."""
MOST_KEPT = 300_000
"""Documents of all sets that are kept: some 25 MB."""
_SPARE = 8
"""One part in so many of ``VisibleSet.positions`` is for documents to come."""

Citation = tuple[int, int]
"""A fact and a message that it rests on, as positions."""


@dataclass(frozen=True, slots=True)
class VisibleSet:
    """The visible documents.

    Attributes:
        numbers: Document numbers by position, shape ``(n,)``, by Session; messages in order.
        positions: Positions by document number; -1 is hidden, or came later.
        foreign: By position: whether another persona's.
        lengths: By position: number of search terms in context.
        facts, messages: Citations: ``facts[i]`` rests on ``messages[i]`` (positions).
    """

    views: Mapping[str, View]
    numbers: Numbers
    positions: Numbers
    foreign: Flags
    kind: NDArray[np.int8]
    conversations: ConversationContext
    lengths: Values
    facts: Numbers
    messages: Numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def citations(self, messages: list[int]) -> list[Citation]:
        """Facts that rest on some messages; -1 is none."""
        wanted = np.zeros(len(self) + 1, np.bool_)  # the last one is for -1
        wanted[messages] = True
        some = wanted.take(self.messages).nonzero()[0]
        return list(zip(self.facts[some].tolist(), self.messages[some].tolist(), strict=True))


class Citations:
    """Which facts rest on which messages, as pairs of document numbers."""

    def __init__(self) -> None:
        self._facts = GrowableArray(np.intp)
        self._messages = GrowableArray(np.intp)

    def add(self, fact: int, message: int) -> None:
        self._facts.append(fact)
        self._messages.append(message)

    def drop(self, number: int) -> list[int]:
        """Forget all pairs with a document; the facts that rested on it."""
        cites, is_cited = self._facts.values == number, self._messages.values == number
        facts: list[int] = self._facts.values[is_cited].tolist()
        kept = ~(cites | is_cited)
        for column in (self._facts, self._messages):
            left = column.values[kept]
            column.resize(len(left))
            column.values[:] = left
        return facts

    def has(self, message: int) -> bool:
        """Whether a fact rests on a message."""
        return bool((self._messages.values == message).any())

    def seen(self, positions: Numbers) -> tuple[Numbers, Numbers]:
        """The pairs of which both are visible, as positions."""
        facts, messages = positions[self._facts.values], positions[self._messages.values]
        both = ((facts >= 0) & (messages >= 0)).nonzero()[0]
        return facts[both], messages[both]


class VisibleSetCache:
    """What askers see, kept until something changes that they see."""

    def __init__(self, documents: Documents, citations: Citations) -> None:
        self._documents = documents
        self._citations = citations
        self._kept: OrderedDict[int, tuple[VisibleSet, int]] = OrderedDict()
        self._size = 0

    def of(self, views: Mapping[str, View]) -> VisibleSet:
        """The documents that ``views``, which must not change any more, show now."""
        visible, version = self._kept.pop(id(views), (None, 0))
        if visible is None or visible.views is not views or not self._holds(visible, version):
            if visible is not None:
                self._size -= _size(visible)
            visible = visible_set(self._documents, self._citations, views)
            version = self._documents.version
            self._size += _size(visible)
        self._kept[id(views)] = visible, version
        while self._size > MOST_KEPT and len(self._kept) > 1:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._size -= _size(oldest)
        return visible

    def _holds(self, visible: VisibleSet, version: int) -> bool:
        """Whether a set of this version is up to date."""
        if len(visible.positions) < self._documents.size:
            return False
        if version == self._documents.version:
            return True
        changed = self._documents.changed
        return all(changed.get(session, 0) <= version for session in visible.views)


def _size(visible: VisibleSet) -> int:
    return len(visible) + len(visible.positions) // 10


def visible_set(
    documents: Documents, citations: Citations, views: Mapping[str, View]
) -> VisibleSet:
    """The documents that ``views`` show."""
    sessions = sorted(views.keys() & documents.by_session.keys())
    parts = [documents.by_session[session].numbers() for session in sessions]
    sizes = [len(part) for part in parts]
    numbers = np.concatenate(parts) if parts else np.zeros(0, np.intp)
    place = np.repeat(np.arange(len(sessions)), sizes)
    rank = _rank(documents, numbers, place, [views[session] for session in sessions])
    shown = (rank != Rank.HIDDEN) & ~documents.muted[numbers]
    numbers, place = numbers[shown], place[shown]
    positions = np.full(documents.size + documents.size // _SPARE, -1, np.intp)
    positions[numbers] = np.arange(len(numbers))
    kind = documents.kind[numbers]
    facts, messages = citations.seen(positions)
    is_message, is_alone = kind == Kind.MESSAGE, kind == Kind.FACT
    # Facts without their messages follow one another as these did; what came at once, does not.
    is_alone[facts] = False
    step = np.diff(documents.since[numbers])
    both = is_message[1:] & is_message[:-1] | is_alone[1:] & is_alone[:-1] & (step > 0)
    follows = np.zeros(len(numbers), np.bool_)
    follows[1:] = both & (np.diff(place) == 0) & (np.abs(step) < GAP)
    conversations = ConversationContext(follows)
    return VisibleSet(
        views=views,
        numbers=numbers,
        positions=positions,
        foreign=rank[shown] == Rank.FOREIGN,
        kind=kind,
        conversations=conversations,
        lengths=conversations.spread_all(documents.length[numbers]),
        facts=facts,
        messages=messages,
    )


def _rank(
    documents: Documents, numbers: Numbers, place: NDArray[np.intp], views: list[View]
) -> NDArray[np.int8]:
    """``View.rank`` of many documents; ``place`` is the index of the view of each."""
    knows = np.array([each.knows for each in views], np.int8)[place]
    rest = np.array([each.rest for each in views], np.int8)[place]
    rank = np.where(documents.knows[numbers], knows, rest)
    told = np.array([each.confidences for each in views], np.bool_)[place]
    rank[documents.confidential[numbers] & ~told] = Rank.HIDDEN
    for at, each in enumerate(views):
        if each.windows == ALWAYS:
            continue
        part = np.flatnonzero(place == at)
        since = documents.since[numbers[part]]
        until = documents.until[numbers[part]]
        inside = np.zeros(len(part), np.bool_)
        for start, end in each.windows:
            inside |= (start <= since) & (until <= end)
        rank[part[~inside]] = Rank.HIDDEN
    return rank


class ViewCache:
    """Views of askers, kept until something changes; used on the event loop only.

    It keeps attendance up to date, for all that go by it.
    """

    def __init__(self, policy: Policy, attendance: Attendance) -> None:
        self._policy = policy
        self._attendance = attendance
        self._sessions: dict[str, Session] = {}
        self._known: OrderedDict[Hashable, Mapping[str, View]] = OrderedDict()

    def learn(self, sessions: Iterable[Session]) -> None:
        """Enter Sessions that were there before; newer states are kept."""
        for session in sessions:
            self._sessions.setdefault(session.id, session)
        self._known.clear()

    def follow(self, event: Change | Presence | PresenceReset | Erased) -> None:
        if isinstance(event, Change):
            ops = [op for op in event.ops if op.kind == Session.kind]
            for op in ops:
                if isinstance(op.row, Session):
                    self._sessions[op.id] = op.row
                else:
                    self._sessions.pop(op.id, None)
            if not ops:
                return
        elif isinstance(event, Presence):
            self._attendance.add(event)
        elif event.user:
            self._attendance.forget(event.user)
        self._known.clear()

    def of(self, asker: Asker, policy: Policy | None = None) -> Mapping[str, View]:
        """Views by Session id, without hidden ones.

        Askers who see the same, as members of a group, are given the same object.

        Args:
            policy: :data:`OPEN` as if there were no scope, for the owner only; by default that
                of the settings.
        """
        policy = policy or self._policy
        key = policy, standpoint(asker, policy)
        known = self._known.get(key)
        if known is None:
            seen = (
                (id, view(session, asker, policy, self._attendance))
                for id, session in self._sessions.items()
            )
            known = self._known[key] = {id: each for id, each in seen if each}
            if len(self._known) > _ASKERS:
                self._known.popitem(last=False)
        return known

    def near(self, asker: Asker) -> Mapping[str, View]:
        """Of these, those of the chat window itself."""
        views = self.of(asker).items()
        return {id: each for id, each in views if self._sessions[id].circle == asker.circle}
