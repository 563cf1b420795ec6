"""Turning pages: from the row where the last page ended, not by counting rows.

So nothing is shown twice or left out because rows came or went meanwhile. What is turned
over is ordered by a number, greatest first, then by id.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Between two rows.

    Attributes:
        key, id: Of the row beside it.
        is_before: Whether what is wanted comes before it; that row is left out.
        now: When the first page was asked for: what depends on the time stays in order.
    """

    key: float
    id: str
    is_before: bool = False
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """One page.

    Attributes:
        first: Number of its first item among all, from 1.
        total: How many there are on all pages.
        previous, next: Where the neighbouring pages are; ``None`` if there is none.
    """

    items: list[T]
    first: int
    total: int
    previous: Place | None = None
    next: Place | None = None


def turn(
    db: sqlite3.Connection,
    source: str,
    values: Mapping[str, object],
    place: Place | None,
    now: float,
    limit: int,
    read: Callable[[tuple[Any, ...]], T],
) -> Found[T]:
    """One page of what a query finds.

    Args:
        source: The query, a constant; its columns include ``key`` and ``id``, which come
            last.
        place: Where the page begins, or ends if that says so.
        read: Makes an item of a row.
    """
    spot = place or Place(math.inf, "")
    bound = {**values, "spot": spot.key, "spot_id": spot.id, "limit": limit + 1}
    back = spot.is_before
    side = "key > :spot OR (key = :spot AND id < :spot_id)"
    if not back:
        side = "key < :spot OR (key = :spot AND id > :spot_id)"
    order = "key, id DESC" if back else "key DESC, id"
    rows = db.execute(
        f"SELECT * FROM ({source}) WHERE {side} ORDER BY {order} LIMIT :limit", bound
    ).fetchall()
    # Without a place all rows are on its side; their keys need not be worked out.
    count = f"count(*), coalesce(sum({side}), 0)" if place else "count(*), count(*)"
    total, beyond = db.execute(f"SELECT {count} FROM ({source})", bound).fetchone()
    more, rows = len(rows) > limit, rows[:limit]
    if back:
        rows.reverse()
    skipped = beyond - len(rows) if back else total - beyond
    ends = (
        [Place(float(row[-2]), str(row[-1]), now=now) for row in (rows[0], rows[-1])]
        if rows
        else []
    )
    return Found(
        [read(row) for row in rows],
        skipped + 1,
        total,
        Place(ends[0].key, ends[0].id, True, now) if ends and skipped > 0 else None,
        ends[1] if ends and (more or back) else None,
    )
