"""Plays a scene through the real write and read path, in a real memory."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from graph_memory.inference import LanguageModel
from graph_memory.model import Fact, Message, Name, Session, Turn, asker_of
from graph_memory.recall import Recall
from graph_memory.service import MemoryService
from graph_memory.settings import Settings
from tests import makers
from tests.makers import CHINA, Clock, scan, user
from tests.scripted import Call, ScriptedModel
from tests.world import opened

from .stage import BOT, Ask, Label, Leave, Pause, Resume, Scene, Shown, Sitting

PACE = 30.0
"""Seconds between two lines."""
PATIENT = {
    "buffer_size_private": 200, "buffer_size_group": 200, "recall_deadline": 10_000,
    "companion": (),
}  # fmt: skip
"""A sitting is one batch, however long it is, and slow machines remember as much."""
NEVER_BY_ITSELF = 1e9
"""Seconds: only a flush learns, so that what a batch holds does not depend on timing."""


@dataclass(frozen=True)
class Memory:
    """What is in the journal after a scene.

    Attributes:
        names: What every node was called, by node id.
        waiting: Batches that are not learned.
    """

    facts: tuple[Fact, ...]
    names: Mapping[str, frozenset[str]]
    messages: Mapping[int, Message]
    sessions: Mapping[str, Session]
    waiting: int


def moment(text: str) -> float:
    """Seconds since the epoch of ``2026-05-03 20:00`` in China."""
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=CHINA).timestamp()


def day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, CHINA):%Y-%m-%d}"


def session(group: str, account: str, persona: str) -> Session:
    """A Session whose ``umo`` tells personas apart, so that answers can be told apart."""
    made = makers.group(group, persona) if group else makers.private(account, persona)
    return replace(made, umo=made.id)


@dataclass
class Prompter:
    """The script of a model: answers each Session from a list of its own.

    Attributes:
        prompts: What it was asked, by ``umo``.
        problems: What the scene did not foresee.
    """

    answers: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    prompts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)

    def __call__(self, call: Call) -> Any:
        self.prompts[call.where].append(call.prompt)
        try:
            return _filled(self.answers[call.where].pop(0), call.prompt)
        except IndexError:
            self.problems.append("asked more often than answers are written")
        except LookupError as error:
            self.problems.append(str(error))
        return None


class Theatre:
    """One bot, and a clock that the scene sets; its model's script, unless it is a real one."""

    def __init__(
        self, scene: Scene, memory: MemoryService, clock: Clock, script: Prompter | None
    ) -> None:
        self.scene = scene
        self._memory, self._clock, self._script = memory, clock, script

    @classmethod
    @asynccontextmanager
    async def open(
        cls, scene: Scene, directory: Path, model: LanguageModel | None = None
    ) -> AsyncIterator[Theatre]:
        """A theatre with an empty memory; without a model what is written is said."""
        clock, script = Clock(moment("2026-01-01 00:00")), None if model else Prompter()
        settings = Settings(**{**PATIENT, **scene.settings})
        asked = model or ScriptedModel(script)
        async with opened(directory, settings, zone=CHINA, model=asked, now=clock) as memory:
            memory.learning._buffers._grace = NEVER_BY_ITSELF
            yield cls(scene, memory, clock, script)

    async def play(self) -> None:
        """Everything that happens, and that the model is asked and shown what is written."""
        for step in self.scene.steps:
            match step:
                case Sitting():
                    await self._sit(step)
                case Leave():
                    self._clock.now = moment(step.at)
                    where = session(step.group, "", "")
                    await self._memory.journal.leave(where.circle, user(step.who), self._clock.now)
                case Pause():
                    await self._pause(step)

    async def _sit(self, sitting: Sitting) -> None:
        people = [who for who, _, _ in map(_line, sitting.lines) if who != BOT]
        here = session(sitting.group, next(iter(people), ""), sitting.persona)
        if self._script:
            self._script.answers[here.umo] += sitting.answers
        self._clock.now = moment(sitting.at) - PACE
        for who, name, text in map(_line, sitting.lines):
            self._clock.now += PACE
            turn, learning = Turn(here, user(who), name, text), self._memory.learning
            if who == BOT:
                await learning.reply(here, text)
            else:
                await (learning.remember(turn) if sitting.asked else learning.hear(turn))
        if sitting.learn and not sitting.asked:  # what was asked for is learned by now
            await self._memory.learning.flush(here.circle)
        if sitting.learn:
            self._check(sitting, here)

    def _check(self, step: Sitting, here: Session) -> None:
        if self._script is None:
            return
        unused = {where: left for where, left in self._script.answers.items() if left}
        assert not unused, f"{step.at}: answers that nobody asked for: {unused}"
        assert not self._script.problems, f"{step.at}: {self._script.problems}"
        for text in step.shown:
            assert text in self._script.prompts[here.umo][-1], f"{step.at}: not shown: {text!r}"
        for text in step.hidden:
            assert text not in self._script.prompts[here.umo][-1], f"{step.at}: shown: {text!r}"

    async def _pause(self, step: Pause) -> None:
        pauses = self._memory.learning.pauses
        act = pauses.resume if isinstance(step, Resume) else pauses.pause
        if step.group:
            await act("circle", session(step.group, "", "").circle)
        else:
            await act("user", user(step.who))

    async def ask(self, question: Ask) -> Recall:
        """What somebody is reminded of."""
        last = max(moment(s.at) for s in self.scene.steps if not isinstance(s, Pause))
        self._clock.now = moment(question.at) if question.at else last + 86_400
        await self._memory.recall.settle()
        here = session(question.group, question.who, question.persona)
        return await self._memory.recall.remind(asker_of(here, user(question.who)), question.text)

    async def memory(self) -> Memory:
        journal, names = self._memory.journal, defaultdict[str, set[str]](set)
        for name in await scan(journal, Name):
            names[name.node].add(name.text)
        return Memory(
            facts=tuple(await scan(journal, Fact)),
            names={node: frozenset(texts) for node, texts in names.items()},
            messages={m.id: m for m in await journal.newest_messages(10_000)},
            sessions={s.id: s for s in await scan(journal, Session)},
            waiting=len(await journal.queue()),
        )


def _line(line: str) -> tuple[str, str, str]:
    """Account, name and text of ``account/name: text``."""
    who, text = line.split(": ", 1) if ": " in line else (line.removesuffix(":"), "")
    account, _, name = who.partition("/")
    return account, "" if account == BOT else name or account, text


def _filled(answer: Any, prompt: str) -> Any:
    """An answer with the numbers and labels that known items have in a prompt."""
    match answer:
        case dict():
            return {key: _filled(value, prompt) for key, value in answer.items()}
        case list() | tuple():
            return [_filled(value, prompt) for value in answer]
        case Shown():
            return _found(rf"^(\d+)\. .*{re.escape(answer.text)}", prompt)
        case Label():
            return _found(rf"^([EU]\d+) {re.escape(answer.name)}(?: \(|$)", prompt)
    return answer


def _found(pattern: str, prompt: str) -> str:
    known = prompt.partition("<chat>")[0]
    found = re.search(pattern, known, re.MULTILINE)
    if found is None:
        raise LookupError(f"the model was not shown {pattern!r}, only {known!r}")
    return found[1]
