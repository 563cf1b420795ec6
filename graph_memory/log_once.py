"""Logging of repeated trouble, once per cause."""

from __future__ import annotations

import logging
import math
import time

from .errors import GraphMemoryError


class LogOnce:
    """A log that is silent about what it has said already.

    It holds a moment for each key, of which the code has a few dozen.

    Args:
        logger: Where it is said.
        level: How loudly.
        again_after: Seconds after which the same trouble is logged again.
    """

    def __init__(
        self,
        logger: logging.Logger,
        level: int = logging.WARNING,
        *,
        again_after: float = math.inf,
    ) -> None:
        self._logger = logger
        self._level = level
        self._again_after = again_after
        self._logged: dict[str, float] = {}

    def report(self, text: str, error: Exception | None = None, *, key: str = "") -> None:
        """Log ``text``, and ``error`` if there is one, unless that was done.

        An error that nobody foresaw comes with a traceback.

        Args:
            key: What counts as the same; the text itself by default.
        """
        now, key = time.monotonic(), key or text
        if now - self._logged.get(key, -math.inf) < self._again_after:
            return
        self._logged[key] = now
        if error is None:
            self._logger.log(self._level, "%s", text)
            return
        trace = None if isinstance(error, GraphMemoryError) else error
        self._logger.log(self._level, "%s: %s", text, error, exc_info=trace)

    def clear(self, key: str) -> None:
        """Have the next trouble of this kind logged: it works again."""
        self._logged.pop(key, None)
