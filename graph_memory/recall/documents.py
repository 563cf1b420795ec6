"""The documents that can be recalled, and on which shelf they stand.

A document is a live fact, a human message or a summarised episode. Columns of numbers
stand beside the objects, so that scope and ranking work on whole arrays. A document
keeps its number (its position in the columns) for life; numbers of removed documents
are used again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..model import BOT, Episode, Fact, Layer, Message
from ..scope import span
from .growable import Growable

Source = Fact | Message | Episode
Numbers = NDArray[np.intp]
"""What NumPy indexes by: by anything else it takes two or three times as long."""


class Kind(IntEnum):
    """What a document is."""

    FACT = 0
    MESSAGE = 1
    EPISODE = 2


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be recalled.

    Attributes:
        key: Unique among all documents.
        text: What is searched and embedded; not necessarily what is shown.
    """

    kind: Kind
    key: str
    text: str
    source: Source

    @property
    def session(self) -> str:
        return self.source.session

    @property
    def at(self) -> float:
        """When it was said; when an episode began."""
        source = self.source
        if isinstance(source, Fact):
            return source.said_at
        return source.at if isinstance(source, Message) else source.started_at


def message_key(id: int) -> str:
    """Key of the document of a message."""
    return f"m{id}"


def document(source: Source, owner: str = "") -> Document:
    """The document that makes ``source`` findable.

    Args:
        owner: The user of the private chat ``source`` is from. Their name is left out
            of their own lines: it says nothing where every line is theirs.
    """
    match source:
        case Fact():
            return Document(Kind.FACT, source.id, source.statement, source)
        case Episode():
            return Document(Kind.EPISODE, source.id, source.summary, source)
        case Message():
            named = source.name and source.sender not in (owner, BOT)
            text = f"{source.name}: {source.text}" if named else source.text
            return Document(Kind.MESSAGE, message_key(source.id), text, source)


class Shelf:
    """The documents of one Session: messages in the order of their ids, then the rest.

    The order depends on nothing but what stands there.
    """

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._messages = Growable(np.intp)
        self._keys: list[str] = []
        self._others = Growable(np.intp)
        self._numbers: Numbers | None = None

    def __len__(self) -> int:
        return self._messages.size + self._others.size

    def numbers(self) -> Numbers:
        """All documents; not to be altered."""
        if self._numbers is None:
            self._numbers = np.concatenate((self._messages.values, self._others.values))
        return self._numbers

    def add(self, number: int, source: Source) -> None:
        """Put a document in its place."""
        self._numbers = None
        if isinstance(source, Message):
            at = bisect_left(self._ids, source.id)
            self._ids.insert(at, source.id)
            self._messages.insert(at, number)
        else:
            at = bisect_left(self._keys, source.id)
            self._keys.insert(at, source.id)
            self._others.insert(at, number)

    def remove(self, source: Source) -> None:
        """Take a document away."""
        self._numbers = None
        if isinstance(source, Message):
            at = bisect_left(self._ids, source.id)
            del self._ids[at]
            self._messages.delete(at)
        else:
            at = bisect_left(self._keys, source.id)
            del self._keys[at]
            self._others.delete(at)


class Documents:
    """All documents.

    Attributes:
        version: Grows whenever a document comes, goes, is muted or unmuted.
        changed: The version at which that last happened, by Session id.
        shelves: By Session id.
        kind, knows, since, until, length: Columns by number: :class:`Kind`, whether
            it is in the layer KNOWS, when it was said, how many search terms it has.
        subject: Column: code of the node a fact is about; 0 for other documents.
        muted: Column: present, but not to be recalled.
    """

    def __init__(self) -> None:
        self._all: list[Document | None] = []
        self._free: list[int] = []
        self._numbers: dict[str, int] = {}
        self.version = 0
        self.changed: dict[str, int] = {}
        self.shelves: dict[str, Shelf] = {}
        self.kind = Growable(np.int8)
        self.knows = Growable(np.bool_)
        self.muted = Growable(np.bool_)
        self.since = Growable(np.float64)
        self.until = Growable(np.float64)
        self.length = Growable(np.int32)
        self.subject = Growable(np.int32)
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def size(self) -> int:
        """How many numbers there are, free ones included: the length of the columns."""
        return len(self._all)

    def __getitem__(self, number: int) -> Document:
        found = self._all[number]
        if found is None:
            raise KeyError(number)
        return found

    def number(self, key: str) -> int | None:
        """Number of the document with this key."""
        return self._numbers.get(key)

    def numbers(self) -> list[int]:
        """Numbers of all documents."""
        return list(self._numbers.values())

    def add(self, item: Document, length: int) -> int:
        """Add a document of ``length`` terms, whose key is not in use; returns its number."""
        number = self._free.pop() if self._free else self._grow()
        self._all[number] = item
        self._numbers[item.key] = number
        layer, since, until = span(item.source)
        self.kind.values[number] = item.kind
        self.knows.values[number] = layer is Layer.KNOWS
        self.since.values[number] = since
        self.until.values[number] = until
        self.length.values[number] = length
        self.muted.values[number] = False
        self.subject.values[number] = self._code(item.source)
        self.shelves.setdefault(item.session, Shelf()).add(number, item.source)
        self._note(item.session)
        return number

    def mute(self, number: int, *, muted: bool) -> None:
        """Leave a document out of sight, or do so no longer."""
        self.muted.values[number] = muted
        self._note(self[number].session)

    def _note(self, session: str) -> None:
        self.version += 1
        self.changed[session] = self.version

    def _code(self, source: Source) -> int:
        if not isinstance(source, Fact):
            return 0
        return self._codes.setdefault(source.subject, len(self._codes) + 1)

    def about(self, nodes: Iterable[str], numbers: Numbers) -> NDArray[np.bool_]:
        """Which of ``numbers`` are facts with one of ``nodes`` as subject."""
        codes = [code for node in nodes if (code := self._codes.get(node))]
        subjects = self.subject.values[numbers]
        found = np.zeros(len(numbers), np.bool_)
        for code in codes:  # one or a few: faster than np.isin
            found |= subjects == code
        return found

    def _grow(self) -> int:
        self._all.append(None)
        for column in (
            self.kind,
            self.knows,
            self.muted,
            self.since,
            self.until,
            self.length,
            self.subject,
        ):
            column.resize(len(self._all))
        return len(self._all) - 1

    def remove(self, number: int) -> None:
        """Remove a document; its number may be used again."""
        item = self[number]
        self.shelves[item.session].remove(item.source)
        if not len(self.shelves[item.session]):
            del self.shelves[item.session]
        self._note(item.session)
        del self._numbers[item.key]
        self._all[number] = None
        self._free.append(number)

    def replace_source(self, number: int, item: Document) -> bool:
        """Put a newer state of the same document in place.

        Returns:
            False, and nothing is done, if it differs in what the columns, the shelves
            or the search know: then it has to be removed and added.
        """
        old = self[number]
        if (old.text, old.session, span(old.source)) != (
            item.text,
            item.session,
            span(item.source),
        ):
            return False
        self._all[number] = item
        return True
