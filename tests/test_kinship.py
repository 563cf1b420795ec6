"""What people call their relatives."""

from graph_memory.kinship import (
    KIN,
    ONLY,
    first_word,
    is_one,
    is_said,
    kin_in,
    kin_meant,
    kin_words,
    same_kin,
    without_mine,
)
from tests.cases import tabled


@tabled
def test_one_relative_has_many_words(said: str, usual: str):
    assert first_word(said) == usual
    assert {said, usual} <= same_kin(said) == same_kin(usual)


def test_every_word_is_of_one_relative():
    for word in KIN:
        assert first_word(first_word(word)) == first_word(word)
    assert all((first_word(word) in ONLY) == (word in ONLY) for word in KIN)


@tabled
def test_relatives_are_found_in_what_is_said(text: str, words: set[str]):
    assert {first_word(word) for word in kin_in(text)} == {first_word(word) for word in words}


@tabled
def test_more_relatives_may_be_meant(text: str, words: set[str], other: str):
    assert set(words) <= kin_meant(text)
    assert other not in kin_meant(text)


@tabled
def test_mine_is_left_out(reference: str, word: str):
    assert without_mine(reference) == word


def test_a_relative_goes_by_the_words_for_that_relative():
    assert kin_words({"张三的妈妈", "王梅"}) >= {"妈妈", "妈", "母亲", "老妈"}
    assert kin_words({"zhang's mum"}) >= {"mother", "mom", "mum"}
    assert kin_words({"张三的猫", "妈"}) >= {"妈妈"}
    assert kin_words({"张三的猫"}) == set()


@tabled
def test_who_is_whose_is_told(statement: str, name: str, word: str):
    assert is_said(statement, [name], same_kin(word))
    assert not is_said(statement, ["林晓月"], same_kin(word))
    assert not is_said(statement, [name], same_kin("boss"))


def test_what_somebody_is_to_another_is_told():
    kin = {"上司", "妹妹", "boss"}
    assert is_one("傅海涛是主编，林晓的顶头上司", ["傅海涛"], ["林晓"], kin)
    assert is_one("Sunita, the boss of Maya, lives in Leicester", ["Sunita"], ["Maya"], kin)
    assert is_one("Graham is a manager and Maya's boss", ["Graham"], ["Maya"], kin)
    assert not is_one("傅海涛是林晓妹妹的同学", ["傅海涛"], ["林晓"], kin)
    assert not is_one("傅海涛喜欢林晓的妹妹", ["傅海涛"], ["林晓"], kin)
