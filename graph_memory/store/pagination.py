"""Keyset pagination: a page begins at the row where the last one ended.

So nothing is shown twice or left out because rows came or went meanwhile. What is paged
is ordered by a number, greatest first, then by id.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place between two rows.

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
class Page(Generic[T]):
    """One page.

    Attributes:
        first: Number of its first item among all, from 1.
        total: How many there are on all pages.
        previous, next: Where the neighbouring pages are; ``None`` if there is none.
    """

    items: list[T]
    first: int
    total: int
    previous: Cursor | None = None
    next: Cursor | None = None

    def holding(self, items: list[U]) -> Page[U]:
        """The same page with what is made of its items."""
        return Page(items, self.first, self.total, self.previous, self.next)


def paginate(
    db: sqlite3.Connection,
    source: str,
    values: Mapping[str, object],
    cursor: Cursor | None,
    now: float,
    limit: int,
    read: Callable[[list[Cursor]], list[T]],
) -> Page[T]:
    """One page of what a query finds; all there is to find is gone through once.

    Args:
        source: The query, a constant, of the columns ``key`` and ``id``.
        cursor: Where the page begins, or ends if that says so.
        read: Makes items of a page of rows, in their order.
    """
    spot = cursor or Cursor(math.inf, "")
    bound = {**values, "spot": spot.key, "spot_id": spot.id, "limit": limit + 1}
    back = spot.is_before
    side = "key > :spot OR (key = :spot AND id < :spot_id)"
    if not back:
        side = "key < :spot OR (key = :spot AND id > :spot_id)"
    order = "key, id DESC" if back else "key DESC, id"
    found = db.execute(
        f"WITH found AS ({source})"  # named more than once, and so worked out once
        " SELECT counted.total, counted.beyond, page.key, page.id"
        f" FROM (SELECT count(*) AS total, coalesce(sum({side}), 0) AS beyond FROM found)"
        f" AS counted LEFT JOIN (SELECT key, id FROM found WHERE {side} ORDER BY {order}"
        f" LIMIT :limit) AS page ORDER BY {order}",
        bound,
    ).fetchall()
    total, beyond = found[0][:2]
    rows = [Cursor(float(key), str(id), now=now) for _, _, key, id in found if id is not None]
    more, rows = len(rows) > limit, rows[:limit]
    if back:
        rows.reverse()
    skipped = beyond - len(rows) if back else total - beyond
    return Page(
        read(rows),
        skipped + 1,
        total,
        replace(rows[0], is_before=True) if rows and skipped > 0 else None,
        rows[-1] if rows and (more or back) else None,
    )
