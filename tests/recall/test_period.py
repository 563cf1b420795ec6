"""Stretches of time as they are named."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.recall import periods

from .conftest import SHANGHAI

NOW = datetime(2026, 11, 22, 15, 0, tzinfo=SHANGHAI).timestamp()


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=SHANGHAI).timestamp()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2026-02-28", "2026-02-28", "2026-03-01"),
        ("2026-01..2026-03", "2026-01-01", "2026-04-01"),
        (" 2026-01-05 ~ 2026-02 ", "2026-01-05", "2026-03-01"),
        ("2025到2026", "2025-01-01", "2027-01-01"),
        ("2025-11 to 2026-01-02", "2025-11-01", "2026-01-03"),
        ("上周", "2026-11-09", "2026-11-16"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("去年夏天", "2025-06-01", "2025-09-01"),
        ("今年春天聊的", "2026-03-01", "2026-06-01"),
        ("in 2024, autumn", "2024-09-01", "2024-12-01"),
        ("前年冬天", "2024-12-01", "2025-03-01"),
        ("上周夏天", "2026-11-09", "2026-11-16"),
    ],
)
def test_periods(text: str, start: str, end: str) -> None:
    assert periods(text, NOW, SHANGHAI) == [(day(start), day(end))]


def test_open_sides() -> None:
    assert periods("2026-03..", NOW, SHANGHAI) == [(day("2026-03-01"), math.inf)]
    assert periods("..2026-03", NOW, SHANGHAI) == [(-math.inf, day("2026-04-01"))]


@pytest.mark.parametrize(
    "text",
    ["", "..", "2026-13", "2026-02-30..", "2026-03..2026-01", "0000", "不知道", "9999-12-31"],
)
def test_what_names_no_time(text: str) -> None:
    assert periods(text, NOW, SHANGHAI) == []


@given(st.text(alphabet="0123456789-. ~至去年夏上周月日", max_size=24))
def test_anything_may_be_asked(text: str) -> None:
    assert all(start < end for start, end in periods(text, NOW, SHANGHAI))
