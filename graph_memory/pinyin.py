"""Search of names by a part of them, or by its pinyin in full or in initials.

Of ``pypinyin`` only the table of readings is read: to import it takes 50 MB for phrases.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from unicodedata import normalize

from .text import normalise, remembered, simplified


@cache
def _table() -> dict[str, str]:
    path = distribution("pypinyin").locate_file("pypinyin/pinyin_dict.json")
    return dict(json.loads(Path(str(path)).read_text(encoding="utf-8")))


@cache
def _readings(character: str) -> tuple[str, ...]:
    """How a character is read, without tones; any other stands for itself."""
    marked = _table().get(str(ord(character)), character)
    plain = "".join(c for c in normalize("NFD", marked) if c.isascii()) or character
    return tuple(dict.fromkeys(plain.split(",")))


@remembered(20_000)
def sound(norm: str) -> str:
    """How a normalised name is usually read."""
    return " ".join(_readings(character)[0] for character in simplified(norm))


@cache
def _initials(character: str) -> str:
    return "".join(reading[:1] for reading in _readings(character))


def spells(typed: str, name: str) -> bool:
    """Whether small letters spell a part of a name, some for each character."""
    for start, first in enumerate(name):
        if typed[0] not in _initials(first):
            continue
        left = {typed}
        for character in name[start:]:
            left = {
                rest[count:]
                for rest in left
                for reading in _readings(character)
                for count in range(1, len(reading) + 1)
                if rest.startswith(reading[:count])
            }
            if "" in left:
                return True
            if not left:
                break
    return False


def finder(typed: str) -> Callable[[str], bool]:
    """A test of whether ``typed`` is in a normalised name, be it traditional or not."""
    wanted = simplified(normalise(typed))
    letters = wanted.replace(" ", "").replace("'", "").replace("v", "u")
    is_spelling = letters.isascii() and letters.isalpha()

    def fits(name: str) -> bool:
        norm = simplified(name)
        return wanted in norm or (is_spelling and not norm.isascii() and spells(letters, norm))

    return fits
