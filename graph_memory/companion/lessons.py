"""What the call that learns is asked on the companion's behalf: core facts and mood.

What comes back is a model's word about hostile text: numbers are bounded, labels are looked
up among what was shown, a core fact rests on a message of the user it is about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..journal import Draft, Rows
from ..learn.batching import asks_to_remember, without_request
from ..learn.parse import line_of, numbers
from ..learn.prompt import ExtractionExtension
from ..learn.prompt_context import PromptContext
from ..model import Batch, Fact, Message, stable_id
from ..text import fenced, tokens
from .companion_rows import CoreFact, CoreKind, Mood
from .core import MAX_TEXT, Shelf, kind_of, standing
from .mood import BASELINE, Feeling, decayed, moved

SHOWN = 700
"""Tokens of core facts that the model is shown; in a group, of all who speak."""
MOST_CLAIMS = 10
"""Core facts that one batch may write."""

_LABEL = re.compile(r"(?<![A-Za-z0-9])[Cc]\s*(?=\d)")
_PERSON = re.compile(r"U\d{1,3}(?!\d)")
_STRING = {"type": "string"}
_NUMBER = {"type": "number"}


def _objects(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": properties}}


class CoreLesson:
    """Keeps the core facts about those who speak in a batch."""

    properties: ClassVar[Mapping[str, Any]] = {
        "core": _objects(
            type=_STRING,
            text=_STRING,
            about=_STRING,
            evidence=_STRING,
            replaces=_STRING,
        ),
        "core_used": _STRING,
    }
    _INSTRUCTIONS: ClassVar[Mapping[str, str]] = {
        "zh": (
            "- core：值得一直记住的 U 的要点（C 是已有的），少而精，可为空。type："
            "fact 稳定的事实，moment 重要的时刻，feeling 情绪和那时该怎么做，growth 成长；"
            "text 一句话，带名字；about：U 编号；evidence 须有本人说的；"
            "replaces：要更新或合并掉的 C。core_used：BOT 用到的 C。\n"
        ),
        "en": (
            "- core: what to keep in mind always about a U (C: there already); few, or none. "
            "type: fact (lasting), moment (that mattered), feeling (and what to do then), "
            "growth. text: one sentence with the name; about: U label; evidence: must have "
            "their own message; replaces: C it updates or merges. core_used: C that BOT used.\n"
        ),
    }

    def __init__(self, rows: Rows, batch: Batch, known: PromptContext) -> None:
        self._batch = batch
        self._known = known
        self.shown: dict[int, CoreFact] = {}
        self.lines: list[str] = []
        speakers = [person.node for person in known.people.values() if person.speaks]
        found = standing(rows, batch.session.id, speakers)
        spent = 0
        for row in sorted(found, key=lambda row: (-row.used_at, row.number)):
            number = len(self.shown) + 1
            line = f"C{number} {known.label(row.user)} {row.type}: {fenced(row.text, MAX_TEXT)}"
            spent += tokens(line)
            if spent > SHOWN:
                break
            self.shown[number] = row
            self.lines.append(line)

    def instructions(self, language: str) -> str:
        """What ``core`` and ``core_used`` mean."""
        return self._INSTRUCTIONS[language]

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Add, update and merge; then what somebody asked to be remembered."""
        at = self._batch.messages[-1].at
        shelves: dict[str, Shelf] = {}

        def shelf(user: str) -> Shelf:
            if user not in shelves:
                shelves[user] = Shelf(rows, self._batch.session.id, user, at)
            return shelves[user]

        claims = answer.get("core")
        for claim in claims[:MOST_CLAIMS] if isinstance(claims, list) else ():
            if isinstance(claim, dict):
                self._take(claim, shelf)
        for row in self._rows(answer.get("core_used")):
            shelf(row.user).use([row.id])
        if not self._batch.session.is_group:
            for message in self._batch.messages:
                if message.is_human and asks_to_remember(message.text):
                    keep(shelf(message.sender), message, _facts(draft))
        for each in shelves.values():
            each.write(draft)

    def _take(self, claim: Mapping[str, Any], shelf: Callable[[str], Shelf]) -> None:
        text = line_of(claim.get("text"), MAX_TEXT)
        cited = [
            self._batch.messages[number - 1]
            for number in numbers(claim.get("evidence"))
            if number <= len(self._batch.messages)
        ]
        said = [message for message in cited if message.is_human]
        old = self._rows(claim.get("replaces"))
        person = self._known.people.get(_label(claim.get("about")))
        user = old[0].user if old else person.node if person else said[0].sender if said else ""
        own = tuple(message for message in said if message.sender == user)
        if not text or not own:
            return
        kind, at = kind_of(line_of(claim.get("type"), 20)), own[-1].at
        ids = tuple(message.id for message in own)
        theirs = [row for row in old if row.user == user]
        free = [row.id for row in theirs if not row.pinned]
        if free:
            # If all of them are gone meanwhile, somebody did not want them.
            shelf(user).reword(free, text, kind, at, ids)
        else:
            shelf(user).add(text, kind, at, ids)

    def _rows(self, value: Any) -> list[CoreFact]:
        """What labels such as ``C3`` stand for."""
        return [self.shown[number] for number in numbers(_bare(value)) if number in self.shown]


def _bare(value: Any) -> Any:
    """Labels without their letter."""
    if isinstance(value, list):
        return [_bare(item) for item in value[:50]]
    return _LABEL.sub("", value[:400]) if isinstance(value, str) else value


def _label(value: Any) -> str:
    """The label of a person that a field begins with."""
    found = _PERSON.match(line_of(value, 64).upper())
    return found[0] if found else ""


def _facts(draft: Draft) -> list[Fact]:
    return [row for row in draft.put if isinstance(row, Fact)]


def keep(shelf: Shelf, message: Message, facts: Sequence[Fact]) -> None:
    """Keep what a message asks to be remembered, unless something rests on it already."""
    if shelf.rests_on([message.id]):
        return
    told = [fact.statement for fact in facts if message.id in fact.evidence]
    for text in told[:3] or [without_request(message.text)]:
        shelf.add(text, CoreKind.FACT, message.at, (message.id,))


def mood_id(session: str) -> str:
    """Id of the one row of a Session that says how its persona feels."""
    return stable_id("mo", session)


class MoodLesson:
    """Moves the persona's mood by what was said in a batch."""

    properties: ClassVar[Mapping[str, Any]] = {
        "mood": {"type": "object", "properties": {"valence": _NUMBER, "arousal": _NUMBER}}
    }
    lines: ClassVar[Sequence[str]] = ()
    _INSTRUCTIONS: ClassVar[Mapping[str, str]] = {
        "zh": "- mood：BOT 的心情因此有何变化，valence 愉快、arousal 激动，各 -0.3～0.3。\n",
        "en": (
            "- mood: how this changed BOT's mood: valence (happy), arousal (excited), each -0.3 "
            "to 0.3.\n"
        ),
    }

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def instructions(self, language: str) -> str:
        """What ``mood`` means."""
        return self._INSTRUCTIONS[language]

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Let what is left of the last mood be moved; a late batch moves what there is."""
        given = answer.get("mood")
        if not isinstance(given, dict):
            return
        steps = [_side(given.get(side)) for side in ("valence", "arousal")]
        session, at = self._batch.session.id, self._batch.messages[-1].at
        last = rows.get(Mood, mood_id(session))
        feeling = BASELINE
        if last is not None:
            feeling = decayed(Feeling(last.valence, last.arousal), at - last.at)
            at = max(at, last.at)
        feeling = moved(feeling, *steps)
        draft.put.append(
            Mood(
                mood_id(session), session, round(feeling.valence, 4), round(feeling.arousal, 4), at
            )
        )


def _side(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) else 0.0


@dataclass(frozen=True, slots=True)
class Lessons:
    """Several lessons as one."""

    each: Sequence[ExtractionExtension] = field(default=())

    @property
    def properties(self) -> Mapping[str, Any]:
        """The fields of all."""
        return {name: schema for lesson in self.each for name, schema in lesson.properties.items()}

    @property
    def lines(self) -> Sequence[str]:
        """The lines of all."""
        return [line for lesson in self.each for line in lesson.lines]

    def instructions(self, language: str) -> str:
        """What all fields mean."""
        return "".join(lesson.instructions(language) for lesson in self.each)

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Add what all make of the answer."""
        for lesson in self.each:
            lesson.write(rows, draft, answer, now)
