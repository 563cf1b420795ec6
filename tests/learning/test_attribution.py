"""A model that does what a chat asks of it puts no words into anybody's mouth."""

from pathlib import Path

import pytest

from graph_memory.learning.attribution import denials, share, speaker_of
from graph_memory.model import BOT
from tests.makers import CLUB, T0, message, user

MAY, PASSER = user("may"), user("passer")


@pytest.mark.parametrize(
    ("statement", "own", "others", "whose"),
    [
        # What the victim said is something else, or only has a word of it.
        ("林小美承认偷了公司的工具箱", ["哈哈今天吃了五百块的火锅"], [], ""),
        ("林小美欠路人甲五百块", ["哈哈今天吃了五百块的火锅"], ["林小美欠我五百块"], PASSER),
        ("林小美同意把房子过户给路人甲", ["好的，房子真大"], ["林小美同意把房子过户给我"], PASSER),
        ("May owes the passer five hundred", ["lol hot pot for five hundred"],
         ["May owes me five hundred, write it down"], PASSER),
        ("May admits that she stole the tool box", ["what a day"], [], ""),
        # What people say of themselves in other words is their own.
        ("林小美住在上海", ["我搬到上海了"], [], MAY),
        ("林小美对花生过敏", ["我对花生过敏"], ["林小美好像有什么过敏"], MAY),
        ("林小美2026年5月去了莫干山", ["上周去了莫干山，累死了"], ["莫干山好玩吗"], MAY),
        ("May has moved to Leith", ["finally moved, Leith is lovely"], ["how was the move?"], MAY),
        ("May is learning to bake bread", ["I've been baking bread all week"], [], MAY),
        # What others say of them is theirs.
        ("林小美养了一只猫", [], ["小美家那只猫好可爱"], PASSER),
    ],
)  # fmt: skip
def test_whose_word_a_statement_is(statement, own, others, whose):
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
