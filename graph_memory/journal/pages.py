"""Turning pages: from the row where the last page ended, not by counting rows.

So nothing is shown twice or left out because rows came or went meanwhile. What is turned
over is ordered by a number, greatest first, then by id.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

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
    read: Callable[[list[Place]], list[T]],
) -> Found[T]:
    """One page of what a query finds; all there is to find is gone through once.

    Args:
        source: The query, a constant, of the columns ``key`` and ``id``.
        place: Where the page begins, or ends if that says so.
        read: Makes items of a page of rows, in their order.
    """
    spot = place or Place(math.inf, "")
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
    rows = [Place(float(key), str(id), now=now) for _, _, key, id in found if id is not None]
    more, rows = len(rows) > limit, rows[:limit]
    if back:
        rows.reverse()
    skipped = beyond - len(rows) if back else total - beyond
    return Found(
        read(rows),
        skipped + 1,
        total,
        replace(rows[0], is_before=True) if rows and skipped > 0 else None,
        rows[-1] if rows and (more or back) else None,
    )


def by_id(
    db: sqlite3.Connection, kind: str, ids: Iterable[str], read: Callable[[str], T]
) -> list[T]:
    """Rows of a kind in the order of ``ids``; those that went meanwhile are left out."""
    wanted = list(ids)
    found = dict(
        db.execute(
            "SELECT id, data FROM row WHERE kind = ? AND id IN (SELECT value FROM json_each(?))",
            (kind, json.dumps(wanted)),
        ).fetchall()
    )
    return [read(found[id]) for id in wanted if id in found]
