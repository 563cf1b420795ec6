"""Control words: what a model writes to say what to do with its reply (pure).

    <SILENCE>                                              read, and not answered
    <WANT_MORE>                                            there is more to say
    <PROACTIVE>{"delay_seconds": 180, "reason": "…"}       to come back later by itself

A word counts only on a line of its own, or with a whole wish behind it, or at the end of all, and
if the model was taught it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..learning.parse import finite
from ..locales import in_all
from ..text import one_line

MIN_DELAY = 10.0
MAX_DELAY = 30 * 86_400.0
"""Limits, in seconds, of when a model may come back."""
MAX_REASON = 200
REMARKS = frozenset(in_all("control_silent").values())
"""What stands in the history for a silent reply; models imitate what they read."""
_MAX_JSON, _MAX_LINES = 2_000, 20


class Word(StrEnum):
    """A control word, as it is written."""

    SILENCE = "<SILENCE>"
    WANT_MORE = "<WANT_MORE>"
    PROACTIVE = "<PROACTIVE>"


@dataclass(frozen=True, slots=True)
class Intent:
    """That the model means to come back in ``delay`` seconds; the reason is one line."""

    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, without the control ``words`` it used."""

    text: str
    words: frozenset[Word] = frozenset()
    intent: Intent | None = None

    @property
    def is_silent(self) -> bool:
        """Whether there were control words and nothing else."""
        return bool(self.words) and not self.text


_GLUED = re.compile(
    r"(?<=\S)[ \t]*(?=<PROACTIVE>[ \t]{0,9}\{\s{0,9}\"(?:delay_seconds|reason)\""
    r"|<WANT_MORE>[。.]?\s*\Z)"
)
"""Where some models do not begin a new line, though nobody talks like that."""
_FENCED = re.compile(r"```\w*\n(<PROACTIVE>[^`]*?)\n?```")
"""What some models make of JSON, which is no code here."""
_ALONE = re.compile(
    r"[`*_\s]{0,9}<SILENCE */?>(?:</SILENCE>)?[`*_\s。.]{0,9}(?:[（(][^\n]*[）)])?[`*_\s。.]{0,9}",
    re.IGNORECASE,
)
"""A reply that is nothing but silence, however it is dressed."""
_END = "</PROACTIVE>"
"""What some models write behind the JSON."""
_TYPED = re.compile("|".join(rf"<{word[1:-1]} */?>" for word in Word), re.IGNORECASE)


def neutral(text: str) -> str:
    """``text`` with all control words made plain text."""
    return _TYPED.sub(lambda found: f"＜{found[0][1:-1]}＞", text)


def read(text: str, taught: Collection[Word]) -> Reply:
    """Take the control words that the model was taught out of what it wrote."""
    if Word.SILENCE in taught and _ALONE.fullmatch(text):
        return Reply("", frozenset({Word.SILENCE}))
    used: set[Word] = set()
    intent: Intent | None = None
    kept: list[str] = []
    lines, at = _GLUED.sub("\n", _FENCED.sub(r"\1", text)).split("\n"), 0
    while at < len(lines):
        line = lines[at]
        at += 1
        word = _word(line)
        if word is None or word not in taught:
            kept.append(line)
            continue
        used.add(word)
        if word is Word.PROACTIVE:
            told, more, tail = _told(line, lines[at : at + _MAX_LINES])
            at += more
            lines[at:at] = filter(None, [tail])  # a line of its own
            intent = intent or told
    if not used:
        return Reply(text)
    return Reply("\n".join(kept).strip(), frozenset(used), intent)


def unasked(text: str) -> str:
    """What a model says unasked; empty if it would rather not, however it writes so."""
    said = read(text.strip(), frozenset(Word))
    is_silent = Word.SILENCE in said.words or Word.SILENCE in text.upper()
    return "" if is_silent else said.text


def _word(line: str) -> Word | None:
    """The word that a line consists of, but for a full stop."""
    line = line.strip().rstrip("。.")
    if line in REMARKS:
        return Word.SILENCE
    if line in (Word.SILENCE, Word.WANT_MORE):
        return Word(line)
    after = line.removeprefix(Word.PROACTIVE)
    if after != line and (not after or after.lstrip().startswith("{")):
        return Word.PROACTIVE
    return None


def _told(line: str, rest: list[str]) -> tuple[Intent | None, int, str]:
    """The intent after a ``<PROACTIVE>``, on how many more lines, and what is behind."""
    after = line.strip().removeprefix(Word.PROACTIVE).lstrip()
    body = "\n".join([after, *rest])
    start = len(body) - len(body.lstrip())
    if body[start : start + 1] != "{":
        return None, 0, ""
    try:
        data, end = json.JSONDecoder().raw_decode(body[: start + _MAX_JSON], start)
    except (ValueError, RecursionError):
        return None, 0, ""
    tail = body[end:].split("\n", 1)[0]
    return _intent(data), body.count("\n", 0, end), tail.replace(_END, "").strip()


def _intent(data: Any) -> Intent | None:
    if not isinstance(data, dict):
        return None
    delay, why = finite(data.get("delay_seconds"), 0.0), data.get("reason")
    reason = one_line(neutral(why), MAX_REASON) if isinstance(why, str) else ""
    return Intent(max(MIN_DELAY, min(MAX_DELAY, delay)), reason) if delay > 0 and reason else None
