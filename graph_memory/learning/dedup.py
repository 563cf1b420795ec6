"""Deduplication and supersession of facts: what says the same, what replaces what.

Nothing here is likeness: sentences are the same if they are equal once everything that has
several names goes by one of them. What a row states is never altered: a newer row replaces
it (``Fact.supersedes``), for those who may see the newer one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from pathlib import Path

from ..dates import arabic, birthday
from ..kinship import kin_words
from ..model import (
    LITERAL,
    PASSING,
    SINGLE_VALUED,
    TASKS,
    Fact,
    Message,
    Name,
    Status,
    is_entity,
    stable_id,
)
from ..retention import told_anew
from ..text import characters, normalise, patterns, terms
from ..visible_rows import LearnerRows
from .batching import ChangeBuilder

MAX_EVIDENCE = 8
"""Messages that a fact cites."""
_MAX_REPLACED = 50
_ENDS = "。.!?,;~、 "
"""What may follow a sentence, normalised; nothing else, as C is not C++."""
_SHORTEST = 2
"""Names of one character are part of other words."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_VAGUE = re.compile(r"[多几余约左右快近将]|about|almost|nearly|over")
_RANK = re.compile(r"(?:省|市|自治区|特别行政区)(?=.)|(?:省|市|县|区)$|^中国")
MORE = 2
"""Chinese characters that tell something more."""
(_HOME,) = patterns(Path(__file__).with_name("homes.txt"))
"""A home that is no place by name."""
_STREETS = "路街道巷弄里园苑城村湾"
"""What is called after a town, and ends like this, need not be in it."""


@cache
def _is_so() -> frozenset[str]:
    """What sentences about homes, origins and partners say anyway."""
    return frozenset(
        (
            *"住在现今年目前已搬到去了来自老家人出生交往恋爱结婚对象女男朋友伴侣老婆公妻子丈夫是的有个我他她",
            *terms("live now currently moved home comes born grew married dating together"),
            *terms("partner girlfriend boyfriend wife husband"),
        )
    )


def fact_id(
    session: str, subject: str, predicate: str, object: str, statement: str, message: int
) -> str:
    """Id of a fact; resting on another first message, it is another row."""
    norm = normalise(statement)
    return stable_id("f", session, subject, predicate, object, norm, str(message))


@dataclass(eq=False, slots=True)
class FactHistory:
    """Facts that one batch may see, with those it is about to write."""

    _visible: LearnerRows
    _changes: ChangeBuilder
    _now: float
    _known: dict[str, dict[str, Fact]] = field(default_factory=dict)
    _called: dict[str, set[str]] = field(default_factory=dict)

    def _written(self, subject: str) -> dict[str, Fact]:
        """What this change writes about a node."""
        is_one = self._visible.is_one
        return {f.id: f for f in self._changes.all(Fact) if is_one(f.subject, subject)}

    def holds(self, fact: Fact) -> bool:
        """Whether a fact was neither ended nor replaced."""
        if fact.is_over(self._now) or self._visible.is_replaced(fact):
            return False
        written = self._written(fact.subject).values()
        return not any(fact.id in newer.supersedes for newer in written)

    def same(
        self, fact: Fact, subject: Iterable[str] = (), object: Iterable[str] = ()
    ) -> Fact | None:
        """The row of this Session that holds and says the same as ``fact``.

        That is the same sentence by any name of the subject, or the same value of what has
        only one and nothing more; what is to come is not what is so. ``subject`` and ``object``
        are more names of theirs, about to be written.
        """
        here = self._visible.here.id
        written = self._written(fact.subject)
        names = self.names(fact.subject, subject)
        things = self.names(fact.object, object)
        new = gist(fact.statement, names)
        new_told = gist(fact.statement, {*names, *things})

        def is_same(other: Fact) -> bool:
            is_alike = fact.predicate == other.predicate
            is_one = self._visible.is_one(fact.object, other.object)
            if fact.predicate in SINGLE_VALUED or other.predicate in SINGLE_VALUED:
                values = self.names(other.object)
                is_one = is_one or any(
                    same_value(fact.predicate, a, b) for a in things for b in values
                )
                told = gist(other.statement, {*names, *values, *things})
                return is_alike and is_one and not says_more(fact.predicate, new_told, told)
            return new == gist(other.statement, names)

        known = {**self._standing(fact.subject), **written}.values()
        for other in sorted(known, key=lambda other: (len(other.statement), other.id)):
            is_as_late = self._is_later(other) == self._is_later(fact)
            if other.session == here and is_as_late and is_same(other) and self.holds(other):
                return other
        return None

    def copies(self, fact: Fact) -> list[Fact]:
        """The visible rows, of any Session, that hold and say a fact in the same words."""
        known, norm = self._visible.history(fact.subject, fact.predicate), normalise(fact.statement)
        return [each for each in known if normalise(each.statement) == norm and self.holds(each)]

    def names(self, node: str, called: Iterable[str] = ()) -> set[str]:
        """What a node is called, normalised, with what this change calls it."""
        if node not in self._called:
            self._called[node] = self._visible.norms(node)
        is_one = self._visible.is_one
        written = (n.norm for n in self._changes.all(Name) if is_one(n.node, node))
        names = self._called[node].union(written, map(normalise, called))
        return names | kin_words(names)

    def _standing(self, subject: str) -> dict[str, Fact]:
        """What this Session knew about a node before this change."""
        if subject not in self._known:
            self._known[subject] = {
                row.id: row
                for node in sorted(self._visible.nodes(subject))
                for row in self._visible.rows.find(Fact, session=self._visible.here.id, a=node)
            }
        return self._known[subject]

    def place(self, fact: Fact, replaces: Sequence[Fact], object: Iterable[str] = ()) -> Fact:
        """A new fact with what it replaces; over at once if something newer stands.

        What is to come replaces at once what was to come in its place, the rest on its day; a
        stay that ends replaces nothing by itself, as one goes back to where one lives. What was to
        come already is noted to replace the new fact on its day.
        ``object`` are names of what it is about, about to be written.
        """
        older = {old.id for old in [*replaces, *self._ending(fact)] if self.may_replace(fact, old)}
        if fact.is_over(self._now):
            return replace(fact, supersedes=tuple(sorted(older)))
        same: list[Fact] = []
        rivals: list[Fact] = []
        if fact.predicate in SINGLE_VALUED and fact.valid_to is None:
            standing = self._visible.history(fact.subject, fact.predicate)
            known = {**{row.id: row for row in standing}, **self._written(fact.subject)}
            is_one = self._visible.is_one
            for other in known.values():
                if other.predicate == fact.predicate and other.valid_to is None:
                    (same if is_one(other.object, fact.object) else rivals).append(other)
            if fact.predicate == "lives_in":
                rivals = self._homes_of_one_kind(rivals, self.names(fact.object, object))
        begun = [other for other in rivals if not self._is_later(other)]
        newer = [o for o in begun if _is_newer(o, fact) and self.may_replace(o, fact)]
        if not older and any(o.status == Status.ACTIVE and self.holds(o) for o in newer):
            return replace(fact, valid_to=fact.said_at)
        older |= {old.id for old in rivals if _is_newer(fact, old) and self.may_replace(fact, old)}
        if not self._is_later(fact):  # what was to come has come true
            older |= {o.id for o in same if self._is_later(o) and self.may_replace(fact, o)}
        for other in rivals:  # what was to come already ends it on its day
            is_next = self._is_later(other) and _is_newer(other, fact)
            if is_next and other.session == fact.session and self.may_replace(other, fact):
                self._changes.put(replace(other, awaits=(*other.awaits, fact.id)))
        coming = [old for old in replaces if old.id in older and self._is_later(old)]
        if fact.valid_to is None:  # what is put off, or true earlier, ends what it was to end
            older.update(*(old.awaits for old in coming if old.predicate == fact.predicate))
        now = older & {old.id for old in coming} if self._is_later(fact) else older
        replaced, awaited = (tuple(sorted(ids)[:_MAX_REPLACED]) for ids in (now, older - now))
        return replace(fact, supersedes=replaced, awaits=awaited)

    def _ending(self, fact: Fact) -> list[Fact]:
        """The very same without an end, if a day was told on which it ends or ended."""
        end, is_one = fact.valid_to, self._visible.is_one
        if end in (None, fact.said_at) or fact.predicate in {*PASSING, *TASKS, "lives_in", "did"}:
            return []
        known = self._visible.history(fact.subject, fact.predicate)
        same = [old for old in known if old.valid_to is None and is_one(old.object, fact.object)]
        return [old for old in same if (old.valid_from or -inf) < end]

    def _homes_of_one_kind(self, homes: list[Fact], new: set[str]) -> list[Fact]:
        """Homes of which only one can be: a dorm may be in the town that is known already.

        Who moves to another place leaves all of them.
        """
        places = [home for home in homes if not is_home(self.names(home.object))]
        if is_home(new):
            return [home for home in homes if home not in places]
        return homes if places else []

    def _is_later(self, fact: Fact) -> bool:
        return fact.valid_from is not None and fact.valid_from > self._now

    def may_replace(self, new: Fact, old: Fact) -> bool:
        """Whether ``new`` has a say about ``old``.

        Somebody's own word replaces any about them; others replace only what they said.
        """
        is_one = self._visible.is_one
        if not is_one(new.subject, old.subject) or new.id == old.id:
            return False
        if is_entity(old.subject) or not old.speaker or is_one(new.speaker, old.subject):
            return True
        return is_one(new.speaker, old.speaker)


def ended(
    fact: Fact,
    session: str,
    speaker: str,
    evidence: Sequence[Message],
    now: float,
    copies: Iterable[Fact],
    until: float | None = None,
) -> Fact:
    """The row of ``session`` that says that ``fact`` and its copies no longer hold."""
    over = repeated(fact, session, speaker, evidence, now)
    end = until if until and until > (fact.valid_from or 0.0) else over.said_at
    id = stable_id("f", session, fact.id, "ended", str(evidence[0].id))
    gone = tuple(sorted({fact.id, *(copy.id for copy in copies)}))
    return replace(over, id=id, valid_to=end, awaits=(), supersedes=gone)


def repeated(
    fact: Fact, session: str, speaker: str, evidence: Sequence[Message], now: float
) -> Fact:
    """The row of ``session`` for what was repeated there and is known from elsewhere."""
    first = min(evidence, key=lambda m: m.id)
    about = fact.subject, fact.predicate, fact.object, fact.statement
    return replace(
        told_anew(fact, speaker, first.at, now),
        id=fact_id(session, *about, evidence[0].id),
        session=session,
        pinned=False,
        supersedes=(),
        evidence=tuple(m.id for m in evidence[:MAX_EVIDENCE]),
    )


def _is_newer(new: Fact, old: Fact) -> bool:
    if new.valid_from is None or old.valid_from is None:
        return new.valid_from is not None
    return (new.valid_from, new.said_at) > (old.valid_from, old.said_at)


def gist(statement: str, names: Iterable[str] = ()) -> str:
    """A sentence in which every name (normalised) of what it is about reads the same."""
    text = normalise(statement).rstrip(_ENDS)
    for name in sorted({*names}, key=lambda name: (-len(name), name)):
        if len(name) >= _SHORTEST and name.isascii():
            text = re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", "\x1f", text)
        elif len(name) >= _SHORTEST:
            text = text.replace(name, "\x1f")
    return text


def moves(new: Fact, old: Fact, *, is_meant: bool) -> bool:
    """Whether a fact says the same of another day, or of a longer time.

    Another day than the one that is still to come is so only if that is meant to be replaced.
    """
    longer = new.predicate in PASSING and (old.valid_to or inf) < (new.valid_to or 0.0)
    another = new.due != old.due and (is_meant or (old.due or 0.0) <= new.said_at)
    begins, began = new.valid_from or 0.0, old.valid_from or 0.0
    is_moved = is_meant and begins != began and min(begins, began) > new.said_at
    return longer or is_moved or (new.due is not None and another)


def says_more(predicate: str, new: str, old: str) -> bool:
    """Whether a sentence about a value tells what another one does not, by gists."""
    if predicate in LITERAL:
        return False
    told, spoken = _tells(old), _tells(new)
    return len(spoken - told) >= MORE or any(word.isascii() for word in spoken - told)


def _tells(gist: str) -> set[str]:
    """Words and Chinese characters that carry meaning beside that something is so."""
    words = (word for word in terms(gist) if word.isascii() and len(word) > 1)
    return {*words, *characters(gist)} - _is_so()


def same_value(predicate: str, new: str, old: str) -> bool:
    """Whether a value of a predicate that has one value says nothing but an older one.

    A place that is a part of the older one's name (杭州 or 浙江 after 浙江杭州) is no other
    place, nor a birthday without the year another day; the reverse says more, and is another
    value.
    """
    find = _VALUES.get(predicate)
    if not (find and new and old):
        return False
    one, other = find(new), find(old)
    if predicate in ("lives_in", "from"):
        return one == other or _is_part(one, other)
    return bool(one) and (one == other or (one[0] == "-" and other.endswith(one)))


def is_home(names: Iterable[str]) -> bool:
    """Whether names (normalised) are those of a home that is no place by name."""
    return any(_HOME.fullmatch(name) for name in names)


def _age(text: str) -> str:
    norm = arabic(normalise(text))
    found = re.findall(r"\d+", norm)
    return found[0] if len(found) == 1 and not _VAGUE.search(norm) else norm


def _place(text: str) -> str:
    return _RANK.sub("", normalise(text).replace(" ", "").rstrip(_ENDS))


def _is_part(one: str, other: str) -> bool:
    """Whether one place is an end of another one's name that says where that is."""
    begins, ends = other.startswith(one), other.endswith(one)
    if min(len(one), len(other) - len(one)) < _SHORTEST or not _HAN.search(one):
        return False
    return ends or (begins and other[-1] not in _STREETS)


_VALUES: dict[str, Callable[[str], str]] = {
    "age": _age,
    "birthday": birthday,
    "lives_in": _place,
    "from": _place,
}
