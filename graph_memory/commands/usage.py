"""Usage of commands, and answers to wrong usage."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from datetime import datetime

from ..locales import TEXTS, say
from ..service import MemoryService
from ..text import one_line

CONFIRM = frozenset({"confirm", "yes", "确认", "确定"})
"""Words by which something that was shown before is confirmed."""
EVERYTHING = frozenset({"all", "everything", "全部", "所有"})
MAX_GIVEN = 40


def help_text(language: str) -> str:
    """All commands."""
    return "\n".join(say(language, key) for key in TEXTS[language] if key.startswith("help_"))


def nearest(word: str, known: Collection[str]) -> str:
    """The known word that is most like ``word``; empty if none is."""
    likeness = 0.6 if word.isascii() else 0.5  # of two characters one is the same
    return next(iter(difflib.get_close_matches(word.casefold(), sorted(known), 1, likeness)), "")


def unknown(language: str, group: str, given: str, known: Collection[str]) -> str:
    """Answer to an unknown command of a group; the help if only the group is named."""
    if not given:
        return help_text(language)
    word = given.split()[0]
    meant = nearest(word, known)
    key = "no_command_like" if meant else "no_command"
    shown = one_line(word, MAX_GIVEN)
    told = say(language, key, given=shown, meant=f"/{group} {meant}")
    return f"{told}\n{say(language, 'no_command_help')}"


def misused(language: str, command: str, given: str, known: Collection[str] = ()) -> str:
    """Answer to words that a command does not take; it takes the ``known`` ones."""
    meant = nearest(given.split()[0], known)
    key = "misused_like" if meant else "misused"
    told = say(language, key, given=one_line(given, MAX_GIVEN), meant=meant)
    return f"{told}\n{say(language, f'help_{command}')}"


class Answers:
    """What commands of one memory answer, in its language."""

    def __init__(self, memory: MemoryService) -> None:
        self.memory = memory
        self._language = memory.settings.language

    def _say(self, key: str, **values: object) -> str:
        return say(self._language, key, **values)

    def _moment(self, at: float) -> str:
        return f"{datetime.fromtimestamp(at, self.memory.zone):%Y-%m-%d %H:%M}"

    def _date(self, at: float) -> str:
        return f"{datetime.fromtimestamp(at, self.memory.zone):%Y-%m-%d}"
