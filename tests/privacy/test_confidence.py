"""Requests to keep something to oneself are heard, and talk about secrets is not."""

from graph_memory.privacy.confidence import asks_to_keep, reach
from tests.cases import each_of, rows, tabled

ASKED = rows(__file__, "test_what_is_told_in_confidence")
TALK = rows(__file__, "test_what_is_not")


def test_the_tables_are_long_enough() -> None:
    assert len(set(ASKED)) >= 80
    assert len(set(TALK)) >= 80


@each_of(ASKED)
def test_what_is_told_in_confidence(text: str) -> None:
    assert asks_to_keep(text)


@each_of(TALK)
def test_what_is_not(text: str) -> None:
    assert not asks_to_keep(text)


@tabled
def test_a_bare_request_means_what_was_said_before_it(text: str) -> None:
    assert reach(text) == -1


@tabled
def test_what_is_announced_comes_after(text: str) -> None:
    assert reach(text) == 1


@tabled
def test_who_says_what_is_to_be_kept_means_that(text: str) -> None:
    assert reach(text) == 0
