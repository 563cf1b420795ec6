"""Fading curves follow the formula; bars are in the picture, in order, never of no width."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.inspect.presentation import HEIGHT, WIDTH, Timeline, fading_line
from graph_memory.library import FactLine, Thread
from graph_memory.retention import DAY, initial_half_life, lifetime, retention
from tests.makers import T0, entity, fact, private, user

ZONE = ZoneInfo("Asia/Shanghai")
HOME = private("zhang")
BASE = fact(HOME, user("zhang"), entity("猫"), "张三喜欢猫")
Times = st.one_of(st.none(), st.floats(-1e12, 1e12), st.floats(T0 - 9e8, T0 + 9e8))


def line(said: float, start: float | None, end: float | None, *, old: bool = False) -> FactLine:
    made = replace(BASE, said_at=said, valid_from=start, valid_to=end)
    return FactLine(made, "张三", "猫", HOME, 0.5, 0.0, old)


@given(st.lists(st.tuples(st.floats(0, 4e9), Times, Times, st.booleans()), max_size=8))
def test_every_bar_is_in_the_picture(facts: list[tuple[float, float | None, float | None, bool]]):
    threads = [Thread((line(said, start, end, old=old),)) for said, start, end, old in facts]
    drawn = Timeline.of(threads, T0, ZONE)
    rows = (*drawn.now, *drawn.before)
    assert len(rows) == len(facts)
    for row in rows:
        for bar in row.bars:
            assert 0 <= bar.x <= 100
            assert bar.width >= 1.2
            assert bar.x + bar.width <= 101.3
    assert len(drawn.ticks) <= 9
    assert list(drawn.ticks) == sorted(drawn.ticks)


def test_what_was_replaced_ends_when_the_next_begins() -> None:
    old = line(T0 - 100 * DAY, None, None, old=True)
    (row,) = Timeline.of([Thread((old, line(T0 - 40 * DAY, None, None)))], T0, ZONE).now
    first, second = row.bars
    assert (first.is_over, second.is_over) == (True, False)
    assert first.end == second.start
    assert first.x == 0
    assert abs(first.x + first.width - second.x) < 0.02
    assert abs(second.x + second.width - 100) < 0.02


def test_what_ended_is_before_and_months_are_marked() -> None:
    drawn = Timeline.of([Thread((line(T0 - 300 * DAY, None, T0 - DAY),))], T0, ZONE)
    assert drawn.now == ()
    assert len(drawn.before) == 1
    assert [month for _, _, month in drawn.ticks] == [1, 3, 5, 7, 9]


def test_names_of_months_have_room() -> None:
    drawn = Timeline.of([Thread((line(T0 - 395 * DAY, None, None),))], T0, ZONE)
    assert [month for _, _, month in drawn.ticks] == [10, 1, 4, 7]


def test_what_began_before_the_war_has_its_decades_marked() -> None:
    born = datetime(1938, 5, 1, tzinfo=ZONE).timestamp()
    drawn = Timeline.of([Thread((line(T0, born, None),))], T0, ZONE)
    assert [year for _, year, _ in drawn.ticks] == [1940, 1960, 1980, 2000, 2020]


def test_the_curve_is_the_formula() -> None:
    for line in (fading_line(importance, 2.0, 0.4) for importance in (0.0, 0.5, 1.0)):
        half_life = initial_half_life(line.importance)
        for point in line.points.split():
            x, y = map(float, point.split(","))
            assert abs(1 - y / HEIGHT - retention(x / WIDTH * 730 * DAY, half_life, 2.0)) < 0.01
        assert line.days == lifetime(half_life, 0.4, 2.0)
        assert (line.mark is None) == (line.days > 730)
    assert fading_line(0.5, 0.0, 0.4).days is None
    assert fading_line(0.5, 1.0, 0.0).mark is None
