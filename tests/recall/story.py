"""Cases of recall as text; ``cases/`` holds them.

A case begins with ``# name``; ``* `` and the values of ``$1``, ``$2`` … plays it with each such
line, ``@ private 1`` goes on in another chat, ``~ 3`` lets three hours pass, ``% limit 8`` asks
with an option, ``! key value`` sets one of the memory. What is said, ``Z …``; what is known,
``+ subject|predicate|object|statement`` and ``|field value`` for each other field; a name,
``name node text``; a summary of messages, ``episode 1 3 text``. ``? …`` asks, ``?H …`` for
somebody else, ``find`` looks words up, ``leaves Z`` a group, ``forget 1`` a message,
``undo`` that; ``= `` and what comes of it, see :meth:`Story.check`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from graph_memory.model import Episode, Fact, Forgotten, Session, asker_of

from ..cases import words
from ..makers import T0, entity, fact, group, last_change, name, private, undo, user
from .conftest import Memory

PEOPLE = {"Z": ("10001", "张三"), "H": ("10002", "小红"), "X": ("?", "")}
"""Account and name of who speaks."""
LISTS = ("exclude", "context", "records")
SESSION = {"private": private, "group": group}


class Story:
    """A memory that is told and asked what a case says."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.here: Session = private("10001")
        self.at = T0
        self.options: dict[str, Any] = {}
        self.facts: dict[str, Fact] = {}
        self.found: Any

    async def play(self, lines: Iterable[str]) -> None:
        """Play a case and hold what is recalled against what is to be."""
        await self.memory.open()
        await self.memory.know(self.here)
        for line in lines:
            sign, _, text = line.partition(" ")
            match sign:
                case "~":
                    self.at += 3_600 * float(text)
                    self.memory.now = max(self.memory.now, self.at)
                case "@":
                    kind, *where = text.split()
                    self.here = SESSION[kind](*where)
                    await self.memory.know(self.here)
                case "%":
                    key, _, value = text.replace("\\n", "\n").partition(" ")
                    given = [int(each) if each.isdigit() else each for each in words(value)]
                    self.options[key] = given if key in LISTS else given[0]
                case "!":
                    key, _, value = text.partition(" ")
                    await self.memory.open(**{key: value})
                case "episode":
                    first, last, summary = text.split(" ", 2)
                    span = int(first), int(last), 1, summary
                    await self.memory.know(
                        Episode(f"ep:{first}", self.here.id, self.at, self.at, *span)
                    )
                case "+":
                    await self._know(*text.split("|"))
                case "name":
                    node, _, called = text.partition(" ")
                    await self.memory.know(name(self.here, self._node(node), called))
                case "?" | "?H" | "?Z":
                    asker = user(PEOPLE[sign[1:]][0]) if sign[1:] else self.here.owner
                    asked = asker_of(self.here, asker or user("10001"))
                    self.found = await self.memory.ask(asked, text, **self.options)
                case "find":
                    asker = asker_of(self.here, self.here.owner or user("10001"))
                    await self.memory.recaller.settle()
                    self.found = await self.memory.recaller.find(asker, text)
                case "forget":
                    await self.memory.know(Forgotten.of(self.here.id, int(text)))
                case "undo":
                    journal = self.memory.journal
                    await undo(journal, await last_change(journal), "owner")
                case "leaves":
                    await self.memory.journal.leave(self.here.circle, self._node(text), self.at)
                case "=":
                    self.check(*text.partition(" ")[::2])
                case _:
                    account, called = PEOPLE[sign]
                    await self.memory.say(self.here, user(account), text, self.at, name=called)

    async def _know(self, subject: str, predicate: str, object: str, text: str, *more: str) -> None:
        about, what = self._node(subject), self._node(object)
        made = fact(self.here, about, what, text, predicate=predicate or "likes", at=self.at)
        for field in more:
            key, _, value = field.partition(" ")
            given: Any = value
            match key:
                case "evidence" | "added":
                    given = tuple(int(number) for number in value.split())
                case "supersedes":
                    given = tuple(self.facts[text].id for text in words(value))
                case "valid_to" | "valid_from":
                    given = T0 + 86_400 * float(value)
                case "speaker":
                    given = self._node(value)
            made = replace(made, **{key: given})
        self.facts[text] = made
        await self.memory.know(made)

    def check(self, what: str, text: str) -> None:
        """Hold one line against what was found.

        ``items`` are parts of what is told, best first, ``any`` in whatever order, ``first`` of
        the best, ``told`` of one of them, ``has``, ``once`` and ``lacks`` of the block or not,
        ``order`` in this order, ``block -`` says that it is empty, ``nowhere`` what is not even in
        the trace, ``why`` for what reason something was left out, ``named`` who is meant.
        """
        found = self.found
        items = [item.text for item in found.items]
        match what:
            case "items" | "any":
                wanted = words(text)
                places = [[at for at, item in enumerate(items) if part in item] for part in wanted]
                assert len(items) == len(wanted), items
                assert all(places), (items, wanted)
                if what == "items":
                    assert [at for at, place in enumerate(places) if at not in place] == []
            case "first":
                assert text in items[0]
            case "told":
                assert text in "\n".join(items)
            case "once":
                assert found.block.count(text) == 1
            case "has" | "lacks":
                assert (text.replace("\\n", "\n") in found.block) is (what == "has"), found.block
            case "order":
                places = [found.block.index(part) for part in words(text)]
                assert places == sorted(places)
            case "block":
                assert found.block == ""
            case "nowhere":
                assert text not in repr(found)
            case "why":
                reason, _, part = text.partition(" ")
                candidates = found.trace.candidates
                assert {each.dropped for each in candidates if part == each.text} == {reason}
            case "named":
                assert found.trace.named.keys() == {self._node(word) for word in words(text)}
            case "meant" | "unmeant":
                assert (self._node(text) in found.trace.named) is (what == "meant")
            case _:
                raise AssertionError(f"what is {what}?")

    def _node(self, word: str) -> str:
        """Somebody, something of this chat (``@``), or something of everybody's."""
        if word in PEOPLE:
            return user(PEOPLE[word][0])
        is_here = word[:1] == "@"
        return entity(word[is_here:], self.here.circle if is_here else "")
