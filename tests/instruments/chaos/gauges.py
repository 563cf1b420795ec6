"""What a soak measures: memory, the pace of the event loop and of recall; what it means."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WARM_UP = 0.3
"""Share of the day after which memory must not grow any more."""
ROOM = 24.0
"""MiB by which memory may drift from then on: what the allocator does not give back."""


@dataclass
class Pace:
    """How late the event loop was and how long recall took, in seconds."""

    stalls: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)

    def result(self) -> dict[str, float]:
        """In milliseconds."""
        return {
            "stall_p50_ms": quantile(self.stalls, 0.5),
            "stall_p999_ms": quantile(self.stalls, 0.999),
            "stall_max_ms": quantile(self.stalls, 1.0),
            "recall_p50_ms": quantile(self.recalls, 0.5),
            "recall_p95_ms": quantile(self.recalls, 0.95),
            "recall_max_ms": quantile(self.recalls, 1.0),
            "recalls": len(self.recalls),
        }


def quantile(values: list[float], share: float) -> float:
    """A quantile in milliseconds; 0 of nothing."""
    ordered = sorted(values)
    place = min(len(ordered) - 1, int(share * len(ordered)))
    return round(ordered[place] * 1000, 2) if ordered else 0.0


def resident() -> float:
    """Resident memory of this process, MiB (Linux; elsewhere 0)."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def judge(result: dict[str, Any], per_item: float) -> dict[str, Any]:
    """Add what the numbers mean, and take the samples out.

    Args:
        per_item: MiB that one item costs in the recall index.
    """
    samples = result.pop("samples")
    end = samples[-1][0] if samples else 0.0
    rest = [memory - items * per_item for at, memory, items in samples if at > end * WARM_UP]
    third = len(rest) // 3
    drift = _trough(rest[-third:]) - _trough(rest[:third]) if third else 0.0
    step = max(1, len(samples) // 24)
    result["memory"] = {
        "start_mib": round(samples[0][1]) if samples else 0,
        "end_mib": round(samples[-1][1]) if samples else 0,
        "index_mib": round(samples[-1][2] * per_item, 1) if samples else 0,
        "drift_without_index_mib": round(drift, 1),
        "curve_mib": [round(memory) for _, memory, _ in samples[::step]],
    }
    busy, quiet = result["busy"], result["quiet"]
    result["passed"] = {
        "memory_does_not_grow": drift <= ROOM,
        "queue_drains": result["queue_drained_seconds"] >= 0,
        "stall_p999_within_twice": busy["stall_p999_ms"] <= 2 * quiet["stall_p999_ms"],
        "recall_p95_within_twice": busy["recall_p95_ms"] <= 2 * quiet["recall_p95_ms"],
    }
    return result


def _trough(values: list[float]) -> float:
    """The level memory falls back to: the graph's file grows in RAM until it is built anew."""
    return sorted(values)[len(values) // 10]
