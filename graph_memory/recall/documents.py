"""Documents that can be recalled, with their columns and vectors.

A document is a live fact, a human message or a summarised episode. It keeps its number, its
position in the columns, for life; numbers of removed documents are used again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import count
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..dates import Span
from ..embedding.vectors import integer_products, integers, scalar_products
from ..inference import Vectors
from ..model import BOT, PREDICATES, Episode, Fact, Layer, Message
from ..privacy.redaction import disclosed
from ..privacy.scope import span
from ..text import is_chinese
from .intents import Topic, bears_on
from .lexical import called_by, discard, names_in
from .query import telling

_SMALLEST = 64
_CHUNK = 1_024
"""Rows multiplied at a time: small enough to stay in the processor's cache."""


class GrowableArray:
    """An array that grows along its first axis, by half when it is full."""

    def __init__(self, dtype: DTypeLike, width: int = 0) -> None:
        # Memory from np.zeros is committed only when it is written to.
        self._room: NDArray[Any] = np.zeros((0, width) if width else 0, dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        """The rows in use; a view that is stale after the next growth."""
        return self._room[: self.size]

    def append(self, value: Any) -> None:
        self.resize(self.size + 1)
        self._room[self.size - 1] = value

    def resize(self, size: int) -> None:
        """Use ``size`` rows; new ones are zero."""
        if size > len(self._room):
            room = np.zeros(
                (max(size + size // 2, _SMALLEST), *self._room.shape[1:]), self._room.dtype
            )
            room[: self.size] = self.values
            self._room = room
        elif size < self.size:
            self._room[size : self.size] = 0
        self.size = size


Source = Fact | Message | Episode
Numbers = NDArray[np.intp]
"""Positions or document numbers; NumPy indexes two or three times slower by other types."""


class Kind(IntEnum):
    FACT = 0
    MESSAGE = 1
    EPISODE = 2


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be recalled.

    Attributes:
        text: What it says.
        at: When it was said; when an episode began.
        searched: What is searched and embedded: what it says, with the keywords of a fact.
    """

    kind: Kind
    key: str
    text: str
    source: Source
    at: float
    searched: str

    @staticmethod
    def of(source: Source, owner: str = "") -> Document:
        """The document of a row, without secrets.

        A private chat's ``owner`` is not named in their lines.
        """
        match source:
            case Fact():
                text, at = source.statement, source.said_at
                return Document(Kind.FACT, source.id, text, source, at, source.searched)
            case Episode():
                text, at = source.summary, source.started_at
                return Document(Kind.EPISODE, source.id, text, source, at, text)
            case Message():
                source = disclosed(source)
                named = source.name and source.sender not in (owner, BOT)
                text = f"{source.name}: {source.text}" if named else source.text
                key = message_key(source.id)
                return Document(Kind.MESSAGE, key, text, source, source.at, text)


def message_key(id: int) -> str:
    return f"m{id}"


def _who(source: Source) -> tuple[str, str]:
    """Whom a fact is about, or who says a message, and under which name; maybe empty."""
    if isinstance(source, Message):
        return source.sender, source.name
    return (source.subject if isinstance(source, Fact) else ""), ""


class SessionDocuments:
    """The documents of one Session: messages by id, then the rest by time."""

    def __init__(self) -> None:
        self._ids: list[Any] = []
        self._messages = array("q")
        self._keys: list[Any] = []
        self._others = array("q")
        self._numbers: Numbers | None = None

    def __len__(self) -> int:
        return len(self._messages) + len(self._others)

    def numbers(self) -> Numbers:
        """All documents; not to be altered."""
        if self._numbers is None:
            self._numbers = np.array(self._messages + self._others, np.intp)
        return self._numbers

    def between(self, first: int, last: int) -> Numbers:
        """The messages with some ids."""
        start, end = bisect_left(self._ids, first), bisect_right(self._ids, last)
        return np.array(self._messages[start:end], np.intp)

    def add(self, number: int, source: Source) -> None:
        keys, numbers, key = self._among(source)
        at = bisect_left(keys, key)
        keys.insert(at, key)
        numbers.insert(at, number)

    def remove(self, source: Source) -> None:
        keys, numbers, key = self._among(source)
        at = bisect_left(keys, key)
        del keys[at], numbers[at]

    def _among(self, source: Source) -> tuple[list[Any], array[int], Any]:
        """The keys and numbers that a document is among, and its own key."""
        self._numbers = None
        if isinstance(source, Message):
            return self._ids, self._messages, source.id
        return self._keys, self._others, (source.span[0], source.id)


_CODES = {predicate: code for code, predicate in enumerate(PREDICATES, 1)}


class Codes:
    """Codes of words from 1 on, each for as long as a document has it; 0 for no word."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._uses = Counter[str]()
        self._next = count(1)

    def of(self, words: Iterable[str]) -> list[int]:
        """The codes of those of some words that a document has."""
        return [code for word in words if (code := self._codes.get(word))]

    def take(self, word: str) -> int:
        """The code of a word that another document has."""
        self._uses[word] += 1
        if word and word not in self._codes:
            self._codes[word] = next(self._next)
        return self._codes.get(word, 0)

    def leave(self, word: str) -> bool:
        """Whether no document has a word any more, now that one less has it."""
        self._uses[word] -= 1
        if self._uses[word]:
            return False
        del self._uses[word]
        self._codes.pop(word, None)
        return True


class Documents:
    """All documents, with columns by number, which are a little longer than needed.

    Attributes:
        version: Grows whenever a document is added, removed, muted or unmuted.
        changed: The version at which that last happened, by Session id.
        knows: Whether it is in the layer KNOWS.
        length: Number of its search terms.
        who: Code of the node a fact is about, or of who says a message; 0 for summaries.
        called: Code of the name under which a message was said; 0 for other documents.
        predicate: Code of what a fact says; 0 for other documents.
        due: When a fact begins or is due; nan if nobody said.
        bears_on: Topics of requests that a fact bears on (``intents.py``).
        tells: What of a message tells something; nan until it is asked for (:meth:`telling`).
        asking: Whether a message ends with a question mark.
        chinese: Whether the text is Chinese.
        muted: Present, but not to be recalled.
    """

    def __init__(self) -> None:
        self._all: list[Document | None] = []
        self._free: list[int] = []
        self._numbers: dict[str, int] = {}
        self.version = 0
        self.changed: dict[str, int] = {}
        self.by_session: dict[str, SessionDocuments] = defaultdict(SessionDocuments)
        self.kind, self.predicate, self.bears_on = np.zeros((3, _SMALLEST), np.int8)
        self.knows, self.muted, self.confidential = np.zeros((3, _SMALLEST), np.bool_)
        self.asking, self.chinese = np.zeros((2, _SMALLEST), np.bool_)
        self.length, self.who, self.called = np.zeros((3, _SMALLEST), np.int32)
        self.since, self.until, self.due, self.tells = np.zeros((4, _SMALLEST))
        self._columns = [name for name, each in vars(self).items() if isinstance(each, np.ndarray)]
        self._nodes, self._names = Codes(), Codes()
        # Names by what they look like, as a whole and by the first word.
        self._by_look: dict[str, dict[str, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def size(self) -> int:
        """How many numbers there are, free ones included."""
        return len(self._all)

    def __getitem__(self, number: int) -> Document:
        found = self._all[number]
        if found is None:
            raise KeyError(number)
        return found

    def number(self, key: str) -> int | None:
        return self._numbers.get(key)

    def numbers(self) -> list[int]:
        return list(self._numbers.values())

    def add(self, item: Document, length: int) -> int:
        """Add a document of ``length`` terms with a new key; returns its number."""
        if self._free:
            number = self._free.pop()
        else:
            number = len(self._all)
            self._all.append(None)
            if number == len(self.kind):
                self._widen()
        self._all[number] = item
        self._numbers[item.key] = number
        layer, since, until, confidential = span(item.source)
        self.kind[number] = item.kind
        self.knows[number] = layer is Layer.KNOWS
        self.since[number] = since
        self.until[number] = until
        self.length[number] = length
        self.chinese[number] = is_chinese(item.text)
        self.muted[number] = False
        self.confidential[number] = confidential
        self._describe(number, item.source)
        self.by_session[item.source.session].add(number, item.source)
        self._note(item.source.session)
        return number

    def _widen(self) -> None:
        """Make room for half as many documents again."""
        for name in self._columns:
            column = getattr(self, name)
            setattr(self, name, np.concatenate((column, np.zeros_like(column[: len(column) // 2]))))

    def _describe(self, number: int, source: Source) -> None:
        """Note whom it is of, what a fact says and when that begins or is due."""
        predicate, due, topic = 0, nan, Topic.NONE
        node, name = _who(source)
        for look in called_by(name):
            self._by_look[look][name] = None
        if isinstance(source, Fact):
            predicate = _CODES.get(source.predicate, 0)
            topic = bears_on(source)
            begins = nan if source.valid_from is None else source.valid_from
            due = begins if source.due is None else source.due
        self.who[number] = self._nodes.take(node)
        self.called[number] = self._names.take(name)
        self.predicate[number] = predicate
        self.due[number] = due
        self.bears_on[number] = topic
        self.tells[number] = nan
        self.asking[number] = isinstance(source, Message) and source.text.endswith(("?", "？"))

    def mute(self, number: int, *, muted: bool) -> None:
        """Hide a document from everybody, or show it again."""
        self.muted[number] = muted
        self._note(self[number].source.session)

    def _note(self, session: str) -> None:
        self.version += 1
        self.changed[session] = self.version

    def telling(self, number: int, text: str) -> float:
        """Share of a message's text, 0…1, that tells something; worked out once."""
        told = float(self.tells[number])
        if isnan(told):
            told = self.tells[number] = telling(text)
        return told

    def saying(self, predicates: Iterable[str], numbers: Numbers) -> NDArray[np.bool_]:
        """Which of ``numbers`` are facts with one of some predicates."""
        said = self.predicate[numbers]
        return np.isin(said, [_CODES[predicate] for predicate in predicates])

    def of(self, nodes: Iterable[str], numbers: Numbers) -> NDArray[np.bool_]:
        """Which of ``numbers`` are facts about one of ``nodes``, or messages of theirs."""
        who = self.who[numbers]
        found = np.zeros(len(numbers), np.bool_)
        for code in self._nodes.of(nodes):  # one or a few: faster than np.isin
            found |= who == code
        return found

    def within(self, times: Sequence[Span], numbers: Numbers) -> NDArray[np.bool_]:
        """Which of ``numbers`` were said at some times, or are maybe about them."""
        since, until = self.since[numbers], self.until[numbers]
        found = ~np.isnan(self.due[numbers])
        for start, end in times:
            found |= (since < end) & (until >= start)
        return found

    def under(self, text: str, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of ``numbers`` are messages said under a name that is in a text."""
        return np.isin(self.called[numbers], list(self._spoken(text).values()))

    def speakers(self, text: str, numbers: Numbers) -> set[str]:
        """Names in a text under which some of ``numbers`` were said."""
        codes = self._spoken(text)
        are_there = np.isin(list(codes.values()), self.called[numbers])
        return {name for name, is_there in zip(codes, are_there, strict=True) if is_there}

    def _spoken(self, text: str) -> dict[str, int]:
        """Codes of the names in a text under which anything was said, by name."""
        names = {name for look in names_in(text) for name in self._by_look.get(look, ())}
        return {name: code for name in names for code in self._names.of((name,))}

    def remove(self, number: int) -> None:
        """Remove a document; its number may be used again."""
        item, session = self[number], self[number].source.session
        self.by_session[session].remove(item.source)
        if not len(self.by_session[session]):
            del self.by_session[session]
        self._note(session)
        self._undescribe(item.source)
        del self._numbers[item.key]
        self._all[number] = None
        self._free.append(number)

    def _undescribe(self, source: Source) -> None:
        """Keep no node and no name that only a document that goes has."""
        node, name = _who(source)
        self._nodes.leave(node)
        if self._names.leave(name):
            for look in called_by(name):
                discard(self._by_look, look, name)

    def update(self, number: int, item: Document) -> bool:
        """Replace a document by its newer state; False if it must be removed and added."""
        was, now = ((e.searched, e.source.session, span(e.source)) for e in (self[number], item))
        if was == now:
            self._describe(number, item.source)
            self._undescribe(self[number].source)
            self._all[number] = item
        return was == now


class VectorIndex:
    """Vectors of one model by number, in 8-bit integers: cosines are right to .003."""

    def __init__(self, model: str, floor: float) -> None:
        self.model = model
        self.floor = floor
        self.count = 0
        self._rows: GrowableArray | None = None
        # What makes a row's length 1; 0 where there is no vector.
        self._scales = GrowableArray(np.float32)

    def put(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Store the vectors of some numbers, shape ``(len(numbers), width)``.

        Raises:
            ValueError: Another width than before, or not finite; nothing is stored.
        """
        width = vectors.shape[1] if self._rows is None else self._rows.values.shape[1]
        if vectors.shape != (len(numbers), width) or not np.isfinite(vectors).all():
            raise ValueError(f"no vectors of {self.model}: shape {vectors.shape}")
        if self._rows is None:
            self._rows = GrowableArray(np.int8, width)
        if (size := max(numbers) + 1) > self._rows.size:
            self._rows.resize(size)
            self._scales.resize(size)
        self._rows.values[numbers], self._scales.values[numbers] = _integers(vectors)
        self.count = int(np.count_nonzero(self._scales.values))

    def remove(self, number: int) -> None:
        if self.has(number):
            assert self._rows is not None
            self.count -= 1
            self._rows.values[number] = self._scales.values[number] = 0

    def has(self, number: int) -> bool:
        return number < self._scales.size and bool(self._scales.values[number])

    def vector(self, number: int) -> Vectors | None:
        """The vector of a number, shape ``(width,)``, length 1, if it has one."""
        if self._rows is None or number >= self._scales.size or not self._scales.values[number]:
            return None
        row: Vectors = self._rows.values[number] * self._scales.values[number]
        return row

    def cosines(self, numbers: NDArray[np.intp], query: Vectors) -> NDArray[np.float32]:
        """Cosine of ``query`` to each of ``numbers``; NaN where there is no vector."""
        if self._rows is None or query.shape != self._rows.values.shape[1:]:
            return np.full(len(numbers), np.nan, np.float32)
        (one,), (scale,) = _integers(query[np.newaxis])
        rows, wanted = self._rows.values, np.minimum(numbers, self._rows.size - 1)
        is_most = 2 * len(wanted) > len(rows)  # then all, as they lie: a copy takes longer
        products = np.empty(len(rows) if is_most else len(wanted), np.float32)
        for start in range(0, len(products), _CHUNK):
            some = slice(start, start + _CHUNK)
            products[some] = integer_products(rows[some if is_most else wanted[some]], one)
        if is_most:
            products = products.take(wanted)
        scales = self._scales.values.take(wanted)
        products *= scales * scale
        products[(scales == 0) | (numbers >= len(rows))] = np.nan
        return products

    def pairwise(self, numbers: list[int]) -> NDArray[np.float32] | None:
        """Cosines between some vectors, shape ``(n, n)``; 0 where there is none."""
        if self._rows is None:
            return None
        scales = self._scales.values.take(numbers, mode="clip")
        scales[np.array(numbers) >= self._scales.size] = 0
        rows = self._rows.values.take(numbers, axis=0, mode="clip") * scales[:, np.newaxis]
        return scalar_products(rows[:, np.newaxis], rows)


def _integers(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Vectors as integers of up to 127, and what makes each of length 1."""
    whole, _ = integers(np.array(vectors, np.float32))
    rows = whole.astype(np.float32)
    lengths = np.sqrt(scalar_products(rows, rows))
    return whole, np.divide(1, lengths, where=lengths > 0, out=0 * lengths)
