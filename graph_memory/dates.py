"""Dates, time phrases and Chinese numerals in Chinese and English text.

"昨天", "三天前", "去年5月", "on May 3rd, 2023", "in June" become spans of seconds since the
epoch; a day or month without a year means any year.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from .text import blocks, normalise, simplified

Span = tuple[float, float]
Days = tuple[datetime, datetime]
D = TypeVar("D", date, datetime)

DAWN = timedelta(hours=5)
"""Until when people who are still up call it the night, and the day, before."""
YEARS = 5
"""Years back that a date without a year may be."""
AHEAD = 10
"""Years ahead that a year of two digits may be."""
MOST_TIMES = 100
"""Times that a text speaks of, at most; each is looked for among all memories."""

_DIGITS = {digit: str(value) for value, digit in enumerate("零一二三四五六七八九")}
_DIGITS |= {"两": "2", "〇": "0"}
_ARABIC = {ord(digit): value for digit, value in _DIGITS.items()}
_TENS = re.compile(r"([一二两三四五六七八九]?)十([一二三四五六七八九]?)")
_HUNDREDS = re.compile("[百千万]")
_PLACES = {10_000: "万", 1_000: "千", 100: "百", 10: "十"}
_COUNTS = {"a": 1, "an": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
           "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "a few": 4, "few": 4, "a couple of": 2,
           "half a": 0.5, "几": 4, "半": 0.5, "俩": 2}  # fmt: skip
_UNIT = {
    "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365,
    "day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365,
}  # fmt: skip
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS_AGO = {"今天": 0, "今日": 0, "今早": 0, "今晚": 0, "今儿": 0, "昨天": 1, "昨日": 1, "昨晚": 1,
             "昨儿": 1, "寻日": 1, "琴日": 1, "前天": 2, "前儿": 2, "大前天": 3, "明天": -1,
             "tmrw": -1, "tmr": -1, "明日": -1, "明早": -1, "明晚": -1, "明儿": -1, "听日": -1,
             "后天": -2, "后儿": -2, "大后天": -3, "today": 0, "this morning": 0, "tonight": 0,
             "yesterday": 1, "last night": 1, "the day before yesterday": 2, "tomorrow": -1,
             "the day after tomorrow": -2}  # fmt: skip
_NEAR = re.compile(
    rf"(?<![大a-z])(?:{'|'.join(_DAYS_AGO)})(?![a-z]|(?<=儿)[子女媳童孙科])", re.IGNORECASE
)
_NIGHT = re.compile(
    r"(?<=晚)|(?<=night)| ?(?:的?(?:晚|深?夜|半夜)|night\b|evening\b)", re.IGNORECASE
)
"""What follows a day, or ends its name, whose night is meant."""
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 5,
             "mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6}  # fmt: skip
_ON = r"一(?![共起直样些下点个])|[二三四]|五(?!天)|六|日(?![程常])|天(?!气)|末"
_WEEKDAY = re.compile(
    rf"(?<![每个一两二三四五六七八九十几、和上下\d])(上上|大上|下下|[上这本下]?)个?(?:周|星期|礼拜)({_ON})"
    r"|\b(?<!every )(?:(last|this|next) )?"
    r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)day\b(?!s)( before last\b)?",
    re.IGNORECASE,
)
_BACK = {"上": 1, "上上": 2, "last": 1, "past": 1, "before last": 2, "大上": 2, "去年": 1,
         "前年": 2, "大前年": 3, "下": -1, "下下": -2, "next": -1, "明年": -1,
         "后年": -2}  # fmt: skip
"""Weeks, months or years back; 0 for others."""
_ENGLISH_COUNTS = "|".join(word for word in _COUNTS if word.isascii())
_AGO = re.compile(
    r"(?P<zh>\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两俩三四五六七八九几半])"
    r"(?P<odd>[几来多])?"
    r"\s?个?(?P<and>半)?(?P<unit>天|日|周|星期|礼拜|月|年)(?P<half>半|多)?(?:之|以)?(?:前|(?P<after>后))"
    rf"|\b(?P<in>in )?(?P<en>\d{{1,3}}|{_ENGLISH_COUNTS}) "
    r"(?P<of>day|week|fortnight|month|year)s?(?P<more> and a half)?"
    r"(?(in)|(?: ago| (?P<hence>from now)))\b",
    re.IGNORECASE,
)
_LATELY = re.compile(
    r"(?:最近|过去|近来?|这(?!一)|前(?=[几两]))的?这?"
    r"(?P<zh>\d{1,3}|[一二两三四五六七八九]?十|[一二两三四五六七八九几半])个?(?P<unit>天|日|周|星期|礼拜|月|年)(?![前后])"
    rf"|\b(?:last|past|recent|these) (?P<en>\d{{1,3}}|{_ENGLISH_COUNTS}) "
    r"(?P<of>day|week|month|year)s\b",
    re.IGNORECASE,
)
"""A time that lasts until today."""
_OF_MONTH = r"\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九]"
_LAST = re.compile(
    rf"(?P<which>上上|大上|下下|[上这本下])个?(?:周|星期|礼拜|(?P<month>月))(?!(?<!月)(?:{_ON}))"
    rf"(?:(?<=月)的?(?P<day>{_OF_MONTH})[号日])?"
    r"|(?P<year>去年|大?前年|今年|明年|(?<![前今然])后年)(?:的?(?P<half>[上下])半年)?"
    r"|(?<![\d一二两三四五六七八九十几半每个上下这本大全多年月(（])(?P<bare>[月年])"
    r"(?=[初底末尾])(?!初[一二三四五六七八九十])|(?<![年的])(?P<part>[上下])半年(?!级)"
    r"|\b(?P<en>last|this|past|next) (?P<unit>week(?:end)?|month|year)\b"
    r"|\b(?P<before>week(?:end)?|month|year) before last\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"(?P<year>去年|大?前年)的?(?:今[天日儿]|(?P<about>这个?(?:时候|会儿|时|段时间)))"
    r"|\b(?:(?:a year ago|last year) today|this (?:day|(?P<time>time)) last year)\b",
    re.IGNORECASE,
)
"""This very day of another year, or about that time."""
_PART = re.compile(r"[月年]?(?:(初(?![一二三四五六七八九十中级恋])|上旬)|(中旬)|下旬|底|末|尾)")
"""What says which third of a month or quarter of a year is meant."""
_PERIOD = re.compile(rf"(?:{_LAST.pattern})(?:{_PART.pattern})?", re.IGNORECASE)
_RELATIVE = (_THEN, _AGO, _PERIOD, _NEAR, _WEEKDAY)
_BEFORE_MAY = re.compile(
    r"\b(?:in|last|next|this|since|until|by|early|mid|late)[ -]$", re.IGNORECASE
)
_CHINESE = re.compile(
    r"(?:(?<!\d)((?:\d\d){1,2})年)?(?:(\d{1,2})月份?)(?:(\d{1,2})[日号])?|(\d{4})年(?!代)"
    r"|(?<![\d了过有活])(0\d|[6-9]\d)年(?![前后以之来多间龄代度老级])"
)
_ENGLISH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|{_MONTH}(?: (\d{{1,2}})(?:st|nd|rd|th)?\b)?)"
    rf",?(?: (\d{{4}}))?\b|\b(?:in|of|since|during) ((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_DAY = re.compile(rf"\s*(?:[到至过]了?)?({_OF_MONTH})[号日]\s*")
_BARE_DAY = re.compile(
    r"(?<![号日][到至])(?<![\d月第路街道巷弄村座栋桌排楼室床a-z~–—.:/-])(?<!月的)([12]?\d|3[01])号"
    r"(?!线|楼|院|桌|位|床|门|机|房|店|馆|厅|球|电池|台|车|窗|口|仓|公路|码|字|选手|技师|病|教室)"
    r"|\b(?:on|by|until|till?|since|before|after) the (\d{1,2})(?:st|nd|rd|th)\b"
    r"(?=\s*(?:[^\w\s]|$)|\s+(?:at|for|we|i|with|in|and|or|every|from|is|what)\b)",
    re.IGNORECASE,
)
"""A day of a month that is not named: 5号, on the 28th."""
_DECADE = re.compile(
    r"(?<!\d)(1[89]|20)?(\d)0年代|\b(?:the|early|mid|late)[ -](19|20)?['’]?(\d)0['’]?s\b",
    re.IGNORECASE,
)
_MAY_NAME = re.compile(
    rf"[天日早晚儿周期拜月年号]|day|week|month|year|night|morning|morrow|tmr|{'|'.join(_MONTHS)}"
    r"|\d[-/.]\d|(?:in|of|since|during|the) \d|0['’]?s\b"
)
"""Some of which a text has that names a time; others, the most, need not be read for each."""
_MONTH_DAY = re.compile(
    r"\s*(?:[到至过]了?)?\s*(\d{1,2})\s?[月./-]\s?(\d{1,2})[号日]?(?:[之以]?[前后]|为止)?\s*"
)
*_SOLAR, _NEW_MOONS = blocks(Path(__file__).with_name("feasts.txt"))
_FEASTS, _LUNAR = (
    [
        (re.compile(names, re.IGNORECASE), int(month), int(day), int(length))
        for month, day, length, names in (line.split(" ", 3) for line in lines)
    ]
    for lines in _SOLAR
)
"""Feasts of both calendars: month, first day, how many days, what they are called."""
_MOONS = [
    [date.fromisoformat(first) + timedelta(sum(map(int, days[:month]))) for month in range(12)]
    for first, *days in map(str.split, _NEW_MOONS)
]
"""First days of the lunar months, a year a line; a leap month belongs to the one before."""
_LUNAR_DAY = re.compile(r"(?:(?:[农阴旧]历(\d{1,2})|([正冬腊]))月初?|大年初)(\d{1,2})")
_NUMERIC = re.compile(
    r"(?<![\d.])(?:(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<other>[/.])(?P<second>\d{1,2})(?P=other)(?P<last>\d{4}))[日号]?(?![\d.]\d|\d)"
)
"""``2024-1-21``, ``2024.1.21``, ``21.01.2024``; a month beyond 12 is a day."""
_DATE = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?"
_RANGE = re.compile(
    rf"\s*+(?P<first>{_DATE})?\s*+(?P<to>\.\.|~|—|–|至|到|\bto\b)?\s*+(?P<last>{_DATE})?\s*+"
)
_UNTIL = re.compile(r"\.\.|[~～—–至到]|\bto\b|(?<=\d{4})-(?=\d{4}(?!\d))")
"""What stands before the end of a period, whatever a model was told to write."""
_SEASON = re.compile(
    r"(?P<zh>[春夏秋冬])(?:(?P<end>[天季])|(?<=[年的初早盛深晚入].)(?![节晚运联夏秋冬令至奥瓜]))"
    r"|(?P<lead>\b(?:last|that|this|in) (?:the )?)?\b"
    r"(?P<en>spring|summer|autumn|(?<=(?:st|at|is|in|he) )fall|winter)\b",
    re.IGNORECASE,
)
_FIRST_MONTHS = {
    "春": 3, "夏": 6, "秋": 9, "冬": 12,
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
}  # fmt: skip
_LAST_SEASON = re.compile(r"\blast (?:spring|summer|autumn|fall|winter)\b", re.IGNORECASE)
_WRITTEN = re.compile(
    r"(\d{4})(?!\d)\s*(?:[-/.年]\s*(\d{1,2})(?!\d)\s*(?:[-/.月]\s*(\d{1,2})(?!\d)\s*日?"
    r"(?:[\sT]*([01]?\d|2[0-3])[:：]([0-5]\d))?)?)?"
)
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)(?!\d)")
_VAGUE = {"year": 4, "month": 7}
"""How much of a date is known, in characters."""
_DAY_OF_YEAR = re.compile(
    r"(?:(?P<year>\d{4})[年/.-])?(?P<month>\d{1,2})(?:月|[/.-])(?P<day>\d{1,2})(?!\d)"
)
_SPOKEN_DAY = re.compile(
    rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>\d{4}))?"
)


def arabic(text: str) -> str:
    """Text with its Chinese numbers up to 99 in digits."""
    whole = _TENS.sub(lambda m: f"{_DIGITS.get(m[1], '1')}{_DIGITS.get(m[2], '0')}", text)
    return whole.translate(_ARABIC)


def number(spelled: str) -> int:
    """The number that digits or Chinese numerals spell: 十五, 两千五, 一万零五百, 1.2万.

    Raises:
        ValueError: They spell none.
    """
    if not _HUNDREDS.search(spelled):
        return int(arabic(spelled))
    if not math.isfinite(amount := _amount(spelled)):
        raise ValueError("no number that anybody means")
    return round(amount)


def _amount(spelled: str, unit: int = 10_000) -> float:
    """What is spelled; the last unit, of so much at most, may be left out: 两千五."""
    if unit == 1:
        if spelled.isascii() or len(spelled) == 1:
            return float(arabic(spelled))
        raise ValueError(f"{spelled!r} is no number")
    count, named, rest = spelled.partition(_PLACES[unit])
    if not named:
        return _amount(spelled, unit // 10)
    whole = (1 if unit == 10 and not count else _amount(count)) * unit
    if len(rest) == 1:
        return whole + int(arabic(rest)) * unit // 10
    return whole + (_amount(rest.lstrip("零〇"), unit // 10) if rest else 0)


def birthday(text: str) -> str:
    """A day as ``year-month-day``, the year maybe empty; other text normalised.

    Days of the lunar calendar are not converted.
    """
    norm = arabic(normalise(text))
    found = _DAY_OF_YEAR.search(norm) or _SPOKEN_DAY.search(norm)
    if found is None or "农历" in norm or "阴历" in norm:
        return norm
    month = found["month"]
    named = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    return f"{found['year'] or ''}-{named}-{int(found['day'])}"


def extent(text: str, zone: tzinfo) -> Span | None:
    """The year, month, day or minute that ``text`` starts with.

    ``2026``, ``2026-05``, ``2026-05-03``, ``2026-05-03 19:00``, also with ``/``, ``.`` or 年月日,
    and ``20260503``; seconds since the epoch, ``None`` if it is no date.
    """
    found = _WRITTEN.match(_COMPACT.sub(r"\1-\2-\3", text.strip(), count=1))
    if not found:
        return None
    date, clock = found.groups()[:3], [int(part) for part in found.groups()[3:] if part]
    days = _calendar(zone, *(int(part) for part in date if part))
    try:
        if days and clock:
            start = days[0].replace(hour=clock[0], minute=clock[1])
            days = start, start + timedelta(minutes=1)
        return _seconds(days) if days else None
    except (ValueError, OverflowError, OSError):
        return None


def end_of(text: str, zone: tzinfo) -> float | None:
    """When a period like ``2026-05-04..2026-05-10`` or ``..2026-05`` ends, if it does."""
    found = extent(_UNTIL.split(f"{text}..", 1)[1], zone)
    return found[1] if found else None


def day_over(text: str, now: float, zone: tzinfo) -> float | None:
    """When the next day, week or month that a text names (``2026-05-03``, 周五) is over."""
    written, today, plain = extent(text, zone), _midnight(now, zone), simplified(text)
    if day := _DAY.fullmatch(plain):
        months = ((today.month + ahead - 1) % 12 + 1 for ahead in range(3))
        plain = "，".join(f"{month}月{number(day[1])}号" for month in months)
    elif day := _MONTH_DAY.fullmatch(arabic(plain)):
        plain = f"{day[1]}月{day[2]}日"
    plain = re.sub("(?<![这本下上个])周末", "这周末", plain)
    years = (today, today + timedelta(366))  # 5月3日 may be that of next year
    later = map(
        _seconds, [*_dates(plain, years[1]), *(d for y in years for d in _feasts(plain, y))]
    )
    lunar = [*map(_seconds, _lunar(plain, zone))]
    found = [written] if written else lunar or [*spans(plain, now, zone), *later]
    if _AGO.search(plain):  # of 一个月后 the very day, not what is about that time
        found = [(start, midnight((start + end) / 2, zone, 1)) for start, end in found]
    ends = (end if written else midnight(end, zone) for _, end in found)
    return min((end for end in ends if end > now), default=None)


def precision(text: str) -> str:
    """``year`` or ``month`` if a date names no day; else empty."""
    found = _WRITTEN.match(text.strip())
    return "" if found is None or found[3] else "month" if found[2] else "year"


def iso(at: float, zone: tzinfo, precision: str = "") -> str:
    """A date as ``2026-05-03``, or as vague as it is; ``?`` if it is none."""
    try:
        return day_of(at, zone).isoformat()[: _VAGUE.get(precision)]
    except (ValueError, OverflowError, OSError):
        return "?"


def timestamp(value: object, zone: tzinfo) -> float | None:
    """Seconds since the epoch of a machine-written time; ``None`` if it is none.

    ``value``: seconds, milliseconds (if that large), or ISO 8601 (2026/03/01 as well), by default
    in ``zone``.
    """
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip().replace("/", "-"))
            seconds = (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = float(value) / 1000 if abs(value) > 1e11 else float(value)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return seconds if 0 < seconds < 1e11 else None


def spans(text: str, now: float, zone: tzinfo) -> list[Span]:
    """The times that a text speaks of, as seconds ``(start, end)``."""
    today, text = _midnight(now, zone), simplified(text)
    if not _MAY_NAME.search(text.casefold()):
        return []
    relative = _relative(text, today, is_late=now - today.timestamp() < DAWN.total_seconds())
    dated = _dates(text, today)
    wide, narrow = (list(map(_seconds, islice(each, MOST_TIMES))) for each in (relative, dated))
    return _agreed(wide, narrow)[:MOST_TIMES]


def _agreed(wide: list[Span], narrow: list[Span]) -> list[Span]:
    """Times, of which 去年5月 (last year, and May of any year) is where both agree."""

    def holds(outer: Span, inner: Span) -> bool:
        return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]

    if around := [each for each in wide if any(holds(each, other) for other in narrow)]:
        wide = [each for each in wide if each not in around]
        narrow = [each for each in narrow if any(holds(other, each) for other in around)]
    return wide + narrow


def _seconds(days: Days) -> Span:
    return days[0].timestamp(), days[1].timestamp()


def _relative(text: str, today: datetime, *, is_late: bool) -> Iterator[Days]:
    """Days, weeks, months and years as seen from a day, or from the night after it."""
    day = timedelta(1)
    for match in _THEN.finditer(text):
        yield _then(match, today)
    text = _THEN.sub(" ", text)
    for match in _NEAR.finditer(text):
        start = today - _DAYS_AGO[match[0].lower()] * day
        night = DAWN * bool(_NIGHT.match(text, match.end()))
        yield start - is_late * day, start + day + night
    for match in _AGO.finditer(text):
        count = _counted(match["zh"] or match["en"])
        is_more = match["and"] or match["half"] or match["more"]
        count += 4 if match["odd"] else 0.5 if is_more else 0
        days = count * _UNIT[(match["unit"] or match["of"]).lower()]
        is_ahead = match["after"] or match["in"] or match["hence"]
        middle = today + days * day if is_ahead else today - days * day
        around = (days // 4 if days > 3 else 0) * day
        yield middle - around, middle + day + around
    for match in _LAST.finditer(text):
        yield _named(match, today)
    for match in _WEEKDAY.finditer(text):
        if match[2] == "末" and not match[1]:
            continue  # any weekend
        for days in _days_to(match, today.weekday()):
            start, length = today + days * day, 2 if match[2] == "末" else 1
            yield start, start + length * day + DAWN * bool(_NIGHT.match(text, match.end()))


def _then(match: re.Match[str], today: datetime) -> Days:
    """The day that :data:`_THEN` found, or a month around it."""
    year = today.year - _BACK[match["year"] or "last"]
    is_leap_day = (today.month, today.day) == (2, 29)
    then = today.replace(year, day=28 if is_leap_day else today.day)
    around = timedelta(15 if match["about"] or match["time"] else 0)
    return then - around, then + around + timedelta(1)


def _days_to(match: re.Match[str], weekday: int) -> list[int]:
    """How far the day of the week that is named may be, if today is ``weekday``."""
    named = _WEEKDAYS[(match[2] or match[4][:3]).lower()]
    ahead = (named - weekday) % 7
    if match[5]:
        return [ahead - 14]
    if match[1]:
        return [named - weekday - 7 * _BACK.get(match[1], 0)]
    if match[3] and match[3].lower() != "this":
        return [ahead - 7 if match[3].lower() == "last" else ahead or 7]
    return [ahead - 7, ahead] if ahead else [0]


def _named(match: re.Match[str], today: datetime) -> Days:
    """The week, month or year that :data:`_LAST` found, or the day or part of it."""
    named = match.groupdict()
    which = named["which"] or named["year"] or named["en"] or "before last" * bool(named["before"])
    half, units = named["half"] or named["part"], ("month", "bare", "unit", "before", "year")
    unit = next(filter(None, map(named.get, units)), "年" if half else "week")
    start, end = period(_BACK.get(which.lower(), 0), unit.lower(), today)
    if match["day"] and (day := start + timedelta(number(match["day"]) - 1)) < end:
        return day, day + timedelta(1)
    if half:
        middle = start.replace(month=7)
        return (start, middle) if half == "上" else (middle, end)
    part = _PART.match(match.string, match.end()) if unit[-1] in "月年" else None
    if part:
        days, parts = (end - start).days, 3 if unit == "月" else 4
        place = 0 if part[1] else 1 if part[2] else parts - 1
        end = start + timedelta(days * (place + 1) // parts)
        start += timedelta(days * place // parts)
    return start, end


def period(back: int, unit: str, today: D) -> tuple[D, D]:
    """The week, month or year of a day, or an earlier one, and where it ends."""
    if unit.endswith(("年", "year")):
        year = today.year - back
        return today.replace(year, 1, 1), today.replace(year + 1, 1, 1)
    if unit.endswith(("月", "month")):
        start = (today.replace(day=15) - timedelta(30 * back)).replace(day=1)
        return start, (start + timedelta(32)).replace(day=1)
    start = today - timedelta(today.weekday() + 7 * back)
    return start, start + timedelta(7)


def _dates(text: str, today: datetime) -> Iterator[Days]:
    figures = arabic(text)
    for match in _CHINESE.finditer(figures):
        yield from _days(match[1] or match[4] or match[5], match[2], match[3], today)
    for match in _ENGLISH.finditer(text):
        name = match[2] or match[3]
        is_may = name and name.lower() == "may" and not (match[1] or match[4] or match[5])
        if is_may and not _BEFORE_MAY.search(text, max(0, match.start() - 8), match.start()):
            continue  # the verb
        month = str(_MONTHS.index(name[:3].lower()) + 1) if name else None
        yield from _days(match[5] or match[6], month, match[1] or match[4], today)
    for match in _NUMERIC.finditer(text):
        yield from _days(*_numeric(match), today)
    for match in _BARE_DAY.finditer(figures):
        yield from _nearest(int(match[1] or match[2]), today)
    for match in _DECADE.finditer(figures):
        century, tens = match[1] or match[3], int(match[2] or match[4])
        year = 100 * int(century or 20) + 10 * tens
        year -= 100 * (not century and year > today.year)
        start = today.replace(year, 1, 1)
        yield start, start.replace(year + 10)


def _nearest(day: int, today: datetime) -> Iterator[Days]:
    """The last and the next such day of a month, or today alone."""
    months = [today.year * 12 + today.month - 1 + ahead for ahead in range(-2, 3)]
    found = [_calendar(today.tzinfo, month // 12, month % 12 + 1, day) for month in months]
    days = [each for each in found if each]
    past = [each for each in days if each[0] <= today][-1:]
    yield from past
    yield from [each for each in days if each[0] > today][: not past or past[0][0] < today]


def _lately(text: str, today: datetime) -> Iterator[Days]:
    """The days, weeks, months or years until today that a text names."""
    for match in _LATELY.finditer(text):
        days = _counted(match["zh"] or match["en"]) * _UNIT[(match["unit"] or match["of"]).lower()]
        yield today - timedelta(days), today + timedelta(1)


def _counted(spelled: str) -> float:
    """How many a word or numeral says."""
    word = spelled.lower()
    return _COUNTS[word] if word in _COUNTS else number(word)


def _feasts(text: str, today: datetime) -> Iterator[Days]:
    """The feasts that a text names, of any year that a day may be of, newest first."""
    for names, month, day, length in _FEASTS:
        found = _days(None, str(month), str(day), today) if names.search(text) else ()
        for start, end in reversed(list(found)):
            yield start, end + timedelta(length - 1)


def _lunar(text: str, zone: tzinfo) -> Iterator[Days]:
    """Days of the lunar calendar that a text names, of each year listed, newest first."""
    named = [rest for names, *rest in _LUNAR if names.search(text)]
    for month, special, day in _LUNAR_DAY.findall(arabic(text)):
        named.append([int(month or {"": 1, "正": 1, "冬": 11, "腊": 12}[special]), int(day), 1])
    for month, day, length in named:
        for firsts in reversed(_MOONS) if 0 < month <= len(_MONTHS) else ():
            start = datetime.combine(firsts[month - 1] + timedelta(day - 1), time.min, zone)
            yield start, start + timedelta(length)


def _numeric(date: re.Match[str]) -> tuple[str, str, str]:
    """Year, month and day; the day comes first where the year comes last."""
    if date["year"]:
        return date["year"], date["month"], date["day"]
    day, month = date["first"], date["second"]
    return (date["last"], day, month) if int(month) > 12 else (date["last"], month, day)


def is_relative(text: str) -> bool:
    """Whether a text names a time by the day on which it is said."""
    plain = simplified(text)
    may_name = _MAY_NAME.search(plain.casefold()) is not None
    return may_name and any(named.search(plain) for named in _RELATIVE)


def without_times(text: str) -> str:
    """A text without the times that it names."""
    for named in (*_RELATIVE, _CHINESE, _ENGLISH, _NUMERIC, _BARE_DAY, _DECADE):
        text = named.sub(" ", text)
    return text


def _days(year: str | None, month: str | None, day: str | None, today: datetime) -> Iterator[Days]:
    parts = [int(part) for part in (month, day) if part]
    full = int(year or 0)
    if year and len(year) == 2:  # 24年5月, 98年
        full += today.year // 100 * 100 - 100 * (full > today.year % 100 + AHEAD)
    for each in [full] if year else range(today.year - YEARS, today.year + 2):
        if found := _calendar(today.tzinfo, each, *parts):
            yield found


def _calendar(zone: tzinfo | None, year: int, *rest: int) -> Days | None:
    """Begin and end of a year, month or day; ``None`` if there is none such."""
    month, day = [*rest, 1, 1][:2]
    try:
        start = datetime(year, month, day, tzinfo=zone)
        if len(rest) == 2:
            return start, start + timedelta(1)
        return period(0, "month" if rest else "year", start)
    except (ValueError, OverflowError):
        return None


def periods(text: str, now: float, zone: tzinfo) -> list[Span]:
    """Times that a text names, as seconds ``(start, end)``; one side may be infinite.

    Dates and ranges ("2026-01", "2026-01-05..2026-02", "2026-01..") or phrases ("去年夏天").
    """
    dated = _RANGE.fullmatch(text)
    if dated and (dated["first"] or dated["last"]):
        first, last = (extent(dated[side] or "", zone) for side in ("first", "last"))
        if dated["to"] is None:
            return [first] if first else []
        start = first[0] if first else -math.inf
        end = last[1] if last else math.inf
        if (dated["first"] and not first) or (dated["last"] and not last) or end <= start:
            return []
        return [(start, end)]
    plain, today = simplified(text), _midnight(now, zone)
    named = chain(_feasts(plain, today), _lunar(plain, zone))
    over = (days for days in named if days[0] <= today)
    feasts = map(_seconds, chain(over, _lately(plain, today)))
    return _seasons(plain, _agreed(spans(plain, now, zone), list(feasts)), zone)


def past_periods(text: str, now: float, zone: tzinfo) -> list[Span]:
    """Times that a question about whole periods names, newest first."""
    found = periods(text, now, zone)
    month = _season(text, is_clear=True)
    if found or month is None:
        return found
    today = _midnight(now, zone)
    for year in range(today.year, today.year - YEARS - 1, -1):
        season = _quarter(today.replace(year, 1, 1), month)
        if season[1] <= today:
            found.append(_seconds(season))
    return found[:1] if _LAST_SEASON.search(text) else found


def _season(text: str, *, is_clear: bool) -> int | None:
    """First month of the season that is named; if ``is_clear``, as 春天 and not 春."""
    for named in _SEASON.finditer(text):
        if not is_clear or named["end"] or named["lead"]:
            return _FIRST_MONTHS[(named["zh"] or named["en"]).lower()]
    return None


def _quarter(year: datetime, month: int) -> Days:
    """A season of a year; winter begins in it."""
    begin = year.replace(month=month, day=1)
    return begin, (begin + timedelta(95)).replace(day=1)


def _seasons(text: str, found: list[Span], zone: tzinfo) -> list[Span]:
    """Spans, of whole years only the season if one is named."""
    month = _season(text, is_clear=False)
    if month is None:
        return found
    return [
        (start, end)
        if end - start < 365 * 86_400 - 7_200
        else _seconds(_quarter(datetime.fromtimestamp(start, zone), month))
        for start, end in found
    ]


_TIME = r"(\d{1,2})[:：](\d{2})"
_HOURS = re.compile(rf"\s*(?!00?[:：]00\D+24){_TIME}\s*[-–—~～－至到]\s*{_TIME}\s*")
"""From when until when; not 0:00-24:00, of which begin and end are one, as if there were none."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From ``start`` to ``end``, also over midnight; none if both are the same."""

    start: time
    end: time

    def until(self, at: float, zone: tzinfo) -> float | None:
        """End of the quiet hours around a moment; ``None`` outside of them."""
        local = datetime.fromtimestamp(at, zone)
        clock = local.time()
        if self.start <= self.end:
            if not self.start <= clock < self.end:
                return None
        elif self.end <= clock < self.start:
            return None
        day = local.date() + timedelta(days=clock >= self.end)
        return datetime.combine(day, self.end, zone).replace(fold=local.fold).timestamp()


def quiet_hours(text: str) -> QuietHours | None:
    """Quiet hours like ``23:00-08:00``; ``None`` for an empty text.

    Raises:
        ValueError: The text is of another form.
    """
    if not text.strip():
        return None
    found = _HOURS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not like 23:00-08:00")
    hour, minute, to_hour, to_minute = map(int, found.groups())
    return QuietHours(time(hour, minute), time(to_hour % 24, to_minute))


def day_of(at: float, zone: tzinfo) -> date:
    """The local day of a moment."""
    return datetime.fromtimestamp(at, zone).date()


def moment(at: float, zone: tzinfo) -> str:
    """A moment as people read it, to the minute."""
    return f"{datetime.fromtimestamp(at, zone):%Y-%m-%d %H:%M}"


def midnight(at: float, zone: tzinfo, days: int = 0) -> float:
    """Begin of the local day of a moment, or of the one some days later."""
    return (_midnight(at, zone) + timedelta(days)).timestamp()


def _midnight(at: float, zone: tzinfo) -> datetime:
    return datetime.combine(day_of(at, zone), time.min, zone)
