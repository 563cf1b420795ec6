import time
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_memory.model import PREDICATES, asker_of
from graph_memory.recall.lexical import index_terms, search_terms
from graph_memory.recall.query import (
    Question,
    compose,
    first_person,
    is_small_talk,
    is_task,
    may_ask,
    only_asks,
    predicates_of,
    split,
    telling,
)
from graph_memory.text import forget
from tests.cases import tabled
from tests.makers import private

HOME = private("10001")
ASKER = asker_of(HOME, HOME.owner)


@tabled
def test_several_questions_are_searched_for_separately_and_a_statement_as_it_is(text, parts):
    """After a turn only the point counts."""
    assert [part.text for part in split(text)] == parts


@tabled
def test_one_question_stays_one(text: str) -> None:
    assert len(split(text)) == 1


def test_what_is_said_around_a_question_counts_a_little() -> None:
    (part,) = split("我女儿明天过生日。送什么礼物好呢？")
    assert part.terms["礼物"] == 1.0
    assert 0 < part.terms["女儿"] < 1.0
    assert "女儿" in part.text


@tabled
def test_questions_for_all_things_of_a_kind(text: str, many: bool) -> None:
    assert split(text)[0].many is many


def test_only_a_message_that_leans_is_led_by_the_one_before() -> None:
    assert compose("那她呢？", "小红喜欢吃什么") == "小红喜欢吃什么\n那她呢？"
    assert compose("我上周在杭州买的那双跑鞋是什么牌子的", "小红喜欢吃什么").startswith("我上周")
    assert compose("那她呢？") == "那她呢？"


@tabled
def test_numbers_meet_however_they_are_written(one: str, other: str, shared: list[str]) -> None:
    common = set(search_terms(one)) & set(search_terms(other))
    assert {*shared} <= common
    assert shared or not any(map(str.isdecimal, common))


@tabled
def test_words_without_borders_are_searched_by_their_characters_too(asked, said, shared):
    (part,) = split(asked)
    assert part.terms.keys() & set(index_terms(said)) == {*shared}
    assert set(part.words) == set(search_terms(asked))


def test_codes_are_kept_as_they_are() -> None:
    assert search_terms("0013800138000") == ("0013800138000",)


@tabled
def test_how_much_of_a_text_tells(text: str, share: float) -> None:
    assert telling(text) == pytest.approx(share, abs=0.05)


@tabled
def test_what_is_only_about_the_one_who_is_asked(text: str, addressed: bool) -> None:
    assert Question(ASKER, text, text, ()).is_addressed is addressed


@tabled
def test_what_may_be_a_question(text: str, is_one: bool) -> None:
    assert may_ask(text) is is_one


@tabled
def test_what_asks_for_all_that_is_known(text: str, is_all: bool) -> None:
    assert predicates_of(text).issuperset(PREDICATES) is is_all


@tabled
def test_the_kind_of_question_names_the_predicates(text: str, predicates: list[str]) -> None:
    assert predicates_of(text) == {*predicates}


def test_a_relative_is_asked_for_by_any_of_their_words() -> None:
    asked = split("我妹在哪上学？")[0].terms
    assert "妹妹" in asked
    asked = split("what does my mum do")[0].terms
    assert "mother" in asked


def test_a_word_is_found_though_something_stands_within_it() -> None:
    (part,) = split("我和我前男友为什么分的手")
    assert "分手" in part.words


def test_long_texts_are_not_piled_up() -> None:
    forget()
    tracemalloc.start()
    try:
        for number in range(100):
            assert len(index_terms(f"{number}号" + "天气不错" * 500)) > 2_000
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 12 * 2**20


@tabled
def test_what_only_asks(text: str, is_all: bool) -> None:
    """And what tells something as well."""
    assert only_asks(text) is is_all


@tabled
def test_a_question_about_somebody_as_they_would_ask_it(text, names, own):
    assert first_person(text, names) == own


def test_among_thousands_of_names_it_is_found_as_well() -> None:
    names = [f"Kate {number}" for number in range(5_000)]
    assert first_person("When did Kate start?", names) == "When did I start?"


@tabled
def test_what_says_nothing(text: str, is_nothing: bool) -> None:
    assert is_small_talk(text) is is_nothing


@tabled
def test_what_is_a_task(text: str, expected: bool) -> None:
    assert is_task(text) is expected


@given(st.text("0123456789.,零一二两十百千万月元块٣ ", max_size=900))
@example("9" * 400 + "百块")
def test_any_number_has_terms(text: str) -> None:
    assert set(search_terms(text)) <= set(index_terms(text))


@pytest.mark.parametrize("text", ["你好" + "\n" * 1_990 + "在吗", "不是，" * 660 + "?"])
def test_what_is_said_over_and_over_takes_no_time(text: str) -> None:
    began = time.process_time()
    split(text)
    assert time.process_time() - began < 0.1
