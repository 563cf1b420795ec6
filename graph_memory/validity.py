"""What was known, and what of it was true, at a time (pure).

Two clocks: a fact is *known* from when it was recorded, and *true* from when it began to
be so until it ended or a newer fact took its place. A newer fact that was not known yet
takes nobody's place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum

from .model import Fact, Status


class Standing(StrEnum):
    """How a fact that is known stands at a time; the first that holds, in this order."""

    ARCHIVED = "archived"
    """It has faded, or was put away."""
    REPLACED = "replaced"
    """A newer fact says how it is."""
    OVER = "over"
    """It has ended."""
    LATER = "later"
    """It has not begun."""
    TRUE = "true"


def standings(facts: Iterable[Fact], at: float) -> Iterator[tuple[Fact, Standing]]:
    """The facts that are known at ``at``, and how each of them stands.

    Args:
        facts: All that somebody may see; others replace nothing.
    """
    known = [fact for fact in facts if fact.recorded_at <= at]
    gone: dict[str, float] = defaultdict(lambda: float("inf"))
    for fact in known:
        since = fact.recorded_at if fact.valid_from is None else fact.valid_from
        for old in fact.supersedes:
            gone[old] = min(gone[old], since)
    for fact in known:
        yield fact, _standing(fact, gone.get(fact.id, float("inf")), at)


def _standing(fact: Fact, replaced_at: float, at: float) -> Standing:
    put_away = fact.recorded_at if fact.archived_at is None else fact.archived_at
    if fact.status != Status.ACTIVE and put_away <= at:
        return Standing.ARCHIVED
    if replaced_at <= at:
        return Standing.REPLACED
    if fact.valid_to is not None and fact.valid_to <= at:
        return Standing.OVER
    if fact.valid_from is not None and fact.valid_from > at:
        return Standing.LATER
    return Standing.TRUE
