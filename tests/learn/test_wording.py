"""Which sentences and values are the same, and which only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_memory.learn.dedup import gist, same_value, says_no_more
from graph_memory.learn.entities import kin_words
from graph_memory.model import PREDICATES


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("周晓喜欢跑步", "张三的同事喜欢跑步。", {"周晓", "张三的同事"}),
        ("阿周 喜欢跑步！", "周晓 喜欢跑步", {"周晓", "阿周"}),
        ("Zhou likes tea", "zhou xiao likes tea.", {"zhou", "zhou xiao"}),
        ("王五住在北京", "王五住在北京。", set()),
    ],
)
def test_a_sentence_is_the_same_by_whichever_name(one: str, other: str, names: set[str]) -> None:
    assert gist(one, names) == gist(other, names)


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("同事喜欢跑步", "同事们喜欢跑步", {"同事"}),
        ("周晓喜欢跑步", "周晓喜欢散步", {"周晓"}),
        ("周晓喜欢跑步", "李四喜欢跑步", {"周晓"}),
        ("Ann likes tea", "Anna likes tea", {"ann"}),
        ("周会开到很晚", "晓会开到很晚", {"周", "晓"}),
        ("他会用C", "他会用C++", set()),
    ],
)
def test_other_sentences_stay_others(one: str, other: str, names: set[str]) -> None:
    assert gist(one, names) != gist(other, names)


@pytest.mark.parametrize(
    ("predicate", "new", "old"),
    [
        ("likes", "特别喜欢的", "爱吃"),
        ("works_as", "现在是一名", "的职业是现在"),
        ("has_pet", "养了一只", "有养"),
        ("likes", "really loves", "likes"),
    ],
)
def test_words_that_add_nothing(predicate: str, new: str, old: str) -> None:
    assert says_no_more(predicate, new, old)


@pytest.mark.parametrize(
    ("predicate", "new", "old"),
    [
        ("likes", "喜欢，但只在周末喝", "喜欢"),
        ("likes", "喜欢看", "喜欢踢"),
        ("likes", "喜欢", "不喜欢"),
        ("likes", "不喜欢", "喜欢"),
        ("likes", "does not like", "likes"),
        ("likes", "likes", "doesn't like"),
        ("skilled_in", "会用c", "会用c++"),
        ("works_at", "在上班三年了", "在上班"),
        ("other", "喜欢", "喜欢"),
        ("feels", "很怕", "怕"),
    ],
)
def test_words_that_say_more_or_the_opposite(predicate: str, new: str, old: str) -> None:
    assert not says_no_more(predicate, new, old)


@pytest.mark.parametrize(
    ("predicate", "new", "old"),
    [
        ("age", "31岁", "31"),
        ("age", "三十一岁", "31"),
        ("age", "十岁", "10"),
        ("birthday", "3月5号", "3月5日"),
        ("birthday", "三月五日", "03-05"),
        ("birthday", "May 3rd", "5月3日"),
        ("birthday", "1990年5月3日", "1990-05-03"),
        ("lives_in", "杭州", "浙江省杭州市"),
        ("lives_in", "北京", "北京市"),
        ("from", "浙江", "浙江杭州"),
    ],
)
def test_one_value_written_in_two_ways(predicate: str, new: str, old: str) -> None:
    assert same_value(predicate, new, old)


@pytest.mark.parametrize(
    ("predicate", "new", "old"),
    [
        ("age", "31", "32"),
        ("age", "30多岁", "30"),
        ("birthday", "3月5日", "5月3日"),
        ("birthday", "农历3月5日", "3月5日"),
        ("birthday", "1990年5月3日", "1991年5月3日"),
        ("lives_in", "北京", "上海"),
        ("lives_in", "浙江杭州", "杭州"),
        ("lives_in", "上海", "上海东路"),
        ("lives_in", "京", "北京"),
        ("lives_in", "", ""),
        ("partner", "小红", "小红"),
    ],
)
def test_values_that_are_not_one(predicate: str, new: str, old: str) -> None:
    assert not same_value(predicate, new, old)


def test_a_relative_goes_by_the_words_for_that_relative() -> None:
    assert kin_words({"张三的妈妈", "王梅"}) == {"妈妈", "妈", "母亲"}
    assert kin_words({"zhang's mum"}) == {"mother", "mom", "mum"}
    assert kin_words({"张三的猫", "妈"}) >= {"妈妈"}
    assert kin_words({"张三的猫"}) == set()


TEXT = st.text(alphabet="张三的妈妈在北京上海喜欢不吃3月5日号 aB9.-，!\x1f", max_size=12)


@given(TEXT, st.sets(TEXT, max_size=3))
def test_the_gist_of_anything_is_a_text(statement: str, names: set[str]) -> None:
    assert gist(statement, names) == gist(statement, sorted(names))


@given(st.sampled_from(PREDICATES), TEXT, TEXT)
def test_nothing_hostile_breaks_comparing(predicate: str, one: str, other: str) -> None:
    """Whatever two texts are, and a value that says less is never said to be more as well."""
    says_no_more(predicate, one, other)
    if same_value(predicate, one, other) and len(one) != len(other) and predicate == "age":
        assert same_value(predicate, other, one)
