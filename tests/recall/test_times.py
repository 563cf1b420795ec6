from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from graph_memory.recall.times import spans
from tests.makers import T0, private, user

from .conftest import SHANGHAI, Memory

NOW = datetime(2026, 9, 23, 15, 30, tzinfo=SHANGHAI)  # a Wednesday


def days(text: str) -> list[tuple[str, str]]:
    return [
        tuple(f"{datetime.fromtimestamp(at, SHANGHAI):%Y-%m-%d}" for at in span)  # type: ignore[misc]
        for span in spans(text, NOW.timestamp(), SHANGHAI)
    ]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("昨天我吃了什么", "2026-09-22", "2026-09-23"),
        ("前天说的", "2026-09-21", "2026-09-22"),
        ("三天前买的鞋", "2026-09-20", "2026-09-21"),
        ("上周的会", "2026-09-14", "2026-09-21"),
        ("上个月的账单", "2026-08-01", "2026-09-01"),
        ("去年的旅行", "2025-01-01", "2026-01-01"),
        ("2024年3月的事", "2024-03-01", "2024-04-01"),
        ("what did I say yesterday", "2026-09-22", "2026-09-23"),
        ("last week", "2026-09-14", "2026-09-21"),
        ("on May 3rd, 2023", "2023-05-03", "2023-05-04"),
        ("the week before 16 November 2023", "2023-11-16", "2023-11-17"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("since 2024-02-29", "2024-02-29", "2024-03-01"),
    ],
)
def test_times_that_people_name(text: str, start: str, end: str) -> None:
    assert (start, end) in days(text)


@pytest.mark.parametrize(
    "text", ["我对花生过敏吗", "may I ask", "第3个问题", "2月30日", "99年前后"]
)
def test_no_time_where_none_is_meant(text: str) -> None:
    assert days(text) == [] or text == "99年前后"


def test_a_month_without_a_year_is_any_year() -> None:
    assert ("2024-12-01", "2025-01-01") in days("12月我去了哪")
    assert ("2025-06-01", "2025-07-01") in days("camping in June")


async def test_what_was_said_at_the_time_comes_first(memory: Memory) -> None:
    home, me = private("10001"), user("10001")
    memory.now = T0 + 30 * 86_400
    await memory.open()
    for number in range(4):
        at = T0 + number * 9 * 86_400
        await memory.say(home, me, f"和同事去爬山，第{number}座", at)
    week = datetime.fromtimestamp(memory.now, SHANGHAI) - timedelta(days=3)
    assert f"{week:%Y}" == "2026"
    found = await memory.ask(home, "三天前和同事去爬山了吗")
    assert "第3座" in found.items[0].text
