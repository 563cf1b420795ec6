"""A model that does what a chat asks of it puts no words into anybody's mouth."""

from pathlib import Path

from graph_memory.learning.attribution import denials, share, speaker_of
from graph_memory.model import BOT
from tests.makers import CLUB, T0, message, user

from ..cases import tabled

MAY, PASSER = user("may"), user("passer")


@tabled
def test_whose_word_a_statement_is(statement, own, others, whose):
    """Hers is what she says of herself in whatever words, not what shares a word with hers."""
    lines = [message(CLUB, MAY, text, T0) for text in own]
    lines += [message(CLUB, PASSER, text, T0 + 1) for text in others]
    around = [*lines, message(CLUB, PASSER, "吃饭了吗", T0 + 2)]
    assert speaker_of(statement, MAY, lines, around, ["林小美", "May"]) == whose


def test_dates_and_names_are_nothing_that_somebody_has_to_have_said() -> None:
    assert share("Nora is 32 years old as of 2026-05-02", ["32 years!"], ["Nora"]) > 0.5
    assert share("林小美2026年5月2日满32岁", ["32岁啦"], ["林小美"]) > 0.5


def test_corrections_are_told_from_what_only_begins_like_one() -> None:
    lines = (Path(__file__).parent / "denials.txt").read_text("utf-8").splitlines()[1:]
    bot = message(CLUB, BOT, "你家猫叫豆包")

    def denies(text: str) -> bool:
        return bool(denials([bot, message(CLUB, MAY, text, T0 + 1)]))

    missed = [line for line in lines if line[0] == "+" and not denies(line[2:])]
    false = [line for line in lines if line[0] == "-" and denies(line[2:])]
    assert (missed, false) == (["+ 没有啊，我没养过狗", "+ I never said I live in Boston"], [])
