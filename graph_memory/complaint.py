"""Trouble that goes on is told once: when it begins."""

from __future__ import annotations

import logging

from .errors import GraphMemoryError


class Complaint:
    """What is said of work in the background that fails, until it has worked again.

    Args:
        logger: Where it is said.
        text: What is held up, without the reason.
    """

    def __init__(self, logger: logging.Logger, text: str) -> None:
        self._logger = logger
        self._text = text
        self._is_made = False

    def make(self, error: Exception) -> None:
        """Say it, unless it stands; with a traceback if nobody foresaw the error."""
        if not self._is_made:
            foreseen = isinstance(error, GraphMemoryError)
            self._logger.warning("%s: %s", self._text, error, exc_info=None if foreseen else error)
        self._is_made = True

    def withdraw(self) -> None:
        """It works."""
        self._is_made = False
