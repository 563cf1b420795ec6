"""Traces of recalls and their explanation for people."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ..model import Asker, Fact
from .index import Index
from .visible import VisibleSet

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
    """A candidate (``ranking.Candidate``) and why it was ``dropped``, if it was."""

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
        named: Nodes that the query names, and by which name.
        visible: How many documents the asker may be reminded of.
        embedded: Whether the meaning of the query was known in time.
        weigh: Makes ``candidates``, which most traces are never asked for.
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


@dataclass(frozen=True, slots=True)
class Explained:
    """A memory that was shown.

    Attributes:
        reasons: What spoke for it, most telling first: ``profile``, ``name``, ``words``,
            ``meaning``, ``near`` or ``conversation``.
    """

    text: str
    at: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a reply was reminded of, and how many others were dropped for which reason."""

    shown: tuple[Explained, ...]
    dropped: dict[Reason, int]
    problem: str = ""


def own(traces: list[Trace], asker: Asker) -> Trace | None:
    """The newest trace that an asker may look at.

    In a group all of the group's, in private one's own.
    """
    fits = (t for t in traces if asker.is_group or (asker.user and t.asker.user == asker.user))
    return next((trace for trace in fits if trace.asker.is_group == asker.is_group), None)


def explain(index: Index, visible: VisibleSet, trace: Trace) -> Explanation:
    """Explain a trace by what is in visible; what is gone or hidden since is left out."""
    shown: list[Explained] = []
    dropped: Counter[Reason] = Counter()
    for candidate in trace.candidates:
        if (record := index.summaries.get(candidate.id, visible.views)) and not candidate.dropped:
            shown.append(Explained(record.summary, record.started_at, ("conversation",)))
            continue
        number = index.documents.number(candidate.id)
        if number is None or visible.positions[number] < 0:
            continue
        if candidate.dropped is not None:
            dropped[candidate.dropped] += 1
            continue
        document = index.documents[number]
        source = document.source
        nodes = {source.subject, source.object} if isinstance(source, Fact) else set()
        survivors = {index.identities.canonical(node) for node in trace.named}
        is_named = any(index.identities.canonical(node) in survivors for node in nodes)
        reasons = tuple(_reasons(candidate, trace, nodes, is_named=is_named))
        shown.append(Explained(document.text, document.at, reasons))
    return Explanation(tuple(shown), dict(dropped), trace.problem)


def _reasons(
    candidate: TracedCandidate, trace: Trace, nodes: set[str], *, is_named: bool
) -> list[str]:
    signals = candidate.signals
    found = [
        reason
        for reason, holds in (
            ("profile", nodes & trace.asker.accounts),
            ("name", is_named),
            ("words", signals.get("words", 0.0) > 0),
            ("meaning", signals.get("meaning", 0.0) > 0),
        )
        if holds
    ]
    if not found:
        found = ["near" if signals.get("near", 0.0) > 0 else "conversation"]
    return found
