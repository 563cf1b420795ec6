import pytest

from graph_memory.recall.query import is_small_talk, is_task
from graph_memory.recall.weights import BRIEF
from tests.cases import tabled

from ..makers import private, user

HOME, ZHANG = private("zhang"), user("zhang")


@tabled
def test_what_says_nothing(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "安娜", "早饭吃什么", "我的生日", "我住在好安村", "了解一下项目", "好人", "行李呢",
        "thanks to Ann", "okra", "I'm bored of Leith", "哈" * (BRIEF + 1),
    ],
)  # fmt: skip
def test_what_says_something(text: str) -> None:
    assert not is_small_talk(text)


@tabled
def test_what_is_a_task(text: str, expected: bool) -> None:
    assert is_task(text) is expected
