"""The recall index: everything that can be recalled, in memory.

A view of the journal: it is built from rows and messages and follows what the journal
tells. Used by one thread at a time.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from ..identity import Identities
from ..model import (
    Change,
    Episode,
    Fact,
    Forgotten,
    Merge,
    Message,
    Name,
    Row,
    Session,
    Status,
    is_entity,
)
from ..ports import Vectors
from ..scope import Rank, View, span
from ..stopwords import says_something
from ..text import clean_name
from .annals import Annals
from .dense import Dense
from .documents import Document, Documents, Numbers, Source, document, message_key
from .lexical import Lexical
from .names import Names
from .sight import Citations, Sight, Sights
from .vocabulary import index_terms, search_terms

MAX_MESSAGES = 100_000
"""Messages kept; of older ones only those that facts rest on."""


class Index:
    """Documents, and what finds them.

    Attributes:
        version: Grows with every alteration.
        sessions: All Sessions by id.
        identities: Which nodes are one; facts and names keep the nodes they were told of.
            Of linked accounts it knows nothing: they are the asker's (``Asker.accounts``).
        annals: Records of days … years, which are no documents.
        dense: Vectors of the model in use.
    """

    def __init__(self, max_messages: int = MAX_MESSAGES) -> None:
        self.version = 0
        self.sessions: dict[str, Session] = {}
        self.identities = Identities()
        self.documents = Documents()
        self.lexical = Lexical()
        self.names = Names()
        self.annals = Annals()
        self.dense: Dense | None = None
        self._max_messages = max_messages
        self._citations = Citations()
        self._sights = Sights(self.documents, self._citations)
        self._messages: dict[int, None] = {}  # in the order of their arrival
        self._forgotten: dict[str, int] = {}
        self._replacing: dict[str, dict[str, Fact]] = defaultdict(dict)
        self._touching: dict[str, dict[int, None]] = defaultdict(dict)
        self._vectorless: dict[int, None] = {}

    # ----------------------------------------------------------------- writing

    def apply(self, change: Change) -> None:
        """Follow a change."""
        for op in change.ops:
            if op.kind == Fact.kind and isinstance(op.was, Fact):
                self._forget_links(op.was)
            if op.row is None:
                self.drop(op.kind, op.id)
            else:
                self.put(op.row)

    def put(self, row: Row) -> None:
        """Enter a row or its newer state; kinds that recall does not use are ignored."""
        self.version += 1
        match row:
            case Session():
                self.sessions[row.id] = row
            case Merge():
                self.identities.put(row)
            case Name():
                self.names.put(row)
            case Fact():
                self._put_fact(row)
            case Episode():
                if row.is_record:
                    self.annals.put(row)
                elif not row.summary:
                    self._remove(row.id)
                elif not self._refresh(row):
                    self._add(row)
            case Forgotten():
                self._forgotten[row.id] = row.message
                self._mute(row.message, muted=True)
            case _:
                pass

    def drop(self, kind: str, id: str) -> None:
        """Take a row out; harmless if it is not there."""
        self.version += 1
        if kind == Session.kind:
            self.sessions.pop(id, None)
        elif kind == Merge.kind:
            self.identities.drop(kind, id)
        elif kind == Name.kind:
            self.names.drop(id)
        elif kind == Forgotten.kind and id in self._forgotten:
            self._mute(self._forgotten.pop(id), muted=False)
        elif kind in (Fact.kind, Episode.kind):
            self.annals.drop(id)
            self._remove(id)

    def put_message(self, message: Message) -> None:
        """Enter a message, or one that has moved to another Session.

        The bot's own are left out, and those that say nothing.
        """
        if not message.is_human or not says_something(search_terms(message.text)):
            return
        self.version += 1
        if not self._refresh(message):
            self._add(message)
        self._messages[message.id] = None
        if message.id in self._forgotten.values():
            self._mute(message.id, muted=True)
        if len(self._messages) > self._max_messages:
            oldest = next(iter(self._messages))
            del self._messages[oldest]
            number = self.documents.number(message_key(oldest))
            if number is not None and not self._citations.has(number):
                self._remove(message_key(oldest))

    def drop_message(self, id: int) -> None:
        """Take a message out; harmless if it is not there."""
        self.version += 1
        self._messages.pop(id, None)
        self._remove(message_key(id))

    def _put_fact(self, fact: Fact) -> None:
        # Links outlive archiving: the newer fact fading does not make the older one true.
        for old in fact.supersedes:
            self._replacing[old][fact.id] = fact
        if fact.status != Status.ACTIVE:
            self._remove(fact.id)
        elif not self._refresh(fact):
            number = self._add(fact)
            for node in {fact.subject, fact.object}:
                self._touching[node][number] = None
            for message in fact.evidence:
                cited = self.documents.number(message_key(message))
                if cited is not None:
                    self._citations.add(number, cited)

    def _forget_links(self, old: Fact) -> None:
        for replaced in old.supersedes:
            self._replacing[replaced].pop(old.id, None)

    def _refresh(self, source: Source) -> bool:
        """Put a newer state in place; if it is found or linked otherwise, remove the old."""
        item = self._document(source)
        number = self.documents.number(item.key)
        if number is None:
            return False
        linked = _links(self.documents[number].source) == _links(source)
        if linked and self.documents.replace_source(number, item):
            return True
        self._remove(item.key)
        return False

    def _add(self, source: Source) -> int:
        item = self._document(source)
        found = index_terms(item.text)
        number = self.documents.add(item, len(found))
        self.lexical.add(number, found)
        self._vectorless[number] = None
        return number

    def _document(self, source: Source) -> Document:
        session = self.sessions.get(source.session)
        return document(source, session.owner if session else "")

    def _remove(self, key: str) -> None:
        number = self.documents.number(key)
        if number is None:
            return
        item = self.documents[number]
        self._unlink(number, item.source)
        self.lexical.remove(number, index_terms(item.text))
        self._vectorless.pop(number, None)
        if self.dense:
            self.dense.remove(number)
        self.documents.remove(number)

    def _unlink(self, number: int, source: Source) -> None:
        self._citations.drop(number)
        if isinstance(source, Fact):
            for node in {source.subject, source.object}:
                touching = self._touching[node]
                touching.pop(number, None)
                if not touching:
                    del self._touching[node]

    def _mute(self, message: int, *, muted: bool) -> None:
        number = self.documents.number(message_key(message))
        if number is not None:
            self.documents.mute(number, muted=muted)

    # ----------------------------------------------------------------- vectors

    def use(self, dense: Dense | None) -> None:
        """Start over with the vectors of another model, or with none."""
        self.version += 1
        self.dense = dense
        self._vectorless = dict.fromkeys(self.documents.numbers())

    def vectorless(self, limit: int) -> list[Document]:
        """Some documents that have no vector of the model in use, newest first."""
        newest = itertools.islice(reversed(self._vectorless), limit)
        return [self.documents[number] for number in newest]

    def lost_vectors(self) -> int:
        """How many documents have no vector of the model in use and do not wait for one."""
        if self.dense is None:
            return 0
        without = (n for n in self.documents.numbers() if n not in self._vectorless)
        return sum(not self.dense.has(number) for number in without)

    def put_vectors(self, items: list[Document], vectors: Vectors, model: str) -> None:
        """Store vectors of documents, unless model or document changed meanwhile."""
        if self.dense is None or self.dense.model != model:
            return
        self.version += 1
        numbers: list[int] = []
        kept: list[int] = []
        for at, item in enumerate(items):
            number = self.documents.number(item.key)
            if number is not None and self.documents[number].text == item.text:
                numbers.append(number)
                kept.append(at)
        if numbers:
            self.dense.put(numbers, np.asarray(vectors)[kept])
        for number in numbers:
            self._vectorless.pop(number, None)

    # ----------------------------------------------------------------- reading

    def look(self, views: Mapping[str, View]) -> Sight:
        """What an asker sees."""
        return self._sights.of(views)

    def message(self, id: int) -> Message | None:
        """A message that is kept."""
        number = self.documents.number(message_key(id))
        source = self.documents[number].source if number is not None else None
        return source if isinstance(source, Message) else None

    def replaces_any(self, ids: Iterable[str]) -> bool:
        """Whether a fact, visible or not, may replace one of those with some ids."""
        return not self._replacing.keys().isdisjoint(ids)

    def replaced_by(self, id: str, views: Mapping[str, View]) -> Fact | None:
        """The newest visible fact that replaces fact ``id``, archived ones included."""
        newer = self._replacing.get(id)
        if not newer:
            return None
        seen = [fact for fact in newer.values() if _shows(views, fact) > Rank.HIDDEN]
        return max(seen, key=lambda fact: (fact.recorded_at, fact.id), default=None)

    def named(self, text: str, views: Mapping[str, View]) -> dict[str, str]:
        """Nodes that a text names, among those whose names the asker's persona knows."""
        return self.names.mentioned(text, lambda name: _shows(views, name) is Rank.OWN)

    def knows(self, node: str, views: Mapping[str, View]) -> bool:
        """Whether a node exists for the asker: whether a visible row names it, or one
        that is the same."""
        return any(
            _shows(views, name) is Rank.OWN
            for one in self.identities.nodes(node)
            for name in self.names.of(one)
        )

    def distinct(self, nodes: Iterable[str]) -> dict[str, str]:
        """Each of some nodes with the first of them that is the same, in order of id.

        The first of those that were met, not the survivor: so an asker who knows only one
        of two merged nodes is told the same, bit by bit, as before they were merged.
        """
        first: dict[str, str] = {}
        found: dict[str, str] = {}
        for node in sorted(nodes):
            found[node] = first.setdefault(self.identities.canonical(node), node)
        return found

    def called(self, node: str, views: Mapping[str, View]) -> str:
        """What a node was called last by a name that can be shown, where the asker may know
        it; else empty."""
        names = (name for one in self.identities.nodes(node) for name in self.names.of(one))
        seen = [
            (name.last_at, name.id, shown)
            for name in names
            if (shown := name.text if is_entity(node) else clean_name(name.text))
            and _shows(views, name) > Rank.HIDDEN
        ]
        return max(seen)[2] if seen else ""

    def bearers(self, name: str, views: Mapping[str, View]) -> set[str]:
        """The users who look alike by this name, where the asker may know it."""
        return self.names.bearers(name, lambda each: _shows(views, each) > Rank.HIDDEN)

    def touching(self, node: str, sight: Sight) -> Numbers:
        """Visible facts with a node, or one that is the same, as subject or object, as
        numbers."""
        touching: dict[int, None] = {}
        for one in self.identities.nodes(node):
            touching |= self._touching.get(one, {})
        numbers = np.fromiter(touching, np.intp, len(touching))
        return numbers[sight.positions[numbers] >= 0]


def _links(source: Source) -> tuple[object, ...]:
    if isinstance(source, Fact):
        return source.subject, source.object, source.evidence
    return ()


def _shows(views: Mapping[str, View], row: Fact | Name) -> Rank:
    view = views.get(row.session)
    return view.rank(*span(row)) if view else Rank.HIDDEN
