"""Timing of the steps of a turn: what takes how long before the model is asked.

Off unless ``GRAPH_MEMORY_STEPS`` names a file, which ``./dev bench --felt`` reads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

_FILE = os.environ.get("GRAPH_MEMORY_STEPS", "")
_OFF = nullcontext()


def step(name: str) -> AbstractContextManager[None]:
    """Time what is done in this context, the waiting included."""
    return _timed(name) if _FILE else _OFF


@contextmanager
def _timed(name: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        with open(_FILE, "a", encoding="utf-8") as file:
            file.write(f"{name} {(time.perf_counter() - started) * 1000:.3f}\n")
