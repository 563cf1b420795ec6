"""Guessing keys gets slower and slower, in bounded memory."""

from __future__ import annotations

import pytest

from webui import throttle
from webui.throttle import (
    BROWSER,
    FIRST_WAIT,
    FORGET_AFTER,
    FREE,
    FREE_FOR_ALL,
    LONGEST_FOR_ALL,
    LONGEST_WAIT,
    Throttle,
)


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_a_few_mistakes_are_free_then_waits_double() -> None:
    clock = Clock()
    guard = Throttle(clock)
    waits = []
    for _ in range(FREE + 12):
        guard.fail("1.2.3.4")
        waits.append(guard.wait("1.2.3.4"))
    assert waits[: FREE - 1] == [0.0] * (FREE - 1)
    assert waits[FREE - 1 : FREE + 2] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == LONGEST_WAIT
    clock.at += LONGEST_WAIT
    assert guard.wait("1.2.3.4") == 0.0


def test_others_need_not_wait() -> None:
    guard = Throttle(Clock())
    for _ in range(FREE):
        guard.fail("1.2.3.4")
    assert guard.wait("1.2.3.5") == 0.0
    assert guard.wait("::ffff:1.2.3.4") > 0.0


def test_an_ipv6_network_is_one_person() -> None:
    guard = Throttle(Clock())
    for number in range(FREE):
        guard.fail(f"2001:db8::{number}")
    assert guard.wait("2001:db8::ffff") > 0.0
    assert guard.wait("2001:db8:0:1::1") == 0.0


def test_knowing_the_key_and_time_forgive() -> None:
    clock = Clock()
    guard = Throttle(clock)
    for _ in range(FREE):
        guard.fail("a")
        guard.fail("b")
    guard.clear("a")
    assert guard.wait("a") == 0.0
    clock.at += FORGET_AFTER + 1
    guard.fail("b")
    assert guard.wait("b") == 0.0


def test_many_guesses_from_many_addresses_slow_down_every_stranger() -> None:
    clock = Clock()
    guard = Throttle(clock)
    guard.clear("192.0.2.1")
    for number in range(FREE_FOR_ALL + 20):
        guard.fail(f"10.0.{number}.1")
    assert guard.wait("192.0.2.2") == LONGEST_FOR_ALL
    assert guard.wait("192.0.2.1") == 0.0, "the right key came from there"
    assert guard.wait(f"{BROWSER}one") == 0.0
    clock.at += LONGEST_FOR_ALL
    assert guard.wait("192.0.2.2") == 0.0
    guard.fail("192.0.2.3")
    assert guard.wait("192.0.2.2") == LONGEST_FOR_ALL
    clock.at += FORGET_AFTER + 1
    guard.fail("192.0.2.3")
    assert guard.wait("192.0.2.2") == 0.0


def test_those_who_are_known_wait_for_their_own_mistakes_and_nobody_elses() -> None:
    guard = Throttle(Clock())
    for _ in range(FREE_FOR_ALL + 20):
        guard.fail(f"{BROWSER}one")
    assert guard.wait(f"{BROWSER}one") == LONGEST_WAIT
    assert guard.wait(f"{BROWSER}two") == 0.0
    assert guard.wait("192.0.2.2") == 0.0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MAX_ADDRESSES", 10)
    guard = Throttle(Clock())
    for number in range(50):
        guard.fail(f"10.0.0.{number}")
        guard.clear(f"10.1.0.{number}")
    assert len(guard) == 10
    assert len(guard._known) == 10
