"""What was known, and what of it was true, at a time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.inspect.view_as import Standing, standings
from graph_memory.model import Fact
from tests.cases import rows
from tests.makers import T0, entity, fact, private, user

CHAT, ZHANG = private("1"), user("1")
BEIJING = fact(CHAT, ZHANG, entity("北京"), "张三住在北京", at=T0, valid_from=T0 - 500)
CHINA = fact(
    CHAT, ZHANG, entity("上海"), "张三搬到了上海", at=T0 + 100, valid_from=T0 + 50,
    supersedes=(BEIJING.id,),
)  # fmt: skip
TRIP = fact(
    CHAT, ZHANG, entity("云南"), "张三去云南旅行", at=T0 + 10, valid_from=T0 + 20, valid_to=T0 + 30
)
HOBBY = replace(
    fact(CHAT, ZHANG, entity("集邮"), "张三集邮", at=T0), status="archived", archived_at=T0 + 60
)


def told(at: float, *facts: Fact) -> dict[str, Standing]:
    found = standings(facts or (BEIJING, CHINA, TRIP, HOBBY), at)
    return {fact.statement: standing for fact, standing in found}


@pytest.mark.parametrize(("at", "wanted"), rows(__file__, "test_what_was_known_and_true"))
def test_what_was_known_and_true(at: float, wanted: dict[str, str]) -> None:
    """From the 50th second on 上海 was true, but nobody knew before the 100th."""
    assert told(T0 + at) == wanted


def test_a_change_that_is_to_come_replaces_when_it_comes() -> None:
    move = replace(CHINA, recorded_at=T0 + 1, valid_from=T0 + 50)
    assert told(T0 + 49, BEIJING, move) == {"张三住在北京": "true", "张三搬到了上海": "later"}
    assert told(T0 + 50, BEIJING, move) == {"张三住在北京": "replaced", "张三搬到了上海": "true"}


def test_a_replacement_that_is_out_of_sight_replaces_nothing() -> None:
    assert told(T0 + 200, BEIJING) == {"张三住在北京": "true"}


def test_a_replacement_that_faded_does_not_bring_the_older_one_back() -> None:
    assert told(T0 + 200, BEIJING, replace(CHINA, status="archived", archived_at=T0 + 150)) == {
        "张三住在北京": "replaced",
        "张三搬到了上海": "archived",
    }


@given(st.floats(T0 - 1000, T0 + 1000), st.floats(0, 1000))
def test_knowledge_only_grows(at: float, more: float) -> None:
    assert told(at).keys() <= told(at + more).keys()
