"""Core facts: the few things about a user that are always in view.

Each user has at most :data:`MOST` in each Session. A new one replaces the one used longest
ago; learning changes none that somebody pinned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from enum import StrEnum
from math import inf
from typing import Any, ClassVar, Self

from ..dates import is_relative, iso
from ..learning.attribution import MOST as ALIKE
from ..learning.attribution import share, speaker_of
from ..learning.batching import requests
from ..learning.parse import line_of, many, numbers
from ..learning.prompt import PromptContext
from ..locales import in_all, say
from ..model import Basis, Batch, Fact, SessionRow, stable_id
from ..remember_requests import without_request
from ..store import Draft, Rows
from ..text import fenced, normalise, one_line, tokens, told_by

MOST = 30
MAX_TEXT = 100
"""Characters of one."""
MAX_EVIDENCE = 20
"""Messages that one cites; with any of them it goes."""
SHOWN = 700
"""Tokens of core facts that the model is shown; in a group, of all who speak."""
KEPT = 3
"""Core facts that one request to remember something makes."""
MOST_CLAIMS = 10
"""Core facts that one batch may write."""
_PERSON = re.compile(r"U\d{1,3}(?!\d)")
_STRING = {"type": "string"}


class CoreKind(StrEnum):
    """What a core fact is."""

    FACT = "fact"
    MOMENT = "moment"
    FEELING = "feeling"
    """A feeling of the user, and what to do then."""
    GROWTH = "growth"


@dataclass(frozen=True, slots=True)
class CoreFact(
    SessionRow,
    kind="core_fact",
    keys=("user",),
    times=("at",),
    words=("text",),
    basis=Basis.EACH,
    exported="core",
):
    """One of the few things about a user that are always in view.

    ``number`` counts from 1 within Session and user; ``type`` is a :class:`CoreKind`; ``at``
    is when it was said, and ``until`` when it is over, unless it is pinned.
    """

    user: str
    number: int
    type: str
    text: str
    at: float
    used_at: float
    pinned: bool = False
    evidence: tuple[int, ...] = ()
    until: float | None = None

    def reworded(self, text: str, evidence: tuple[int, ...], at: float) -> Self:
        text = one_line(text, MAX_TEXT)
        return replace(self, text=text, evidence=evidence, at=at, until=None)

    def named(self, language: str, zone: tzinfo) -> str:
        """What it is, and when it was said if it goes by that day."""
        kind = say(language, f"core_{self.type}")
        if not is_relative(self.text):
            return kind
        return say(language, "core_dated", kind=kind, date=iso(self.at, zone))

    def is_told_by(self, fact: Fact, known: Collection[str]) -> bool:
        """Whether a fact says the same, in its words or of one message."""
        if normalise(self.text) == normalise(one_line(fact.statement, MAX_TEXT)):
            return True
        is_of_one = not set(self.evidence).isdisjoint(fact.evidence)
        return is_of_one and share(self.text, [fact.statement], known) >= ALIKE


def standing(rows: Rows, session: str, users: Iterable[str], at: float = -inf) -> list[CoreFact]:
    """The core facts about some users in a Session that stand ``at`` a time."""
    found = rows.find(CoreFact, session=session)
    wanted = set(users)
    kept = [row for row in found if row.user in wanted and row.text]
    kept = [row for row in kept if row.pinned or row.until is None or row.until > at]
    return sorted(kept, key=lambda row: (row.user, row.number, row.id))


class CoreFacts:
    """The core facts about one user in one Session, on their way into a draft."""

    def __init__(self, rows: Rows, session: str, user: str, now: float) -> None:
        self._session = session
        self._user = user
        self._now = now
        self._stored = rows
        self._before = {row.id: row for row in standing(rows, session, [user])}
        self._rows = {row.id: row for row in standing(rows, session, [user], now)}

    def keep(self, texts: Iterable[str], at: float, evidence: tuple[int, ...]) -> None:
        """Keep what was asked to be remembered, unless a core fact cites it already."""
        if not any(set(evidence) & set(row.evidence) for row in self._rows.values()):
            for text in texts:
                self.add(text, CoreKind.FACT, at, evidence)

    def add(self, text: str, kind: str, at: float, evidence: tuple[int, ...]) -> None:
        """Add one if there is room, or mark the one that says the same as used."""
        text = one_line(text, MAX_TEXT)
        same = next((r for r in self._rows.values() if normalise(r.text) == normalise(text)), None)
        if same is not None:
            self.use(same.id, evidence)
            return
        if not text or (number := self._room()) is None:
            return
        id = stable_id("c", self._session, self._user, normalise(text), str(evidence[:1]))
        self._rows[id] = CoreFact(
            id, self._session, self._user, number, str(kind), text, at, self._now,
            evidence=evidence[:MAX_EVIDENCE],
        )  # fmt: skip

    def reword(
        self, ids: Iterable[str], text: str, kind: CoreKind, at: float, evidence: tuple[int, ...]
    ) -> None:
        """Merge those that nobody pinned into the first, with a new text."""
        free = [row for id in dict.fromkeys(ids) if (row := self._rows.get(id)) and not row.pinned]
        text = one_line(text, MAX_TEXT)
        if not free or not text:
            return
        first, *others = free
        cited = dict.fromkeys((*(id for row in free for id in row.evidence), *evidence))
        for row in others:
            del self._rows[row.id]
        self._rows[first.id] = replace(
            first,
            type=kind.value,
            text=text,
            at=at,
            until=None,
            used_at=max(self._now, first.used_at),
            evidence=tuple(cited)[-MAX_EVIDENCE:],
        )

    def follow(self, old: Fact, new: Fact | None, known: Collection[str]) -> None:
        """Put what replaces a fact, if anything, in its place, unless it is pinned."""
        for row in [*self._rows.values()]:
            if not row.pinned and row.is_told_by(old, known):
                del self._rows[row.id]
                if new is not None:  # what others cite for it is theirs to take back, not this
                    own = tuple(id for id in new.evidence if self._is_own(id))
                    self.add(new.statement, row.type, new.said_at, own or new.evidence)

    def date(self, fact: Fact, known: Collection[str]) -> None:
        """Note when what a fact tells is over, if that is still to come."""
        end = fact.due or fact.valid_to or 0.0
        for row in self._rows.values():
            if row.is_told_by(fact, known):
                self._rows[row.id] = replace(row, until=end if end > self._now else None)

    def use(self, id: str, evidence: tuple[int, ...] = ()) -> None:
        """Mark one as used, if it still stands."""
        if row := self._rows.get(id):
            cited = tuple(dict.fromkeys((*row.evidence, *evidence)))[-MAX_EVIDENCE:]
            self._rows[id] = replace(row, used_at=max(self._now, row.used_at), evidence=cited)

    def write(self, draft: Draft) -> None:
        """Enter what has changed into a draft."""
        draft.drop += [(CoreFact.kind, id) for id in self._before.keys() - self._rows.keys()]
        draft.put += [row for id, row in self._rows.items() if self._before.get(id) != row]

    def _is_own(self, message: int) -> bool:
        said = self._stored.message(message)
        return said is not None and said.sender == self._user

    def _room(self) -> int | None:
        """A free number, after dropping the one used longest ago if need be."""
        rows = self._rows.values()
        if free := set(range(1, MOST + 1)) - {row.number for row in rows}:
            return min(free)
        droppable = [row for row in rows if not row.pinned]
        if not droppable:
            return None
        idle = min(droppable, key=lambda row: (row.used_at, row.at, row.number))
        del self._rows[idle.id]
        return idle.number


class CoreFactExtension:
    """Keeps the core facts about those who speak in a batch."""

    properties: ClassVar[Mapping[str, Any]] = {
        "core": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": dict.fromkeys(
                    ("type", "text", "about", "evidence", "replaces"), _STRING
                ),
            },
        },
        "core_used": _STRING,
    }
    instructions: ClassVar[Mapping[str, str]] = in_all("teach_core")

    def __init__(self, rows: Rows, batch: Batch, known: PromptContext) -> None:
        self._batch = batch
        self._known = known
        self.shown: dict[int, CoreFact] = {}
        self.lines: list[str] = []
        self._names = known.names
        speakers = [person.node for person in known.people.values() if person.speaks]
        found = standing(rows, batch.session.id, speakers, batch.messages[-1].at)
        spent = 0
        for row in sorted(found, key=lambda row: (-row.used_at, row.number)):
            number = len(self.shown) + 1
            line = f"C{number} {known.label(row.user)} {row.type}: {fenced(row.text, MAX_TEXT)}"
            spent += tokens(line)
            if spent > SHOWN:
                break
            self.shown[number] = row
            self.lines.append(line)

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Add, update and merge core facts; add what somebody asked to be remembered."""
        at = self._batch.messages[-1].at
        users: dict[str, CoreFacts] = {}

        def shelf(user: str) -> CoreFacts:
            if user not in users:
                users[user] = CoreFacts(rows, self._batch.session.id, user, at)
            return users[user]

        for claim in many(answer.get("core"))[:MOST_CLAIMS]:
            if isinstance(claim, dict):
                self._take(claim, shelf)
        for row in self._rows(answer.get("core_used")):
            shelf(row.user).use(row.id)
        facts = [row for row in draft.put if isinstance(row, Fact)]
        is_group = self._batch.session.is_group
        for new in facts:
            is_told = not new.is_over(at) and not (is_group and new.confidential)
            for old in filter(None, (rows.get(Fact, id) for id in new.supersedes)):
                is_own = is_told and new.speaker == new.subject  # as core facts are one's own words
                shelf(old.subject).follow(old, new if is_own else None, self._names)
        if not is_group:
            for message in requests(self._batch):
                told = [fact for fact in facts if message.id in fact.evidence]
                texts = [fact.statement for fact in told[:KEPT]]
                said = told_by(message.name, without_request(message.text), MAX_TEXT)
                shelf(message.sender).keep(texts or [said], message.at, (message.id,))
        for each in users.values():
            for fact in facts:
                each.date(fact, self._names)
            each.write(draft)

    def _take(self, claim: Mapping[str, Any], shelf: Callable[[str], CoreFacts]) -> None:
        text = line_of(claim.get("text"), MAX_TEXT)
        cited = [
            self._batch.messages[number - 1]
            for number in numbers(claim.get("evidence"))
            if number <= len(self._batch.messages)
        ]
        said = [message for message in cited if message.is_human]
        old = self._rows(claim.get("replaces"))
        label = _PERSON.match(line_of(claim.get("about"), 64).upper())
        person = self._known.people.get(label[0]) if label else None
        user = old[0].user if old else person.node if person else said[0].sender if said else ""
        own = tuple(message for message in said if message.sender == user)
        heard = self._known.heard
        if not text or not own or speaker_of(text, user, own, heard, self._names) != user:
            return
        word, at = line_of(claim.get("type"), 20).casefold(), own[-1].at
        kind = CoreKind(word) if word in CoreKind else CoreKind.FACT
        ids = tuple(message.id for message in own)
        if free := [row.id for row in old if row.user == user and not row.pinned]:
            # If all of them are gone meanwhile, somebody did not want them.
            shelf(user).reword(free, text, kind, at, ids)
        else:
            shelf(user).add(text, kind, at, ids)

    def _rows(self, value: Any) -> list[CoreFact]:
        """What labels such as ``C3`` stand for."""
        found = numbers(str(value).upper().replace("C", " "))
        return [self.shown[number] for number in found if number in self.shown]
