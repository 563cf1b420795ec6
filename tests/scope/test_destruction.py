"""Non-destruction: what an uninvolved person does changes no answer to anybody else.

The same history is played twice, with a fourth person beside it who talks to the bot in a
chat and a group of their own, under anybody's name, and may be a member of a group of the
others' who has said no more than hello. In one of the two that person then does harm: asks to
be forgotten, corrects, forgets, retracts, undoes, floods, changes names. What the memory gives
everybody else must be the same, and so must every row and message of theirs.
``GRAPH_MEMORY_TRIALS=2000`` searches longer.
"""

import asyncio
import contextlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from graph_memory.commands.memory_commands import Commands
from graph_memory.deletion import plan
from graph_memory.errors import GraphMemoryError, NotFoundError
from graph_memory.library import edits
from graph_memory.model import NO_PERSONA, Fact, Session, Turn
from graph_memory.service import MemoryService
from graph_memory.store import messages
from graph_memory.transfer import Options
from graph_memory.visible_rows import VisibleRows
from tests import makers

from ..makers import Clock, put
from . import oracle
from .director import Director
from .histories import CHATS, PERSONAS, WHAT, WHO, Say
from .oracle import Rules
from .surfaces import Surfaces, differences
from .test_broken import Bench, notices
from .test_interference import QUICK, TRIALS
from .trial import Ask, Trial, opened, trials

pytestmark = pytest.mark.slow

HARMFUL = makers.user("4")
PLACES = [makers.private("4", "mei"), makers.private("4", NO_PERSONA), makers.group("7", "mei")]
SHARED = next(chat for chat in CHATS if chat.is_group)
"""Where the fourth person is a silent member."""
NICKS = [*WHO, *WHAT, *PERSONAS, "今天", "Al", "小", "bot", ""]


@dataclass(frozen=True)
class Harm:
    """What the fourth person does.

    Attributes:
        what: One of :data:`HARMS`.
        number: Of a fact, or of a message, if it takes one.
        nick: What the person is called then.
    """

    what: str
    place: Session
    number: int
    nick: str


HARMS = (
    "forget me", "forget", "correct", "retract", "undo", "flood", "rename", "pause", "reply",
    "import",
)  # fmt: skip
harms = st.lists(st.builds(
    Harm, st.sampled_from(HARMS), st.sampled_from(PLACES), st.integers(0, 9),
    st.sampled_from(NICKS),
), min_size=2, max_size=6)  # fmt: skip


class Harmful:
    """The fourth person, in one memory."""

    def __init__(self, memory: MemoryService, director: Director) -> None:
        self._memory = memory
        self._director = director
        self._commands = Commands(memory)
        self._shared: int | None = None
        """The hello to the others' group: taking it back writes that group's summary anew."""

    async def greet(self, nick: str, *, is_member: bool) -> None:
        """Be known, under a name; to a group of the others' as well."""
        for place in [*PLACES, SHARED] if is_member else PLACES:
            self._director.at += 60.0
            at = self._director.at
            said = await self._memory.learning.hear(Turn(place, HARMFUL, nick, "你好呀"), at=at)
            if said and place == SHARED:
                self._shared = said.id

    async def do(self, harm: Harm) -> None:
        """Do one thing; what is refused is refused."""
        await getattr(self, f"_{harm.what.replace(' ', '_')}")(harm)

    def _caller(self, harm: Harm) -> Turn:
        return Turn(harm.place, HARMFUL, harm.nick)

    def _fact(self, harm: Harm) -> str:
        known = self._director.facts
        return known[harm.number % len(known)] if known else "1"

    async def _say(self, harm: Harm, text: str) -> None:
        hear = self._memory.learning.hear
        await hear(Turn(harm.place, HARMFUL, harm.nick, text), at=self._director.at)

    async def _forget_me(self, harm: Harm) -> None:
        await self._commands.privacy.forget_me(self._caller(harm))
        await self._commands.privacy.forget_me(self._caller(harm), "confirm")

    async def _forget(self, harm: Harm) -> None:
        caller = self._caller(harm)
        await self._commands.forget(caller, self._fact(harm))
        with contextlib.suppress(GraphMemoryError):
            await self._memory.library.forget([self._fact(harm)], caller.asker, HARMFUL)
        if harm.number + 1 != self._shared:
            with contextlib.suppress(GraphMemoryError):
                await self._memory.library.forget([], caller.asker, HARMFUL, [harm.number + 1])

    async def _correct(self, harm: Harm) -> None:
        caller = self._caller(harm)
        await self._commands.correct(caller, f"{self._fact(harm)} {harm.nick}欠我三千块")
        with contextlib.suppress(GraphMemoryError):
            await self._memory.library.correct(self._fact(harm), "欠我三千块", caller)

    async def _retract(self, harm: Harm) -> None:
        await self._memory.library.retract(harm.place.circle, f"r{harm.number}", "好的，记住了")

    async def _undo(self, harm: Harm) -> None:
        await self._commands.undo(self._caller(harm))

    async def _flood(self, harm: Harm) -> None:
        for number in range(30):
            await self._say(harm, f"{WHO[number % 4]}住在{WHAT[harm.number % 5]}{number}")

    async def _rename(self, harm: Harm) -> None:
        await self._say(harm, f"叫我{harm.nick}，我喜欢吃花生")

    async def _pause(self, harm: Harm) -> None:
        await self._commands.privacy.pause(self._caller(harm))

    async def _import(self, harm: Harm) -> None:
        """The owner brings in what the person hands over: lines in names of anybody."""
        lines = [
            {"time": self._director.at, "sender": "4", "name": who, "text": f"{who}搬到了西安"}
            for who in (harm.nick, *WHO)
        ]
        folder = self._memory.directory / "imports"
        folder.mkdir(exist_ok=True)
        text = "\n".join(json.dumps(line) for line in lines)
        (folder / "chat.jsonl").write_text(text, encoding="utf-8")
        options = Options(persona="mei", platform=makers.QQ, now=self._director.at)
        await self._memory.transfer.bring(
            await self._memory.transfer.importer("chat.jsonl", options)
        )

    async def _reply(self, harm: Harm) -> None:
        text = f"{harm.nick}来了，{WHO[harm.number % 4]}也在"
        await self._memory.learning.reply(harm.place, text, at=self._director.at)


def run(trial: Trial, before: str, acts: list[Harm], *, is_member: bool = False) -> None:
    """Play a history with and without harm and compare; raises ``AssertionError``.

    Args:
        is_member: Whether the person has said hello in a group of the others', which a
            forgetting takes back: so they do everything but that.
    """
    # Without an audience everybody sees what the fourth person says, which is no harm.
    rules = replace(trial.rules, audience="participants")
    acts = [act for act in acts if not (is_member and act.what == "forget me")]
    asyncio.run(_run(replace(trial, rules=rules), before, acts, is_member))


async def _run(trial: Trial, before: str, acts: list[Harm], is_member: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(0.0)
        homes = [Path(folder) / name for name in ("calm", "harmed")]
        async with contextlib.AsyncExitStack() as stack:
            memories: list[MemoryService] = []
            for home in homes:
                home.mkdir()
                scene = opened(home, trial.rules, clock, walks=False)
                memory = await stack.enter_async_context(scene)
                played = acts if home is homes[1] else []
                await _play(memory, trial, before, clock, played, is_member)
                memories.append(memory)
            rows = [await memory.journal.look(_of_others) for memory in memories]
            assert rows[0] == rows[1]
            for ask in trial.asks:
                await _compare(memories, ask)


async def _play(
    memory: MemoryService,
    trial: Trial,
    before: str,
    clock: Clock,
    acts: list[Harm],
    is_member: bool,
) -> None:
    director = Director(memory)
    clock.now = director.at
    harmful = Harmful(memory, director)
    await harmful.greet(before, is_member=is_member)
    await director.play(trial.steps)
    for number in range(3):  # the bot says what anybody may be called, to everybody
        for chat in CHATS:
            director.at += 1.0
            text = f"好的，记住了，{'，'.join([*WHO, *WHAT])}，今天Al{number}"
            await memory.learning.reply(chat, text, at=director.at)
            await director.play([Say(CHATS.index(chat), 0, f"{WHO[number]}讨厌花生", WHO[0], 1.0)])
    clock.now = director.at + 60.0
    for act in acts:
        await harmful.do(act)
    clock.now = director.at + 86_400.0
    await memory.recall.settle()


def _of_others(db: Any) -> list[tuple[Any, ...]]:
    """Every row and message of the others, as it is stored."""
    own = tuple(place.id for place in PLACES)
    marks = ", ".join("?" * len(own))
    found = db.execute(f"SELECT * FROM message WHERE session NOT IN ({marks})", own).fetchall()
    found += db.execute(
        f"SELECT kind, id, data FROM row WHERE session NOT IN ({marks}) AND id NOT IN ({marks})"
        " AND id != ? ORDER BY kind, id",
        (*own, *own, HARMFUL),
    ).fetchall()
    return found


async def _compare(memories: list[MemoryService], drawn: Ask) -> None:
    record = oracle.read(memories[0].directory / "journal.sqlite3")
    ask = replace(drawn, accounts=oracle.accounts_of(record, drawn.user))
    sides = [Surfaces(memory, ask.caller) for memory in memories]
    given = [await side.read(ask.text, ask.previous) for side in sides]
    told = [f"{key}:\n  {calm!r}\n  {harmed!r}" for key, calm, harmed in differences(*given)]
    assert not told, "without and with harm\n" + "\n".join(told)


@settings(max_examples=int(TRIALS or 8), phases=list(Phase) if TRIALS else QUICK, deadline=None)
@given(trials, st.sampled_from(NICKS), harms, st.booleans())
def test_nobody_else_is_harmed(trial, before, acts, is_member):
    run(trial, before, acts, is_member=is_member)


SILENT = ("forget me", "forget")


async def _silent(trial: Trial, act: str) -> list[tuple[Any, ...]]:
    """What is there of the others after somebody of their group acted, or did not.

    Args:
        act: ``forget me``, or ``forget`` what somebody said of them; empty for nothing.
    """
    clock = Clock(0.0)
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), trial.rules, clock, walks=False) as memory:
            director = Director(memory)
            clock.now = director.at
            hear = memory.learning.hear
            await hear(Turn(SHARED, HARMFUL, "路人", "路过看看大家"), at=director.at)
            await director.play([Say(CHATS.index(SHARED), 0, f"{WHO[0]}喜欢吃花生", WHO[0], 1.0)])
            await memory.learning.reply(SHARED, "好的，我答应提醒你", at=director.at + 1)
            await director.play(trial.steps)
            await memory.learning.reply(SHARED, "好的", at=director.at + 1, to=makers.user("1"))
            of_them = await _told_of(memory, director)
            if act == "forget me":
                await memory.forget_me.forget(HARMFUL)
            elif act == "forget":
                await memory.library.forget([of_them], Turn(SHARED, HARMFUL, "路人").asker, HARMFUL)
            return await memory.journal.look(_without_the_silent)


async def _told_of(memory: MemoryService, director: Director) -> str:
    """Somebody says something of the silent member; the fact that is learned from it."""
    said = await memory.learning.hear(
        Turn(SHARED, makers.user("5"), "阿强", "路人讨厌花生"), at=director.at + 2
    )
    assert said
    fact = makers.fact(
        SHARED, HARMFUL, makers.entity("花生"), "路人讨厌花生", id="f:silent",
        at=director.at + 2, speaker=makers.user("5"), evidence=(said.id,),
    )  # fmt: skip
    await put(memory.journal, fact)
    return fact.id


def _without_the_silent(db: Any) -> list[tuple[Any, ...]]:
    found = db.execute(
        "SELECT id, session, sender, text FROM message WHERE sender != ? ORDER BY id", (HARMFUL,)
    ).fetchall()
    # Summaries are written anew, moods may be about anybody, and names that a trial puts there
    # stand in nobody's words.
    rows = db.execute(
        "SELECT kind, id, data FROM row WHERE kind IN ('fact', 'forgotten') ORDER BY kind, id"
    )
    found += [row for row in rows if HARMFUL not in row[2]]
    return found


@settings(max_examples=int(TRIALS or 8), phases=list(Phase) if TRIALS else QUICK, deadline=None)
@given(trials)
def test_a_silent_member_takes_nothing_along(trial: Trial) -> None:
    stayed, left, forgot = (asyncio.run(_silent(trial, act)) for act in ("", *SILENT))
    assert stayed == left
    assert stayed == forgot


def names_are_looked_for_everywhere(bench: Bench) -> None:
    """Whoever calls themselves 小红 takes along what the bot said of her to anybody."""
    circles = plan._circles

    def everywhere(db: Any, user: str) -> Any:
        alone = {"owner": "", "members": {user}, "people": set(), "things": set()}
        return [replace(circle, **alone) for circle in circles(db, user)]

    bench.set(plan, "_circles", everywhere)
    bench.set(plan, "_names", lambda db, user: dict.fromkeys(WHO, 0.0))


def anybody_may_correct(bench: Bench) -> None:
    """A correction asks for no right."""
    bench.set(edits, "_may_correct", lambda *_: True)
    bench.set(VisibleRows, "own", _any)


def anybody_may_forget(bench: Bench) -> None:
    """Forgetting a fact asks for no right."""
    bench.set(VisibleRows, "own", _any)


def _any(self: VisibleRows, wanted: str, **_: bool) -> Fact:
    found = self.rows.get(Fact, wanted)
    if found is None:
        raise NotFoundError(wanted)
    return found


def retractions_reach_every_chat(bench: Bench) -> None:
    """Taking back what the bot said takes it back wherever it said so."""

    def anywhere(db: Any, _circle: str, text: str) -> int | None:
        query = "SELECT max(id) FROM message WHERE sender = 'bot' AND instr(text, ?)"
        return db.execute(query, (text,)).fetchone()[0]

    bench.everywhere(messages.by_words, anywhere)


def facts_rest_on_nobody(bench: Bench) -> None:
    """Whoever is forgotten takes along the facts of everybody whose chat is looked through."""
    places = plan.DeletionPlan.places.fget
    bench.set(plan.DeletionPlan, "places", property(lambda self: {*places(self), CHATS[0].id}))
    bench.set(Fact, "left", classmethod(lambda *_: None))


BREAKS: tuple[Callable[[Bench], None], ...] = (
    names_are_looked_for_everywhere, anybody_may_correct, anybody_may_forget,
    retractions_reach_every_chat, facts_rest_on_nobody,
)  # fmt: skip


RARE = {anybody_may_correct: 13, anybody_may_forget: 4, retractions_reach_every_chat: 3}
"""What to begin with for breaks that few histories show."""


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.__name__)
def test_a_break_is_noticed(broken: Callable[[Bench], None]) -> None:
    begin = RARE.get(broken, 1)
    assert notices(broken, run, 30, trials, st.sampled_from(NICKS), harms, begin=begin)


@pytest.mark.parametrize("begin", RARE.values())
def test_what_is_whole_is_not_taken_for_broken(begin: int) -> None:
    assert not notices(lambda _: None, run, 4, trials, st.sampled_from(NICKS), harms, begin=begin)


def all_answers_are_theirs(bench: Bench) -> None:
    """Whoever is forgotten takes along whatever the bot said where they were."""

    def answers(db: Any, session: str, _user: str) -> Any:
        query = "SELECT id FROM message WHERE session = ? AND sender = 'bot'"
        return [(session, id) for (id,) in db.execute(query, (session,))]

    bench.set(plan, "_answers", answers)


def all_evidence_is_theirs(bench: Bench) -> None:
    """Who forgets what others said of them silences the others."""
    bench.set(edits, "_is_theirs", lambda *_: True)


@pytest.mark.parametrize(
    ("broken", "act"),
    [(all_answers_are_theirs, "forget me"), (all_evidence_is_theirs, "forget")],
    ids=["answers", "evidence"],
)
def test_a_break_that_silences_others_is_noticed(broken: Callable[[Bench], None], act: str) -> None:
    trial = Trial([], Rules(), [], walks=False)
    with pytest.MonkeyPatch.context() as patch:
        broken(Bench(patch))
        assert asyncio.run(_silent(trial, "")) != asyncio.run(_silent(trial, act))
