"""Usage of commands, and answers to wrong usage."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection
from math import inf
from pathlib import Path
from typing import Generic, TypeVar

from ..dates import arabic, day_of, moment
from ..locales import TEXTS, say
from ..model import Fact, Session, Turn
from ..process_memory import Newest
from ..recall import task_note
from ..references import Reference
from ..service import MemoryService
from ..settings import PARTS
from ..text import blocks, clean_name, one_line, patterns, words

CONFIRM, CANCEL, EVERYTHING, ME, NOW, UNDO, LEARN, HISTORY, BACK = words(
    Path(__file__).with_name("answers.txt")
)
"""Words that mean something behind commands, as the table says."""
LISTED = 10
"""Lines in a list; a chat message is no place for more."""
MAX_GIVEN = 40
_NUMBER = re.compile(r"(?:[#第]|[pP](?:age ?)?)?(\d{1,5})[条條页頁个個号號版项項]?[.。]?")
"""A number as people type it: 1, 第1条, 第二页, page 2, #1."""
_DRESSED = re.compile(
    r"(?:第|编号|編號|(?i:number|no\.)|[<《【\[(（])\s*(?P<number>[\d一二两三四五六七八九十]{1,5})"
    r"(?:\s*[条條个個>》】\])）]|(?=[\s:：,，、]|$))[\s:：,，、。]*"
)
"""The same as they copy it from the usage, or say it: <1>, 【1】, 第 1 条, 编号1."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL = re.compile(
    rf"(?:the )?(?:({'|'.join(_ORDINALS)})|(\d+)(?:st|nd|rd|th))(?: one| line)?(?=[,:]|\Z)",
    re.IGNORECASE,
)
"""The same in English words: the first one, 2nd."""
_GLUED = re.compile(r"([^\W\d]+?)(?=第?\s*[\d一二两三四五六七八九十])")
"""A word right before a number: 删1, 换回第2版."""
_LINE = r"(?:[#第]\s?)?(\d{1,2}|[一二两三四五六七八九十]{1,3})(?:\s?[条條个個项項])?"
_LINES = re.compile(rf"{_LINE}(?:\s?(?:[-~—–至到]|to\b)\s?{_LINE})?")
_AND = re.compile(r"\s?(?:,?\s?and\b|[,、;+&和及与跟])\s?|\s")
LAST, THAT_ONE, _BEHIND, _ALL_GO = patterns(Path(__file__).with_name("lines.txt"))
"""Which line is meant, and what stands behind its number."""
_MEANT, ACTS = (
    {
        word: meant
        for meant, _, others in (line.partition(" = ") for line in lines)
        for word in others.split()
    }
    for lines in blocks(Path(__file__).with_name("meant.txt"))
)
"""What other words for a command mean, which are no like ones, and what is done by words for it
with a core fact."""
MAX_WISHES = 500
T = TypeVar("T")

FOR_ADMINS = "help_admins"
"""Begins the lines that are for admins, which another for all may follow."""
NEEDED = {
    "records": "records", "core": "core_facts", "inner": "inner_state", "proactive": "proactive",
}  # fmt: skip
"""Parts of the companion, by the command that is for them."""


def help_text(language: str, parts: Collection[str] = PARTS, *, admin: bool = True) -> str:
    """The commands that somebody may use, as far as the companion's parts are on."""
    keys = [key for key in TEXTS[language] if key.startswith("help_")]
    start = keys.index(FOR_ADMINS)
    shown = keys if admin else [*keys[:start], keys[-1]]
    shown = [key for key in shown if NEEDED.get(key.removeprefix("help_")) in (None, *parts)]
    return "\n".join(say(language, key) for key in shown)


def nearest(word: str, known: Collection[str]) -> str:
    """The known word that ``word`` means or is most like; empty if there is none."""
    if (meant := _MEANT.get(word.casefold())) in known:
        return str(meant)
    likeness = 0.6 if word.isascii() else 0.5  # of two characters one is the same
    return next(iter(difflib.get_close_matches(word.casefold(), sorted(known), 1, likeness)), "")


def unknown(language: str, group: str, given: str, known: Collection[str], usage: str) -> str:
    """Answer to an unknown command of a group; its usage if only the group is named."""
    if not given:
        return usage
    word = given.split()[0]
    meant = nearest(word, known)
    key = "no_command_like" if meant else "no_command"
    shown = one_line(word, MAX_GIVEN)
    told = say(language, key, given=shown, meant=f"/{group} {meant}")
    return f"{told}\n{say(language, 'no_command_help')}"


def misused(language: str, command: str, given: str, known: Collection[str] = ()) -> str:
    """Answer to words that a command does not take; it takes the ``known`` ones."""
    meant = nearest(given.split()[0], known)
    key = "misused_like" if meant else "misused"
    told = say(language, key, given=one_line(given, MAX_GIVEN), meant=meant)
    return f"{told}\n{say(language, f'help_{command}')}"


def number_of(word: str) -> int | None:
    """The number that a word is, if it is one of five digits at most."""
    plain = unicodedata.normalize("NFKC", word.strip())
    dressed = _DRESSED.fullmatch(plain)
    found = _NUMBER.fullmatch(arabic(dressed["number"] if dressed else plain))
    return int(found[1]) if found else None


def numbered(text: str) -> tuple[str, str]:
    """The number of a line that a text begins with, and what stands behind it."""
    plain = text.strip()
    if found := _ORDINAL.match(plain):
        number = found[2] or str(_ORDINALS.index(found[1].lower()) + 1)
        plain = number + plain[found.end() :]
    elif found := _DRESSED.match(plain):
        plain = f"{found['number']} {plain[found.end() :]}".strip()
    number, *behind = _BEHIND.split(plain, maxsplit=1)
    return number, "".join(behind)


def several(text: str) -> list[str]:
    """The numbers of the lines that a text lists (1、3, 2-4); empty if it is no list."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    found, at, before = dict[str, None](), 0, ""
    while line := _LINES.match(plain, at):
        if before.isspace() and line[2]:  # 1 5-8 is a line with a day
            return []
        start, end = (int(arabic(each)) for each in (line[1], line[2] or line[1]))
        found.update(dict.fromkeys(map(str, range(start, end + 1))))
        if _ALL_GO.fullmatch(plain, line.end()):
            return list(found)
        if (between := _AND.match(plain, line.end())) is None:
            return []
        at, before = between.end(), between[0]
    return []


def acted(text: str) -> tuple[str, str]:
    """The word that says what to do, and what stands behind it, with or without a gap."""
    plain = text.strip()
    found = _GLUED.match(plain)
    verb, _, rest = (f"{found[1]} {plain[found.end() :]}" if found else plain).partition(" ")
    return verb, rest.strip()


def account(turn: Turn, given: str) -> str:
    """The user id of an account; without a platform, one of the speaker's."""
    plain = given.replace("：", ":")
    return plain if ":" in plain else f"{turn.user.partition(':')[0]}:{plain}"


class Wishes(Generic[T]):
    """What people asked for and have to confirm within so many seconds, by who asked."""

    def __init__(self, now: Callable[[], float], seconds: float) -> None:
        self._now, self._seconds = now, seconds
        self._kept = Newest[tuple[str, str], tuple[float, T]](MAX_WISHES)

    def put(self, turn: Turn, wish: T) -> None:
        """Note what somebody asked for in a chat, in place of what they asked before."""
        self._kept[turn.user, turn.session.circle] = self._now(), wish

    def take(self, turn: Turn) -> T | None:
        """What somebody asked for there, once, unless it was too long ago."""
        at, wish = self._kept.pop((turn.user, turn.session.circle), (-inf, None))
        return wish if self._now() - at <= self._seconds else None


class Speaker:
    """Says things in one language."""

    def __init__(self, language: str) -> None:
        self._language = language

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)


class Answers(Speaker):
    """What commands of one memory answer, in its language."""

    def __init__(self, memory: MemoryService) -> None:
        super().__init__(memory.settings.language)
        self.memory = memory

    def refusal(self, turn: Turn, paused: str = "remember_paused") -> str:
        """Why nothing the speaker says may be stored here; empty if it may."""
        if not self.memory.settings.remembers(turn.session, turn.user):
            return self._say("unlisted")
        if self.memory.learning.pauses.covers(turn.session, turn.user):
            return self._say(paused)
        return ""

    def _shown(self, turn: Turn, which: str) -> Reference | None:
        """The line that was shown with a number or a short id."""
        references, number = self.memory.references, number_of(which)
        return references.numbered(turn, number) if number else references.cited(turn, which)

    def _standing(self, fact: Fact) -> str:
        """Notes on a listed fact, as the block has them."""
        is_over = fact.is_over(now := self.memory.now())
        over = task_note(fact, now, is_over=is_over) or ("formerly" if is_over else "")
        known = {"hearsay": fact.hearsay, "confidential": fact.confidential, over: over}
        notes = [self._say(f"block_{note}") for note, is_so in known.items() if is_so]
        return f"〔{self._say('block_joint').join(notes)}〕" if notes else ""

    def _where(self, turn: Turn, there: Session) -> str:
        """Where something was said, if that is another chat that has a title."""
        is_elsewhere = there.circle != turn.session.circle and there.title
        return self._say("history_where", title=clean_name(there.title)) if is_elsewhere else ""

    def _moment(self, at: float) -> str:
        return moment(at, self.memory.zone)

    def _date(self, at: float) -> str:
        return day_of(at, self.memory.zone).isoformat()
