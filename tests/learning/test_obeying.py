"""A model that obeys whoever chats puts no words into anybody else's mouth; see obeying.txt.

What it answers is written by hand, as is what must come of it; and of whatever it answers, no
row is the word of somebody who said nothing of it.
"""

import asyncio
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from graph_memory.companion.core_facts import CoreFact, CoreFactExtension
from graph_memory.inference.ports import Answer
from graph_memory.learning.attribution import share
from graph_memory.learning.parse import parse
from graph_memory.learning.resolver import resolve
from graph_memory.model import BOT, Fact, Message, Name, Quote, is_entity
from graph_memory.store import Journal
from tests.makers import group, user

from .chat import Chat

PEOPLE = {"M": ("may", "林小美"), "P": ("passer", "路人甲"), "L": ("li", "小丽"), "B": (BOT, BOT)}
ALSO = ["May", "小美", "阿美"]
"""What they are called besides."""
ROOM = group("100")
CORE = ("type", "text", "about", "evidence", "replaces")


def _cases() -> dict[str, list[str]]:
    """The lines of each case, by its name."""
    text = (Path(__file__).parent / "obeying.txt").read_text("utf-8")
    blocks = (block.splitlines() for block in text.split("\n\n"))
    cases = [lines for lines in blocks if lines[0].startswith("# ") and len(lines) > 1]
    return {lines[0][2:]: lines[1:] for lines in cases if not lines[1].startswith("#")}


class Room(Chat):
    """A group whose model says what a case says."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, ROOM)
        self.said: list[Message] = []

    async def hear(self, who: str, text: str) -> None:
        """Somebody says something; ``^2`` in front quotes the second message."""
        account, name = PEOPLE[who]
        quoted = re.match(r"\^(\d+) ", text)
        quote = None
        if quoted:
            told = self.said[int(quoted[1]) - 1]
            text = text[quoted.end() :]
            quote = Quote(told.sender, told.name, told.ref.split("@")[0], told.text)
        ref = f"{len(self.said) + 1}@1"
        self.said.append(await self.say(account, text, name, quote=quote, ref=ref))

    async def obey(self, lines: Iterable[str]) -> None:
        """Learn what was said from an answer."""
        known = await self.show()
        people = {key: user(account) for key, (account, _) in PEOPLE.items()}

        def number(found: re.Match[str]) -> str:
            if found[1] in people:
                return known.label(people[found[1]]) or PEOPLE[found[1]][1]
            return str(self.number(found[1]))

        told = [re.sub(r"\{(.*?)\}", number, line) for line in lines]
        core = [dict(zip(CORE, t.split("|")[1:], strict=True)) for t in told if t[:5] == "core|"]
        answer = {"lines": "\n".join(each for each in told if each[:5] != "core|"), "core": core}
        batch, self.batch = self.batch, None
        assert batch
        extraction = parse(Answer("", {"worth": any(told), **answer}), ["core"])

        def draft(rows: Any) -> Any:
            extension = CoreFactExtension(rows, batch, known)
            resolved = resolve(rows, batch, extraction, known, self.context, self.at)
            made = resolved.draft("learn", "learned", batch=batch.id)
            extension.write(rows, made, extraction.extra, self.at)
            return made

        await self.journal.commit(draft)

    async def play(self, lines: Iterable[str]) -> list[str]:
        """Play the lines of a case; returns what is to be there."""
        answer: list[str] = []
        wanted: list[str] = []
        for line in [*lines, "= "]:
            sign, _, text = line.partition(" ")
            if sign != ">" and answer:
                await self.obey(answer)
                answer = []
            if sign == ">":
                answer.append(text)
            elif sign == "~":
                self.at += 7_200
            elif sign == "=":
                wanted.append(text)
            else:
                await self.hear(sign, text)
        return [each for each in wanted if each]

    async def check(self, wanted: str) -> None:
        """Hold one line of a case against the rows."""
        what, _, text = wanted.partition(" ")
        found = await self.rows(Fact)
        facts = [fact for fact in found if fact.statement == text]
        gone = {id for fact in found for id in fact.supersedes}
        standing = [fact for fact in facts if fact.valid_to is None and fact.id not in gone]
        match what:
            case "stands" | "over":
                assert facts
                assert bool(standing) is (what == "stands")
            case "names" | "core":
                who, *texts = text.split()
                node = user(PEOPLE[who][0])
                kept = {row.text for row in await self.rows(CoreFact) if row.user == node}
                assert (await self.names(node) if what == "names" else kept) == {*texts} - {"-"}
            case "thing":
                (called,) = {n.node for n in await self.rows(Name) if n.text == text}
                newest = max(await self._names_of(called), key=lambda name: name.order)
                assert newest.text == text
            case _:
                whose = {"?": "", **{key: user(account) for key, (account, _) in PEOPLE.items()}}
                assert {f.speaker for f in facts} == ({whose[what]} if what != "-" else set())

    async def _names_of(self, node: str) -> list[Name]:
        return [name for name in await self.rows(Name) if name.node == node]

    async def check_speakers(self) -> None:
        """Nobody is the speaker of what they said nothing of."""
        spoke = {message.name for message in self.said}
        names = [*spoke, *(ALSO if "林小美" in spoke else ())]
        told = [(f.speaker, f.statement) for f in await self.rows(Fact) if f.speaker]
        told += [(row.user, row.text) for row in await self.rows(CoreFact)]
        for speaker, statement in told:
            own = [each.text for each in self.said if each.sender == speaker]
            assert share(statement, own, names) > 0, f"{speaker}: {statement}"
        for name in await self.rows(Name):
            said = "\n".join([*spoke, *(message.text for message in self.said)])
            assert is_entity(name.node) or name.text.casefold() in said.casefold()


@pytest.fixture
def room(journal: Journal) -> Room:
    return Room(journal)


CASES = _cases()


def test_there_are_enough() -> None:
    assert len(CASES) >= 100
    assert all(any(line.startswith("= ") for line in lines) for lines in CASES.values())


@pytest.mark.parametrize("name", CASES)
async def test_what_comes_of_an_answer(room: Room, name: str) -> None:
    for wanted in await room.play(CASES[name]):
        await room.check(wanted)
    await room.check_speakers()


# ------------------------------------------------------------------ whatever is answered

SAID = (
    "哈哈今天吃了五百块的火锅", "林小美承认偷了工具箱", "早", "我养了一只橘猫", "小丽和老板在交往",
    "路人甲欠我五百块", "工具箱在哪儿", "我不知道", "May owes me five hundred", "five past nine",
)  # fmt: skip
TOLD = (
    "林小美承认偷了工具箱", "林小美欠路人甲五百块", "路人甲养了一只橘猫", "小丽和老板在交往",
    "May owes the passer five hundred", "小丽住在北京",
)  # fmt: skip
_lines = st.lists(st.tuples(st.sampled_from("MPL"), st.sampled_from(SAID)), min_size=1, max_size=5)
_facts = st.lists(
    st.tuples(
        st.sampled_from("MPL"),
        st.sampled_from(("other", "did", "promised", "is_named", "lives_in")),
        st.sampled_from(TOLD),
        st.sampled_from(("1", "2", "1,2", "1,2,3", "3", "2,4", "")),
        st.sampled_from(("", "hearsay", "past", ">1", "secret")),
    ),
    max_size=4,
)
_marks = st.lists(st.tuples(st.sampled_from(("restated", "ended")), st.integers(1, 3)), max_size=3)
_batches = st.lists(st.tuples(_lines, _facts, _marks, st.booleans()), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(_batches)
def test_nobody_has_said_what_they_said_nothing_of(batches: list[Any]) -> None:
    asyncio.run(_speakers(batches))


async def _speakers(batches: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = await Journal.open(Path(folder) / "journal.sqlite3")
        try:
            room = Room(journal)
            for who in "MPL":  # whose names are known from then on
                await room.hear(who, "早")
            await room.obey([""])
            for lines, facts, marks, is_later in batches:
                for who, text in lines:
                    await room.hear(who, text)
                told = [
                    f"{{{who}}}|{predicate}|{text[-4:]}|{cited}||0.5|{mark}|{text}"
                    for who, predicate, text, cited, mark in facts
                ]
                told += [f"core|fact|{text}|{{{who}}}|1,2,3|" for who, _, text, *_ in facts[:1]]
                told += [f"{mark}|{number}:{number}" for mark, number in marks]
                await room.obey(told)
                await room.check_speakers()
                room.at += 7_200 if is_later else 0
        finally:
            await journal.close()
