"""Examination of the memory (``/memory doctor``), mending what it can.

The journal is mended where nothing can be lost by it; its views are rebuilt in any case.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .errors import GraphError, JournalError
from .graph import GraphState, GraphStore
from .recall import Recaller
from .store import Journal, examine, mend

logger = logging.getLogger("graph_memory.doctor")

REBUILT_AFTER = 120.0
"""Seconds that building a view anew may take."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was wrong, and whether it is right now.

    ``code`` is that of a journal's fault (``store/examine.py``), or ``journal_away``,
    ``graph_away``, ``graph_absent``, ``index_away``.
    """

    code: str
    count: int
    detail: str
    is_mended: bool


@dataclass(frozen=True, slots=True)
class Checkup:
    """What an examination found, and how many ``seconds`` it took.

    ``vectors`` of the ``documents`` had a vector before; ``changes`` are those in the graph.
    """

    findings: tuple[Finding, ...]
    documents: int
    vectors: int
    changes: int
    seconds: float

    @property
    def is_well(self) -> bool:
        """Whether everything is right now."""
        return all(finding.is_mended for finding in self.findings)


async def check_up(journal: Journal, graph: GraphStore, recall: Recaller) -> Checkup:
    """Mend the journal and rebuild its views; the memory is in use meanwhile."""
    started, vectors = time.monotonic(), recall.vectors
    findings = [
        *await _examine_journal(journal),
        *await _rebuild("graph", graph.rebuild),
        *_absence(graph),
        *await _rebuild("index", recall.rebuild),
    ]
    for each in findings:
        outcome = "mended" if each.is_mended else "not mended"
        logger.warning("%s: %d (%s), %s", each.code, each.count, each.detail, outcome)
    seconds = time.monotonic() - started
    return Checkup(tuple(findings), recall.items, vectors, graph.applied, seconds)


def _absence(graph: GraphStore) -> list[Finding]:
    if graph.state is not GraphState.ABSENT:
        return []
    return [Finding("graph_absent", 1, "kuzu and ladybug cannot be imported", is_mended=False)]


async def _examine_journal(journal: Journal) -> list[Finding]:
    try:
        faults = left = await asyncio.to_thread(examine, journal.path)
        if any(fault.is_mendable for fault in faults):
            await journal.alter(lambda db, _: mend(db), is_long=True)
            left = await asyncio.to_thread(examine, journal.path)
    except JournalError as error:
        return [Finding("journal_away", 1, str(error), is_mended=False)]
    codes = {fault.code for fault in left}
    return [
        Finding(f.code, f.count, ", ".join(f.examples), is_mended=f.code not in codes)
        for f in faults
    ]


async def _rebuild(view: str, rebuild: Callable[[], Awaitable[object]]) -> list[Finding]:
    try:
        async with asyncio.timeout(REBUILT_AFTER):
            await rebuild()
    except (GraphError, JournalError, TimeoutError) as error:
        return [Finding(f"{view}_away", 1, str(error) or "too slow", is_mended=False)]
    return []
