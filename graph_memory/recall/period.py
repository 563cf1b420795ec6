"""A stretch of time as somebody who looks things up names it.

Dates ("2026-01", "2026-01-05..2026-02", "2026-01..") are taken at their word; anything
else is read like a question ("上周", "去年夏天", "last month").
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, tzinfo

from .times import Span, spans

_DATE = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?"
_RANGE = re.compile(
    rf"\s*(?P<first>{_DATE})?\s*(?P<to>\.\.|~|—|–|至|到|\bto\b)?\s*(?P<last>{_DATE})?\s*"
)
_SEASON = re.compile(
    r"(春)天?|(夏)天?|(秋)天?|(冬)天?|\b(?:(spring)|(summer)|(autumn|fall)|(winter))\b",
    re.IGNORECASE,
)
FIRST_MONTHS = (3, 6, 9, 12)


def periods(text: str, now: float, zone: tzinfo) -> list[Span]:
    """The times that a text names, as seconds ``(start, end)``; empty if it names none.

    A side of a range that is left out is open.
    """
    dated = _RANGE.fullmatch(text)
    if dated and (dated["first"] or dated["last"]):
        first, last = (_day(dated[side], zone) for side in ("first", "last"))
        if dated["to"] is None:
            return [first] if first else []
        start = first[0] if first else -math.inf
        end = last[1] if last else math.inf
        if (dated["first"] and not first) or (dated["last"] and not last) or end <= start:
            return []
        return [(start, end)]
    return _seasons(text, spans(text, now, zone), zone)


def _day(text: str | None, zone: tzinfo) -> Span | None:
    """A day, month or year; ``None`` if there is no such day."""
    if not text:
        return None
    year, month, day = ([int(part) for part in text.split("-")] + [0, 0])[:3]
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=zone)
        if day:
            end = start + timedelta(1)
        elif month:
            end = (start + timedelta(32)).replace(day=1)
        else:
            end = start.replace(year + 1)
        return start.timestamp(), end.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _seasons(text: str, found: list[Span], zone: tzinfo) -> list[Span]:
    """Of each year that was named only its season, if one is; winter begins in it."""
    named = _SEASON.search(text)
    if named is None:
        return found
    which = next(number for number, group in enumerate(named.groups()) if group) % 4
    narrowed: list[Span] = []
    for start, end in found:
        first = datetime.fromtimestamp(start, zone)
        if end - start < 365 * 86_400 - 7_200:
            narrowed.append((start, end))
            continue
        begin = first.replace(month=FIRST_MONTHS[which], day=1)
        finish = (begin + timedelta(95)).replace(day=1)
        narrowed.append((begin.timestamp(), finish.timestamp()))
    return narrowed
