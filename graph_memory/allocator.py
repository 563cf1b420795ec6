"""Allocator of the C library: how much it keeps of what was freed.

Both are glibc's; other libraries keep little by themselves.
"""

import ctypes
from contextlib import suppress

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of ``malloc.h``."""


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
