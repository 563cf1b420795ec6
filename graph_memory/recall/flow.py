"""Conversations: which messages lie beside each other, and what they lend each other.

A message is read in its context. To its own words come half of those of the message
before it and a third of those after it, so that an answer is found by its question. All
of it is worked out from visible documents alone, since a :class:`Flow` knows no others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]

# Weights of a bag are in tenths, so that lengths add up exactly in any order.
OWN, BEFORE, AFTER = 10, 5, 3


class Flow:
    """The conversations of one :class:`~.sight.Sight`. Used by one thread at a time.

    Args:
        follows: By position: whether this message continues the conversation of the
            message one position before.

    Attributes:
        members: Positions of the messages that are not alone, in order; those of a
            conversation lie together.
        sizes: How many members each conversation has.
    """

    def __init__(self, follows: Flags) -> None:
        self._follows = follows
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
    ) -> tuple[NDArray[np.intp], NDArray[np.floating[Any]]]:
        """What bags have of what some documents have, in tenths.

        Args:
            positions: The documents, each once; ``amounts`` says what they have.

        Returns:
            Positions of the bags that have any, each once, in no order, and how much, in
            whole numbers.
        """
        lends = self._follows.take(positions).nonzero()[0]
        leads = self._followed.take(positions).nonzero()[0]
        if not (len(lends) or len(leads)):
            return positions, amounts * float(OWN)
        hits = np.concatenate((positions, positions.take(lends) - 1, positions.take(leads) + 1))
        lent = np.concatenate(
            (amounts * OWN, amounts.take(lends) * AFTER, amounts.take(leads) * BEFORE)
        )
        # Of the entries for one bag the last one to take the slot stands for all.
        turns = np.arange(len(hits))
        self._slots[hits] = turns
        stands = self._slots.take(hits)
        kept = (stands == turns).nonzero()[0]
        return hits.take(kept), np.bincount(stands, lent).take(kept)

    def spread_all(self, amounts: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each bag has of what all documents have, by position, in tenths."""
        total = amounts * OWN
        after = np.flatnonzero(self._follows)
        total[after - 1] += amounts[after] * AFTER
        total[after] += amounts[after - 1] * BEFORE
        return total

    def around(self, values: Values) -> Values:
        """By member: the mean of the messages right beside it; values are by member."""
        total = np.zeros(len(values))
        joined = self._joined[1:]
        np.multiply(values[:-1], joined, out=total[1:])
        total[:-1] += values[1:] * joined
        return total / self._beside

    def of_members(self, amounts: Values) -> Values:
        """By member: what its conversation has."""
        return np.repeat(amounts, self.sizes)

    def best(self, values: Values, count: int) -> Values:
        """By conversation: the sum of its ``count`` highest values, which are by member."""
        left = values.copy()
        total = np.zeros(len(self.sizes))
        for nth in range(count):
            # Conversations lie together, so that a maximum of each is taken in one go.
            highest = np.maximum.reduceat(left, self._starts)
            total += np.where(self.sizes > nth, highest, 0.0)
            if nth + 1 < count:
                chosen = (left == self.of_members(highest)).nonzero()[0]
                if len(chosen) > len(highest):  # equals: the first in each conversation
                    chosen = chosen[np.searchsorted(chosen, self._starts)]
                left[chosen] = -np.inf
        return total
