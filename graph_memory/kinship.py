"""Kinship terms and other words for people by what they are to somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_TABLE = Path(__file__).with_suffix(".txt").read_text("utf-8")
"""Groups of words for the same relative, the usual one first; with ``!`` of whom one has one."""
_GROUPS = [line.replace("=", ",").split(",") for line in _TABLE.split()]
_FIRST = {word.strip("!"): words[0].strip("!") for words in _GROUPS for word in words}
KIN = frozenset(_FIRST)
"""Somebody only together with whose they are."""
ONLY = frozenset(w.strip("!") for words in _GROUPS if words[0][0] == "!" for w in words)
"""Those of :data:`KIN` of whom one has one: under two names they are the same person."""
_MINE = re.compile(r"(?:我家的?|我的?|俺|my )(?:亲|(?:kid|little|big|baby|younger|older|elder) )?")
_SPOKEN = {word: word if len(word) > 1 else f"我{word}" for word in KIN}
"""What a text says if it has the word in it."""


def first_word(word: str) -> str:
    """The usual word for the same relative: 妈妈 for 老妈."""
    return _FIRST.get(word, word)


def same_kin(word: str) -> set[str]:
    """The words for the same relative, the word included: 妈妈 for 母亲."""
    first = first_word(word)
    return {word, *(other for other, usual in _FIRST.items() if usual == first)}


def kin_in(text: str) -> list[str]:
    """The words of :data:`KIN` in a normalised text; a single character only after 我."""
    found = [word for word, spoken in _SPOKEN.items() if spoken in text]
    return sorted(word for word in found if not word[0].isascii() or _is_whole(word, text))


def _is_whole(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){word}(?![\w-])", text) is not None


def kin_words(names: Iterable[str]) -> set[str]:
    """What somebody who is called 张三的妈妈 is called where that is clear: 妈妈, 母亲."""
    ends = {re.split(r"的|['’]s ", name)[-1] for name in names}
    return {word for end in ends & KIN for word in same_kin(end)}


def without_mine(norm: str) -> str:
    """A normalised reference without 我的 or "my kid" before a word of :data:`KIN`."""
    rest = _MINE.sub("", norm, count=1) if _MINE.match(norm) else norm
    return rest if rest in KIN else norm


def of(name: str, word: str) -> str:
    """What the mother, boss … of somebody (by name, if any) is called."""
    full = f"{name}'s {word}" if word.isascii() else f"{name}的{word}"
    return full if name else word


def is_said(statement: str, names: Iterable[str], words: Iterable[str]) -> bool:
    """Whether a statement tells of a mother, sister … of somebody of some names."""
    whose, what = "|".join(map(re.escape, names)), "|".join(words)
    said = rf"(?i)(?:{whose})(?:的.?|['’]s (?:\w+ )?)(?:{what})(?![\w-]*[a-z])"
    return re.search(said, statement) is not None
