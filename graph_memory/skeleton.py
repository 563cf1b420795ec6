"""Skeletons of texts: equal for texts that read alike.

After Unicode Technical Standard #39, with tables of its confusables and of OpenCC.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from pathlib import Path

_TABLES = json.loads(Path(__file__).with_name("lookalikes.json").read_text("utf-8"))
_SIMPLIFIED = str.maketrans(_TABLES["traditional"], _TABLES["simplified"])
_LETTERS = str.maketrans(_TABLES["lookalikes"], _TABLES["letters"])
_DIGITS = str.maketrans("01", "ol")
_ACCENTED = re.compile("[\u0080-\u052f\u1e00-\u1fff]")
"""Letters that may have accents, which are easily overlooked."""
SIGNS: str = _TABLES["signs"]
"""What looks like a bracket, a colon, a comma or a bar, and is not ASCII."""


def simplified(text: str) -> str:
    """A text with traditional Chinese characters in their simplified form."""
    return text if text.isascii() else text.translate(_SIMPLIFIED)


@lru_cache(maxsize=4_096)
def skeleton(text: str) -> str:
    """Letters and digits of a text, equal for texts that are easily confused."""
    norm = unicodedata.normalize("NFKC", text.translate(_LETTERS))
    bare = _ACCENTED.sub(lambda found: unicodedata.normalize("NFD", found[0])[0], norm)
    # Some look like a letter as a capital, others as a small letter.
    read = bare.translate(_LETTERS).casefold().translate(_LETTERS)
    plain = simplified(read).translate(_DIGITS)
    return "".join(character for character in plain if character.isalnum()) or norm
