"""Moods: bounded, drifting to the baseline, and not caring how often anybody looks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.companion.inner_state import (
    BASELINE,
    HALF_LIFE,
    STEP,
    Feeling,
    decayed,
    mood_name,
    moved,
)
from graph_memory.locales import say

sides = st.floats(-1, 1)
feelings = st.builds(Feeling, sides, sides)
times = st.floats(0, 1e7)


def distance(feeling: Feeling, other: Feeling) -> tuple[float, float]:
    return abs(feeling.valence - other.valence), abs(feeling.arousal - other.arousal)


def close(one: Feeling, other: Feeling) -> bool:
    return all(math.isclose(d, 0.0, abs_tol=1e-9) for d in distance(one, other))


@given(feelings, times, feelings)
def test_a_feeling_stays_within_bounds_and_between_itself_and_the_baseline(
    last: Feeling, later: float, baseline: Feeling
) -> None:
    now = decayed(last, later, baseline)
    for before, after, base in (
        (last.valence, now.valence, baseline.valence),
        (last.arousal, now.arousal, baseline.arousal),
    ):
        assert -1 <= after <= 1
        assert min(before, base) - 1e-12 <= after <= max(before, base) + 1e-12


@given(feelings, times, times)
def test_it_only_comes_nearer_to_the_baseline(last: Feeling, some: float, more: float) -> None:
    far, near = (distance(decayed(last, t), BASELINE) for t in (some, some + more))
    assert all(n <= f + 1e-12 for f, n in zip(far, near, strict=True))


@given(feelings, times, times)
def test_looking_in_between_changes_nothing(last: Feeling, some: float, more: float) -> None:
    assert close(decayed(decayed(last, some), more), decayed(last, some + more))


@given(feelings, st.floats(-1e6, 0))
def test_no_time_and_a_clock_set_back_change_nothing(last: Feeling, earlier: float) -> None:
    assert close(decayed(last, earlier), last)


def test_half_of_it_is_gone_after_a_half_life() -> None:
    angry = Feeling(-0.8, 0.9)
    later = decayed(angry, HALF_LIFE)
    assert close(later, Feeling(-0.3, 0.45))
    assert close(decayed(angry, 40 * HALF_LIFE), BASELINE)


@given(feelings, st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_one_batch_moves_it_a_little(feeling: Feeling, valence: float, arousal: float) -> None:
    now = moved(feeling, valence, arousal)
    assert all(-1 <= side <= 1 for side in (now.valence, now.arousal))
    assert all(d <= STEP + 1e-12 for d in distance(now, feeling))


@pytest.mark.parametrize(
    ("feeling", "zh", "en"),
    [
        (BASELINE, "平静", "calm"),
        (Feeling(-0.7, 0.8), "烦躁生气", "upset, annoyed"),
        (Feeling(0.9, 0.9), "兴高采烈", "elated"),
        (Feeling(-0.9, -0.9), "低落", "down"),
        (Feeling(0.5, 0.0), "愉快", "cheerful"),
    ],
)
def test_in_words(feeling: Feeling, zh: str, en: str) -> None:
    assert say("zh", f"mood_{mood_name(feeling)}") == zh
    assert say("en", f"mood_{mood_name(feeling)}") == en


@given(feelings)
def test_every_feeling_has_words(feeling: Feeling) -> None:
    assert say("zh", f"mood_{mood_name(feeling)}")
    assert say("en", f"mood_{mood_name(feeling)}")
