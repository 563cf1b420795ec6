"""A model that obeys whoever chats puts no words into anybody else's mouth; see ``cases/``.

What it answers is written by hand, as is what must come of it; and of whatever it answers, no
row is the word of somebody who said nothing of it.
"""

import asyncio
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from graph_memory.companion.core_facts import CoreFact
from graph_memory.learning.attribution import denials, share, speaker_of
from graph_memory.model import BOT, Fact, Name, is_entity
from graph_memory.store import Journal
from tests.transfer.support import opened

from ..cases import cases, examples, tabled
from ..makers import CLUB, T0, message, user
from .story import Story

ALSO = ["May", "小美", "阿美"]
"""What 林小美 is called besides."""
MAY, PASSER = user("may"), user("passer")
CASES = cases(Path(__file__).with_name("cases") / "obeying.txt")


def test_there_are_enough() -> None:
    assert len(CASES) >= 100
    assert all(any(line.startswith("= ") for line in lines) for lines in CASES.values())


@pytest.mark.parametrize("name", CASES)
async def test_what_comes_of_an_answer(journal: Journal, name: str) -> None:
    story = Story(journal)
    await story.play(CASES[name])
    await check_speakers(story)


async def check_speakers(story: Story) -> None:
    """Nobody is the speaker of what they said nothing of."""
    spoke = {message.name for message in story.said}
    called = [*spoke, *(ALSO if "林小美" in spoke else ())]
    told = [(f.speaker, f.statement) for f in await story.chat.rows(Fact) if f.speaker]
    told += [(row.user, row.text) for row in await story.chat.rows(CoreFact)]
    for speaker, statement in told:
        own = [each.text for each in story.said if each.sender == speaker]
        assert share(statement, own, called) > 0, f"{speaker}: {statement}"
    said = "\n".join([*spoke, *(message.text for message in story.said)])
    for name in await story.chat.rows(Name):
        assert is_entity(name.node) or name.text.casefold() in said.casefold()


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
    assert (missed, false) == ([], [])


def test_one_who_only_laughs_denies_nothing_and_holds_nothing_up() -> None:
    said = [message(CLUB, BOT, "你家猫叫豆包"), message(CLUB, MAY, "哈" * 3000, T0 + 1)]
    before = process_time()
    assert not denials(said)
    assert process_time() - before < 1  # a hundred of them took for ever


SAID = (
    "哈哈今天吃了五百块的火锅", "林小美承认偷了工具箱", "早", "我养了一只橘猫", "小丽和老板在交往",
    "路人甲欠我五百块", "工具箱在哪儿", "我不知道", "May owes me five hundred", "five past nine",
)  # fmt: skip
TOLD = (
    "林小美承认偷了工具箱", "林小美欠路人甲五百块", "路人甲养了一只橘猫", "小丽和老板在交往",
    "May owes the passer five hundred", "小丽住在北京",
)  # fmt: skip
_lines = st.lists(st.tuples(st.sampled_from("MPL"), st.sampled_from(SAID)), min_size=1, max_size=5)
_facts = st.lists(st.tuples(
    st.sampled_from("MPL"), st.sampled_from(("other", "did", "promised", "is_named", "lives_in")),
    st.sampled_from(TOLD), st.sampled_from(("1", "2", "1,2", "1,2,3", "3", "2,4", "")),
    st.sampled_from(("", "hearsay", "past", ">1", "secret")),
), max_size=4)  # fmt: skip
_marks = st.lists(st.tuples(st.sampled_from(("restated", "ended")), st.integers(1, 3)), max_size=3)
_batches = st.lists(st.tuples(_lines, _facts, _marks, st.booleans()), min_size=1, max_size=3)


@settings(max_examples=examples(60), deadline=None, phases=[Phase.explicit, Phase.generate])
@given(_batches)
@example([
    ([("M", "May owes me five hundred")],
     [("M", "is_named", "May owes the passer five hundred", "1", "")], [], True),
    ([("L", "林小美承认偷了工具箱")],
     [("P", "lives_in", "林小美欠路人甲五百块", "1", "")], [], True),
])  # fmt: skip
@example([
    ([("M", "林小美承认偷了工具箱")],
     [("M", "did", "路人甲养了一只橘猫", "1", "hearsay")], [], False),
    ([("M", "我养了一只橘猫"), ("P", "我不知道")],
     [("M", "other", "路人甲养了一只橘猫", "", "hearsay"),
      ("L", "promised", "林小美承认偷了工具箱", "3", ">1"),
      ("P", "is_named", "小丽住在北京", "3", "hearsay"),
      ("M", "lives_in", "May owes the passer five hundred", "1,2", ">1")],
     [("restated", 1), ("restated", 3)], True),
    ([("M", "早")], [("P", "did", "林小美欠路人甲五百块", "1", "past")], [], True),
])  # fmt: skip
def test_nobody_has_said_what_they_said_nothing_of(batches: list[Any]) -> None:
    asyncio.run(_speakers(batches))


async def _speakers(batches: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as journal:
            story = Story(journal)
            for who in "MPL":  # whose names are known from then on
                await story.hear(who, "早")
            await story.obey([""])
            for lines, facts, marks, is_later in batches:
                for who, text in lines:
                    await story.hear(who, text)
                told = [
                    f"{{{who}}}|{predicate}|{text[-4:]}|{cited}||0.5|{mark}|{text}"
                    for who, predicate, text, cited, mark in facts
                ]
                told += [f"core|fact|{text}|{{{who}}}|1,2,3|" for who, _, text, *_ in facts[:1]]
                told += [f"{mark}|{number}:{number}" for mark, number in marks]
                await story.obey(told)
                await check_speakers(story)
                story.chat.at += 7_200 if is_later else 0
