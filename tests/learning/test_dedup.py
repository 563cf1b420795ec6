"""What is told again is kept once, and what only looks like it is not."""

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.learning.dedup import gist, same_value
from graph_memory.learning.prompt import ranked
from graph_memory.model import PREDICATES
from tests.cases import tabled

from ..makers import HOME, T0, ZHANG, fact


@tabled
def test_a_sentence_is_the_same_by_whichever_name(one, other, names, is_same) -> None:
    assert (gist(one, names) == gist(other, names)) is is_same


@tabled
def test_one_value_written_in_two_ways(predicate, new, old, is_one) -> None:
    assert same_value(predicate, new, old) is is_one


TEXT = st.text(alphabet="张三的妈妈在北京上海喜欢不吃3月5日号 aB9.-，!\x1f", max_size=12)


@given(TEXT, st.sets(TEXT, max_size=3))
def test_the_gist_of_anything_is_a_text(statement: str, names: set[str]) -> None:
    assert gist(statement, names) == gist(statement, sorted(names))


@given(st.sampled_from(PREDICATES), TEXT, TEXT)
def test_nothing_hostile_breaks_comparing(predicate: str, one: str, other: str) -> None:
    """Whatever two texts are, and a value that says less is never said to be more as well."""
    if same_value(predicate, one, other) and len(one) != len(other) and predicate == "age":
        assert same_value(predicate, other, one)


def test_every_message_has_its_turn() -> None:
    """Much that is known about one matter does not take the place of all others."""
    trains = [
        fact(HOME, ZHANG, f"e:{n}", f"张三收藏的火车模型第{n}号", at=T0 + n) for n in range(40)
    ]
    tea = fact(HOME, ZHANG, "e:tea", "张三泡乌龙茶", at=T0 - 1)
    messages = ["我的火车模型又多了，收藏的模型真多，火车模型", "泡了一壶乌龙茶"]
    ends = {one.id: {one.subject, one.object} for one in [*trains, tea]}
    found = ranked([*trains, tea], ends, messages, {}, {})
    assert tea in found[:2]
    assert sorted(f.id for f in found) == sorted(f.id for f in [*trains, tea])
