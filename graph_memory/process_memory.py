"""Memory of the process: bounded dictionaries, and heaps of the C library.

The heaps are glibc's; other libraries keep little of what was freed.
"""

import ctypes
from collections import OrderedDict
from contextlib import suppress
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
_ARENA_MAX = -8
"""``M_ARENA_MAX`` of ``malloc.h``."""


class Newest(OrderedDict[K, V]):
    """A dictionary of so many keys at most: those that were set last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


def share_heap() -> None:
    """Let all threads that are yet to come free into one heap.

    Each of up to eight heaps a core keeps tens of MB otherwise, which :func:`trim_heap` does not
    reach: 50 MB after 1,500 messages.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def trim_heap() -> None:
    """Give back what is kept of what threads freed.

    It takes milliseconds, in which other threads may wait for memory.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
