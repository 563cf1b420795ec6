"""What the plugin says in chat, in Chinese and English: a module for each family of
commands.

Both languages have the same keys and the same placeholders; a test asserts it.
"""

from __future__ import annotations

from .companion import COMPANION
from .failures import FAILURES
from .general import GENERAL
from .heart import HEART
from .moves import MOVES
from .people import PEOPLE
from .privacy import PRIVACY
from .tools import TOOLS

FAMILIES = (COMPANION, FAILURES, GENERAL, HEART, MOVES, PEOPLE, PRIVACY, TOOLS)

PHRASES: dict[str, dict[str, str]] = {
    language: {key: phrase for family in FAMILIES for key, phrase in family[language].items()}
    for language in ("zh", "en")
}


def say(language: str, key: str, **values: object) -> str:
    """The phrase ``key`` with its placeholders filled in.

    Args:
        language: ``zh`` or ``en``.
        values: Of the placeholders; braces in them are left alone.
    """
    return PHRASES[language][key].format(**values)
