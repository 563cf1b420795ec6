"""Examination of the memory (``/memory doctor``), mending what it can.

The journal is looked through from end to end and mended where nothing can be lost by it.
Graph and recall index are disposable: they are rebuilt from it, whatever was wrong.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .errors import GraphError, JournalError
from .graph import GraphStore
from .recall import Recaller
from .store import Fault, Journal, examine, mend

logger = logging.getLogger("graph_memory.doctor")

REBUILT_AFTER = 120.0
"""Seconds that building a view anew may take."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was wrong.

    Attributes:
        code: Of a journal's fault (``store/examine.py``), or ``journal_away``,
            ``graph_away``, ``index_away``.
        count: How many cases.
        detail: Examples or an error, in English.
        is_mended: Whether it is right now.
    """

    code: str
    count: int
    detail: str
    is_mended: bool


@dataclass(frozen=True, slots=True)
class Checkup:
    """What an examination found.

    Attributes:
        documents: How many memories can be recalled.
        vectors: How many of them had a vector of the model in use, before it.
        changes: Number of the last change that the graph reflects.
        seconds: How long it took.
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


class Doctor:
    """Examines one open memory, one examination at a time."""

    def __init__(self, journal: Journal, graph: GraphStore, recall: Recaller) -> None:
        self._journal = journal
        self._graph = graph
        self._recall = recall
        self._busy = asyncio.Lock()

    async def examine(self) -> Checkup:
        """Mend the journal and rebuild its views; the memory is in use meanwhile."""
        async with self._busy:
            started, vectors = time.monotonic(), self._recall.vectors
            findings = [
                *await self._examine_journal(),
                *await self._rebuild("graph", self._graph.rebuild),
                *await self._rebuild("index", self._recall.rebuild),
            ]
            for finding in findings:
                logger.warning(
                    "%s: %d (%s), %s",
                    finding.code,
                    finding.count,
                    finding.detail,
                    "mended" if finding.is_mended else "not mended",
                )
            return Checkup(
                tuple(findings),
                self._recall.items,
                vectors,
                self._graph.applied,
                time.monotonic() - started,
            )

    async def _examine_journal(self) -> list[Finding]:
        try:
            faults = await asyncio.to_thread(examine, self._journal.path)
            left: list[Fault] = faults
            if any(fault.is_mendable for fault in faults):
                await self._journal.alter(lambda db, _: mend(db))
                left = await asyncio.to_thread(examine, self._journal.path)
        except JournalError as error:
            return [Finding("journal_away", 1, str(error), is_mended=False)]
        codes = {fault.code for fault in left}
        return [
            Finding(f.code, f.count, ", ".join(f.examples), is_mended=f.code not in codes)
            for f in faults
        ]

    async def _rebuild(self, view: str, rebuild: Callable[[], Awaitable[object]]) -> list[Finding]:
        try:
            async with asyncio.timeout(REBUILT_AFTER):
                await rebuild()
        except (GraphError, JournalError, TimeoutError) as error:
            return [Finding(f"{view}_away", 1, str(error) or "too slow", is_mended=False)]
        return []
