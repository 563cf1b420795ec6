"""Made-up people who chat for years, and a scripted model that learns by rule what they say.

Some facts change now and then and are said again in between, some stay and are said again,
most are mentioned once. Everything else is small talk.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from graph_memory.inference import Answer, ToolSchema, Vectors
from graph_memory.model import BOT, Session, session_of, user_id
from tests.prompts import Shown
from tests.scripted import HashEmbedder, answer, hashed, said

PLATFORM = "bench"
NAMES = ("小红", "阿杰", "老王", "小雪", "大伟")
GROUPS = {"家里": (0, 1, 2, 3, 4), "钓鱼": (0, 1, 2), "读书": (2, 3, 4)}
BURSTS, LINES = (5, 8), (8, 24)
"""Conversations in a day, and lines of one."""
ONCE = 1.2
"""Things a day that are mentioned once."""
_LISTS = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
_WORDS = {name: words.split() for name, words in (line.split(": ") for line in _LISTS)}
_STREETS = [a + b for a in _WORDS["street names"] for b in _WORDS["streets"]]
_THINGS = [a + b for a in _WORDS["kinds of things"] for b in _WORDS["things"]]
_KINDS = (
    ("我现在住在{}", "{me}现在住在哪里", "cities", 210, 50),
    ("我的工作是{}", "{me}的工作是什么", "jobs", 270, 60),
    ("我每周都去{}", "{me}每周都去做什么", "sports", 160, 40),
    ("我家的猫叫{}", "{me}家的猫叫什么", "pets", 0, 110),
    ("我生日是{}", "{me}的生日是哪天", "days", 0, 150),
    ("我对{}过敏", "{me}对什么过敏", "foods", 0, 130),
)
"""What is said, what is asked, the values, and days until it changes and is said again."""


@dataclass(slots=True)
class Trait:
    """Something about a person that is said more than once.

    Attributes:
        says, asks: What they say and what is asked (``{}``: the value).
        every: Days until it changes; 0 if it never does.
        again: Days until it is said again.
        since: Day on which the value was first said; -1 before.
    """

    person: int
    session: Session
    says: str
    asks: str
    values: list[str]
    every: int
    again: int
    value: str = ""
    since: int = -1
    next_change: int = 0
    next_said: int = 0


@dataclass(frozen=True, slots=True)
class Once:
    person: int
    session: Session
    place: str
    thing: str
    day: int

    @property
    def words(self) -> tuple[str, str]:
        return self.place, self.thing


@dataclass(frozen=True, slots=True)
class Line:
    session: Session
    sender: str
    name: str
    text: str
    at: float


class Life:
    """The chat of some years from midnight of a day on; the same for every run.

    Attributes:
        once: What has been mentioned once so far.
        traits: What is said again and again.
    """

    def __init__(self, start: datetime) -> None:
        self.start = start
        self.once: list[Once] = []
        self.traits: list[Trait] = []
        self._random = random.Random(7)
        self.private = [session_of(PLATFORM, "", str(n), "mei") for n in range(len(NAMES))]
        self.groups = {name: session_of(PLATFORM, name, "", "mei", title=name) for name in GROUPS}
        family = self.groups["家里"]
        for person, home in enumerate(self.private):
            for at, (says, asks, values, every, again) in enumerate(_KINDS):
                session = family if at % 3 == 2 else home
                asks = asks.replace("{me}", NAMES[person] if session is family else "我")
                trait = Trait(person, session, says, asks, _WORDS[values], every, again)
                trait.value = trait.values[person % len(trait.values)]
                trait.next_said = self._random.randrange(1, 25)
                trait.next_change = self._around(every) if every else 1 << 30
                self.traits.append(trait)

    def _around(self, days: int) -> int:
        return max(1, round(days * self._random.uniform(0.7, 1.3)))

    def day(self, number: int) -> list[list[Line]]:
        """The conversations of a day, in order."""
        told = [*self._traits(number), *self._once(number)]
        sessions = [*self.private, *self.groups.values()]
        count = self._random.randint(*BURSTS)
        talks: list[tuple[Session, list[tuple[int, str]]]] = [
            (session, [(who, text) for other, who, text in told if other is session])
            for session in dict.fromkeys(session for session, _, _ in told)
        ]
        while len(talks) < count:
            talks.append((self._random.choice(sessions), []))
        minute = 8 * 60
        found: list[list[Line]] = []
        for session, news in talks:
            at = self.start + timedelta(days=number, minutes=minute)
            found.append(list(self._talk(session, news, at)))
            minute += 15 * 60 // len(talks)
        return found

    def _traits(self, day: int) -> Iterator[tuple[Session, int, str]]:
        for trait in self.traits:
            if trait.every and day >= trait.next_change:
                others = [value for value in trait.values if value != trait.value]
                trait.value = self._random.choice(others)
                trait.next_change = day + self._around(trait.every)
                trait.next_said, trait.since = day, -1
            if day >= trait.next_said:
                trait.next_said = day + self._around(trait.again)
                trait.since = day if trait.since < 0 else trait.since
                yield trait.session, trait.person, trait.says.format(trait.value)

    def _once(self, day: int) -> Iterator[tuple[Session, int, str]]:
        while self._random.random() < ONCE / (1 + ONCE):
            person = self._random.randrange(len(NAMES))
            session = self._random.choice([self.private[person], self.groups["家里"]])
            place, thing = self._random.choice(_STREETS), self._random.choice(_THINGS)
            if any(one.words == (place, thing) for one in self.once):
                continue
            self.once.append(Once(person, session, place, thing, day))
            yield session, person, f"我在{place}买了一个{thing}"

    def _talk(self, session: Session, news: list[tuple[int, str]], at: datetime) -> Iterator[Line]:
        people = [n for n, home in enumerate(self.private) if home is session] or [
            *GROUPS[session.title]
        ]
        count = self._random.randint(*LINES)
        places = dict(zip(self._random.sample(range(count), len(news)), news, strict=True))
        for number in range(count):
            at += timedelta(seconds=self._random.randint(8, 45))
            who, text = places.get(number) or (self._random.choice(people), self._small_talk())
            if number not in places and number % 4 == 3 and not session.is_group:
                yield Line(session, BOT, "", f"是呀，{self._small_talk()}", at.timestamp())
                continue
            yield Line(session, user_id(PLATFORM, str(who)), NAMES[who], text, at.timestamp())

    def _small_talk(self) -> str:
        one, other = self._random.sample(_WORDS["talk"], 2)
        mood = self._random.choice(_WORDS["moods"])
        return self._random.choice((
            f"今天{one}{mood}，{other}呢", f"说到{one}，{mood}",
            f"{one}和{other}{mood}，第{self._random.randrange(400)}回了",
            f"你们觉得{one}怎么样，我觉得{mood}",
        ))  # fmt: skip


_RULES = (
    (re.compile(r"^我现在住在(\w+)$"), "lives_in", "{0}住在{1}", 0.6),
    (re.compile(r"^我的工作是(\w+)$"), "works_as", "{0}的工作是{1}", 0.6),
    (re.compile(r"^我每周都去(\w+)$"), "habit", "{0}每周都去{1}", 0.5),
    (re.compile(r"^我家的猫叫(\w+)$"), "has_pet", "{0}家的猫叫{1}", 0.6),
    (re.compile(r"^我生日是(\w+)$"), "birthday", "{0}的生日是{1}", 0.7),
    (re.compile(r"^我对(\w+)过敏$"), "allergic_to", "{0}对{1}过敏", 0.8),
    (re.compile(r"^我在(\w+?)买了一个(\w+)$"), "did", "{0}在{1}买了一个{2}", 0.3),
)
_CHANGING = ("works_as", "habit")


class Rules:
    """A language model that learns by rule, and sums up by picking."""

    async def ask(
        self, system: str, prompt: str, *, tool: ToolSchema | None = None, where: str = ""
    ) -> Answer:
        if "<records>" in prompt:
            notes = [line.partition(": ")[2] for line in prompt.splitlines() if line[0] == "["]
            step = max(1, len(notes) // 4)
            return Answer("；".join(note[:40] for note in notes[::step][:4]), None)
        return Answer("", self._learned(Shown(prompt)))

    def _learned(self, shown: Shown) -> dict[str, Any]:
        facts: list[dict[str, Any]] = []
        restated: list[str] = []
        topics: list[str] = []
        for line in shown.lines:
            topics += [word for word in _WORDS["talk"] if word in line.text]
            for pattern, predicate, states, importance in _RULES:
                if not (found := pattern.match(line.text)):
                    continue
                statement = states.format(line.name, *found.groups())
                about = [
                    each
                    for each in shown.known
                    if (each.subject, each.predicate) == (line.label, predicate)
                ]
                same = [str(each.number) for each in about if each.statement == statement]
                if same:
                    restated += same
                    continue
                older = ",".join(str(each.number) for each in about if predicate in _CHANGING)
                fact = said(
                    line.label, predicate, found[found.lastindex or 1], statement, line.number
                )
                facts.append(fact | {"importance": importance, "replaces": older})
        told = [fact["statement"] for fact in facts][:3]
        summary = "，".join([*told, f"大家聊了{'、'.join(list(dict.fromkeys(topics))[:3])}"])
        return answer(*facts, summary=summary, restated=",".join(restated))


class Bigrams(HashEmbedder):
    """Vectors in which shared pairs of characters mean similarity, as wide as a real model's."""

    name = "bench-bigrams"
    width = 384

    def vector(self, text: str) -> Vectors:
        return hashed(text, self.width)


def midnight(zone: tzinfo) -> datetime:
    """When the chat begins: a New Year's Day."""
    return datetime(2024, 1, 1, tzinfo=zone)
