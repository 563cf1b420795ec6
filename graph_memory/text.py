"""Text as this memory handles it: cleaning, names, search terms, sizes.

Pure functions; every one of them is tested with Chinese, emoji and hostile input.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

MAX_MESSAGE = 8_000
"""Characters of one message that are kept."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af\U00020000-\U0003134f"
_HAN = re.compile(f"[{CJK}]")
_TOKEN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][a-z]+)?", re.UNICODE)
_LATIN = re.compile(r"[A-Za-z0-9]+")
_NO_SYMBOLS = re.compile(r"[\sA-Za-z0-9]+")
_STOP_WORDS = """
    a an the of to in on at for and or is are was were be been am do does did has have had
    i you he she it we they my your his her its our their me him them us this that these those
    what which who whom whose when where why how with from by as about so if but not no yes
    can could will would shall should may might must there here than then too very just
"""
_STOP_EN = frozenset(_STOP_WORDS.split())


def clean(text: str, limit: int = MAX_MESSAGE) -> str:
    """``text`` fit to be stored anywhere.

    Lone surrogates, control characters and direction overrides are removed, line ends
    become ``\\n``, and what exceeds ``limit`` characters is cut with an ellipsis.
    """
    if not text.isprintable():  # most lines are, and then there is nothing to take out
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
        text = _CONTROL.sub("", text)
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str, limit: int) -> str:
    """``text`` on a single line of at most ``limit`` characters."""
    return clean(" ".join(text.split()), limit)


def normalise(name: str) -> str:
    """The form in which names are compared: NFKC, case-folded, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def is_chinese(text: str) -> bool:
    """Whether a text is to be answered in Chinese: a fifth of its letters are Han."""
    letters = sum(1 for c in text if c.isalpha())
    return len(_HAN.findall(text)) * 5 >= max(1, letters)


class _Stemmers(threading.local):
    """A stemmer for each thread, since it works on the word within itself."""

    def __init__(self) -> None:
        self.one = snowballstemmer.stemmer("english")


_STEMMERS = _Stemmers()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return str(_STEMMERS.one.stemWord(word))


def terms(text: str) -> list[str]:
    """Search terms: bigrams of Chinese characters, stemmed words, numbers.

    A run of a single Chinese character yields that character. English stop words are
    left out. Order and repetition are kept.
    """
    found: list[str] = []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _HAN.match(token):
            found += [token] if len(token) == 1 else [a + b for a, b in pairwise(token)]
        elif (word := token.split("'")[0].split("’")[0]) not in _STOP_EN:
            found.append(_stem(word))
    return found


def characters(text: str) -> list[str]:
    """Single characters of words that are written without borders, repetition included."""
    return _HAN.findall(unicodedata.normalize("NFKC", text))


def tokens(text: str) -> int:
    """A safe estimate of how many model tokens ``text`` costs.

    One per Chinese character or other symbol, one per four letters of a word; modern
    tokenizers need fewer, so a budget kept by this estimate is kept in fact.
    """
    words = sum((len(word) + 3) // 4 for word in _LATIN.findall(text))
    return words + len(_NO_SYMBOLS.sub("", text))
