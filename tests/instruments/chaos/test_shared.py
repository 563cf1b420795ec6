"""A slice of the campaign of several bots, and that it notices when a guard is missing."""

import pytest

from . import shared

pytestmark = pytest.mark.server


def test_nothing_is_lost_or_doubled_among_several_bots() -> None:
    toll = shared.Campaign(seed=3).run(15)
    assert toll.problems == []
    assert toll.faults.total() >= 12
    assert toll.acknowledged > 100
    assert toll.batches > 10


def test_a_campaign_without_a_guard_notices() -> None:
    """Without the mark of what was delivered, a lost answer stores a message twice."""
    toll = shared.Campaign(seed=3, without="mark").run(15)
    assert any("stored twice" in problem for problem in toll.problems), toll.problems
