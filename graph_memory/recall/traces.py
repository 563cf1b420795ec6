"""Traces of reminders: what was weighed for each of them, and what became of it."""

from __future__ import annotations

import contextlib
import json
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..data_directory import writing
from ..model import Asker
from ..retention import DAY
from .selection import Reason

KEPT = 8
"""Traces kept of each circle."""
CIRCLES = 200
"""Circles of which traces are kept; the one silent longest goes first."""
LASTING = 60
"""Traces, the newest, that outlast a restart."""
WEIGHED = 60
"""Candidates of each of these."""
DAYS = 3
"""How old they may be."""


_PLAIN = ("at", "query", "named", "visible", "embedded", "block", "timing", "problem")
"""Fields of a trace that are written down as they are."""


class TracedCandidate(NamedTuple):
    """A candidate (``ranking.Candidate``) and why it was ``dropped``, if it was."""

    id: str
    text: str
    score: float
    evidence: float
    signals: dict[str, float]
    dropped: Reason | None


@dataclass(frozen=True, slots=True)
class Trace:
    """One recall and how it came about.

    Attributes:
        named: Nodes that the query names, with the name.
        visible: How many documents the asker may be reminded of.
        embedded: Whether the meaning of the query was known in time.
        weigh: Makes ``candidates``, which few traces are asked for.
        timing: Milliseconds by step.
    """

    asker: Asker
    at: float
    query: str = ""
    named: dict[str, str] = field(default_factory=dict)
    visible: int = 0
    embedded: bool = False
    weigh: Callable[[], tuple[TracedCandidate, ...]] = tuple
    block: str = ""
    timing: dict[str, float] = field(default_factory=dict)
    problem: str = ""

    @property
    def candidates(self) -> tuple[TracedCandidate, ...]:
        """What was weighed, best first; only what the asker may see."""
        return self.weigh()


class Traces:
    """The last traces of each circle."""

    def __init__(self) -> None:
        self._circles: OrderedDict[str, deque[Trace]] = OrderedDict()
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Have ``listener`` called when there is another one."""
        self._listeners.append(listener)

    def add(self, trace: Trace) -> None:
        kept = self._circles.setdefault(trace.asker.circle, deque(maxlen=KEPT))
        kept.append(trace)
        self._circles.move_to_end(trace.asker.circle)
        while len(self._circles) > CIRCLES:
            self._circles.popitem(last=False)
        for listener in self._listeners:
            listener()

    def of(self, circle: str) -> list[Trace]:
        """Traces of a circle, newest first."""
        return list(reversed(self._circles.get(circle, ())))

    def recent(self) -> list[Trace]:
        """Traces of all circles, newest first."""
        kept = (trace for traces in self._circles.values() for trace in traces)
        return sorted(kept, key=lambda trace: trace.at, reverse=True)

    def clear(self) -> None:
        self._circles.clear()

    def save(self, path: Path, state: object) -> None:
        """Write the newest down until the next start. Blocks.

        Args:
            state: What the memory is like (``queries.revision``); they are of no other one.

        Raises:
            OSError: The file cannot be written.
        """
        kept = [_encoded(trace) for trace in self.recent()[:LASTING]]
        if kept:
            with writing(path) as file:
                json.dump({"state": json.dumps(state), "traces": kept}, file)

    def load(self, path: Path, state: object, now: float) -> None:
        """Take back what was written down, unless the memory has changed. Blocks.

        The file goes: nothing that is erased later is to be in it.
        """
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            data = json.loads(path.read_text("utf-8"))
            found = [_decoded(each) for each in data["traces"]]
            if data["state"] == json.dumps(state):
                for trace in reversed(found):
                    if now - trace.at < DAYS * DAY:
                        self.add(trace)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _encoded(trace: Trace) -> dict[str, Any]:
    asker = trace.asker
    return {
        "asker": (asker.user, asker.circle, asker.is_group, asker.persona, sorted(asker.accounts)),
        "candidates": trace.candidates[:WEIGHED],
        **{name: getattr(trace, name) for name in _PLAIN},
    }


def _decoded(data: dict[str, Any]) -> Trace:
    user, circle, is_group, persona, accounts = data["asker"]
    asker = Asker(user, circle, is_group, persona, frozenset(accounts))
    candidates = tuple(
        TracedCandidate(id, text, score, evidence, signals, Reason(dropped) if dropped else None)
        for id, text, score, evidence, signals, dropped in data["candidates"]
    )
    plain = {name: data[name] for name in _PLAIN}
    return Trace(asker, weigh=lambda: candidates, **plain)
