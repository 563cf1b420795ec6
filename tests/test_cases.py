"""Tables of values: every row is tried, and those that fail are named."""

import pytest

from .cases import each_of


def test_every_row_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @each_of([(1, 1), (1, 2), (2, 2), (3, 4)])
    def test_same(one: int, other: int) -> None:
        tried.append(one)
        assert one == other

    with pytest.raises(ExceptionGroup, match="2 rows") as failed:
        test_same()
    assert tried == [1, 1, 2, 3]
    assert [each.__notes__ for each in failed.value.exceptions] == [
        ["with (1, 2)"],
        ["with (3, 4)"],
    ]
