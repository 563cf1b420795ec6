"""Cases of learning as text; ``cases/`` holds them.

A case begins with ``# name`` and goes on with

- who says what: ``M …``, ``Z(三哥) …`` under another name, ``^2 …`` quoting the second message,
  ``->RB …`` mentioning people; ``~ 3`` lets three hours pass, ``@ private zhang ruo`` goes on in
  another chat (``isolated`` from other personas, and so on);
- ``! forget 1`` (``merge``, ``split``, ``link``, ``forget-me``, ``trim``) is what others do,
  ``! correct|Z|…`` (``forget``, ``unsay``, ``undo``) what Zhang does, with ``!-`` in vain;
- ``> `` and a line of the model's answer: ``{M}`` is a label, ``{some statement}`` the number of
  a known fact;
- ``= `` and what is there then, see :meth:`Story.check`;
- ``* `` and values, see :func:`tests.cases.cases`.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from graph_memory.companion.core_facts import CoreFact, CoreFactExtension
from graph_memory.deletion import forget_me
from graph_memory.deletion.message_retention import trim_log
from graph_memory.errors import NotFoundError
from graph_memory.inference import Answer
from graph_memory.learning.parse import parse
from graph_memory.learning.prompt import compose
from graph_memory.learning.resolver import resolve
from graph_memory.library import Amendment, Library
from graph_memory.library.identity_edits import IdentityEdits
from graph_memory.model import (
    BOT,
    Addressee,
    Entity,
    Episode,
    Fact,
    Forgotten,
    Mention,
    Message,
    Name,
    Quote,
    Turn,
    asker_of,
    is_entity,
    stable_id,
)
from graph_memory.privacy.scope import Policy, Sharing
from graph_memory.retention import DAY
from graph_memory.store import Draft, Journal
from graph_memory.text import normalise

from ..cases import words
from ..makers import CHINA, T0, context, entity, group, holding, private, put, scan, undo_last, user
from .chat import Chat

PEOPLE = {
    "M": ("may", "林小美"), "P": ("passer", "路人甲"), "L": ("li", "小丽"), "B": (BOT, BOT),
    "Z": ("zhang", "张三"), "N": ("zhang2", "三哥"), "S": ("si", "李四"), "W": ("wang", "王五"),
    "R": ("red", "小红"), "H": ("hat", "小红帽"), "A": ("10002", "10002"),
    "C": ("701", "赵云飞"), "D": ("702", "赵云飞"), "K": ("703", "小周"),
}  # fmt: skip
"""Account and name of who speaks."""
SHOWN = ("shown", "hidden", "last", "things", "people", "line", "prompt")
CORE = ("type", "text", "about", "evidence", "replaces")
_SPOKEN = re.compile(r"(?:\^(\d+) )?(?:->([A-Z]+) )?(.*)", re.DOTALL)


class Story:
    """Chats of one journal, whose model says what a case says."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.said: list[Message] = []
        self.chat = Chat(journal, group("100"))
        self._chats = {"group 100": self.chat}
        self._left: dict[str, list[Fact]] = {}

    async def play(self, lines: Iterable[str]) -> None:
        """Play a case and hold what comes of it against what is to come."""
        answer: list[str] = []
        for line in [*lines, "= "]:
            sign, _, text = line.partition(" ")
            if sign == ">":
                answer.append(text)
                continue
            if answer:
                await self.obey(answer)
                answer = []
            match sign:
                case "~":
                    self.chat.at += 3_600 * float(text or 2)
                case "@":
                    await self._enter(text)
                case "!" if "|" in text:
                    await self._edit(*text.split("|"))
                case "!":
                    await self._act(*text.split())
                case "!-":
                    with pytest.raises(NotFoundError):
                        await self._edit(*text.split("|"))
                case "=":
                    await self.check(*text.partition(" ")[::2])
                case _:
                    await self.hear(sign, text)

    async def _enter(self, place: str) -> None:
        before = self.chat
        self._left[before.session.id] = await before.rows(Fact)
        if place not in self._chats:
            kind, *where = place.split()
            session = {"group": group, "private": private}[kind](*where[:2])
            sharing, *cross = where[2:] or ["layered"]
            policy = Policy(Sharing(sharing), cross_persona=bool(cross))
            self._chats[place] = Chat(self.journal, session, before.context.attendance, policy)
        self.chat = self._chats[place]
        self.chat.at = before.at

    async def _act(self, what: str, first: str = "", second: str = "") -> None:
        edits = IdentityEdits(self.chat.context)
        match what:
            case "forget":
                gone = Forgotten.of(self.chat.session.id, int(first))
                await self.journal.commit(lambda _: Draft("owner", "forget", [gone]))
            case "trim":
                await self.journal.in_slices(partial(trim_log, now=self.chat.at + 100 * DAY))
            case "forget-me":
                user, at = self._node(first), self.chat.at
                await self.journal.in_slices(lambda db, tell: forget_me.erase(db, user, at, tell))
            case "split" | "unlink":
                await getattr(edits, what)(self._node(first), "owner")
            case _:
                await getattr(edits, what)(self._node(first), self._node(second), "owner")

    @property
    def _library(self) -> Library:
        about = {"attendance": self.chat.context.attendance, "zone": CHINA}
        return Library(context(self.journal, **about, now=lambda: self.chat.at))

    async def _edit(
        self, what: str, who: str, ref: str = "", text: str = "", of: str = "0"
    ) -> None:
        """Somebody corrects or forgets a fact, unsays a message, undoes; the owner amends."""
        caller = Turn(self.chat.session, self._node(who), PEOPLE[who][1])
        facts = await self.chat.facts()
        match what:
            case "correct":
                said = Message(int(of), caller.session.id, caller.user, "", text, 0.0)
                turn = replace(caller, message=said if said.id else None)
                await self._library.correct(facts[ref].id, text, turn)
            case "unsay":
                await self._library.forget([], caller.asker, caller.user, [int(ref)])
            case "forget":
                await self._library.forget([facts[ref].id], caller.asker, caller.user)
            case "archive" | "restore":
                await self._library.act(what, [facts[ref].id], caller.user)
            case "drop":
                await put(self.journal, drop=[facts[ref]])
            case "retract":
                assert await self._library.retract(caller.session.circle, ref)
            case "amend":
                await self._library.amend(facts[ref].id, Amendment(text), "owner")
            case "undo":
                await undo_last(self._library, caller.user)
            case _:
                raise AssertionError(f"what is {what}?")

    async def hear(self, who: str, text: str) -> None:
        """Somebody says something."""
        account, name = PEOPLE[who[0]]
        spoken = _SPOKEN.fullmatch(text.strip())
        quote = None
        if spoken[1]:
            told = self.said[int(spoken[1]) - 1]
            quote = Quote(told.sender, told.name, told.ref.split("@")[0], told.text)
        to = tuple(
            Addressee(BOT) if key == "B" else Addressee(self._node(key), PEOPLE[key][1])
            for key in spoken[2] or ""
        )
        said = {"name": who[2:-1] or name, "to": to, "quote": quote}
        ref = f"{len(self.said) + 1}@1"
        self.said.append(await self.chat.say(account, spoken[3], ref=ref, **said))

    async def obey(self, lines: Iterable[str]) -> None:
        """Learn what was said from an answer."""
        chat = self.chat
        known = chat.known if chat.batch else await chat.show()

        def number(found: re.Match[str]) -> str:
            if found[1] in PEOPLE:
                return known.label(self._node(found[1])) or PEOPLE[found[1]][1]
            return str(chat.number(found[1]))

        told = [re.sub(r"\{(.*?)\}", number, line) for line in lines]
        core = [dict(zip(CORE, t.split("|")[1:], strict=True)) for t in told if t[:5] == "core|"]
        answer = {"lines": "\n".join(each for each in told if each[:5] != "core|"), "core": core}
        batch, chat.batch = chat.batch, None
        extraction = parse(Answer("", {"worth": any(told), **answer}), ["core"])

        def draft(rows: Any) -> Any:
            extension = CoreFactExtension(rows, batch, known)
            resolved = resolve(rows, batch, extraction, known, chat.context, chat.at)
            made = resolved.draft("learn", "learned", batch=batch.id)
            extension.write(rows, made, extraction.extra, chat.at)
            return made

        await self.journal.commit(draft)

    async def check(self, what: str, text: str) -> None:
        """Hold one line against what is there.

        ``P …`` says whose word a statement is (``?`` nobody's, ``-`` it is not there), ``stands``
        or ``over`` whether it holds, ``standing`` what holds and how often it was told, ``facts``
        what is there, ``fact … | field value`` a row, ``rows`` and ``subjects`` how many there
        are, ``alike`` and ``unlike`` whether the first is about whom the others are about,
        ``same`` that nothing changed since the chat was left.
        """
        found = await self.chat.rows(Fact)
        facts = [fact for fact in found if fact.statement == text]
        gone = {id for fact in found for id in fact.supersedes}
        subjects = {fact.statement: fact.subject for fact in found}
        match what:
            case "stands" | "over":
                holds = [f for f in facts if f.valid_to is None and f.id not in gone]
                assert facts
                assert bool(holds) is (what == "stands")
            case "standing":
                counted = [f"{f.statement} {f.use_count}" for f in found if f.id not in gone]
                assert sorted(counted) == sorted(words(text))
            case "facts":
                assert subjects.keys() == set(words(text))
            case "fact":
                statement, *fields = text.split(" | ")
                await self._check_fact((await self.chat.facts())[statement], fields)
            case "rows" | "subjects":
                assert len(found if what == "rows" else {*subjects.values()}) == int(text)
            case "alike" | "unlike":
                first, *others = (subjects[statement] for statement in words(text))
                assert all((first == other) is (what == "alike") for other in others)
            case "same":
                assert found == self._left[self.chat.session.id]
            case _ if len(what) == 1:
                assert {f.speaker for f in facts} == ({self._node(what)} if what != "-" else set())
            case _ if what:
                await (self._check_prompt if what in SHOWN else self._check_nodes)(what, text)

    async def _check_prompt(self, what: str, text: str) -> None:
        """What the model is shown of facts, things and people, and lines of what it reads."""
        chat = self.chat
        known = chat.known if chat.batch else await chat.show()
        assert chat.batch
        shown = {fact.statement for fact in known.facts.values()}
        lines = compose(chat.batch, known, CHINA).prompt.splitlines()
        match what:
            case "shown":
                assert shown == set(words(text))
            case "hidden":
                assert text not in shown
            case "last":
                assert [fact.statement for fact in known.facts.values()][-1] == text
            case "things" | "people":
                nodes = {self._node(word) for word in text.split() if word != "-"}
                assert {each.node for each in getattr(known, what).values()} == nodes
            case "line":
                assert text in [re.sub(r"^\[\d+\] (\d\d:\d\d )?", "", line) for line in lines]
            case "prompt":
                assert text in [re.sub(r"^\d+\. ", "", line) for line in lines]

    async def _check_nodes(self, what: str, text: str) -> None:
        """Names, core facts, presences, messages; what has no node, name or mention."""
        names = await self.chat.rows(Name)
        match what:
            case "names" | "core":
                who, *texts = text.split()
                node = self._node(who)
                kept = {row.text for row in await self.chat.rows(CoreFact) if row.user == node}
                kept = {n.text for n in names if n.node == node} if what == "names" else kept
                assert kept == {*texts} - {"-"}
            case "called":
                statement, _, called = text.partition(" | ")
                node = (await self.chat.facts())[statement].subject
                assert is_entity(node)
                assert {n.text for n in names if n.node == node} == {called}
            case "thing":
                (node,) = {n.node for n in names if n.text == text}
                assert max((n for n in names if n.node == node), key=lambda n: n.order).text == text
            case "unnamed":
                assert normalise(text) not in {n.norm for n in names}
            case "unknown":
                assert await self.journal.read(lambda r: r.get(Entity, self._node(text))) is None
            case "mentions":
                mentions = await self.chat.rows(Mention)
                assert [f"{each.type} {each.count}" for each in mentions] == words(text)
            case "summary":
                episodes = await self.chat.rows(Episode)
                told = [f"{each.summary} {each.messages}".strip() for each in episodes]
                assert sorted(told) == sorted(words(text))
            case "files":
                assert holding(self.journal.path.parent, text, "journal*") == []
            case "muted":
                muted = {row.message for row in await self.chat.rows(Forgotten)}
                assert muted == {int(number) for number in text.split() if number != "-"}
            case "mine":
                who, *wanted = text.split()
                mine = await self._library.mine(asker_of(self.chat.session, self._node(who)))
                assert [line.fact.statement for line in mine] == wanted
            case "messages":
                kept = await self.journal.newest_messages(99)
                assert [message.text for message in kept] == words(text)
            case "present":
                found = {presence.user for presence in await self.journal.presences()}
                assert found == {self._node(text)}
            case _:
                raise AssertionError(f"what is {what}?")

    async def _check_fact(self, fact: Fact, fields: Iterable[str]) -> None:
        everything = await scan(self.journal, Fact)
        places = {chat.session.id: f"@{place}" for place, chat in self._chats.items()}
        places[self.chat.session.id] = ""
        texts = {each.id: each.statement + places[each.session] for each in everything}
        for field in fields:
            key, _, value = field.partition(" ")
            kept: Any = getattr(fact, key)
            wanted: Any = value
            match key:
                case "subject" | "object" | "speaker":
                    wanted = self._node(value)
                case "evidence" | "added" | "claimed":
                    wanted = tuple(int(number) for number in words(value.replace(" ", ";")))
                case "valid_from" | "valid_to" | "due" | "expires" | "archived_at":
                    is_said, at = value == "said", kept and datetime.fromtimestamp(kept, CHINA)
                    kept = kept if is_said else at and at.isoformat(" ").removesuffix(":00+08:00")
                    wanted = fact.said_at if is_said else f"{value} 00:00" if value != "-" else None
                case "supersedes" | "awaits":
                    kept, wanted = sorted(texts[id] for id in kept), sorted(words(value))
                case "is_over":
                    kept, wanted = fact.is_over(self.chat.at), value == "yes"
                case "use_count" | "half_life":
                    kept, wanted = round(kept), int(value)
                case "last_used":  # days after the beginning
                    kept, wanted = round((kept - T0) / DAY), int(value)
                case "said_at":
                    wanted = self.said[int(value) - 1].at
                case "hearsay" | "confidential" | "is_former":
                    wanted = value == "yes"
            assert kept == wanted, f"{fact.statement}: {key}"

    def _node(self, word: str) -> str:
        """Somebody, ``#something`` of everybody's, ``@something`` of this chat, or nobody."""
        if word[:1] in "#@":
            return entity(word[1:], self.chat.session.circle if word[0] == "@" else "")
        if word == "BOT":
            return stable_id("e", f"bot:{self.chat.session.persona}", BOT)
        return "" if word == "?" else BOT if word == "B" else user(PEOPLE[word][0])
