"""Worlds of this project's own writing: chats of months, and questions about them.

``worlds/zh.txt`` begins with how a world is written. Its questions were written before any
answer of a model was seen.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from graph_memory.model import BOT, Session, session_of, user_id

PLATFORM = "world"
ZONE = timezone(timedelta(hours=8))
FOLDER = Path(__file__).with_name("worlds")
ASKED = datetime(2026, 7, 2, 10, tzinfo=ZONE).timestamp()
"""When the questions are asked."""
LANGUAGES = {
    "zh": "zh", "en": "en", "work": "en", "voice": "zh", "home": "zh", "garage": "en",
    "dorm": "zh", "crew": "en", "fans": "zh", "salon": "zh", "stage": "en", "nest": "zh",
}  # fmt: skip
"""Worlds, and the language their bot is set to."""
PACE, REPLY = 25.0, 4.0
"""Seconds between two lines of people, and until the bot has answered."""

_HEAD = re.compile(
    r"== (?P<at>[\d-]+ [\d:]+) \| (?P<kind>private|group) (?P<id>\d+) \| (?P<who>\w+)"
)
_LINE = re.compile(r"(?P<name>[^@:]+)@(?P<account>\d+)(?: ?[(（](?P<card>.*?)[)）])?: (?P<text>.*)")
_TAGS = re.compile(r"(?: [#!]\w+)+$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of chat.

    Attributes:
        account: Of who says it; ``BOT`` for the bot.
        name: What they are called at that moment.
        tags: What questions call the line by.
    """

    account: str
    name: str
    text: str
    at: float
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Talk:
    """Lines of one Session without a pause."""

    session: Session
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is right.

    Attributes:
        kind: ``now``, ``former``, ``trap`` …
        answer: Of each group, one wording has to be in the block.
        gold: Tags of the lines that answer it.
        stale: What must not be shown as if it still held.
        forbid: What must not be shown at all.
    """

    text: str
    account: str
    session: Session
    kind: str
    answer: tuple[tuple[str, ...], ...] = ()
    gold: frozenset[str] = frozenset()
    stale: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """Everything that was said, and what is asked afterwards.

    Attributes:
        small: Small talk and general questions, which need no memory.
    """

    language: str
    talks: tuple[Talk, ...]
    questions: tuple[Question, ...]
    small: tuple[str, ...] = field(default=())


def read(name: str, folder: Path = FOLDER) -> World:
    """The world of a name in ``LANGUAGES``."""
    talks = tuple(_talks((folder / f"{name}.txt").read_text(encoding="utf-8")))
    asked = (folder / f"{name}.questions.jsonl").read_text(encoding="utf-8").splitlines()
    persona = talks[0].session.persona
    questions = tuple(_question(json.loads(line), persona) for line in asked)
    small = (folder / f"{name}.small.txt").read_text(encoding="utf-8").splitlines()
    return World(LANGUAGES[name], talks, questions, tuple(small))


def _talks(text: str) -> Iterator[Talk]:
    for part in re.split(r"^(?=== )", text, flags=re.MULTILINE)[1:]:
        head, *rest = part.strip().splitlines()
        found = _HEAD.match(head)
        assert found, head
        group, owner = ("", found["id"]) if found["kind"] == "private" else (found["id"], "")
        session = session_of(PLATFORM, group, owner, found["who"])
        begun = datetime.strptime(found["at"], "%Y-%m-%d %H:%M").replace(tzinfo=ZONE).timestamp()
        yield Talk(session, tuple(_lines(rest, begun)))


def _lines(lines: list[str], at: float) -> Iterator[Line]:
    for line in lines:
        tags = _TAGS.search(line)
        text = line[: tags.start()] if tags else line
        marks = frozenset(re.findall(r"[#!](\w+)", tags[0])) if tags else frozenset()
        if text.startswith("bot: "):
            yield Line(BOT, BOT, text.removeprefix("bot: "), at - PACE + REPLY)
            continue
        found = _LINE.match(text)
        assert found, line
        name = found["card"] or found["name"]
        yield Line(found["account"], name, found["text"], at, marks)
        at += PACE


def _question(data: dict[str, Any], persona: str) -> Question:
    session = session_of(PLATFORM, data.get("chat", ""), data["by"], data.get("persona", persona))
    answer, gold = tuple(map(tuple, data.get("answer", ()))), frozenset(data.get("gold", ()))
    stale, forbid = (tuple(data.get(name, ())) for name in ("stale", "forbid"))
    asked = data["q"], user_id(PLATFORM, data["by"]), session, data["kind"]
    return Question(*asked, answer, gold, stale, forbid)
