"""Quiet hours, over midnight and through the changes of a clock."""

from datetime import datetime, time, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.dates import QuietHours, midnight, quiet_hours

from .makers import CHINA

TIMES = st.builds(time, st.integers(0, 23), st.integers(0, 59))


def at(clock: str, zone: ZoneInfo | timezone = CHINA) -> float:
    return datetime.fromisoformat(f"2026-03-05 {clock}").replace(tzinfo=zone).timestamp()


@pytest.mark.parametrize(("clock", "end"), [
    ("22:59", None), ("23:00", "2026-03-06 08:00"), ("00:30", "2026-03-05 08:00"),
    ("07:59", "2026-03-05 08:00"), ("08:00", None), ("12:00", None),
])  # fmt: skip
def test_over_midnight(clock: str, end: str | None) -> None:
    hours = quiet_hours("23:00-08:00")
    until = hours.until(at(clock), CHINA)
    assert (until and f"{datetime.fromtimestamp(until, CHINA):%Y-%m-%d %H:%M}") == end


@given(TIMES, TIMES, st.integers(0, 2_000_000_000))
def test_the_end_of_quiet_hours_is_not_quiet(start: time, end: time, now: int) -> None:
    hours = QuietHours(start, end)
    until = hours.until(now, CHINA)
    if start == end:
        assert until is None
    if until is not None:
        assert now < until <= now + 86_400
        assert hours.until(until, CHINA) is None
        assert hours.until(until - 1, CHINA) == until


def test_through_a_change_of_the_clock() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    hours = quiet_hours("23:00-08:00")
    night = datetime(2026, 3, 29, 1, 0, tzinfo=berlin).timestamp()
    until = hours.until(night, berlin)
    assert until == datetime(2026, 3, 29, 8, 0, tzinfo=berlin).timestamp()
    assert until - night == 6 * 3600


@pytest.mark.parametrize("text", ["", "  "])
def test_none(text: str) -> None:
    assert quiet_hours(text) is None


@pytest.mark.parametrize(
    "text", ["23:00", "23-8", "25:00-08:00", "23:61-08:00", "夜里", "0:00-24:00"]
)
def test_nonsense(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        quiet_hours(text)


def test_written_as_people_do() -> None:
    wanted = QuietHours(time(23), time(8))
    for text in (" 23：00 ～ 8:00 ", "23：00－08：00", "23:00至08:00", "23:00 到 8:00"):
        assert quiet_hours(text) == wanted
    assert quiet_hours("22:30-24:00") == QuietHours(time(22, 30), time(0))


def test_days() -> None:
    assert midnight(at("00:00"), CHINA) == at("00:00")
    assert midnight(at("23:59"), CHINA, days=1) - at("00:00") == 86_400


def test_an_hour_that_comes_twice_does_not_end_before_it_is_asked_about() -> None:
    berlin, hours = ZoneInfo("Europe/Berlin"), QuietHours(time(23), time(2, 30))
    for fold in (0, 1):
        now = datetime(2026, 10, 25, 2, 10, tzinfo=berlin, fold=fold).timestamp()
        assert hours.until(now, berlin) == now + 20 * 60
