"""Logging handler that passes this package's log on to AstrBot's."""

from __future__ import annotations

import copy
import logging
import traceback

from ..errors import brief, chain


class LogBridge(logging.Handler):
    """Sends this package's log to AstrBot's, so that it is seen in the dashboard."""

    def __init__(self, target: logging.Logger) -> None:
        super().__init__()
        self._target = target
        self._source = logging.getLogger("graph_memory")

    def emit(self, record: logging.LogRecord) -> None:
        if self._target.isEnabledFor(record.levelno):
            self._target.handle(_plain(record))

    def install(self) -> LogBridge:
        """Start; replaces the bridge of an earlier load of the plugin."""
        for handler in [h for h in self._source.handlers if type(h).__name__ == "LogBridge"]:
            self._source.removeHandler(handler)
        self._source.addHandler(self)
        self._source.setLevel(logging.DEBUG)
        self._source.propagate = False
        return self

    def remove(self) -> None:
        """Stop."""
        self._source.removeHandler(self)
        self._source.propagate = True


def _plain(record: logging.LogRecord) -> logging.LogRecord:
    """Log record without exceptions, which carry words and local variables.

    AstrBot's log would print both.
    """
    plain = copy.copy(record)
    if isinstance(record.args, tuple):
        plain.args = tuple(
            brief(each) if isinstance(each, BaseException) else each for each in record.args
        )
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        plain.msg, plain.args = f"{plain.getMessage()}\n{_traceback(error)}", ()
    plain.exc_info = plain.exc_text = None
    return plain


def _traceback(error: BaseException) -> str:
    """Where an error and what it came from were raised."""
    parts = ("".join([*traceback.format_tb(e.__traceback__), brief(e)]) for e in chain(error))
    return "\ncaused by:\n".join(parts)
