"""Memory of NumPy arrays: those that grow, and those that come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_SMALLEST = 64
_SPARE = 16 << 20
"""Bytes; twice as much may lie idle in a thread."""


class Growable:
    """An array that grows along its first axis, by half when it is full.

    Room is reserved with ``np.zeros``, which the system commits only when it is
    written to.

    Attributes:
        size: How many rows are in use.
    """

    def __init__(self, dtype: DTypeLike, width: int = 0) -> None:
        self._room: NDArray[Any] = np.zeros((0, width) if width else 0, dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        """The rows in use; a view that is stale after the next growth."""
        return self._room[: self.size]

    def append(self, value: Any) -> None:
        """Add one row."""
        self.resize(self.size + 1)
        self._room[self.size - 1] = value

    def resize(self, size: int) -> None:
        """Use ``size`` rows; new ones are zero."""
        if size > len(self._room):
            room = np.zeros(
                (max(size + size // 2, _SMALLEST), *self._room.shape[1:]), self._room.dtype
            )
            room[: self.size] = self.values
            self._room = room
        elif size < self.size:
            self._room[size : self.size] = 0
        self.size = size

    def insert(self, at: int, value: Any) -> None:
        """Put one row before position ``at``."""
        self.append(value)
        if at < self.size - 1:
            self._room[at + 1 : self.size] = self._room[at : self.size - 1].copy()
            self._room[at] = value

    def delete(self, at: int) -> None:
        """Take out the row at position ``at``."""
        self._room[at : self.size - 1] = self._room[at + 1 : self.size].copy()
        self.resize(self.size - 1)


def keep_spare_memory() -> None:
    """Let a thread keep what its arrays took, for the next ones. Called first in the thread.

    Otherwise glibc gives the end of the thread's heap back to the system after every search,
    and the next one has every page of it given and zeroed anew: at 100k documents that was
    a quarter of the time. It gives back from twice the largest block that was ever freed, so
    one comes and goes that nobody touches. Elsewhere this does nothing.
    """
    np.empty(_SPARE, np.uint8)
