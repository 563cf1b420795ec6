"""How far an import has come, as the journal remembers it: no kill loses it, no undo lacks
it. Numbers and counts only; nothing of what came in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from ..journal import arrivals

PREFIX = "moving:"

Pairs = list[list[int]]
"""First and last of stretches of numbers."""


@dataclass(slots=True)
class Run:
    """One import.

    Attributes:
        id: Digest of what came in and how.
        format: Of the source.
        state: ``running``, ``done``, ``undone``.
        keeps: Whether messages keep the numbers they had (the memory was empty).
        learns: Whether its batches are to be learned.
        cursor: Kind and id of the last row that was written.
        messages, batches, changes: What it wrote.
        unlearned: Batches that are to be learned still.
        rows: How many rows it wrote.
    """

    id: str
    format: str
    at: float
    state: str = "running"
    keeps: bool = False
    learns: bool = False
    cursor: list[str] = field(default_factory=lambda: ["", ""])
    messages: Pairs = field(default_factory=list)
    batches: Pairs = field(default_factory=list)
    changes: Pairs = field(default_factory=list)
    unlearned: Pairs = field(default_factory=list)
    rows: int = 0

    @property
    def count(self) -> int:
        """How many messages it brought."""
        return sum(last - first + 1 for first, last in self.messages)

    def save(self, db: sqlite3.Connection) -> None:
        """Write it down, in the transaction that is open."""
        arrivals.note(db, PREFIX + self.id, json.dumps(asdict(self)))


def saved(db: sqlite3.Connection) -> list[Run]:
    """All imports, oldest first."""
    found = (Run(**json.loads(value)) for value in arrivals.notes(db, PREFIX).values())
    return sorted(found, key=lambda run: (run.at, run.id))


def add(pairs: Pairs, numbers: Iterable[int]) -> None:
    """Add numbers, which are above those that are there or between them."""
    for number in numbers:
        if pairs and pairs[-1][1] + 1 == number:
            pairs[-1][1] = number
        elif not any(first <= number <= last for first, last in pairs[-3:]):
            pairs.append([number, number])


def take(pairs: Pairs) -> int | None:
    """The first number, which is taken out; ``None`` if there is none."""
    if not pairs:
        return None
    first, last = pairs[0]
    if first == last:
        del pairs[0]
    else:
        pairs[0][0] = first + 1
    return first
