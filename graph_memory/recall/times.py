"""When what is asked for was said: time phrases in Chinese and English.

"昨天", "三天前", "上个月", "去年5月", "last week", "on May 3rd, 2023", "in June" become spans
of time. A day or a month without a year means any year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo

Span = tuple[float, float]

YEARS = 5
"""How many years back a date without a year may be."""

_DIGITS = "零一二三四五六七八九十"
_UNIT = {
    "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365,
    "day": 1, "week": 7, "month": 30, "year": 365,
}  # fmt: skip
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS_AGO = {"今天": 0, "今早": 0, "今晚": 0, "昨天": 1, "昨晚": 1, "前天": 2, "today": 0,
             "yesterday": 1, "last night": 1}  # fmt: skip

_NEAR = re.compile(
    r"(?<!大)(今天|今早|今晚|昨天|昨晚|前天)|\b(today|yesterday|last night)\b", re.IGNORECASE
)
_AGO = re.compile(
    r"(\d{1,3}|[一二两三四五六七八九十几半])\s?个?(天|日|周|星期|礼拜|月|年)(?:之|以)?前"
    r"|\b(\d{1,3}|an?|two|three|four|five|six|a few) (day|week|month|year)s? ago\b",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"([上这本])个?(周|星期|礼拜|月)|(去年|前年|今年)"
    r"|\b(last|this|past) (week(?:end)?|month|year)\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"(?:(\d{4})年)?(?:(\d{1,2})月份?)(?:(\d{1,2})[日号])?|(\d{4})年")
_ENGLISH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|{_MONTH}(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?)"
    rf",?(?: (\d{{4}}))?\b|\b(?:in|of|since|during) ((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b")


def spans(text: str, now: float, zone: tzinfo) -> list[Span]:
    """The times that a text speaks of, as seconds ``(start, end)``; mostly none."""
    today = datetime.fromtimestamp(now, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    found = (*_relative(text, today), *_dates(text, today))
    return [(start.timestamp(), end.timestamp()) for start, end in found]


def _relative(text: str, today: datetime) -> Iterator[tuple[datetime, datetime]]:
    day = timedelta(1)
    for match in _NEAR.finditer(text):
        start = today - _DAYS_AGO[match[0].lower()] * day
        yield start, start + day
    for match in _AGO.finditer(text):
        count = _count((match[1] or match[3]).lower())
        days = count * _UNIT[(match[2] or match[4]).lower()]
        middle = today - days * day
        around = (days // 4 if days > 3 else 0) * day
        yield middle - around, middle + day + around
    for match in _LAST.finditer(text):
        which, unit = match[1] or match[3] or match[4], match[2] or match[5] or ""
        yield _period(which.lower(), unit.lower(), today)


def _period(which: str, unit: str, today: datetime) -> tuple[datetime, datetime]:
    back = which in ("上", "last", "past")
    if which in ("去年", "前年", "今年") or unit == "year":
        year = today.year - {"去年": 1, "前年": 2, "今年": 0}.get(which, int(back))
        return today.replace(year, 1, 1), today.replace(year + 1, 1, 1)
    if unit in ("月", "month"):
        first = today.replace(day=1)
        start = (first - timedelta(1)).replace(day=1) if back else first
        return start, (start + timedelta(32)).replace(day=1)
    start = today - timedelta(today.weekday() + 7 * back)
    return start, start + timedelta(7)


def _dates(text: str, today: datetime) -> Iterator[tuple[datetime, datetime]]:
    for match in _CHINESE.finditer(text):
        yield from _days(match[1] or match[4], match[2], match[3], today)
    for match in _ENGLISH.finditer(text):
        name = match[2] or match[3]
        if name and name.lower() == "may" and not (match[1] or match[4] or match[5]):
            continue  # the verb
        month = str(_MONTHS.index(name[:3].lower()) + 1) if name else None
        yield from _days(match[5] or match[6], month, match[1] or match[4], today)
    for match in _ISO.finditer(text):
        yield from _days(match[1], match[2], match[3], today)


def _days(
    year: str | None, month: str | None, day: str | None, today: datetime
) -> Iterator[tuple[datetime, datetime]]:
    years = [int(year)] if year else range(today.year - YEARS, today.year + 1)
    for each in years:
        try:
            if month is None:
                yield today.replace(each, 1, 1), today.replace(each + 1, 1, 1)
            elif day is None:
                start = today.replace(each, int(month), 1)
                yield start, (start + timedelta(32)).replace(day=1)
            else:
                start = today.replace(each, int(month), int(day))
                yield start, start + timedelta(1)
        except (ValueError, OverflowError):
            continue  # no such day


def _count(text: str) -> float:
    if text.isdigit():
        return int(text)
    words = {"a": 1, "an": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a few": 4}
    return {**words, "两": 2, "几": 4, "半": 0.5}.get(text) or _DIGITS.index(text)
