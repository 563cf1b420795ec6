"""The errors this package raises.

::

    GraphMemoryError
    ├── SettingError          a setting has a value that cannot be used
    ├── StorageError          the journal or the graph cannot be used
    │   ├── JournalError      journal.sqlite3: full disk, newer version
    │   │   └── DamagedError  damaged, foreign or missing; a backup can take its place
    │   ├── GraphError        graph.kuzu: away, being rebuilt, query failed
    │   └── LockedError       another process owns the data directory
    ├── ModelError            a model this memory depends on did not answer usefully
    │   ├── EmbeddingError    embedding failed
    │   └── ExtractionError   the language model failed or answered nonsense
    │       └── HeldBackError it was not even asked, because it has been failing
    ├── ConflictError         a change touches rows that a later change also touched
    ├── NotFoundError         no such row, or none that the asker may see
    ├── FormatError           a file that was to be imported is not what it should be
    ├── BondError             these cannot be merged, split, linked or unlinked
    └── ClosedError           the service was closed

Messages are for people: they say what happened and what can be done about it. They are in
English, for the log; chats are told of an error by the phrase ``error_<code>``, if it has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self


class GraphMemoryError(Exception):
    """Base of every error of this package.

    Attributes:
        code: Which phrase tells people of it; empty if none does.
        values: Of the placeholders of that phrase.
    """

    code: str = ""
    values: Mapping[str, object] = {}

    def told(self, code: str, **values: object) -> Self:
        """This error, with the phrase that tells people of it."""
        self.code, self.values = code, values
        return self


class SettingError(GraphMemoryError):
    """A setting has a value that cannot be used.

    Args:
        name: The setting's key.
        reason: What is wrong with the value and what is accepted.

    Attributes:
        used: What is used in its place, once that is known.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason
        self.used: object = None
        self.told("setting")

    def use(self, used: object) -> Self:
        """This error, with what is used in place of the value."""
        self.used = used
        words = ", ".join(map(str, used)) if isinstance(used, tuple) else used
        self.values = {**self.values, "name": self.name, "used": words}
        return self


class StorageError(GraphMemoryError):
    """The journal or the graph cannot be used."""


class JournalError(StorageError):
    """The journal cannot be read or written.

    Attributes:
        kind: What kind of trouble it is (``journal/storage.py``); empty if unknown.
    """

    kind = ""


class DamagedError(JournalError):
    """A journal is damaged, foreign or missing; a backup can take its place.

    Args:
        message: What is wrong and what can be done about it.
        backup: Name of the newest good backup; empty if none is known.
    """

    def __init__(self, message: str, backup: str = "") -> None:
        super().__init__(message)
        self.backup = backup
        self.told("restore", backup=backup) if backup else self.told("ruined")


class GraphError(StorageError):
    """The graph is away (being rebuilt) or a query failed."""


class LockedError(StorageError):
    """Another process owns the data directory."""

    code = "locked"


class ModelError(GraphMemoryError):
    """A model this memory depends on did not answer usefully."""


class EmbeddingError(ModelError):
    """A text could not be embedded."""

    code = "embedding"


class ExtractionError(ModelError):
    """The language model failed or its answer could not be used."""


class HeldBackError(ExtractionError):
    """The language model was not asked: it has been failing and is left alone."""


class ConflictError(GraphMemoryError):
    """A change cannot be undone because a later one touched the same rows.

    Args:
        change: Id of the change that was to be undone.
        later: Id of the newest change that stands in the way.
    """

    def __init__(self, change: int, later: int) -> None:
        super().__init__(f"change {change} was followed by change {later}")
        self.change = change
        self.later = later


class NotFoundError(GraphMemoryError):
    """No such row, or none that the asker may see."""


class BondError(GraphMemoryError):
    """Two entities or accounts cannot be made one, or taken apart.

    Args:
        code: Why: ``person`` (users are linked, not merged), ``thing`` (entities are merged,
            not linked), ``one`` or ``linked_already``, ``apart`` or ``alone``
            (there is nothing to take apart).
        message: For people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.told(code)


class ClosedError(GraphMemoryError):
    """The service was closed."""


class FormatError(GraphMemoryError):
    """A file that was to be imported is not what it should be.

    Args:
        reason: What is wrong.
        line: Number of the line, from 1; 0 if it is the file as a whole.
        field: Name of the field; empty if it is the line as a whole.
    """

    def __init__(self, reason: str, line: int = 0, field: str = "") -> None:
        where = ", ".join([*([f"line {line}"] if line else []), *([field] if field else [])])
        super().__init__(f"{where}: {reason}" if where else reason)
        self.reason = reason
        self.line = line
        self.field = field
