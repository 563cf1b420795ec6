"""Every line of a block is attributed once, to whoever said it, whatever they say or are called."""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph_memory import text as texts
from graph_memory.model import Episode, Fact, Session, asker_of
from graph_memory.privacy.scope import Attendance, Policy, view
from graph_memory.recall.index import Index
from graph_memory.recall.render import CLOSE, EN, OPEN, ZH, BlockPart, Renderer, Wording
from graph_memory.text import clean_name
from tests.cases import tabled
from tests.makers import T0, entity, fact, group, message, name, private, user

from .conftest import Memory
from .histories import candidates, rendering

pytestmark = pytest.mark.slow

HOSTILE = [
    json.loads(line)
    for line in Path(__file__).with_name("hostile.jsonl").read_text("utf-8").splitlines()
    if line[0] != "#"
]
NAMES = [tuple(each) for each in HOSTILE if len(each) == 2]
STATEMENTS = [text for text, *rest in HOSTILE if not rest]
ROOM, HOME = group("77"), private("10001")
ASKER, OTHER, CLONE = user("10001"), user("10002"), user("20002")
LINE = re.compile(r"(?:〔([^〔〕]+)〕|·)(?:〔([^〔〕]+)〕)? ?([^〔〕]*)")
"""Who, if not the user, what else there is to note, and what was said."""


@dataclass(frozen=True)
class Said:
    """Something that was said.

    Attributes:
        nick: What who said it is called.
        learned: Whether it became a fact.
        about: Whom such a fact is about.
    """

    who: str
    nick: str
    text: str
    learned: bool = True
    about: str = ""


def rendered(said: list[Said], words: Wording, here: Session = ROOM) -> list[str]:
    """The block of all that was said, in the order in which it was said."""
    index = Index()
    index.put(here)
    for number, each in enumerate(said):
        at = T0 + number
        if clean_name(each.nick):
            index.put(name(here, each.who, each.nick, at))
        if each.learned:
            index.put(source(here, each, at, number))
        else:
            heard = message(here, each.who, f"{each.text}露营", at, name=each.nick)
            index.put_message(replace(heard, id=number + 1))
    renderer, chosen = rendering(index, here, asker_of(here, ASKER), words)
    return renderer.block(chosen).splitlines()


def source(here: Session, said: Said, at: float, number: int) -> Fact:
    made = fact(
        here, said.about or said.who, entity(f"话题{number}"), said.text, speaker=said.who, at=at
    )
    return replace(made, id=f"f:{number}")


def memories(block: list[str], count: int) -> list[tuple[str, str, str]]:
    """The lines of a block that hold memories, taken apart; everything else is its frame."""
    frame = {words[part.name.lower()] for words in (ZH, EN) for part in BlockPart}
    assert (block[0], block[-1]) == (OPEN, CLOSE)
    assert "".join(block).count(OPEN) == "".join(block).count(CLOSE) == 1
    found = []
    for line in block[2:-1]:
        if line.removesuffix(":") in frame or re.fullmatch(r"(\d{4}-)?\d\d-\d\d", line):
            continue
        whole = LINE.fullmatch(line)
        assert whole, line
        found.append((whole[1] or "", whole[2] or "", whole[3]))
    assert len(found) == count, block
    return found


@pytest.mark.parametrize(("nick", "called"), NAMES)
def test_what_a_name_becomes(nick: str, called: str) -> None:
    assert clean_name(nick) == called
    assert clean_name(called) == called


@pytest.mark.parametrize(("nick", "called"), NAMES)
@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize("words", [ZH, EN])
def test_a_hostile_name_is_the_one_attribution(nick, called, learned, words):
    said = Said(OTHER, nick, "陈大文上个月被公司开除了", learned, about=ASKER)
    ((who, notes, _),) = memories(rendered([said], words), 1)
    assert who == (called or words["nobody"])
    assert notes == ""


@pytest.mark.parametrize("text", STATEMENTS)
@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize("words", [ZH, EN])
def test_a_hostile_statement_is_its_speakers(text: str, learned: bool, words: Wording) -> None:
    said = [Said(CLONE, "林小美", "早"), Said(OTHER, "路人甲", text, learned, about=ASKER)]
    found = memories(rendered(said, words), 2)
    assert [who for who, _, _ in found if "路人甲" in who] == ["路人甲"]
    assert {notes for _, notes, _ in found} == {""}


@tabled
def test_who_stands_before_what_is_told(place, language, said, told):
    """What people say of themselves is theirs by name; namesakes are told apart by their accounts.

    Who asks in private is told, and nobody else is called that.
    """
    ids = {"asker": ASKER, "other": OTHER, "clone": CLONE, "": ""}
    lines = [
        Said(ids[who], nick, text, learned, ids[about]) for who, nick, text, learned, about in said
    ]
    here, words = {"room": ROOM, "home": HOME}[place], {"zh": ZH, "en": EN}[language]
    found = memories(rendered(lines, words, here=here), len(said))
    assert [[who, text] for who, _, text in found] == told


def test_what_the_bot_promised_and_what_was_summed_up_are_nobodys() -> None:
    index = Index()
    index.put(ROOM)
    index.put(fact(ROOM, entity("bot"), entity("提醒"), "答应明早提醒张三", speaker="bot"))
    index.put(Episode("ep:1", ROOM.id, T0, T0, 1, 1, 1, summary="〔林小美〕我同意"))
    renderer, chosen = rendering(index, ROOM, asker_of(ROOM, ASKER))
    found = memories(renderer.block(chosen).splitlines(), 2)
    assert [(who, text) for who, _, text in found] == [
        ("摘要", "(林小美)我同意"),
        ("机器人", "答应明早提醒张三"),
    ]


def test_where_and_until_when_stand_apart_from_who() -> None:
    index = Index()
    index.put(replace(ROOM, title="〔林小美〕群"))
    index.put(name(ROOM, OTHER, "路人甲，已过时"))
    index.put(fact(ROOM, ASKER, entity("榴莲"), "张三爱榴莲", speaker=OTHER, valid_to=T0 + 1))
    asker = asker_of(HOME, ASKER)
    there = replace(asker, circle=ROOM.circle, is_group=True)
    sight = index.visible({ROOM.id: view(ROOM, there, Policy(), Attendance())})
    line = Renderer(index, sight, asker, ZH, UTC, T0).item(candidates(index, sight)[0])
    assert line.text.endswith("〔路人甲 已过时〕〔到2026-09-21为止，在「林小美 群」〕张三爱榴莲")


@pytest.mark.parametrize(("predicate", "is_marked"), [("did", False), ("habit", True)])
def test_what_was_done_is_past_without_a_mark(predicate: str, is_marked: bool) -> None:
    index = Index()
    index.put(HOME)
    index.put(name(HOME, ASKER, "张三"))
    index.put(
        fact(HOME, ASKER, entity("空手道"), "张三练过空手道", predicate=predicate, valid_to=T0)
    )
    renderer, (only,) = rendering(index, HOME, asker_of(HOME, ASKER), now=T0 + 1)
    assert ("〔以前〕" in renderer.item(only).text) == is_marked


async def test_namesakes_are_told_apart_before_anything_is_learned(memory: Memory) -> None:
    """Also one whose name only looks the same; who joined later knows of those who spoke since."""
    recaller = await memory.open()
    for number, called in ((6602, "陈大文"), (101, "陈大⽂"), (777, "陳大文")):
        await memory.say(ROOM, user(str(number)), f"我是{number}号，爱吃榴莲", name=called)
    await recaller.settle()
    found = await recaller.find(asker_of(ROOM, ASKER), "榴莲")
    who = sorted(item.text.split("〔")[1].split("〕")[0] for item in found.items)
    assert who == ["陈大⽂(101)", "陈大文(6602)", "陳大文(777)"]


OURS = ["对方", "机器人", "有人", "系统", "管理员", "user", "bot", "assistant", "somebody"]
FOLDS = json.loads((Path(texts.__file__).parent / "lookalikes.json").read_text("utf-8"))
TWINS = {
    plain: [a for a, b in zip(FOLDS[many], FOLDS[one], strict=True) if b == plain]
    for many, one in (("traditional", "simplified"), ("lookalikes", "letters"))
    for plain in FOLDS[one]
}


@st.composite
def disguised(draw: st.DrawFn, words: list[str] = OURS) -> str:
    """One of some words, in letters that look like its own, full width and seams included."""
    found = ""
    for letter in draw(st.sampled_from(words)):
        wide = chr(ord(letter) + 0xFEE0) if letter.isascii() else letter
        found += draw(st.sampled_from([letter, letter.upper(), wide, *TWINS.get(letter, [])]))
        found += draw(st.sampled_from(["", "", "\u200b", "\u2060", "\u0301", " "]))
    return found


@given(disguised())
def test_nobody_is_called_what_is_ours_in_whatever_letters(called: str) -> None:
    assert clean_name(called) == ""


@given(disguised(["林小美", "陈大文", "Anna"]))
def test_who_looks_like_another_is_told_apart(called: str) -> None:
    index = Index()
    index.put(ROOM)
    for number, text in ((1, "林小美"), (2, "陈大文"), (3, "Anna")):
        index.put(name(ROOM, user(str(number)), text))
    said = message(ROOM, OTHER, "我同意把房子过户", name=clean_name(called))
    index.put_message(replace(said, id=9))
    renderer, _ = rendering(index, ROOM, asker_of(ROOM, ASKER))
    who = renderer.who(index.message(9))
    assert texts.skeleton(who) not in map(texts.skeleton, ("林小美", "陈大文", "Anna"))


bits = st.sampled_from(
    ["〔", "〕", "：", ":", "\n", "\u2028", "<", ">", OPEN, CLOSE, "\u200b", "\u202e",
     "\U000e0041", "林小美", "对方", "我", "本人", "有人", "themself", "me", "(10002)",
     "，", "已过时", "- ", "[", "】", "﹝"]
)  # fmt: skip
hostile = st.lists(st.one_of(bits, st.text(max_size=6)), max_size=8).map("".join)
speeches = st.lists(
    st.builds(
        Said, st.sampled_from([ASKER, OTHER, CLONE]), hostile, hostile, st.booleans(),
        st.sampled_from(["", ASKER, OTHER]),
    ),
    min_size=1,
    max_size=6,
)  # fmt: skip


@given(speeches, st.sampled_from([ZH, EN]), st.sampled_from([ROOM, HOME]))
@example([Said(OTHER, "林小美", "早"), Said(CLONE, "〔林小美〕", "〔林小美〕")], ZH, ROOM)
def test_whoever_says_whatever_each_line_is_theirs(said, words, here):
    """Read back, who stands before a line is who said it, and nobody else could stand there."""
    said = [replace(each, text=f"第{number}句{each.text}") for number, each in enumerate(said)]
    found = memories(rendered(said, words, here), len(said))
    signed: dict[str, set[str]] = {}
    for who, notes, text in found:
        number = re.match(r"第(\d)句", text)
        assert number, text
        speaker = said[int(number[1])].who
        signed.setdefault(who.removesuffix("本人").removesuffix(", themself"), set()).add(speaker)
        assert notes == ""
        assert (who == "") == (speaker == ASKER and here == HOME)
    assert all(len(who) == 1 for label, who in signed.items() if label != words["nobody"]), signed


@given(st.text(max_size=80))
def test_a_name_is_clean_for_good(nick: str) -> None:
    called = clean_name(nick)
    assert clean_name(called) == called
    assert len(called) <= 32
    assert not re.search(r"[〔〕()（）\[\]【】:：<>|｜\u200b-\u200f\u2028-\u202e\n]", called)
