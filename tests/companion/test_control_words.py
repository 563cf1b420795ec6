"""Control words: taken out where they count, and nothing else touched."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_memory.companion.control_words import (
    MAX_DELAY,
    MAX_REASON,
    MIN_DELAY,
    Intent,
    Reply,
    Word,
    neutral,
    read,
)
from tests.cases import rows, tabled

ALL = frozenset(Word)
LINES = st.lists(st.one_of(
    st.text(),
    st.sampled_from([
        *Word, " <SILENCE> ", "<SILENCE>。", "<silence>", "`<WANT_MORE>`",
        *(f"好的{word}" for word in Word), *(f"说{word}，" for word in Word),
    ]),
    st.builds('<PROACTIVE>{{"delay_seconds":{},"reason":"{}"}}'.format, st.integers(), st.text()),
    st.builds("<PROACTIVE>{}".format, st.text()),
))  # fmt: skip


@given(LINES.map("\n".join), st.frozensets(st.sampled_from(Word)))
def test_only_lines_of_their_own_are_taken_out(text: str, taught: frozenset[Word]) -> None:
    said = read(text, taught)
    assert said.words <= taught
    own = {line.strip() for line in text.split("\n")}
    is_bare = text.strip("`* \n\t。.").upper() == Word.SILENCE
    is_last = text.rstrip().rstrip("。.").endswith(Word.WANT_MORE)
    if not any(line.startswith(tuple(taught)) for line in own if taught) and not (
        (is_bare and Word.SILENCE in taught) or (is_last and Word.WANT_MORE in taught)
    ):
        assert said.text == text
        assert not said.words
    assert not any(line.strip() in taught for line in said.text.split("\n"))
    if said.intent:
        assert MIN_DELAY <= said.intent.delay <= MAX_DELAY
        assert 0 < len(said.intent.reason) <= MAX_REASON
        assert not any(word in said.intent.reason for word in Word)


@example("<silence />")
@given(LINES.map("\n".join))
def test_what_people_type_is_inert(text: str) -> None:
    typed = neutral(text)
    assert read(typed, ALL).text == typed
    assert len(typed) == len(text)
    assert neutral(typed) == typed
    if not any(word[:-1] in text.upper() for word in Word):
        assert typed == text


@given(st.floats() | st.integers(), st.text(min_size=1))
def test_a_delay_is_bounded(delay: float, reason: str) -> None:
    wish = json.dumps({"delay_seconds": delay, "reason": reason})
    said = read(f"好。\n<PROACTIVE>{wish}", ALL)
    assert said.text == "好。"
    if said.intent:
        assert MIN_DELAY <= said.intent.delay <= MAX_DELAY


@pytest.mark.parametrize("rest", rows(__file__, "test_a_wish_that_cannot_be_read"))
def test_a_wish_that_cannot_be_read_is_removed_and_nothing_follows(rest: str) -> None:
    rest = rest.replace("deep", '{"a":' * 400)
    said = read(f"晚安。\n<PROACTIVE>{rest}", ALL)
    assert (said.text, said.words, said.intent) == ("晚安。", {Word.PROACTIVE}, None)


@pytest.mark.parametrize("text", rows(__file__, "test_a_wish"))
def test_a_wish(text: str) -> None:
    said = read(text, ALL)
    assert said.text == "好好休息。"
    assert said.intent.delay == 180
    assert said.intent.reason.replace(" ", "") == "看看好点没有"


@tabled
def test_silence(text: str, left: str, words: list[str], is_silent: bool) -> None:
    """In whatever dress, if it is taught; beside a sentence it is none."""
    said = read(text, ALL)
    assert (said, said.is_silent) == (
        Reply(left, frozenset(Word[name] for name in words)),
        is_silent,
    )
    if is_silent:
        assert not read(text, {Word.WANT_MORE}).words


def test_silence_beside_a_wish() -> None:
    said = read('<SILENCE>\n<PROACTIVE>{"delay_seconds":60,"reason":"等他消气"}', ALL)
    assert said.is_silent
    assert said.intent == Intent(60, "等他消气")


def test_prose_about_the_words_stays() -> None:
    text = "<PROACTIVE> 是用来主动说话的\n`<SILENCE>`\n<WANT_MORE>，就是还想说"
    assert read(text, ALL).text == text
