"""How often models were asked and what it cost, by day and purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from ..journal import Journal

_NOTE = "usage"
_DAYS = 62
"""Days that are kept."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls and tokens."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Usage:
    """The account of model calls; kept in the journal."""

    def __init__(self, journal: Journal, zone: tzinfo, now: Callable[[], float]) -> None:
        self._journal = journal
        self._zone = zone
        self._now = now
        self._days: dict[str, dict[str, list[int]]] = {}

    async def load(self) -> None:
        """Read what was counted before; an account that cannot be read starts anew."""
        try:
            data = json.loads(await self._journal.note(_NOTE) or "{}")
            self._days = {
                str(day): {str(key): [int(n) for n in counts][:3] for key, counts in costs.items()}
                for day, costs in data.items()
            }
        except (ValueError, TypeError, AttributeError):
            self._days = {}

    async def add(self, purpose: str, tokens_in: int, tokens_out: int) -> None:
        """Count one call."""
        counts = self._days.setdefault(self._today(), {}).setdefault(purpose, [0, 0, 0])
        for index, more in enumerate((1, tokens_in, tokens_out)):
            counts[index] += more
        self._days = dict(sorted(self._days.items())[-_DAYS:])
        await self._journal.set_note(_NOTE, json.dumps(self._days))

    def today(self, purpose: str) -> Cost:
        """What a purpose cost since midnight."""
        return Cost(*self._days.get(self._today(), {}).get(purpose, []))

    def _today(self) -> str:
        return datetime.fromtimestamp(self._now(), self._zone).date().isoformat()
