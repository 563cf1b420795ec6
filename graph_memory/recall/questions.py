"""What is asked for: the parts of a message, its terms, whom it is about."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ..model import Asker
from ..ports import Vectors
from ..text import clean, terms

MAX_QUERY = 2_000
"""Characters of a message that are searched for."""
MAX_PARTS = 10
SHORT = 4
"""Search terms up to which a message leans on the one before it."""

_BORDER = re.compile(
    r"[。！？!?；;\n]+|\.\s+|(?:另外|此外|还有|顺便|对了)[，,、]?|\b(?:also|besides|by the way)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"[我俺咱]|\b(?:i|i'm|me|my|mine|myself|we|our)\b", re.IGNORECASE)
_REFERS_BACK = re.compile(
    r"^(?:那|那么|然后|还有|他|她|它|这|and|then|what about|how about|he|she|it|they|that)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What the memory is asked.

    Attributes:
        text: Everything that is searched for.
        parts: Terms and counts of each question in it; at least one.
        personal: Whether the asker speaks of themselves.
        vector: Embedding of ``text``, if there is one.
    """

    asker: Asker
    text: str
    parts: tuple[Counter[str], ...]
    personal: bool
    vector: Vectors | None = None


def compose(text: str, previous: str = "") -> str:
    """What to search for: a message, led by the turn before where it leans on it."""
    text = clean(text, MAX_QUERY)
    leans = len(terms(text)) <= SHORT or bool(_REFERS_BACK.match(text))
    return f"{clean(previous, MAX_QUERY // 4)}\n{text}" if previous and leans else text


def question(asker: Asker, text: str, vector: Vectors | None = None) -> Question:
    """Read a message as a question.

    Several questions in one message are searched for separately, so that neither is
    drowned by the other.
    """
    whole = Counter(terms(text))
    parts = [Counter(found) for part in _BORDER.split(text) if len(set(found := terms(part))) > 1]
    several = 1 < len(parts) <= MAX_PARTS
    return Question(
        asker,
        text,
        (whole, *parts) if several else (whole,),
        bool(_FIRST_PERSON.search(text)),
        vector,
    )
