"""A slice of the campaign of several bots."""

import pytest

from . import shared

pytestmark = pytest.mark.server


def test_nothing_is_lost_or_doubled_among_several_bots() -> None:
    toll = shared.Campaign(seed=3).run(15)
    assert toll.problems == []
    assert toll.faults.total() >= 12
    assert toll.acknowledged > 100
    assert toll.batches > 10
