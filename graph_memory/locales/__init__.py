"""Texts for people, in Chinese and English: one JSON file for each language.

Both have the same keys and the same placeholders; a test asserts it. Keys with a dot are the
web UI's, a few of them said in chat as well; the others are said in chat only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from ..errors import brief
from ..model import PREDICATES


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


LANGUAGES: dict[str, str] = {"zh": "zh-CN", "en": "en"}
"""Our codes, and what HTML calls them."""


@dataclass(frozen=True, slots=True)
class Translator:
    """One reader's language and time zone: texts of pages, dates and numbers."""

    language: str
    zone: tzinfo | None = None
    relations: Mapping[str, str] = field(default_factory=dict)
    """What the owner's own predicates are called."""

    @property
    def tag(self) -> str:
        """The language as HTML wants it."""
        return LANGUAGES[self.language]

    def __call__(self, key: str, **values: Any) -> str:
        """The message of ``key`` or else the key; templates escape its values."""
        message = TEXTS[self.language].get(key, key)
        return message.format(**counted(values)) if values else message

    def error(self, error: BaseException) -> str:
        """What the reader is told of an error."""
        return explain(self.language, error)[:400]

    def name(self, prefix: str, word: str) -> str:
        """The message of ``prefix.word``; the word itself if there is none."""
        own = self.relations.get(word, word) if prefix == "predicate" else word
        return TEXTS[self.language].get(f"{prefix}.{word}", own)

    def predicates(self, *more: str) -> list[str]:
        """All relations, by what they are called."""
        known = {*PREDICATES, *self.relations, *more}
        return sorted(known, key=lambda name: self.name("predicate", name))

    def section(self, prefix: str) -> dict[str, str]:
        """All messages whose key begins with ``prefix``, without it (for scripts)."""
        found = TEXTS[self.language].items()
        own = self.relations if prefix == "predicate." else {}
        texts = {key.removeprefix(prefix): text for key, text in found if key.startswith(prefix)}
        return {**own, **texts}

    def _at(self, at: float | None) -> datetime | None:
        try:
            return None if at is None else datetime.fromtimestamp(at, self.zone)
        except (OverflowError, ValueError, OSError):
            return None

    def day(self, at: float | None, precision: str = "") -> str:
        """A date, maybe only a ``month`` or ``year``; a dash for none."""
        found = self._at(at)
        if found is None:
            return "—"
        parts = [f"{found.year}年", f"{found.month}月", f"{found.day}日"]
        if self.language != "zh":
            parts = [f"{found.year}", f"{found:%b} ", f"{found.day} "]
        some = parts[: {"year": 1, "month": 2}.get(precision)]
        return "".join(some if self.language == "zh" else reversed(some))

    def moment(self, at: float | None) -> str:
        """A date with the time of day; a dash for none."""
        found = self._at(at)
        return "—" if found is None else f"{self.day(at)} {found:%H:%M}"

    def iso(self, at: float | None) -> str:
        """A time for machines; empty for none."""
        found = self._at(at)
        return found.isoformat(timespec="seconds") if found else ""

    def clock(self, at: float) -> str:
        """The time of day."""
        found = self._at(at)
        return f"{found:%H:%M}" if found else "—"

    def size(self, count: int) -> str:
        """A number of bytes, roughly."""
        return f"{count / 2**20:,.1f} MB" if count >= 100 << 10 else f"{count / 1024:,.1f} KB"

    def number(self, value: float) -> str:
        """A number with its thousands set apart."""
        return Count(f"{value:,}")
