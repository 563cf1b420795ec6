"""The forgetting curve: its anchor points and what must hold everywhere on it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.model import Fact
from graph_memory.retention import (
    DAY,
    MAX_HALF_LIFE,
    RESTATED,
    USED,
    fades_at,
    initial_half_life,
    retention,
    strength,
    used,
)

from .makers import T0, entity, fact, private, user


def known(**more: object) -> Fact:
    return fact(private("zhang"), user("zhang"), entity("猫"), "张三喜欢猫", **more)


def test_half_life_by_importance():
    assert [round(initial_half_life(i)) for i in (0, 0.5, 1, -3, 7)] == [30, 120, 480, 30, 480]


def test_anchor_points_of_the_curve():
    assert retention(0, 30) == 1.0
    assert retention(30 * DAY, 30) == pytest.approx(0.5)
    assert retention(150 * DAY, 30) == pytest.approx(0.25)
    assert retention(75 * DAY, 30, rate=2) == pytest.approx(0.25)
    assert retention(1e9, 30, rate=0) == 1.0
    assert retention(-5, 30) == 1.0, "a clock that jumped back"


def test_restating_right_away_changes_little_and_after_long_a_lot():
    assert used(known(), T0 + 60, RESTATED).half_life == pytest.approx(120, rel=1e-3)
    late = used(known(), T0 + 120 * DAY, RESTATED)
    assert late.half_life == pytest.approx(240)
    assert late.last_used == T0 + 120 * DAY
    assert late.use_count == 2


def test_use_in_a_reply_counts_half_and_is_no_restatement():
    after = used(known(), T0 + 120 * DAY, USED)
    assert after.half_life == pytest.approx(180)
    assert after.last_used == pytest.approx(T0 + 60 * DAY)
    assert after.use_count == 1


def test_pinned_facts_do_not_fade():
    pinned = known(pinned=True)
    assert strength(pinned, T0 + 1e9) == 1.0
    assert fades_at(pinned, 0.25) == math.inf


ages = st.floats(0, 4e8)
half_lives = st.floats(1, MAX_HALF_LIFE)
rates = st.floats(0, 100)


@given(ages, ages, half_lives, rates)
def test_retention_is_a_fraction_and_never_grows_with_age(a, b, half_life, rate):
    low, high = sorted((a, b))
    assert 0 < retention(high, half_life, rate) <= retention(low, half_life, rate) <= 1


@given(ages, st.floats(0.01, 1), rates)
def test_use_never_weakens(age: float, weight: float, rate: float):
    before = known()
    after = used(before, T0 + age, weight, rate)
    assert before.half_life <= after.half_life <= MAX_HALF_LIFE
    assert before.last_used <= after.last_used <= T0 + age
    assert strength(after, T0 + age, rate) >= strength(before, T0 + age, rate)


@given(st.floats(0.05, 0.9), st.floats(0.01, 100), st.floats(0, 1))
def test_a_fact_fades_when_it_is_said_to(threshold: float, rate: float, importance: float):
    some = known(importance=importance)
    moment = fades_at(some, threshold, rate)
    assert strength(some, moment - 60, rate) > threshold > strength(some, moment + 60, rate)


def test_nothing_fades_when_forgetting_is_off():
    assert fades_at(known(), 0.25, 0) == math.inf
    assert fades_at(known(), 0) == math.inf
    assert fades_at(known(status="archived"), 0.25) == math.inf
