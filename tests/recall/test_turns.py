"""How the questions of one message share the places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.recall.turns import turns

WORTHS = st.lists(
    st.lists(st.floats(0, 1), max_size=12).map(lambda worths: sorted(worths, reverse=True)),
    max_size=4,
)


def test_questions_with_as_much_to_say_alternate() -> None:
    assert turns([[1.0, 0.9, 0.8], [1.0, 0.9, 0.8]]) == [
        (0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2),
    ]  # fmt: skip


def test_a_question_of_which_only_the_faint_is_left_waits() -> None:
    answered, open_ = [1.0, 0.3, 0.3], [1.0, 0.9, 0.9, 0.8]
    assert turns([answered, open_])[:5] == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]


def test_what_is_worth_nothing_comes_last_in_turns() -> None:
    assert turns([[1.0, 0.0, -0.2], [0.0, 0.0]]) == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]


@given(WORTHS)
def test_everything_has_one_turn_in_the_order_of_its_question(worths: list[list[float]]) -> None:
    order = turns(worths)
    assert len(order) == sum(map(len, worths))
    for number, found in enumerate(worths):
        assert [place for each, place in order if each == number] == list(range(len(found)))


@given(WORTHS)
def test_nobody_waits_while_another_has_the_same_worth_more_often(
    worths: list[list[float]],
) -> None:
    """The promise of D'Hondt: no place is given where it is worth less per place had."""
    had = [0] * len(worths)
    for number, place in turns(worths):
        mine = worths[number][place] / (place + 1)
        for other, found in enumerate(worths):
            if had[other] < len(found):
                assert mine >= found[had[other]] / (had[other] + 1)
        had[number] += 1
