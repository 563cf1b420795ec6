"""Kinship terms and other words for people by what they are to somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from .text import simplified

_TABLE = Path(__file__).with_suffix(".txt").read_text("utf-8")
"""Groups of words for the same relative, the usual one first; with ``!`` of whom one has one,
with 我 what is somebody's only right after that; with ``-`` what may be written apart."""
_GROUPS = [
    group.split("=") + [word.replace("-", " ") for word in group.split("=") if "-" in word]
    for group in _TABLE.replace(",", "=").split()
]
_FIRST = {w.strip("!"): words[0].strip("!") for words in _GROUPS for w in words if "我" not in w}
_OWN = {w.strip("我"): words[0].strip("!") for words in _GROUPS for w in words if "我" in w}
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
    """The words of :data:`KIN` in a normalised text; some words only after 我."""
    text = simplified(text)
    own = {usual for word, usual in _OWN.items() if word in text and _is_whole(word, text)}
    return sorted(own.union(word for word in KIN if word in text and _is_whole(word, text)))


def _is_whole(word: str, text: str) -> bool:
    if word.isascii():
        start = r"\bm[ye] " if word in _OWN else r"(?<![\w-])(?<!(?:step|half) )(?<!ex )"
        pattern = rf"{start}{word}(?:['’]?s)?(?![\w-]| in law)"
    else:
        pattern = rf"[我俺咱]家?{word}" if word in _OWN or len(word) == 1 else word
    return re.search(pattern, text) is not None


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
    whose, what = "|".join(re.escape(simplified(name)) for name in names), "|".join(words)
    said = rf"(?:{whose})(?:[的他她].?|['’]?s (?:\w+ )?)?(?:{what})(?![\w-]*[a-z])"
    said += rf"|(?<![\w-])(?:{what}) (?:of|to) (?:{whose})(?!\w)"
    return re.search(said, simplified(statement), re.IGNORECASE) is not None
