"""Where one episode ends and the next begins."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.learning.batching import upcoming
from graph_memory.model import EPISODE_MESSAGES, GAP, Episode, continues, episode_id

from ..makers import CHINA, HOME, message, user


def runs(*times: float) -> list[Episode]:
    said = (message(HOME, user("zhang"), "嗯", at) for at in times)
    numbered = [replace(message, id=number) for number, message in enumerate(said, 1)]
    return upcoming(None, HOME.id, numbered, UTC)


def test_ten_minutes_of_silence_end_it():
    assert [run.messages for run in runs(0, GAP - 1, 2 * GAP - 1)] == [2, 1]


def test_two_hundred_messages_end_it():
    found = runs(*range(EPISODE_MESSAGES * 2 + 1))
    assert [run.messages for run in found] == [EPISODE_MESSAGES, EPISODE_MESSAGES, 1]


def test_local_midnight_ends_it():
    midnight = datetime(2026, 9, 22, tzinfo=CHINA).timestamp()
    late, early = midnight - 30, midnight + 30
    assert not continues(late, late, 1, early, CHINA)
    assert continues(late, late, 1, early, UTC)


def test_its_id_depends_on_session_and_first_message():
    assert episode_id("a", 1) == episode_id("a", 1)
    assert len({episode_id("a", 1), episode_id("a", 2), episode_id("b", 1)}) == 3


@given(st.lists(st.floats(0, 5000), max_size=50).map(sorted))
def test_every_message_is_in_one_episode_in_order(times: list[float]):
    found = runs(*times)
    assert [run.first_message for run in found[1:]] == [run.last_message + 1 for run in found[:-1]]
    assert sum(run.messages for run in found) == len(times)
    for run in found:
        said = times[run.first_message - 1 : run.last_message]
        assert all(b - a < GAP for a, b in pairwise(said))


def test_a_clock_that_is_set_back_ends_an_episode_too():
    """Else silences would not count until the clock has caught up."""
    noon = datetime(2026, 9, 22, 12, tzinfo=UTC).timestamp()
    assert continues(noon, noon + 60, 2, noon + 30, UTC), "out of order by seconds only"
    assert not continues(noon, noon + 3 * 3600, 2, noon + 600, UTC)
