"""The errors this package raises.

Messages are English, for the log, and never quote a chat, a model or a provider's exception
(see :class:`Failure`, :func:`brief`). Chats are told by the phrase ``error_<code>``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Self


class GraphMemoryError(Exception):
    """Base of every error, told by the phrase ``code`` with its ``values``."""

    code: str = ""
    values: Mapping[str, object] = {}

    def told(self, code: str, **values: object) -> Self:
        """This error, with the phrase that tells people of it."""
        self.code, self.values = code, values
        return self


class RerankError(GraphMemoryError):
    """The model that reranks failed or answered nonsense."""


class SettingError(GraphMemoryError):
    """A setting has a value that cannot be used; ``used`` is what takes its place."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.used: object = None
        self.told("setting")

    def use(self, used: object) -> Self:
        """This error, with what is used in place of the value."""
        self.used = used
        words = ", ".join(map(str, used)) if isinstance(used, tuple) else used
        if words == "" and self.code == "setting":
            self.code = "setting_empty"
        self.values = {**self.values, "name": self.name, "used": words}
        return self


class StorageError(GraphMemoryError):
    """The journal or the graph cannot be used."""


class JournalError(StorageError):
    """The journal cannot be read or written.

    Attributes:
        kind: What kind of trouble it is (``store/connection.py``); empty if it is none of these.
    """

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = self.code = kind


class DamagedError(JournalError):
    """A journal is damaged, foreign or missing; ``backup`` can take its place."""

    def __init__(self, message: str, backup: str = "") -> None:
        super().__init__(message)
        self.backup = backup
        self.told("restore", backup=backup) if backup else self.told("ruined")


class GraphError(StorageError):
    """The graph is away (being rebuilt) or a query failed."""


class LockedError(StorageError):
    """Another process owns the data directory."""

    code = "locked"


class Failure(StrEnum):
    """Why something failed: all that is kept and shown of it, whatever was said."""

    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    KEY = "key"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    UNAVAILABLE = "unavailable"
    NO_PROVIDER = "no_provider"
    NO_JSON = "no_json"
    RUNAWAY = "runaway"
    """An answer without end: endlessly repeated, nested or far too long."""
    STORAGE = "storage"
    GONE = "gone"
    OTHER = "other"

    @classmethod
    def read(cls, text: str) -> Failure:
        """What was kept; before there was this list, that was an error's own words."""
        return next((kind for kind in cls if kind == text), cls.OTHER)


class ModelError(GraphMemoryError):
    """A model this memory depends on did not answer usefully."""

    def __init__(self, message: str, kind: Failure = Failure.OTHER) -> None:
        super().__init__(message)
        self.kind = kind


class EmbeddingError(ModelError):
    """A text could not be embedded."""

    code = "embedding"


class ExtractionError(ModelError):
    """The language model failed or its answer could not be used."""


class HeldBackError(ExtractionError):
    """The language model was not asked: it has been failing and is left alone."""


class ConflictError(GraphMemoryError):
    """A change cannot be undone because a later one touched the same rows."""

    def __init__(self, change: int, later: int) -> None:
        super().__init__(f"change {change} was followed by change {later}")
        self.change = change
        self.later = later


class StaleError(GraphMemoryError):
    """A row was changed since it was read by who wants to change it."""


class UnclearError(GraphMemoryError):
    """A name may mean several, and nobody said which."""


class NotFoundError(GraphMemoryError):
    """No such row, or none that the asker may see."""


class BondError(GraphMemoryError):
    """Two entities or accounts cannot be made one, or taken apart.

    ``code`` says why: ``person`` (users are linked, not merged), ``thing`` (entities are
    merged, not linked), ``one``, ``linked_already``, ``apart``, ``alone``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.told(code)


class ClosedError(GraphMemoryError):
    """The service was closed."""


class FormatError(GraphMemoryError):
    """A file cannot be imported, because of a ``line`` (from 1) and ``field`` of it."""

    def __init__(self, reason: str, line: int = 0, field: str = "") -> None:
        where = ", ".join(filter(None, (f"line {line}" if line else "", field)))
        super().__init__(f"{where}: {reason}" if where else reason)
        self.reason = reason
        self.line = line
        self.field = field

    def at(self, line: int) -> FormatError:
        """The same, on a line."""
        return FormatError(self.reason, line, self.field).told(self.code, **self.values)


_BY_STATUS = {
    401: Failure.KEY,
    403: Failure.KEY,
    408: Failure.TIMEOUT,
    429: Failure.RATE_LIMIT,
    504: Failure.TIMEOUT,
}


def failure_of(error: BaseException) -> Failure:
    """The kind of an error, our own or that of a provider's SDK."""
    return next((kind for each in chain(error) if (kind := _kind(each))), Failure.OTHER)


def _kind(error: BaseException) -> Failure | None:
    match error:
        case ModelError():
            return error.kind if error.kind is not Failure.OTHER else None
        case StorageError():
            return Failure.STORAGE
        case NotFoundError():
            return Failure.GONE
    name = type(error).__name__.lower()
    if status := status_of(error):
        return _BY_STATUS.get(status, Failure.REFUSED if status < 500 else Failure.UNAVAILABLE)
    if "timeout" in name:
        return Failure.TIMEOUT
    return Failure.UNREACHABLE if "connect" in name else None


def status_of(error: BaseException) -> int:
    """The HTTP status that an SDK's exception carries; 0 if it has none."""
    found = (getattr(error, name, 0) for name in ("status_code", "status", "code"))
    return next((s for s in found if isinstance(s, int) and 400 <= s < 600), 0)


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from, innermost last."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def brief(error: BaseException) -> str:
    """An error in words that may be logged and shown: others' are not repeated."""
    if isinstance(error, GraphMemoryError) and str(error):
        return str(error)
    details = (getattr(error, "strerror", None), getattr(error, "sqlite_errorname", None))
    known = isinstance(error, OSError | sqlite3.Error)
    detail = next(filter(None, details), "") if known else status_of(error)
    name = type(error).__name__
    return f"{name}: {detail}" if detail else name
