"""Allocator of the C library: memory that was freed, given back to the system."""

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Give back what glibc keeps of what threads freed.

    It takes milliseconds, in which other threads may wait for memory. Other libraries do it
    by themselves.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
