"""A trace for people: what was shown and what spoke for it, as far as they may see it now."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..model import Asker, Fact
from .index import Index
from .sight import Sight
from .trace import Reason, Trace, TracedCandidate


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
    """What a reply was reminded of.

    Attributes:
        dropped: How many other candidates were left out, by reason.
        problem: What went wrong, if anything did.
    """

    shown: tuple[Explained, ...]
    dropped: dict[Reason, int]
    problem: str = ""


def own(traces: list[Trace], asker: Asker) -> Trace | None:
    """The newest trace that an asker may look at: in a group all of the group's, in
    private one's own."""
    fits = (t for t in traces if asker.is_group or (asker.user and t.asker.user == asker.user))
    return next((trace for trace in fits if trace.asker.is_group == asker.is_group), None)


def explain(index: Index, sight: Sight, trace: Trace) -> Explanation:
    """Explain a trace by what is in sight; what is gone or hidden since is left out."""
    shown: list[Explained] = []
    dropped: Counter[Reason] = Counter()
    for candidate in trace.candidates:
        if (record := index.annals.get(candidate.id, sight.views)) and not candidate.dropped:
            shown.append(Explained(record.summary, record.started_at, ("conversation",)))
            continue
        number = index.documents.number(candidate.id)
        if number is None or sight.positions[number] < 0:
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
