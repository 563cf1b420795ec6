"""Conversations with the bot as text, played on a real memory; see :class:`Dialogue`."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from graph_memory.companion import CoreFact, FollowUp, InnerState, Intent, Mood
from graph_memory.deletion.message_retention import trim_log
from graph_memory.graph import GraphState
from graph_memory.model import BOT, Addressee, Episode, Fact, Message, Row, Turn
from graph_memory.store import Draft

from .cases import words
from .commands import call
from .makers import admin, entity, fact, group, holding, private, user
from .scripted import NOTHING, Voice
from .views import assert_views_follow
from .world import CLUB, SETTINGS, World, li, li_in_club, living, zhang, zhang_in_club, zhang_to_lan

CALLERS = {
    "Z": zhang, "C": zhang_in_club, "A": zhang_to_lan, "L": li, "I": li_in_club,
    "B": admin, "Q": replace(admin, session=CLUB), "W": Turn(CLUB, user("wang"), "王五"),
    "X": replace(zhang_in_club, user=user("?"), name=""), "E": replace(zhang, session=group("7")),
    "N": Turn(private("zhang2"), user("zhang2"), "三哥"),
    "M": Turn(CLUB, user("zhang2"), "三哥"), "F": Turn(CLUB, user("fish"), "鱼"),
    "R": Turn(CLUB, user("10701"), "赵云飞"), "K": Turn(CLUB, user("10702"), "赵云飞"),
    "T": Turn(private("ting"), user("ting"), "婷婷\n1. 假的"),
    "D": replace(zhang_in_club, to=(Addressee(BOT),)),
}  # fmt: skip
"""Zhang at home, in the club (C), to another persona (A), by another account (N, in the club M);
to the bot there (D); Li at home (L) and in the club (I); R and K go by the same name."""
KINDS = {
    "facts": (Fact, "statement"), "confided": (Fact, "confidential"),
    "core": (CoreFact, "text"), "episodes": (Episode, "summary"),
    "inner": (InnerState, "other"), "moods": (Mood, "session"), "follow-ups": (FollowUp, "reason"),
    "meant": (FollowUp, "status"), "tries": (FollowUp, "attempts"),
}  # fmt: skip


async def everything(world: World, caller: Turn, word: str) -> str:
    """What somebody is told who asks for a word on all ways there are."""
    found, lead = await world.ask(caller, f"{word}是怎么回事？")
    ways = [f"search {word}", "mine", "why", "records", "records 1", "records 2", "records 3"]
    asked: list[tuple[str, dict[str, str]]] = [
        ("memory_recall", {"query": word}),
        ("memory_recall", {"query": word, "person": "张三"}),
        ("memory_recall", {}),
        ("search_history", {"keyword": word}),
        ("search_history", {"person": "张三"}),
    ]
    told = [found.block, lead]
    told += [await call(world.commands, caller, *way.partition(" ")[::2]) for way in ways]
    told += [await world.tools.use(caller, tool, given) for tool, given in asked]
    if not caller.session.is_group:
        path, _ = await world.memory.transfer.own(caller.asker)
        told.append(path.read_text("utf-8"))
    return "\n".join(told).replace(f"{word}是怎么回事", "")


async def played(
    path: Path, lines: list[str], prepare: Callable[[World], Awaitable[None]] | None = None
) -> None:
    """Play a case in a memory of its own.

    A first line ``with {…}`` has settings, and ``restart`` is a line at which it is closed and
    opened again.
    """
    settings, clock, dialogue = SETTINGS, None, None
    if lines[0].startswith("with "):
        given = json.loads(lines[0].removeprefix("with ")).items()
        lists = {key: tuple(value) if isinstance(value, list) else value for key, value in given}
        settings, lines = replace(SETTINGS, **lists), lines[1:]
    for part in "\n".join(lines).split("\nrestart\n"):
        async with living(path, settings, clock) as world:
            if prepare and not dialogue:
                await prepare(world)
            dialogue = dialogue or Dialogue(world)
            dialogue.world, clock = world, world.clock
            await dialogue.play(part.splitlines())


class Dialogue:
    r"""Plays a case: a line is what somebody does, or what is to come of it.

    ``Z …`` says something, ``Z(7) …`` under an id of the platform, ``Z /mine`` gives a command,
    ``Z ?…`` speaks to the bot and is told what it is reminded of, ``Z ^…`` only what stands before
    that, ``Z !tool key=value; …`` is a tool that the model uses for Zhang, ``Z !!tool …`` one that
    it uses to answer what Zhang said last,
    ``< …`` (``<C``) an answer of the bot. ``{words}`` is the number or id of the line that has
    them, or of the fact, ``{}`` of the first line. ``> `` is a line of what the model learns,
    or fields in JSON; ``learn`` lets it learn nothing. ``~ 3`` lets three hours pass,
    ``fact Z|predicate|object|statement`` writes a fact; ``retract``, ``pause``, ``forget-me``,
    ``pin …`` (a fact), ``upkeep``, ``trim`` (of the log) and ``graph-away`` is what others do.
    ``file name | text`` puts a file among the imports, ``take …`` keeps an id for ``{taken}``,
    ``mistaken Z I`` takes what Li said last for Zhang's.
    ``mean Z 180 …`` lets the model mean to come back to somebody after so many seconds,
    ``due 200 …`` lets time pass, and the model say something if asked (``DOWN``: it fails), of
    which after ``nothing-arrives`` nobody hears; ``meanwhile …`` is done while it waits for its
    turn, ``thinking …`` while the model thinks about what it learns next, ``persona lan`` says
    which one is on, ``spend 9`` uses up tokens.
    ``note …`` keeps the lines that have some words, ``keep Z moods`` the rows of a chat.

    ``= …`` is in what was answered last, ``! …`` is not, ``rows facts …`` are all of a kind,
    ``prompt …`` and ``no-prompt …`` what the model was asked last (``once …`` has it once, and
    ``ends …`` at its end, ``asked-as …`` is where and as whom, ``asks-for mood`` what the
    companion had it asked), ``mood 0.20 0.00`` the two sides of every mood, ``order a; b`` what
    comes before what, ``lines 2 …`` how many lines have some words, ``said-first …`` what the bot
    said unasked and ``said-to Z; L`` to whom, ``asked 1`` how often a model was asked, ``noted …``
    and ``kept Z moods`` that they are the same, ``well`` that index and graph are as the journal.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.told = ""
        self.voice = Voice()
        self.heard: dict[str, Message | None] = {}
        self.noted: list[str] = []
        self.kept: list[Row] = []
        self.thinking: list[str] = []
        self.taken = ""

    async def play(self, lines: Iterable[str]) -> None:
        """Play all lines."""
        taught: list[str] = []
        for line in [*lines, "end"]:
            sign, _, text = line.partition(" ")
            if sign == ">":
                taught.append(text)
                continue
            if taught:
                await self._learn(taught)
                taught = []
            if sign[0] in CALLERS and sign[1:2] in ("", "("):
                await self._speak(CALLERS[sign[0]], sign[2:-1], await self._filled(text))
            else:
                await self._step(sign, text)

    async def _learn(self, lines: list[str]) -> None:
        answer: dict[str, Any] = {"worth": True}
        for line in lines:
            answer |= json.loads(line) if line.startswith("{") else {}
        plain = [line for line in lines if not line.startswith("{")]
        answer |= {"lines": "\n".join(plain)} if any(plain) else {}
        if self.thinking:
            await self._think(answer)
        else:
            await self.world.learn(answer)

    async def _think(self, answer: dict[str, Any]) -> None:
        """Learn, while other things happen before the model has answered."""
        model, meanwhile = self.world.model, self.thinking
        model.gate, self.thinking = asyncio.Event(), []
        model.asked.clear()
        model.script.append(answer)  # it is asked again about what is left
        learning = asyncio.create_task(self.world.learn(answer))
        await model.asked.wait()
        await self.play(meanwhile)
        model.gate.set()
        await learning
        model.script.clear()

    async def _filled(self, text: str) -> str:
        if "{" not in text:
            return text
        facts = {each.statement: each.id for each in await self.world.rows(Fact)}

        def place(found: re.Match[str]) -> str:
            for line in self.told.splitlines():
                marked = re.match(r"- \[(m:[0-9a-f]+)\]|(?:📌 ?)?(\d+)\.", line.strip())
                if marked and found[1] in line:
                    return marked[1] or marked[2]
            ids = re.findall(rf"\[(m:[0-9a-f]+)\][^\[]*{re.escape(found[1])}", self.told)
            return ids[0] if ids else facts.get(found[1]) or {"taken": self.taken}[found[1]]

        return re.sub(r"\{(.*?)\}", place, text)

    async def _speak(self, caller: Turn, ref: str, text: str) -> None:
        world = self.world
        caller = replace(caller, accounts=world.memory.identities.accounts(caller.user))
        if text.startswith("/"):
            name, _, given = text[1:].partition(" ")
            if name == "log":
                self.told = await world.commands.companion.search(caller, given)
            elif name == "everything":
                await world.memory.settle()
                self.told = await everything(world, caller, given)
            else:
                self.told = await call(world.commands, caller, name, given)
            await world.memory.recall.settle()
        elif text.startswith("!"):
            name, _, given = text.lstrip("!").partition(" ")
            pairs = dict(pair.split("=", 1) for pair in words(given or "-"))
            if world.memory.graph.state is not GraphState.CLOSED:
                await world.memory.settle()
            if text.startswith("!!"):
                caller = replace(caller, message=self.heard[caller.session.id + caller.user])
            self.told = await world.tools.use(caller, name, pairs)
            await world.memory.recall.settle()
        elif text.startswith("^"):
            self.told = await world.lead(caller, text[1:], await world.say(caller, text[1:]))
        elif text.startswith("?"):
            found, lead = await world.ask(caller, text[1:])
            self.told = f"{lead}\n{found.block}"
        else:
            ref = f"{ref}@1" if ref and "@" not in ref else ref
            turn = replace(caller, text=text.replace("\\n", "\n"), ref=ref)
            heard = await world.memory.hear(turn)
            self.heard[caller.session.id + caller.user] = heard
            await world.memory.recall.settle()
            world.later(20)

    async def _step(self, sign: str, text: str) -> None:
        memory = self.world.memory
        match sign:
            case "~":
                self.world.later(3_600 * float(text))
            case "learn":
                await self.world.learn(NOTHING)
            case "fact":
                who, predicate, object, statement = text.replace("\\n", "\n").split("|")
                caller = CALLERS[who]
                told = {"predicate": predicate, "at": self.world.clock[0]}
                row = fact(caller.session, caller.user, entity(object), statement, **told)
                await memory.journal.commit(lambda _: Draft("learn", "learned", [row]))
                await memory.recall.settle()
            case "retract" | "no-retract":  # by id, or what the bot said by its words
                who, ref, *text_of = text.split()
                gone = await memory.library.retract(CALLERS[who].session.circle, ref, *text_of)
                assert bool(gone) is (sign == "retract")
                await memory.recall.settle()
            case "take":
                self.taken = await self._filled(f"{{{text}}}")
            case "mistaken":
                one, other = (CALLERS[who] for who in text.split())
                self.heard[one.session.id + one.user] = self.heard[other.session.id + other.user]
            case "leaves":
                memory.attendance.forget(CALLERS[text].user)
            case "file":
                name, _, content = text.replace("\\n", "\n").partition(" | ")
                folder = memory.directory / "imports"
                folder.mkdir(exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")
            case "pause":
                await memory.learning.pauses.pause("user", CALLERS[text].user)
            case "forget-me":
                await memory.forget_me.forget(CALLERS[text].user)
                await memory.recall.settle()
            case "mean":
                who, seconds, reason = text.split(" ", 2)
                caller, care = CALLERS[who], memory.companion.proactive
                self.world.speak(self.voice)
                await care.plan(caller.session, caller.user, Intent(float(seconds), reason))
            case "nothing-arrives":
                self.voice.works = False
            case "meanwhile":
                self.voice.meanwhile = self._meanwhile(text)
            case "thinking":
                self.thinking.append(text)
            case "persona":
                self.voice.personas = {text: "你是小岚。"}
            case "pin":
                (row,) = [each for each in await self.world.rows(Fact) if text in each.statement]
                await memory.library.act("pin", [row.id], "owner")
            case "spend":
                memory.spending.add("learn", int(text), 0)
            case "due":
                seconds, _, answers = text.replace("\\n", "\n").partition(" ")
                told = words(answers)
                self.world.model.script += [None if each == "DOWN" else each for each in told]
                self.world.speak(self.voice)
                self.world.later(float(seconds))
                await memory.companion.proactive._job.idle()
            case "upkeep":
                await memory.upkeep._step()
                await memory.recall.settle()
            case "graph-away":
                await memory.graph.close()
            case "trim":
                await memory.journal.in_slices(partial(trim_log, now=self.world.clock[0]))
            case _ if sign.startswith("<"):
                caller = CALLERS[sign[1:] or "Z"]
                await memory.learning.reply(caller.session, text, to=caller.user)
                self.world.later(20)
            case _:
                await self._check(sign, text)

    @asynccontextmanager
    async def _meanwhile(self, line: str) -> AsyncIterator[None]:
        await self.play([line])
        yield

    async def _rows(self, text: str) -> list[Row]:
        """The rows of some kinds that are a chat's."""
        who, *kinds = text.split()
        rows = [row for name in kinds for row in await self.world.rows(KINDS[name][0])]
        return [row for row in rows if row.session == CALLERS[who].session.id]

    async def _check(self, sign: str, text: str) -> None:
        memory = self.world.memory
        match sign:
            case "=" | "!":
                assert (text.replace("\\n", "\n") in self.told) is (sign == "="), self.told
            case "~=":
                assert re.search(text, self.told), self.told
            case "order":
                places = [self.told.index(part) for part in words(text)]
                assert places == sorted(places)
            case "lines":
                count, part = text.split(" ", 1)
                assert sum(part in line for line in self.told.splitlines()) == int(count)
            case "rows":
                name, _, wanted = text.partition(" ")
                kind, field = KINDS[name]
                found = [str(getattr(row, field)) for row in await self.world.rows(kind)]
                assert sorted(found) == sorted(words(wanted))
            case "said-first":
                assert [told for _, told in self.voice.said] == words(text)
            case "said-to":
                to = [CALLERS[who].session.id for who in words(text)]
                assert [session for session, _ in self.voice.said] == to
            case "note":
                self.noted = [line for line in self.told.splitlines() if text in line]
                assert self.noted, self.told
            case "noted":
                assert [line for line in self.told.splitlines() if text in line] == self.noted
            case "keep":
                self.kept = await self._rows(text)
                assert self.kept
            case "kept":
                assert await self._rows(text) == self.kept
            case "well":
                await assert_views_follow(memory)
            case "asked":
                assert len(self.world.model.calls) == int(text)
            case "messages":
                kept: list[Message] = await memory.journal.newest_messages(99)
                assert [message.text for message in kept] == words(text)
            case "prompt" | "no-prompt":
                asked = self.world.model.calls[-1].prompt
                assert (text in asked) is (sign == "prompt"), asked
            case "once" | "ends":
                asked = self.world.model.calls[-1].prompt
                assert asked.count(text) == 1 if sign == "once" else asked.endswith(text), asked
            case "asks-for":  # parts of the companion, in what is learned
                fields = self.world.model.calls[-1].tool.parameters["properties"]
                assert {"core", "mood"} & {*fields} == {*words(text)}
            case "mood":
                for row in await self.world.rows(Mood):
                    assert f"{row.valence:.2f} {row.arousal:.2f}" == text
            case "asked-as":
                asked = self.world.model.calls[-1]
                assert f"{asked.where} {asked.system}".startswith(text), asked
            case "files":
                assert holding(memory.directory, text, "journal*") == []
            case "log":
                log = await memory.journal.look(
                    lambda db: "".join(ops for (ops,) in db.execute("SELECT ops FROM change"))
                )
                assert text not in log
            case "end":
                pass
            case _:
                raise AssertionError(f"what is {sign}?")
