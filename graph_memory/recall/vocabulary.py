"""The words a text is searched by.

On top of the words of :func:`graph_memory.text.terms`, numbers are brought to one form, so
that 02月24日, 2月24号 and 二月二十四日 meet, as do 173cm and 173 厘米, or iPhone14 and iPhone 14.

Where words have no borders, their characters are searched by as well: 多高 and 身高 have no
pair in common, nor have 做饭 and 做的饭, and yet they speak of the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from ..dates import number
from ..stopwords import weight as commonplace
from ..text import characters, terms

REMEMBERED = 4_096
"""Texts of which the terms are kept: what is found is looked at several times, and what was
found once is often found again."""
LONG, FEW = 500, 32
"""Characters from which a text is long, and long texts of which the terms are kept: those of
2,000 characters take a quarter of a megabyte, and anybody can write as many as they like."""
_WHOLE = 6
"""Digits from which a number is a code (an account, a telephone) and kept as it is."""
_WITH_UNIT = re.compile(r"(\d{1,5})\s?([月日号年点岁周天个楼层米斤元块])")
_SPELLED = re.compile(r"([一二三四五六七八九十]{1,3})(?=[月日号点岁])")
_NUMBERS = re.compile(r"\d|[一二三四五六七八九十][月日号点岁]")
_PIECES = re.compile(r"\d+|[^\W\d_]+")
_SAME = str.maketrans("日", "号")
_BORDERLESS = "\u3040"
"""From here on letters are of scripts that have no borders between words."""
_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_CACHES: list[Any] = []


def _remembered(work: Callable[[str], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    """``work``, of which the last results are kept."""
    many, few = lru_cache(REMEMBERED)(work), lru_cache(FEW)(work)
    _CACHES.extend((many, few))

    @wraps(work)
    def found(text: str) -> tuple[str, ...]:
        return many(text) if len(text) < LONG else few(text)

    return found


@_remembered
def index_terms(text: str) -> tuple[str, ...]:
    """What a document is found by: its terms and its characters; repetition is kept."""
    return search_terms(text) + telling_characters(text)


def telling_characters(text: str) -> tuple[str, ...]:
    """Characters of words without borders, but for those that mostly carry grammar."""
    return tuple(each for each in characters(text) if commonplace(each))


def is_character(term: str) -> bool:
    """Whether a term is one character of a word without borders."""
    return len(term) == 1 and term >= _BORDERLESS


def forget() -> None:
    """Keep nothing of the texts that were looked at."""
    for cache in _CACHES:
        cache.cache_clear()


@_remembered
def search_terms(text: str) -> tuple[str, ...]:
    """Terms of a document or a question; repetition is kept."""
    if not _NUMBERS.search(text):
        return tuple(terms(text))
    folded = _SPELLED.sub(
        lambda found: str(number(found[1])), unicodedata.normalize("NFKC", text).casefold()
    )
    found: list[str] = []
    for term in terms(folded):
        if not any(character.isdigit() for character in term):
            found.append(term)
        elif term.isdigit():
            found.append(_plain(term))
        else:
            pieces = [piece for piece in _PIECES.findall(term) if piece not in _ENDINGS]
            found += [_plain(piece) for piece in pieces]
            if len(pieces) > 1:
                found.append(term)
    for digits, unit in _WITH_UNIT.findall(folded):
        found.append(_plain(digits) + unit.translate(_SAME))
    return tuple(found)


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0" if len(digits) < _WHOLE else digits
