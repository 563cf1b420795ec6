"""Dates, time phrases and numerals as people write them."""

import math
import time
from contextlib import nullcontext, suppress
from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_memory.dates import (
    arabic,
    day_over,
    end_of,
    number,
    past_periods,
    periods,
    spans,
    timestamp,
)
from tests.cases import tabled
from tests.makers import CHINA

NOW = datetime(2026, 9, 23, 15, 30, tzinfo=CHINA)  # a Wednesday


def days(text: str) -> list[tuple[str, str]]:
    return [
        tuple(f"{datetime.fromtimestamp(at, CHINA):%Y-%m-%d}" for at in span)  # type: ignore[misc]
        for span in spans(text, NOW.timestamp(), CHINA)
    ]


@tabled
def test_when_a_day_to_come_is_over(text: str, end: str | None):
    over = day_over(text, NOW.timestamp(), CHINA)
    assert (over and f"{datetime.fromtimestamp(over, CHINA):%Y-%m-%d}") == end


@tabled
def test_when_a_period_ends(text: str, end: str | None):
    over = end_of(text, CHINA)
    assert (over and f"{datetime.fromtimestamp(over, CHINA):%Y-%m-%d}") == end


@tabled
def test_times_that_people_name(text: str, start: str, end: str) -> None:
    assert (start, end) in days(text)


@tabled
def test_no_time_where_none_is_meant(text: str) -> None:
    assert days(text) == [] or text == "99年前后"


def test_what_a_year_or_month_is_named_with_is_no_time_itself() -> None:
    assert days("去年11月") == days("in November of last year") == [("2025-11-01", "2025-12-01")]
    assert days("去年5月3日和昨天") == [("2026-09-22", "2026-09-23"), ("2025-05-03", "2025-05-04")]
    assert days("上个月31号") == [("2026-08-31", "2026-09-01")]


def test_a_day_of_last_week_is_not_the_whole_week() -> None:
    assert days("上上周") == [("2026-09-07", "2026-09-14")]
    assert days("大前天") == [("2026-09-20", "2026-09-21")]
    assert days("上周六") == [("2026-09-19", "2026-09-20")]
    assert days("上周一共花了多少") == days("上周天气") == [("2026-09-14", "2026-09-21")]


def test_a_night_ends_at_dawn() -> None:
    def hours(text: str, now: str) -> list[tuple[str, ...]]:
        found = spans(text, day(now), CHINA)
        return [tuple(f"{datetime.fromtimestamp(at, CHINA):%d-%H}" for at in s) for s in found]

    for night in ("昨晚", "昨天晚上", "昨天夜里", "last night"):
        assert hours(night, "2026-09-23T07:00") == [("22-00", "23-05")]
    assert hours("周一晚上", "2026-09-23T07:00")[0] == ("21-00", "22-05")
    assert hours("last Monday night", "2026-09-23T07:00") == [("21-00", "22-05")]
    assert hours("昨天", "2026-09-23T07:00") == [("22-00", "23-00")]
    assert hours("今晚", "2026-09-23T01:00") == [("22-00", "24-05")]
    assert hours("今天", "2026-09-23T01:00") == [("22-00", "24-00")]


def test_a_month_without_a_year_is_any_year() -> None:
    assert ("2024-12-01", "2025-01-01") in days("12月我去了哪")
    assert ("2025-06-01", "2025-07-01") in days("camping in June")


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=CHINA).timestamp()


@tabled
def test_periods(text: str, start: str, end: str) -> None:
    sides = day(start) if start else -math.inf, day(end) if end else math.inf
    assert periods(text, NOW.timestamp(), CHINA) == [sides]


@tabled
def test_what_names_no_time(text: str) -> None:
    assert periods(text, NOW.timestamp(), CHINA) == []


@given(st.text(alphabet="0123456789-. ~至去年夏上周月日", max_size=24))
def test_anything_may_be_asked(text: str) -> None:
    assert all(start < end for start, end in periods(text, NOW.timestamp(), CHINA))


@tabled
def test_numerals(spelled: str, expected: int) -> None:
    assert number(spelled) == expected
    assert arabic(f"第{spelled}层") == f"第{expected}层"


@tabled
def test_amounts(spelled: str, expected: int | None) -> None:
    with nullcontext() if expected else pytest.raises(ValueError, match=r"."):
        assert number(spelled) == expected


@given(st.text("0123456789.零一二两十百千万٣", max_size=900))
@example("9" * 400 + "百")
@example("一万" + "9" * 400)
def test_whatever_looks_like_an_amount_is_one_or_none(spelled: str) -> None:
    with suppress(ValueError):
        assert number(spelled) >= 0


@tabled
def test_periods_that_are_over(text: str, start: str, end: str) -> None:
    assert past_periods(text, NOW.timestamp(), CHINA)[0] == (day(start), day(end))


def test_a_character_of_a_season_is_no_season() -> None:
    assert past_periods("春卷我们聊了什么", NOW.timestamp(), CHINA) == []


@tabled
def test_timestamps(value: object, expected: float | None) -> None:
    assert timestamp(value, CHINA) == expected


@pytest.mark.parametrize("text", ["2026" + " " * 1_990 + "说了什么", "5月3日" * 500 + "说了什么"])
def test_a_page_of_blanks_or_of_dates_takes_no_time(text: str) -> None:
    began = time.process_time()
    past_periods(text, NOW.timestamp(), CHINA)
    assert time.process_time() - began < 0.1
