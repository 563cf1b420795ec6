"""Why a recall gave what it gave."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ..model import Asker

KEPT = 8
"""Traces kept of each circle."""
CIRCLES = 200
"""Circles of which traces are kept; the longest silent one goes first."""


class Reason(StrEnum):
    """Why a candidate was left out."""

    FLOOR = "floor"
    """Too little speaks for it."""
    EXCLUDED = "excluded"
    """The message that is being answered."""
    CONTEXT = "context"
    """The language model has it in front of it already."""
    ECHO = "echo"
    """It only says what was just said."""
    DUPLICATE = "duplicate"
    """Something that was chosen says it."""
    LIMIT = "limit"
    """Enough was chosen."""
    BUDGET = "budget"
    """It does not fit into the token budget."""


class TracedCandidate(NamedTuple):
    """A candidate and what became of it.

    Attributes:
        id: Key of the document.
        score, evidence: See ``rank.Candidate``.
        signals: What the score is made of.
        dropped: Why it was left out; ``None`` if it was chosen.
    """

    id: str
    text: str
    score: float
    evidence: float
    signals: dict[str, float]
    dropped: Reason | None


@dataclass(frozen=True, slots=True)
class Trace:
    """One recall.

    Attributes:
        query: What was searched for.
        named: Nodes that it names, and by which name.
        visible: How many documents the asker may be reminded of.
        embedded: Whether the meaning of the query was known in time.
        weigh: Makes ``candidates``, which most traces are never asked for.
        block: The text that was made.
        timing: Milliseconds by step.
        problem: What went wrong, if anything did.
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

    def add(self, trace: Trace) -> None:
        """Keep a trace."""
        kept = self._circles.setdefault(trace.asker.circle, deque(maxlen=KEPT))
        kept.append(trace)
        self._circles.move_to_end(trace.asker.circle)
        while len(self._circles) > CIRCLES:
            self._circles.popitem(last=False)

    def of(self, circle: str) -> list[Trace]:
        """Traces of a circle, newest first."""
        return list(reversed(self._circles.get(circle, ())))

    def recent(self) -> list[Trace]:
        """Traces of all circles, newest first."""
        kept = (trace for traces in self._circles.values() for trace in traces)
        return sorted(kept, key=lambda trace: trace.at, reverse=True)

    def clear(self) -> None:
        """Forget all traces."""
        self._circles.clear()
