"""A model that obeys whoever chats puts no words into anybody else's mouth; see obeying.txt.

What it answers is written by hand, as is what must come of it; and in no case is a row the
word of somebody who said nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

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
