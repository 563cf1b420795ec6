"""Lines that were heard are recognised, however they were written down, and no others."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from graph_memory.model import BOT
from graph_memory.transfer.deduplication import Said, _Lines, recognised
from tests.cases import tabled

ME, YOU, NOBODY = "qq:1", "qq:2", "qq:?"
DAY = 86_400.0
WORDS = st.sampled_from(["好", "好的", "好的，走", "走！", "我们去公园", "a", "A b"])
HELD = st.lists(st.tuples(st.sampled_from([ME, YOU, BOT]), WORDS), max_size=8)


def told(sender: str, text: str, at: float = 0.0, slack: float = DAY) -> Said:
    return Said(f"own:{sender}{text}{at}", sender, text, at, slack)


def is_known(line: Said, *held: Said) -> bool:
    return bool(recognised(held, lambda: [line], "own:"))


@tabled
def test_what_was_heard(sender, text, at, slack, heard, words, known):
    """Of whom, when, and with which words around it: it was said five seconds after midnight."""
    assert is_known(told(sender, text, at, slack), Said("9@1", heard, words, 5.0)) is known


def test_what_an_earlier_import_brought_is_not_heard() -> None:
    line = told(NOBODY, "去公园")
    assert not is_known(line, Said("own:of another line", NOBODY, "去公园", 0.0))
    assert not is_known(line, Said(line.ref, NOBODY, "去公园", 0.0))


@given(HELD, HELD)
def test_each_line_stands_for_one(held: list[tuple[str, str]], more: list[tuple[str, str]]) -> None:
    """However often the same was said, and whatever else was."""
    lines = [Said("", sender, text, float(at)) for at, (sender, text) in enumerate(held)]
    new = [told(sender, text, float(at)) for at, (sender, text) in enumerate([*more, *held])]
    found = recognised(lines, lambda: reversed(new), "own:")
    assert len(found) <= len(lines)
    texts = Counter(held)
    exact = Counter((line.sender, line.text) for line in new if line.ref in found)
    if not more:
        assert exact == texts


@given(HELD)
def test_what_the_memory_heard_never_comes_as_nobodys(held: list[tuple[str, str]]) -> None:
    lines = [Said("", sender, text, float(at)) for at, (sender, text) in enumerate(held)]
    new = [
        Said(f"own:{at}", sender if sender == BOT else NOBODY, text, float(at), DAY)
        for at, (sender, text) in enumerate(held)
    ]
    assert len(recognised(lines, lambda: reversed(new), "own:")) == len(lines)


def test_what_is_said_every_day_is_not_compared_with_every_day(monkeypatch) -> None:
    compared: list[int] = []
    fits = _Lines._fits
    monkeypatch.setattr(
        _Lines, "_fits", lambda self, place, line: compared.append(place) or fits(self, place, line)
    )
    held = [Said("", ME, "签到", DAY * n) for n in range(300)]
    new = [told(ME, "签到", DAY * n / 2, 120.0) for n in range(600, -600, -1)]
    assert len(recognised(held, lambda: new, "own:")) == 300
    assert len(compared) < 100 * len(new)
