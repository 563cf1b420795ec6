"""Search of names by a part of them, or by pinyin."""

from graph_memory.pinyin import finder
from graph_memory.text import normalise
from tests.cases import tabled


@tabled
def test_a_name_is_found(typed: str, name: str) -> None:
    assert finder(typed)(normalise(name))


@tabled
def test_another_name_is_not(typed: str, name: str) -> None:
    assert not finder(typed)(normalise(name))
