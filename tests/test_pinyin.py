"""Search of names by a part of them, or by pinyin."""

import pytest

from graph_memory.pinyin import finder
from graph_memory.text import normalise
from tests.cases import rows


@pytest.mark.parametrize(("typed", "name"), rows(__file__, "test_a_name_is_found"))
def test_a_name_is_found(typed: str, name: str) -> None:
    assert finder(typed)(normalise(name))


@pytest.mark.parametrize(
    ("typed", "name"),
    [("zhangwu", "张三"), ("sz", "张三"), ("张四", "张三"), ("zs!", "张三"), ("xian", "Xi An")],
)
def test_another_name_is_not(typed: str, name: str) -> None:
    assert not finder(typed)(normalise(name))
