"""The recall index: everything that can be recalled, in memory.

It is built from the journal and follows its events. Used by one thread at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import tzinfo
from itertools import islice
from typing import TypeGuard

import numpy as np

from ..dates import past_periods
from ..identity import Identities
from ..inference import Vectors
from ..model import (
    Episode,
    Fact,
    Forgotten,
    Merge,
    Message,
    Name,
    Op,
    Row,
    Session,
    Status,
    is_entity,
)
from ..privacy.scope import Rank, View, in_confidence, rank_of
from ..text import clean_name, forget, says_something
from .documents import Document, Documents, Numbers, Source, VectorIndex, message_key
from .lexical import InvertedIndex, NameIndex, discard, index_terms, search_terms
from .query import Question, asks_for_all, is_small_talk
from .visible import Citations, VisibleSet, VisibleSetCache
from .weights import NEAR

MAX_MESSAGES = 100_000
"""Messages kept; of older ones only those that facts rest on."""
MOST_SUMMARIES = 4
Step = Op | Message | int
"""A row that was written or deleted, a message, or the id of one that is gone."""


class PeriodSummaries:
    """Summaries (records) of days … years, for questions about a time as a whole."""

    def __init__(self) -> None:
        self._sessions: dict[str, dict[str, Episode]] = defaultdict(dict)
        self._places: dict[str, str] = {}

    def put(self, record: Episode) -> None:
        """Enter a record or its newer state; one without words is removed."""
        self.drop(record.id)
        if record.summary:
            self._sessions[record.session][record.id] = record
            self._places[record.id] = record.session

    def drop(self, id: str) -> None:
        session = self._places.pop(id, None)
        if session is not None:
            del self._sessions[session][id]

    def has(self, id: str) -> bool:
        return id in self._places

    def get(self, id: str, views: Mapping[str, View]) -> Episode | None:
        """A visible record."""
        record = self._sessions.get(self._places.get(id, ""), {}).get(id)
        return record if record and _shows(views, record) is not Rank.HIDDEN else None

    def asked(
        self, text: str, views: Mapping[str, View], now: float, zone: tzinfo
    ) -> list[tuple[Episode, Rank]]:
        """The visible records of the time that a question is about, in order of time.

        The longest are preferred; of too many those of most messages.
        """
        if not asks_for_all(text):
            return []
        chosen: list[tuple[Episode, Rank]] = []
        for since, until in past_periods(text, now, zone):
            chosen += [each for each in self._within(since, until, views) if each not in chosen]
        chosen.sort(key=lambda each: (-each[1], -each[0].messages, each[0].id))
        return sorted(
            chosen[:MOST_SUMMARIES], key=lambda each: (-each[1], each[0].started_at, each[0].id)
        )

    def _within(
        self, since: float, until: float, views: Mapping[str, View]
    ) -> Iterator[tuple[Episode, Rank]]:
        def longest(each: tuple[Episode, Rank]) -> tuple[float, str]:
            return each[0].started_at - each[0].ended_at, each[0].id

        for session in views:
            inside = [
                (record, rank)
                for record in self._sessions.get(session, {}).values()
                if _share(record, since, until) >= NEAR
                and (rank := _shows(views, record)) is not Rank.HIDDEN
            ]
            taken: list[Episode] = []
            for record, rank in sorted(inside, key=longest):
                if all(_share(record, t.started_at, t.ended_at) < NEAR for t in taken):
                    taken.append(record)
                    yield record, rank


def _share(record: Episode, since: float, until: float) -> float:
    """Share of a record's time that is within another."""
    common = min(record.ended_at, until) - max(record.started_at, since)
    return max(0.0, common) / max(1.0, record.ended_at - record.started_at)


class Index:
    """Documents, and what finds them.

    Attributes:
        identities: Merged nodes, without linked accounts (see ``Asker.accounts``).
        messages: Ids of the newest messages, in the order of their arrival.
        visible: Gives the documents that some views show.
    """

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.identities = Identities()
        self.documents = Documents()
        self.inverted = InvertedIndex()
        self.names = NameIndex()
        self.summaries = PeriodSummaries()
        self.vectors: VectorIndex | None = None
        self.examples: VectorIndex | None = None
        self._citations = Citations()
        # Facts by a message that they rest on and that is not here (any more, or yet).
        self._awaited: dict[int, dict[int, None]] = defaultdict(dict)
        self.visible = VisibleSetCache(self.documents, self._citations).of
        self.messages: dict[int, None] = {}
        self._forgotten: dict[str, int] = {}
        self._muted: Counter[int] = Counter()
        self._replacing: dict[str, dict[str, Fact]] = defaultdict(dict)
        self._touching: dict[str, dict[int, None]] = defaultdict(dict)
        # Whether the model in use refuses it, by number.
        self._vectorless: dict[int, bool] = {}

    # ----------------------------------------------------------------- writing

    def enter(self, steps: Iterable[Step]) -> None:
        """Follow what happened, in order; of what is gone, no cache keeps the text."""
        is_gone = False
        for step in steps:
            if isinstance(step, Message):
                self.put_message(step)
            elif isinstance(step, Op):
                self._apply(step)
                is_gone = is_gone or step.after is None
            else:
                self.messages.pop(step, None)
                self._remove(message_key(step))
                is_gone = True
        if is_gone:  # now that their terms were looked up for the last time
            forget()

    def _apply(self, op: Op) -> None:
        if op.kind == Fact.kind and isinstance(op.was, Fact):
            for replaced in op.was.supersedes:
                self._replacing[replaced].pop(op.was.id, None)
        if op.row is None:
            self.drop(op.kind, op.id)
        else:
            self.put(op.row)

    def put(self, row: Row) -> None:
        """Enter a row or its newer state; other kinds are ignored."""
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
                    self.summaries.put(row)
                elif not row.summary:
                    self._remove(row.id)
                else:
                    self._enter(row)
            case Forgotten():
                self._unmute(row.id)
                self._forgotten[row.id] = row.message
                self._muted[row.message] += 1
                self._mute(row.message, muted=True)

    def drop(self, kind: str, id: str) -> None:
        """Remove a row, if it is there."""
        if kind == Session.kind:
            self.sessions.pop(id, None)
        elif kind == Merge.kind:
            self.identities.drop(kind, id)
        elif kind == Name.kind:
            self.names.drop(id)
        elif kind == Forgotten.kind:
            self._unmute(id)
        elif kind in (Fact.kind, Episode.kind):
            self.summaries.drop(id)
            self._remove(id)

    def put_message(self, message: Message, *, is_old: bool = False) -> None:
        """Enter a message or its newer state, unless the bot's own or empty talk.

        Args:
            is_old: Whether it is here for the facts that rest on it, and not as one of the newest.
        """
        if not message.is_human or not says_something(search_terms(message.text)):
            return
        self._enter(message)
        if self._muted[message.id]:
            self._mute(message.id, muted=True)
        if is_old:
            return
        self.messages[message.id] = None
        if len(self.messages) > MAX_MESSAGES:
            oldest = next(iter(self.messages))
            del self.messages[oldest]
            number = self.documents.number(message_key(oldest))
            if number is not None and not self._citations.has(number):
                self._remove(message_key(oldest))

    def _put_fact(self, fact: Fact) -> None:
        # Links outlive archiving: the newer fact fading does not make the older one true.
        for old in fact.supersedes:
            self._replacing[old][fact.id] = fact
        if fact.status != Status.ACTIVE:
            self._remove(fact.id)
        elif (number := self._enter(fact)) is not None:
            for node in {fact.subject, fact.object}:
                self._touching[node][number] = None
            for message in fact.evidence:
                cited = self.documents.number(message_key(message))
                if cited is not None:
                    self._citations.add(number, cited)
                else:
                    self._awaited[message][number] = None

    def _enter(self, source: Source) -> int | None:
        """Enter a row or its newer state; its number, unless it was updated in place."""
        session = self.sessions.get(source.session)
        item = Document.of(source, session.owner if session else "")
        number = self.documents.number(item.key)
        if number is not None:
            linked = _links(self.documents[number].source) == _links(source)
            if linked and self.documents.update(number, item):
                return None
            self._remove(item.key)
        if session and _is_heard(source, session):
            self.names.hear(source)
        found = index_terms(item.searched)
        number = self.documents.add(item, len(found))
        self.inverted.add(number, found)
        for fact in self._awaited.pop(source.id, ()) if isinstance(source, Message) else ():
            self._citations.add(fact, number)
        if not (isinstance(source, Message) and is_small_talk(source.text)):
            self._vectorless[number] = False  # whose meaning is worth embedding
        return number

    def _remove(self, key: str) -> None:
        number = self.documents.number(key)
        if number is None:
            return
        item = self.documents[number]
        citing = self._citations.drop(number)
        if isinstance(item.source, Message) and citing:
            self._awaited[item.source.id] = dict.fromkeys(citing)
        session = self.sessions.get(item.source.session)
        if session and _is_heard(item.source, session):
            self.names.unhear(item.source)
        if isinstance(item.source, Fact):
            for node in {item.source.subject, item.source.object}:
                discard(self._touching, node, number)
            for message in item.source.evidence:
                if number in self._awaited.get(message, ()):
                    discard(self._awaited, message, number)
        self.inverted.remove(number, index_terms(item.searched))
        self._vectorless.pop(number, None)
        if self.vectors:
            self.vectors.remove(number)
        self.documents.remove(number)

    def _unmute(self, id: str) -> None:
        message = self._forgotten.pop(id, None)
        if message is None:
            return
        self._muted[message] -= 1
        if not self._muted[message]:
            del self._muted[message]
            self._mute(message, muted=False)

    def _mute(self, message: int, *, muted: bool) -> None:
        number = self.documents.number(message_key(message))
        if number is not None:
            self.documents.mute(number, muted=muted)

    # ----------------------------------------------------------------- vectors

    def use(self, vectors: VectorIndex | None) -> None:
        """Replace all vectors by those of another model, or by none."""
        old, left = self.vectors, self._vectorless
        wanted = (n for n in self.documents.numbers() if n in left or (old and old.has(n)))
        self.vectors, self._vectorless = vectors, dict.fromkeys(wanted, False)
        self.examples = VectorIndex(vectors.model, vectors.floor) if vectors else None

    def vectorless(self, limit: int) -> list[Document]:
        """Some documents that have no vector of the model in use, newest first."""
        left = (n for n, is_refused in reversed(self._vectorless.items()) if not is_refused)
        return [self.documents[number] for number in islice(left, limit)]

    def put_off(self, items: list[Document], *, is_refused: bool) -> None:
        """Let some documents be the last to get a vector, or not get one of this model."""
        some = {self.documents.number(item.key) for item in items}
        late = dict.fromkeys((each for each in self._vectorless if each in some), is_refused)
        self._vectorless = late | self._vectorless | late

    def put_vectors(self, items: list[Document], vectors: Vectors, model: str) -> list[str]:
        """Store the vectors of documents that are still the same, as is the model.

        Returns what the others said, which may be gone for good.
        """
        if self.vectors is None or self.vectors.model != model:
            return []
        known = {
            at: number
            for at, item in enumerate(items)
            if (number := self.documents.number(item.key)) is not None
            and self.documents[number].searched == item.searched
        }
        if known:
            self.vectors.put([*known.values()], np.asarray(vectors)[[*known]])
        for number in known.values():
            self._vectorless.pop(number, None)
        return [item.searched for at, item in enumerate(items) if at not in known]

    def put_examples(self, vectors: Vectors, model: str) -> None:
        """Store the vectors of the next ``EXAMPLES``, if the model is still the same."""
        if self.examples and self.examples.model == model:
            known = self.examples.count
            self.examples.put(range(known, known + len(vectors)), vectors)

    def likeness(self, messages: Iterable[int], facts: Iterable[str]) -> dict[str, float]:
        """Cosine of each fact that has a vector with the nearest of some messages, by id."""
        vectors, documents = self.vectors, self.documents
        if vectors is None:
            return {}
        known = {id: documents.number(id) for id in facts}
        numbers = {id: n for id, n in known.items() if n is not None and vectors.has(n)}
        wanted = np.array(list(numbers.values()), np.intp)
        best = np.full(len(wanted), -np.inf, np.float32)
        for line in (documents.number(message_key(id)) for id in messages):
            told = None if line is None else vectors.vector(line)
            if told is not None and len(wanted):
                best = np.maximum(best, vectors.cosines(wanted, told))
        return {id: float(at) for id, at in zip(numbers, best, strict=True) if at > -1.0}

    # ----------------------------------------------------------------- reading

    def comparable(self, question: Question) -> Question:
        """A question without vectors of another model than the documents'."""
        model = self.vectors.model if self.vectors else ""
        return question if question.model == model else replace(question, vectors=())

    def message(self, id: int) -> Message | None:
        number = self.documents.number(message_key(id))
        source = self.documents[number].source if number is not None else None
        return source if isinstance(source, Message) else None

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
        """Whether a node, or one that is the same, is named by a visible row."""
        return bool(self.names_of(node, views))

    def names_of(self, node: str, views: Mapping[str, View]) -> set[str]:
        """All that a node is called as the asker's persona knows it."""
        names = (name for one in self.identities.nodes(node) for name in self.names.of(one))
        return {name.text for name in names if _shows(views, name) is Rank.OWN}

    def distinct(self, nodes: Iterable[str]) -> dict[str, str]:
        """Each node with the first of them that is the same, in order of id."""
        # Not with the survivor, which the asker may not know.
        first: dict[str, str] = {}
        found: dict[str, str] = {}
        for node in sorted(nodes):
            found[node] = first.setdefault(self.identities.canonical(node), node)
        return found

    def called(self, node: str, views: Mapping[str, View]) -> str:
        """The last visible name of a node; empty if there is none."""
        names = (name for one in self.identities.nodes(node) for name in self.names.of(one))
        seen = [
            (name.order, shown)
            for name in names
            if (shown := name.text if is_entity(node) else clean_name(name.text))
            and _shows(views, name) > Rank.HIDDEN
        ]
        return max(seen)[1] if seen else ""

    def bearers(self, name: str, views: Mapping[str, View]) -> set[str]:
        """The users who are called, or speak, under a name that looks like this, visibly."""
        return self.names.bearers(
            name,
            lambda each: _shows(views, each) > Rank.HIDDEN,
            lambda session, times: session in views and views[session].hears_any(times),
        )

    def touching(self, node: str, visible: VisibleSet) -> Numbers:
        """Numbers of visible facts with a node as subject or object, merges followed."""
        touching: dict[int, None] = {}
        for one in self.identities.nodes(node):
            touching |= self._touching.get(one, {})
        numbers = np.fromiter(touching, np.intp, len(touching))
        return numbers[visible.positions[numbers] >= 0]


def _is_heard(source: Source, session: Session) -> TypeGuard[Message]:
    """Whether it shows the others under which name somebody speaks."""
    return isinstance(source, Message) and session.is_group and not in_confidence(source)


def _links(source: Source) -> tuple[object, ...]:
    if isinstance(source, Fact):
        return source.subject, source.object, source.evidence
    return ()


def _shows(views: Mapping[str, View], row: Fact | Name | Episode) -> Rank:
    return rank_of(views.get(row.session), row)
