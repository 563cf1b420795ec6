"""What is hidden from others in a random history, in two versions that differ in nothing else.

Each kind is something that nobody else may learn of: a secret, what was told in confidence,
what was taken back, said in a pause, by somebody who is not to be remembered or who is
forgotten, a fact that was forgotten. A history is played with the one version and with the
other; what everybody else is given must be the same.
"""

import contextlib
import json
from collections import defaultdict
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from graph_memory.companion import CoreFact, CoreKind
from graph_memory.errors import NotFoundError
from graph_memory.model import GAP, Fact, Message, Turn, asker_of, stable_id
from graph_memory.retention import DAY
from graph_memory.service import MemoryService
from graph_memory.store import Rows
from graph_memory.transfer import Options
from tests import makers
from tests.cases import rows

from ..makers import Clock
from .director import Director
from .histories import CHATS, PEOPLE, WHO, Learn, Say, Step
from .trial import sum_up

SECRETS = rows(__file__, "SECRETS")
"""Words around a secret, and two of its kind."""
WORDS = rows(__file__, "WORDS")
CONFIDENCES = rows(__file__, "CONFIDENCES")
"""With a bar: what comes after it is a message of its own."""
KINDS = (
    "secret", "confidence", "taken back", "paused", "unlisted", "forgotten", "fact forgotten",
    "corrected and forgotten",
)  # fmt: skip


@dataclass(frozen=True)
class Hide:
    """Something is said that others may not learn of.

    Attributes:
        number: Which words, of its kind.
        echoes: Whether the bot says it again.
        imports: Whether it is in a file that is imported later.
        rests: Whether its day is over, and summed up, before it is taken away.
    """

    kind: str
    chat: int
    who: int
    number: int
    echoes: bool
    imports: bool
    rests: bool = False

    @property
    def sender(self) -> str:
        return CHATS[self.chat].owner or PEOPLE[self.who]

    @property
    def word(self) -> int:
        """What tells it from others: two that say the same would stand for each other."""
        return self.number % (len(SECRETS) if self.kind == "secret" else len(WORDS))

    def words(self, version: int) -> tuple[str, ...]:
        """The messages it is said in."""
        if self.kind == "secret":
            around, *versions = SECRETS[self.word]
            return (f"{WHO[self.number % 4]}上周买了锁 {around.format(versions[version])}",)
        word = f"{WHO[self.number % 4]}上周买了{WORDS[self.word][version]}"
        if self.kind == "confidence":
            around = CONFIDENCES[self.number // 4 % len(CONFIDENCES)]
            return tuple(around.format(word).split("|"))
        return (word,)

    def is_known_to(self, accounts: frozenset[str], *, is_group: bool) -> bool:
        """Whether somebody may know of it who asks."""
        is_tellers = not is_group and self.sender in accounts
        return is_tellers and self.kind in ("secret", "confidence")


hides = st.lists(st.builds(
    Hide, st.sampled_from(KINDS), st.integers(0, len(CHATS) - 1), st.integers(0, len(PEOPLE) - 1),
    st.integers(0, 47), *[st.booleans()] * 3,
), min_size=1, max_size=4)  # fmt: skip


class Player(Director):
    """Plays a history with what is hidden in it.

    Args:
        backs_up: Whether backups are made while hidden things are still there.
    """

    def __init__(self, memory: MemoryService, clock: Clock, version: int, backs_up: bool) -> None:
        super().__init__(memory, obeys=True)
        self.clock, self.version, self.backs_up = clock, version, backs_up
        self.lines: list[dict[str, object]] = []
        self.refs = 0
        self.unlisted: set[str] = set()
        self.tellers: defaultdict[str, set[str]] = defaultdict(set)

    async def perform(self, steps: list[Step], hidden: list[Hide]) -> None:
        """Play steps, and what is hidden between them."""
        await self.play(steps[: len(steps) // 2])
        for hide in hidden:
            await self._hide(hide)
        await self.play(steps[len(steps) // 2 :])
        await self._import()

    async def _hide(self, hide: Hide) -> None:
        chat, who = CHATS[hide.chat], hide.sender
        self.clock.now = self.at
        other = (PEOPLE.index(who) + 1) % len(PEOPLE)
        aside = Say(hide.chat, other, f"{WHO[0]}讨厌花生", WHO[other], 60.0)
        await self._say(aside)
        pauses = self.memory.learning.pauses
        was_paused = pauses.holds("user", who)
        if hide.kind == "paused":
            await pauses.pause("user", who)
        if hide.kind == "unlisted":
            self.leave_out(self.memory, hide.sender)
        said = [await self._tell(hide, text) for text in hide.words(self.version)]
        if hide.echoes:
            text = f"好的，{hide.words(self.version)[0]}，我记住了"
            self.at += 5.0
            await self.memory.learning.reply(chat, text, at=self.at, to=who)
        self.leave_out(self.memory)
        await self._say(aside)
        first = next((each for each in said if each), None)
        if first:
            await self._keep(hide, first)
            await self.memory.recall.remind(asker_of(chat, who), hide.words(self.version)[0])
        if hide.rests:
            await self._rest(aside)
        if self.backs_up:
            await self.memory.backups.make()
        await self._take_away(hide, [each for each in said if each], first)
        if hide.kind == "paused" and not was_paused:
            self.at += 60.0
            self.clock.now = self.at
            await pauses.resume("user", who)
            self.at += 600.0

    def leave_out(self, memory: MemoryService, *users: str) -> None:
        """Remember nothing of some people from now on, and of all others."""
        self.unlisted.update(users)
        context = memory.context
        context.settings = replace(context.settings, never_remember=tuple(sorted(users)))

    async def _rest(self, aside: Say) -> None:
        """Something else is said that day; the next day the day is summed up."""
        await self._say(replace(aside, later=GAP))
        await self._learn(Learn(aside.chat, replaces=False, restates=False))
        self.at += DAY
        self.clock.now = self.at
        await sum_up(self.memory)

    async def _tell(self, hide: Hide, text: str) -> Message | None:
        chat, who = CHATS[hide.chat], hide.sender
        self.at += 30.0
        self.refs += 1
        name = WHO[PEOPLE.index(who)]
        turn = Turn(chat, who, name, text, ref=f"h{self.refs}@1")
        said = await self.memory.learning.hear(turn, at=self.at)
        if hide.imports and hide.kind in ("paused", "unlisted", "taken back", "secret"):
            kind, _, key = chat.circle.split(":", 1)[1].partition(":")
            place = {"group" if kind == "group" else "private": key}
            line = {"time": self.at, "sender": who.split(":")[1], "text": text, "name": name}
            self.lines.append(line | place | {"persona": chat.persona})
        return said

    async def _keep(self, hide: Hide, said: Message) -> None:
        """What it leaves behind: a fact, a summary, something always kept in mind."""
        chat, who = CHATS[hide.chat], hide.sender
        known = list(self.facts)
        await self._learn(Learn(hide.chat, replaces=False, restates=False))
        self.facts = known  # what is hidden is linked to nothing else
        await self._check_speaker(hide)
        rows = await self.memory.journal.read(lambda rows: rows.find(CoreFact, session=chat.id))
        number = 1 + max((row.number for row in rows if row.user == who), default=0)
        if hide.kind not in ("confidence", "paused", "unlisted"):
            id = stable_id("c", chat.id, who, f"hidden {number}")
            kind, at = CoreKind.FEELING.value, self.at
            text = hide.words(self.version)[0]
            made = CoreFact(id, chat.id, who, number, kind, text, at, at, False, (said.id,))
            await self._put(made)

    async def _check_speaker(self, hide: Hide) -> None:
        """Nobody is the speaker of what somebody else said."""
        (*_, word) = hide.words(self.version)[0].split("上周买了")
        facts = await self.memory.journal.read(lambda rows: list(rows.scan(Fact)))
        speakers = {fact.speaker for fact in facts if word in fact.statement}
        self.tellers[word] |= {hide.sender, ""}
        assert speakers <= self.tellers[word], f"{word} is the word of {speakers}"

    async def _take_away(self, hide: Hide, said: list[Message], first: Message | None) -> None:
        library, chat = self.memory.library, CHATS[hide.chat]
        match hide.kind:
            case "taken back":
                for each in said:
                    await library.retract(chat.circle, each.ref.split("@")[0])
            case "forgotten":
                await self.memory.forget_me.forget(hide.sender)
            case "fact forgotten" if first:
                await self._forget_fact(hide, first)
            case "corrected and forgotten" if first:
                await self._correct(hide, first)
                await self._forget_fact(hide, first)
            case _:
                pass

    async def _resting(self, said: Message) -> list[Fact]:
        """The facts that rest on a message, or replaced one that does."""

        def work(rows: Rows) -> list[Fact]:
            facts = rows.find(Fact, session=said.session)
            own = {fact.id for fact in facts if said.id in fact.evidence}
            return [fact for fact in facts if fact.id in own or not own.isdisjoint(fact.supersedes)]

        return await self.memory.journal.read(work)

    async def _correct(self, hide: Hide, said: Message) -> None:
        """The teller says how it was instead, of each fact."""
        self.at += 5.0
        self.clock.now = self.at
        who = WHO[PEOPLE.index(hide.sender)]
        turn = Turn(CHATS[hide.chat], hide.sender, who, f"不对，{who}上周买了瑜伽课")
        told = replace(turn, message=await self.memory.learning.hear(turn, at=self.at))
        for fact in await self._resting(said):
            with contextlib.suppress(NotFoundError):
                await self.memory.library.correct(fact.id, f"{who}上周买了瑜伽课", told)

    async def _forget_fact(self, hide: Hide, said: Message) -> None:
        """Forget what rests on a message; of a correction and what it corrected the former."""
        facts = await self._resting(said)
        old = {id for fact in facts for id in fact.supersedes}
        asker = asker_of(CHATS[hide.chat], hide.sender)
        for fact in facts:
            if fact.id not in old:
                with contextlib.suppress(NotFoundError):
                    await self.memory.library.forget([fact.id], asker, hide.sender)
        if not old:
            with contextlib.suppress(NotFoundError):
                await self.memory.library.forget([], asker, hide.sender, [said.id])

    async def _import(self) -> None:
        if not self.lines:
            return
        self.clock.now = self.at
        self.leave_out(self.memory, *self.unlisted)
        folder = self.memory.directory / "imports"
        folder.mkdir(exist_ok=True)
        text = "\n".join(json.dumps(line) for line in self.lines)
        (folder / "chat.jsonl").write_text(text, encoding="utf-8")
        options = Options(platform=makers.QQ, now=self.at)
        await self.memory.transfer.bring(await self.memory.transfer.importer("chat.jsonl", options))
        self.leave_out(self.memory)
