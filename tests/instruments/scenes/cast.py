"""All scenes."""

from __future__ import annotations

from . import (
    broken,
    en_daily,
    en_people,
    hostile,
    zh_chatter,
    zh_dates,
    zh_history,
    zh_people,
    zh_scope,
)
from .stage import Scene

SCENES: tuple[Scene, ...] = (
    *zh_history.SCENES,
    *zh_dates.SCENES,
    *zh_people.SCENES,
    *zh_chatter.SCENES,
    *zh_scope.SCENES,
    *en_daily.SCENES,
    *en_people.SCENES,
    *hostile.SCENES,
    *broken.SCENES,
)
