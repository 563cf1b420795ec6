"""What the plugin says in chat, in Chinese and English: a module for each family of
commands.

Both languages have the same keys and the same placeholders; a test asserts it.
"""

from __future__ import annotations

from ..errors import brief
from .companion import COMPANION
from .errors import ERRORS
from .failures import FAILURES
from .general import GENERAL
from .heart import HEART
from .moves import MOVES
from .people import PEOPLE
from .privacy import PRIVACY
from .tools import TOOLS
from .usage import USAGE

FAMILIES = (COMPANION, ERRORS, FAILURES, GENERAL, HEART, MOVES, PEOPLE, PRIVACY, TOOLS, USAGE)

PHRASES: dict[str, dict[str, str]] = {
    language: {key: phrase for family in FAMILIES for key, phrase in family[language].items()}
    for language in ("zh", "en")
}


def explain(language: str, error: BaseException) -> str:
    """What people are told of an error: its phrase, in English else its own words.

    Args:
        error: Has a ``code`` and the ``values`` of a phrase, if people can be told more
            than that the log has the details.
    """
    key = f"error_{getattr(error, 'code', '')}"
    if key in PHRASES[language]:
        return say(language, key, **getattr(error, "values", {}))
    return brief(error) if language == "en" else say(language, "error_other")


def say(language: str, key: str, **values: object) -> str:
    """The phrase ``key`` with its placeholders filled in.

    Args:
        language: ``zh`` or ``en``.
        values: Of the placeholders; braces in them are left alone. A whole number takes the
            word it counts along: ``{count:day}``, ``{count:batch|batches}``.
    """
    counted = {k: _Count(v) if type(v) is int else v for k, v in values.items()}
    return PHRASES[language][key].format(**counted)


class _Count(int):
    """A number that knows the singular from the plural."""

    def __format__(self, words: str) -> str:
        one, _, many = words.partition("|")
        return f"{int(self)} {one if self == 1 else many or f'{one}s'}" if words else str(int(self))
