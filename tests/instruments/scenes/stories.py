"""``./dev scenes --stories``: stories of many days, played in a real AstrBot.

A story is a text in ``told/``, and what comes of it a page that reads like a chat: who said
what, what was put before the model with it, the answer, what was learned. Its lines:

- ``name: value`` before the first day: ``title``, ``owner``, ``persona name`` (its prompt) and
  settings of the plugin; ``upgrades: yes`` where an older version is installed
- ``== 2026-03-02 20:10 [group]``: a sitting; what was said in it is learned at its end
- ``who: text => what the model answers``, in a group addressed to the bot with ``@ text``, to
  somebody with ``@name text``;
  ``{backup}`` stands for the first backup of the last answer
- ``+ words``, ``- words``: what the line before brings up and does not (a command: its answer);
  ``-`` alone is nothing at all
- ``subject|predicate|object|words|date|importance|marks|statement``, ``summary|text``,
  ``restated|statement|words``, ``ended|statement|words``: what the model learns. ``words`` are
  of the message it is learned from, ``name:type`` is a thing or person, ``>statement`` in
  the marks replaces what is known
- ``! act``: what the owner does besides (:meth:`Stage.act`)
"""

import asyncio
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.extractor import TOOL, is_extraction
from tests.e2e.harness import ADMIN_ID, ChatCall, ToolCall, segment, wait_until
from tests.e2e.test_packaging import older, update
from tests.e2e.world import PLUGIN, World, living
from tests.instruments.dev import release
from tests.prompts import Shown

from .play import PACE, moment

FOLDER = Path(__file__).parent / "told"
PEOPLE, GROUPS = 1001, 3001
"""Numbers of the first account and the first group."""
SILENCE = "嗯嗯。"
"""What the model answers where the story does not say."""
_BACKUP = re.compile(r"[\w.-]*\d{8}[\w.-]*")


@dataclass
class Line:
    """One line of a sitting, and what has to come of it."""

    who: str
    text: str
    answer: str = ""
    brings: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)


@dataclass
class Sitting:
    """Lines that are said one after the other, acts between them, and what is learned."""

    at: str
    group: str
    lines: list[Line] = field(default_factory=list)
    learned: list[str] = field(default_factory=list)


@dataclass
class Story:
    name: str
    head: dict[str, str]
    sittings: list[Sitting]

    @property
    def settings(self) -> dict[str, Any]:
        return {
            key: json.loads(value)
            for key, value in self.head.items()
            if key not in ("title", "owner", "upgrades") and not key.startswith("persona ")
        }


def read(path: Path) -> Story:
    """A story from its file; a ``ValueError`` names a line of no kind."""
    story = Story(path.stem, {}, [])
    for text in filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())):
        key, colon, value = text.partition(": ")
        if text.startswith("== "):
            _, day, hour, *group = text.split(" ", 3)
            story.sittings.append(Sitting(f"{day} {hour}", "".join(group)))
            moment(story.sittings[-1].at)
        elif not story.sittings:
            story.head[key] = value
        elif text.startswith("! "):
            story.sittings[-1].lines.append(Line("", text[2:]))
        elif text[0] in "+-":
            line = story.sittings[-1].lines[-1]
            (line.brings if text[0] == "+" else line.lacks).append(text[1:].strip())
        elif text.count("|") in (1, 2, 7):
            story.sittings[-1].learned.append(text)
        elif colon:
            said, _, answer = value.partition(" => ")
            story.sittings[-1].lines.append(Line(key, said, answer))
        else:
            raise ValueError(f"{path.name}: {text}")
    return story


def stories() -> list[Story]:
    return [read(path) for path in sorted(FOLDER.glob("*.txt"))]


class Learner:
    """A model that learns what the story says, from whatever batch has the words it rests on.

    Attributes:
        pending: What is not learned so far.
        asked: Each question, with its answer.
    """

    def __init__(self) -> None:
        self.pending: list[str] = []
        self.asked: list[tuple[str, str]] = []

    def __call__(self, call: ChatCall) -> ToolCall:
        shown = Shown(call.last_user)
        said = [(str(line.number), line.text) for line in shown.lines]
        people = {name: label for label, name in shown.people.items()}
        self._labels = {n: label for label, names in shown.things.items() for n in names} | people
        self._known = {fact.statement: str(fact.number) for fact in shown.known}
        self._things: list[str] = []
        lines = [(line, self._line(line.split("|"), said)) for line in self.pending]
        self.pending = [line for line, written in lines if not written]
        answer = "\n".join([*self._things, *[written for _, written in lines if written]])
        self.asked.append((call.last_user, answer))
        return ToolCall(TOOL, {"lines": answer})

    def _line(self, parts: list[str], said: list[tuple[str, str]]) -> str:
        """A line of the answer; empty if this batch does not say so."""
        if parts[0] == "summary":
            return "|".join(parts) if said else ""
        words = parts[2 if len(parts) == 3 else 3]
        numbers = [n for word in words.split("&") for n, text in said if word in text][:3]
        if not numbers:
            return ""
        if len(parts) == 3:
            return f"{parts[0]}|{self._number(parts[1])}:{numbers[0]}"
        if parts[7] in self._known:
            return f"restated|{self._known[parts[7]]}:{numbers[0]}"
        marks = re.sub(r">(.+)", lambda m: f">{self._number(m[1])}", parts[6])
        ends = self._label(parts[0]), parts[1], self._label(parts[2])
        return "|".join([*ends, ",".join(dict.fromkeys(numbers)), *parts[4:6], marks, parts[7]])

    def _number(self, words: str) -> str:
        """The number under which the model is shown what is known; 0 if it is not."""
        return next((n for statement, n in self._known.items() if words in statement), "0")

    def _label(self, text: str) -> str:
        name, colon, type = text.partition(":")
        if colon and name not in self._labels:
            self._labels[name] = f"E{len(self._things) + 71}"
            self._things.append(f"{self._labels[name]}|{name}|{type}|")
        return self._labels.get(name, name)


class Stage:
    """A story in a running AstrBot, and the page that is written of it.

    Attributes:
        problems: Where something else came of a line than the story says.
    """

    def __init__(self, world: World, story: Story, clock: Path, archive: Path) -> None:
        self._world, self._story, self._clock, self._archive = world, story, clock, archive
        self._accounts = {story.head.get("owner", ""): ADMIN_ID}
        self._groups: dict[str, int] = {}
        self._learner = Learner()
        self._answer = SILENCE
        self._last = ""
        self._now = 0.0
        self.page = [f"# {story.head['title']}"]
        self.calls: list[dict[str, Any]] = []
        self.problems: list[str] = []

    async def play(self) -> None:
        """Everything that happens."""
        for key, prompt in self._story.head.items():
            if key.startswith("persona "):
                await self._world.bot.create_persona(key.partition(" ")[2], prompt)
        for sitting in self._story.sittings:
            self._set(moment(sitting.at))
            self.page.append(f"\n## {sitting.at} {sitting.group}")
            self._learner.pending += sitting.learned
            for line in sitting.lines:
                await (self._say(sitting, line) if line.who else self.act(line.text))
                self._set(self._now + PACE)
            if sitting.learned:
                await self._learn()

    def script(self) -> None:
        """Let the model answer and learn as the story says."""
        self._world.llm.reset()
        self._world.llm.when(is_extraction, self._learner)
        self._world.llm.when(lambda call: call.model == "chat-model", lambda _call: self._answer)

    def _set(self, at: float) -> None:
        set_clock(self._clock, at)
        self._now = at

    async def _say(self, sitting: Sitting, line: Line) -> None:
        who = self._number(self._accounts, line.who, PEOPLE)
        text = line.text.replace("{backup}", "".join(_BACKUP.findall(self._last)[:1]))
        self._answer = line.answer or SILENCE
        self.page.append(f"\n**{line.who}** {text}")
        if not sitting.group:
            await self._ask(line, text, self._world.qq.ask_private(who, text, line.who))
            return
        group = self._number(self._groups, sitting.group, GROUPS)
        is_asked, words = text.startswith(("@ ", "/")), text.removeprefix("@ ")
        if is_asked:
            at_bot = text.startswith("@ ")
            asked = self._world.qq.ask_group(group, who, words, line.who, at_bot=at_bot)
            await self._ask(line, words, asked)
            return
        called, _, rest = words.partition(" ")
        segments = [segment("text", text=words)]
        if called.startswith("@"):
            at = segment("at", qq=str(self._number(self._accounts, called[1:], PEOPLE)))
            segments = [at, segment("text", text=f" {rest}")]
        await self._world.qq.send_group(group, who, segments, line.who)
        await wait_until(lambda: self._is_heard(rest or words), 10, f"{words} to be heard")

    def _is_heard(self, text: str) -> bool:
        said = self._world.journal("SELECT text FROM message ORDER BY id DESC LIMIT 3")
        return any(text in each for (each,) in said)

    async def _ask(self, line: Line, text: str, asking: Any) -> None:
        if not text.startswith("/"):
            await self._world.idle()  # as people type for seconds
        before = len(self._world.chats)
        self._last = await asking
        asked = self._world.chats[before:]
        self.calls += [call.body for call in asked]
        shown = [part for call in asked[:1] for part in call.last_user_parts[1:]]
        block = "\n".join(shown) if asked else self._last
        if shown:
            self.page.append(_quoted(block))
        self.page.append(f"\n*BOT* {self._last}" if asked else _quoted(self._last))
        wrong = [f"lacks {words}" for words in line.brings if words not in block]
        wrong += [f"has {words or block}" for words in line.lacks if words in block and block]
        for problem in wrong:
            self.page.append(f"\n❌ {problem}")
            self.problems.append(f"{self._story.name}: {text}: {problem}")

    async def _learn(self) -> None:
        before = len(self._learner.asked)
        await self._world.learn()
        for prompt, answer in self._learner.asked[before:]:
            details = f"<details><summary>学习</summary>\n\n```\n{prompt}\n```\n</details>"
            self.page.append(f"\n{details}\n\n```\n{answer}\n```")
        if self._learner.pending:
            self.problems.append(f"{self._story.name}: not learned: {self._learner.pending}")
            self._learner.pending.clear()

    async def act(self, text: str) -> None:
        """``upgrade``, ``restart``, or a setting ``name = value``."""
        self.page.append(f"\n*{text}*")
        if text == "upgrade":
            await update(self._world, self._archive)
        elif text == "restart":
            await self._world.restart()
        else:
            name, _, value = text.partition(" = ")
            await self._world.bot.save_plugin_config(PLUGIN, {name: json.loads(value)})
            await self._world.ready()

    def write(self, output: Path) -> None:
        """Write the page, the requests and AstrBot's log."""
        path = output / f"{self._story.name}.md"
        path.write_text("\n".join(self.page) + "\n", encoding="utf-8")
        lines = (json.dumps(call, ensure_ascii=False) + "\n" for call in self.calls)
        path.with_suffix(".jsonl").write_text("".join(lines), encoding="utf-8")
        shutil.copy(self._world.bot.log_path, path.with_suffix(".log"))

    @staticmethod
    def _number(numbers: dict[str, int], name: str, first: int) -> int:
        return numbers.setdefault(name, first + len(numbers))


def set_clock(clock: Path, at: float) -> None:
    """Let AstrBot believe that it is ``at`` now."""
    fresh = clock.with_suffix(".new")
    fresh.write_text(str(at - time.time()))
    os.replace(fresh, clock)


def _quoted(text: str) -> str:
    return "\n" + "\n".join(f"> {line}  " for line in text.splitlines())


async def play(story: Story, output: Path) -> list[str]:
    """What went otherwise than the story says; its page and its requests are in ``output``."""
    with tempfile.TemporaryDirectory() as folder:
        root, clock = Path(folder), Path(folder) / "clock"
        set_clock(clock, moment(story.sittings[0].at) - 60)
        archive = release.package(root / "dist")
        is_old = "upgrades" in story.head
        more: dict[str, Any] = {
            "install": not is_old,
            "settings": {"buffer_size_private": 40, "buffer_size_group": 80} | story.settings,
            "env": {"HARNESS_CLOCK": str(clock)},
            "config": {"timezone": "Asia/Shanghai"},
        }
        async with living(root / "astrbot", **more) as world:
            if is_old:
                await world.bot.upload_plugin(older(archive, root))
            await world.ready()
            stage = Stage(world, story, clock, archive)
            stage.script()
            try:
                await stage.play()
            finally:
                stage.write(output)
        return stage.problems


def main(only: Sequence[str], output: Path) -> int:
    """Play all stories, or those whose names have one of the words; the exit code."""
    output.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for story in stories():
        if not only or any(word in story.name for word in only):
            begun = time.monotonic()
            problems += asyncio.run(play(story, output))
            seconds = time.monotonic() - begun
            print(f"{story.head['title']}: {output / story.name}.md, {seconds:.0f} s", flush=True)
    print("\n".join(problems))
    return 1 if problems else 0
