"""Kinship terms and other words for people by what they are to somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from .text import remembered, simplified

_TABLE = Path(__file__).with_suffix(".txt").read_text("utf-8")
"""Groups of words for the same relative, the usual one first; with ``!`` of whom one has one,
with 我 what is somebody's only right after that; with ``-`` what may be written apart; after ``>``
the relatives that may be meant as well."""
_SPLIT = [group.replace(",", "=").partition(">") for group in _TABLE.split()]
_GROUPS = [
    group.split("=") + [word.replace("-", " ") for word in group.split("=") if "-" in word]
    for group, _, _ in _SPLIT
]
_FIRST = {w.strip("!"): words[0].strip("!") for words in _GROUPS for w in words if "我" not in w}
_OWN = {w.strip("我"): words[0].strip("!") for words in _GROUPS for w in words if "我" in w}
_WIDER = {
    words[0].strip("!"): more.split("=")
    for words, (_, _, more) in zip(_GROUPS, _SPLIT, strict=True)
    if more
}
KIN = frozenset(_FIRST)
"""Somebody only together with whose they are; in simplified characters."""
ONLY = KIN.intersection(w.strip("!") for words in _GROUPS if words[0][0] == "!" for w in words)
"""Those of :data:`KIN` of whom one has one: under two names they are the same person."""
_MINE = re.compile(
    r"(?:[我俺咱]们?家?的?|m[ye] )"
    r"(?:亲(?!家)|双胞胎|(?:kid|little|big|baby|younger|older|elder|twin) )?"
)


def first_word(word: str) -> str:
    """The usual word for the same relative: 妈妈 for 老妈."""
    return _FIRST.get(word, word)


def same_kin(word: str) -> set[str]:
    """The words for the same relative, the word included: 妈妈 for 母亲."""
    first = first_word(word)
    return {word, *(other for other, usual in _FIRST.items() if usual == first)}


def kin_in(text: str) -> list[str]:
    """The words of :data:`KIN` in a normalised text; some words only after 我.

    Of words in one another the longest: no 朋友 in 男朋友.
    """
    text, found = simplified(text), set[str]()
    said = [word for word in KIN.union(_OWN) if word in text]
    for word in sorted(said, key=len, reverse=True):
        text, times = re.subn(_pattern(word), "\n", text)
        if times:
            found.add(_OWN.get(word, word))
    return sorted(found)


def _pattern(word: str) -> str:
    if word.isascii():
        start = r"\bm[ye] " if word in _OWN else r"(?<![\w-])(?<!(?:step|half) )(?<!ex )"
        return rf"{start}{word}(?:['’]?s)?(?![\w-]| in law)"
    return rf"[我俺咱]家?{word}" if word in _OWN or len(word) == 1 else word


def kin_meant(text: str) -> frozenset[str]:
    """The words for all relatives that a normalised text may mean."""
    firsts = {first_word(word) for word in kin_in(text)}
    firsts.update(*(_WIDER.get(first, ()) for first in firsts))
    return frozenset(each for first in firsts for each in same_kin(first))


PARTNERS, FORMER_PARTNERS = kin_meant("那口子 对象 partner"), kin_meant("前任 my ex")
"""The words for a husband, wife, boyfriend …, and for who was one."""


def kin_words(names: Iterable[str]) -> set[str]:
    """What somebody who is called 张三的妈妈 is called where that is clear: 妈妈, 母亲."""
    ends = {re.split(r"的|['’]s ", simplified(name))[-1] for name in names}
    return {word for end in ends & KIN for word in same_kin(end)}


def without_mine(norm: str) -> str:
    """A normalised reference without 我的 or "my kid" before a word of :data:`KIN`."""
    plain = simplified(norm)
    rest = _MINE.sub("", plain, count=1) if _MINE.match(plain) else plain
    if rest != plain and rest in _OWN:
        return _OWN[rest]
    return rest if rest in KIN else norm


def of(name: str, word: str) -> str:
    """What the mother, boss … of somebody (by name, if any) is called."""
    full = f"{name}'s {word}" if word.isascii() else f"{name}的{word}"
    return full if name else word


def is_said(statement: str, names: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a statement tells of a mother, sister … of somebody of some names."""
    told = _telling(frozenset(names), frozenset(words))
    return told.search(simplified(statement)) is not None


def is_one(statement: str, own: Iterable[str], names: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a statement says who is a mother, sister … of somebody of some names.

    Args:
        own: Names of the relative, with one of which it begins.
    """
    begins = rf"(?:{_any_of(own)})(?:\s?(?:是|is\b|was\b)|[,，])[^。；;]*"
    told = _telling(frozenset(names), frozenset(words)).pattern
    whole = rf"{begins}(?:{told})(?!的|['’]s)"
    return re.match(whole, simplified(statement), re.IGNORECASE) is not None


@remembered(64)
def _telling(names: frozenset[str], words: frozenset[str]) -> re.Pattern[str]:
    whose, what = _any_of(names), "|".join(words)
    told = rf"(?:{whose})(?:[的他她]\w{{0,2}}|['’]?s (?:\w+ ){{0,2}})?(?:{what})(?![\w-]*[a-z])"
    told += rf"|(?<![\w-])(?:{what}) (?:of|to) (?:{whose})(?!\w)"
    return re.compile(told, re.IGNORECASE)


def _any_of(names: Iterable[str]) -> str:
    return "|".join(re.escape(simplified(name)) for name in names)
