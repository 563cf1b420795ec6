"""A breaker against a plain description of what it promises, for any course of events."""

import asyncio
import logging

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from graph_memory.inference.breaker import Breaker, BreakerState, Call, RefusedError

from ..cases import examples
from ..makers import Clock

CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN


class Anything(RuleBasedStateMachine):
    """Calls begin and end in any order while time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock(1000.0)
        self.breaker = Breaker("模型", clock=self.clock)
        self.calls: list[Call] = []
        self.probe: Call | None = None
        # What is expected, kept in the simplest way.
        self.in_a_row = 0
        self.pause = 0.0
        self.until = 0.0
        self.stale: set[int] = set()

    def expected(self) -> BreakerState:
        if not self.pause:
            return CLOSED
        return OPEN if self.clock.now < self.until else HALF_OPEN

    @rule(seconds=st.sampled_from([0.5, 1.0, 29.9, 30.0, 60.0, 900.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def somebody_calls(self) -> None:
        state = self.expected()
        call = self.breaker.admit()
        assert (call is None) == (state is OPEN or (state is HALF_OPEN and self.probe is not None))
        if call:
            self.calls.append(call)
            self.probe = call if state is HALF_OPEN else None

    def trip(self, pause: float) -> None:
        self.pause, self.until = pause, self.clock.now + pause
        self.probe = None
        self.stale |= {id(call) for call in self.calls}

    def ended(self, data: st.DataObject) -> tuple[Call, bool]:
        call = data.draw(st.sampled_from(self.calls))
        self.calls.remove(call)
        self.kept = [*getattr(self, "kept", []), call]  # so that ids are not used again
        return call, id(call) not in self.stale

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def one_fails(self, data: st.DataObject) -> None:
        call, counts = self.ended(data)
        call.end("挂了")
        if counts and self.pause:
            self.trip(min(600.0, 2 * self.pause))
        elif counts:
            self.in_a_row += 1
            if self.in_a_row == 3:
                self.trip(30.0)

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def one_succeeds(self, data: st.DataObject) -> None:
        call, counts = self.ended(data)
        call.end("")
        call.end("太迟了")  # the first word counts
        if counts:
            self.in_a_row = 0
            if self.pause:
                self.trip(0.0)

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def one_is_given_up(self, data: st.DataObject) -> None:
        call, counts = self.ended(data)
        call.end(None)
        if counts and call is self.probe:
            self.probe = None

    @rule()
    def somebody_is_in_a_hurry(self) -> None:
        self.breaker.hurry()
        self.until = min(self.until, self.clock.now)

    @invariant()
    def it_says_so(self) -> None:
        status = self.breaker
        assert status.state is self.expected()
        assert (status.retry_in > 0) == (status.state is OPEN)
        assert status.retry_in <= 600
        assert (status.reason == "") == (status.failures == 0)


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)


def opened(clock: Clock) -> Breaker:
    breaker = Breaker("模型", clock=clock)
    for _ in range(3):
        with pytest.raises(ValueError), breaker.call():
            raise ValueError("挂了")
    return breaker


def test_one_line_when_it_opens_and_one_when_it_closes(caplog: pytest.LogCaptureFixture):
    clock = Clock(1000.0)
    with caplog.at_level(logging.INFO, "graph_memory.inference"):
        breaker = opened(clock)
        for _ in range(4):
            clock.now += breaker.retry_in
            with pytest.raises(ValueError), breaker.call():
                raise ValueError("还是挂")
            with pytest.raises(RefusedError, match="other"), breaker.call():
                pytest.fail("it is open")
        clock.now += breaker.retry_in
        with breaker.call():
            pass
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "3 times in a row" in caplog.messages[0]
    assert caplog.messages[0].endswith(": other"), "no words of the error itself"
    assert "answers again, after" in caplog.messages[1]


async def test_a_cancelled_call_says_nothing():
    clock = Clock(1000.0)
    breaker = opened(clock)
    clock.now += 30

    async def ask() -> None:
        with breaker.call():
            await asyncio.Event().wait()

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    assert breaker.admit() is None
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert breaker.state is HALF_OPEN
    assert breaker.admit(), "somebody else may try"
