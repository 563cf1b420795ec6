"""Base of the groups of commands."""

from __future__ import annotations

from datetime import datetime

from ..locales import say
from ..service import MemoryService


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
