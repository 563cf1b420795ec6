"""Texts for people, in Chinese and English: one JSON file for each language.

Both have the same keys and the same placeholders; a test asserts it. Keys with a dot are the
web UI's, a few of them said in chat as well; the others are said in chat only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ..errors import brief


def _read(language: str) -> dict[str, str]:
    path = Path(__file__).with_name(f"{language}.json")
    texts: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return texts


TEXTS = {language: _read(language) for language in ("zh", "en")}
"""All texts by language and key."""


def in_all(key: str) -> dict[str, str]:
    """A text in every language, by language."""
    return {language: texts[key] for language, texts in TEXTS.items()}


def explain(language: str, error: BaseException) -> str:
    """What people are told of an error: its text, in English else its own words.

    Args:
        error: Has a ``code`` and the ``values`` of a text, if people can be told more
            than that the log has the details.
    """
    key = f"error_{getattr(error, 'code', '')}"
    if key in TEXTS[language]:
        return say(language, key, **getattr(error, "values", {}))
    return brief(error) if language == "en" else say(language, "error_other")


def say(language: str, key: str, **values: object) -> str:
    """The text of ``key`` with its placeholders filled in.

    Args:
        language: ``zh`` or ``en``.
        values: Of the placeholders; braces in them are left alone. A whole number takes the
            word it counts along: ``{count:day}``, ``{count:batch|batches}``.
    """
    return TEXTS[language][key].format(**counted(values))


def counted(values: Mapping[str, object]) -> dict[str, object]:
    """Values for placeholders; whole numbers know their words, see :func:`say`."""
    return {key: Count(value) if type(value) is int else value for key, value in values.items()}


class Count(str):
    """A number as text that knows the singular from the plural."""

    def __format__(self, words: str) -> str:
        one, _, many = words.partition("|")
        return f"{self} {one if self == '1' else many or f'{one}s'}" if words else str(self)
