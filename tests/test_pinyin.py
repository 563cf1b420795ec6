"""Search of names by a part of them, or by pinyin."""

from graph_memory.pinyin import finder
from graph_memory.text import normalise
from tests.cases import tabled


@tabled
def test_a_name_is_found(typed: str, name: str, is_found: bool) -> None:
    assert bool(finder(typed)(normalise(name))) is is_found
