"""What a language model says about a batch: claims, not yet memory.

Nothing here is trusted. ``parse.py`` makes these from an answer, ``resolve.py`` decides
what of them becomes rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from ..model import EntityType

_DATE = re.compile(
    r"(\d{4})\s*(?:[-/.年]\s*(\d{1,2})\s*(?:[-/.月]\s*(\d{1,2})\s*日?"
    r"(?:[\sT]*(\d{1,2})[:：](\d{2}))?)?)?"
)


@dataclass(frozen=True, slots=True)
class EntityClaim:
    """Something that facts are about.

    Attributes:
        id: The label the model gave it (``E3``).
    """

    id: str
    name: str
    type: EntityType
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactClaim:
    """One fact.

    Attributes:
        subject, object: Labels (``U1``, ``BOT``, ``E3``) or names.
        importance: 0…1.
        evidence: Numbers of messages in the batch, from 1.
        date: When it began or happened, as the model wrote it; see :func:`moment`.
        past: It is over: a late "I used to live in…".
        replaces: Numbers of known facts that it replaces.
    """

    subject: str
    predicate: str
    object: str
    statement: str
    importance: float = 0.5
    evidence: tuple[int, ...] = ()
    date: str = ""
    past: bool = False
    replaces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """A whole answer.

    Attributes:
        worth: Whether there is anything worth remembering.
        summary: The conversation in one line.
        restated, used, ended: Numbers of known facts that were said again, that the
            bot made use of, that no longer hold.
        besides: What the model said to a lesson, as it said it (``lesson.py``).
    """

    worth: bool
    summary: str = ""
    entities: tuple[EntityClaim, ...] = ()
    facts: tuple[FactClaim, ...] = ()
    restated: tuple[int, ...] = ()
    used: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()
    besides: Mapping[str, Any] = field(default_factory=dict)


def moment(text: str, zone: tzinfo) -> float | None:
    """The beginning of the year, month, day or minute that ``text`` starts with.

    Args:
        text: ``2026``, ``2026-05``, ``2026-05-03``, ``2026-05-03 19:00``; also with
            ``/``, ``.`` or 年月日.
        zone: Whose calendar it is.

    Returns:
        Seconds since the epoch; ``None`` if it is no date.
    """
    found = _DATE.match(text.strip())
    if not found:
        return None
    year, month, day, hour, minute = (int(part) if part else None for part in found.groups())
    try:
        return datetime(
            year or 0, month or 1, day or 1, hour or 0, minute or 0, tzinfo=zone
        ).timestamp()
    except (ValueError, OverflowError):
        return None
