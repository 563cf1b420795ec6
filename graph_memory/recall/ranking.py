"""Ranking of the visible documents for the questions of a message.

``score`` puts memories in order; ``evidence`` says whether there is anything to remind of.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import reduce
from itertools import chain, zip_longest
from math import inf
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..dates import Span, midnight, spans
from ..inference import Vectors
from ..kinship import FORMER_PARTNERS, PARTNERS, is_one, is_said, kin_meant, of
from ..model import (
    GAP,
    PREDICATES,
    SYMMETRIC,
    TAKING_TURNS,
    TASKS,
    Fact,
    Message,
    is_entity,
    session_id,
)
from ..privacy.scope import Rank
from ..retention import strength
from ..text import is_chinese, normalise, significance
from .documents import Document, Kind, Numbers, Source, message_key
from .index import Index
from .intents import (
    ENOUGH,
    SMALL_TALK,
    Likeness,
    Topic,
    includes_all,
    likeliest,
    predicates_like,
    requested,
    wants_memory,
)
from .lexical import index_terms, is_character, search_terms
from .query import (
    Question,
    RecallOptions,
    Subquery,
    asks,
    asks_for_all,
    is_small_talk,
    is_task,
    may_ask,
    predicates_of,
    recalls,
    talk_asked_for,
)
from .visible import Citation, VisibleSet
from .weights import (
    ALIKE,
    BESIDE,
    CLOSE,
    COVERED,
    COVERED_BLINDLY,
    EVIDENCE,
    FEW,
    K1,
    LATELY,
    LEAST,
    LONG,
    MINOR,
    NEAR,
    SAME,
    SEVERAL,
    STRONG,
    WEAK,
    WORDS,
    B,
)

Scores = NDArray[np.float64]

FAMILIAR, FAMILIAR_SHARE = 256, 1 / 16
"""Documents, and their share, above which a single character is not worth looking for."""
CANDIDATES = 40
"""Documents weighed for a question; more if more may be chosen."""
EQUALS = 64
"""Newest candidates as good as the last one that are weighed as well."""
SIGNALS = ("words", "meaning", "near", "retention")
NOWHERE = -1
"""Position of a record, which is no visible document."""
_UNTIL = re.compile(r"[到至~～—–-]|\b(?:to|till?|until|through|and)\b", re.IGNORECASE)
"""Between the ends of a stretch of time."""
_OF_ONESELF = {"is_named", "age"}
"""Predicates of which a question about something of theirs means that, and not the asker."""
BARRED = -1.0
"""Evidence of what is not to be shown, however well it matches."""

DIGITS = 6
"""Digits after the point of a score; further ones depend on the order of summing."""


class Candidate(NamedTuple):
    """A memory with its score.

    Attributes:
        part: Number of the question that it answers.
        evidence: 1 is enough to remind of it; comparable between queries.
        signals: Parts of the score, see ``SIGNALS``; empty for records.
        replaced: The visible fact that replaces it.
        bears: Whether it is a condition that the request for advice bears on.
    """

    position: int
    document: Document
    part: int
    score: float
    evidence: float
    foreign: bool
    signals: tuple[float, ...]
    replaced: Fact | None = None
    bears: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first; own before foreign ones, questions taking turns.

    Attributes:
        named: Nodes that the question names, with the name.
        needed: Evidence that the best memory for each question needs.
        cited: Citations of the candidates.
        many, past: Numbers of the questions for all of a kind, and for how it was.
    """

    candidates: list[Candidate] = field(default_factory=list)
    visible: int = 0
    named: dict[str, str] = field(default_factory=dict)
    needed: tuple[float, ...] = ()
    cited: list[Citation] = field(default_factory=list)
    many: frozenset[int] = frozenset()
    past: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Surroundings of a search; ``rate`` is ``time_decay_rate``."""

    now: float
    zone: tzinfo
    rate: float = 1.0
    language: str = "zh"


def reranked(ranking: Ranking, scores: Mapping[str, float]) -> Ranking:
    """A ranking whose candidates trade places by the scores that some have, by key.

    Places keep their score and evidence, so as much is shown as would be anyway.
    """
    candidates = list(ranking.candidates)
    places: dict[int, list[int]] = defaultdict(list)
    for place, each in enumerate(candidates):
        if each.document.key in scores and each.evidence >= 0:
            places[each.part].append(place)
    for some in places.values():
        better = sorted(some, key=lambda place: -scores[ranking.candidates[place].document.key])
        for place, old in zip(some, better, strict=True):
            slot, moved = ranking.candidates[place], ranking.candidates[old]
            candidates[place] = moved._replace(score=slot.score, evidence=slot.evidence)
    return replace(ranking, candidates=candidates)


def rank(
    index: Index,
    visible: VisibleSet,
    question: Question,
    options: RecallOptions,
    context: SearchContext,
) -> Ranking:
    """Order what is visible by how well it answers."""
    postings = VisiblePostings(index, visible)
    vectors: Sequence[Vectors | None] = question.vectors or [None] * len(question.parts)
    likenesses = [_likeness(index, vector) for vector in vectors]
    meant = _referents(index, visible, question, postings, likenesses[0])
    named = meant.named
    records = _records(index, visible, question, context)
    if not len(visible):
        return Ranking(records, named=named)
    base = np.zeros(len(visible))
    if options.profile:
        own = index.documents.of(question.asker.accounts, visible.numbers)
        base[own] = WEAK / (1 if question.is_personal else SEVERAL)
    called = _called(index, visible, question, named)
    base[called] += EVIDENCE
    talk = _talk(index, visible, question, options, context)
    times = [spans(part.text, context.now, context.zone) or talk for part in question.parts]
    is_whole = not records and (bool(talk) or asks_for_all(question.text))
    known = meant, base, called, postings, likenesses, is_whole
    ranker = _Ranker(index, visible, question, options, context, *known)
    lists = [ranker.answer(number, at) for number, at in enumerate(times)]
    candidates = sorted([*records, *interleave(lists)], key=lambda c: c.foreign)
    needed = tuple(
        _needed(question, part, at, context, named)
        for part, at in zip(question.parts, times, strict=True)
    )
    if options.brief and is_small_talk(question.said):
        needed = (inf,) * len(needed)
    # Of fewer, whether the examples are known may depend on what the asker does not see.
    elif options.brief and len(visible) >= ENOUGH:
        is_about = [
            bool(named)
            or part.is_for_known
            or number in ranker.answered
            or bool(at and asks(part.text))
            for number, (part, at) in enumerate(zip(question.parts, times, strict=True))
        ]
        needed = _by_meaning(likenesses, needed, is_about)
    # The last is that of the records.
    many = {n for n, part in enumerate(question.parts) if part.many} | {len(question.parts)}
    past = frozenset(n for n, part in enumerate(question.parts) if part.former)
    return Ranking(candidates, len(visible), named, needed, ranker.cited, frozenset(many), past)


def _talk(
    index: Index,
    visible: VisibleSet,
    question: Question,
    options: RecallOptions,
    context: SearchContext,
) -> list[Span]:
    """When this talk, or the last one, was, if a question is for that.

    Of this talk its last lines are meant, of the last one its day, up to its end.
    """
    documents, here = index.documents, session_id(question.asker.circle, question.asker.persona)
    asked = talk_asked_for(question.text)
    if not asked or here not in documents.by_session:
        return []
    numbers = documents.by_session[here].numbers()
    is_said = (visible.positions[numbers] >= 0) & (documents.kind[numbers] == Kind.MESSAGE)
    is_said &= numbers != documents.number(message_key(options.message or 0))
    at = np.sort(documents.since[numbers[is_said]])
    pauses = np.diff(at, append=context.now) >= GAP
    if asked == "last":
        ends: list[float] = at[pauses].tolist()
        return [(midnight(end, context.zone), end + 1) for end in ends[-1:]]
    *_, talk = np.split(at, np.flatnonzero(pauses[:-1]) + 1)
    lines = talk[-SEVERAL:].tolist()
    return [(lines[0], lines[-1] + 1)] if lines else []


def _called(
    index: Index, visible: VisibleSet, question: Question, named: Iterable[str]
) -> NDArray[np.bool_]:
    """Messages of users whom a question calls by name, on which no visible fact rests."""
    if not asks(question.text):
        return np.zeros(len(visible), np.bool_)
    users = {one for one in _aliases(index, named) if not is_entity(one)}
    called: NDArray[np.bool_] = index.documents.of(users, visible.numbers)
    called |= index.documents.under(question.text, visible.numbers)
    called[visible.messages] = False
    called &= visible.kind == Kind.MESSAGE
    return called


@dataclass(frozen=True, slots=True)
class Referents:
    """Whom a question is about.

    Attributes:
        named: Nodes that it names, with the name; relatives by whose they are as well.
        nodes: Those whose facts may answer it: not those of whom only a relative is meant.
        whose: Of whom a relative is meant.
        of_kin: Documents with a word for that relative, or their name.
        telling: Positions of the facts that tell who the relative is.
        is_own: Whether it is about the asker, not about a relative or a friend.
    """

    named: dict[str, str]
    nodes: set[str]
    whose: set[str] = field(default_factory=set)
    of_kin: NDArray[np.bool_] | None = None
    telling: list[int] = field(default_factory=list)
    is_own: bool = False


def _referents(
    index: Index,
    visible: VisibleSet,
    question: Question,
    postings: VisiblePostings,
    likeness: Likeness | None,
) -> Referents:
    """Whom a question is about.

    Relatives are named by whose they are as well (我弟, 小红's mum). Whoever is nobody's in
    particular (带女儿野餐) is the asker's. A question about a relative of whom anything is known
    is about whose they are as well; other talk is not.
    """
    named = index.named(question.text, visible.views)
    kin = kin_meant(normalise(question.text))
    if not kin:
        is_own = question.is_personal and all(map(is_entity, named))
        nodes = _aliases(index, named)
        if is_own or _is_askers(visible, question, named, likeness):
            nodes |= question.asker.accounts
        return Referents(named, nodes, is_own=is_own and not question.is_of_theirs)
    people = {node for node, name in named.items() if is_said(question.text, [name], kin)}
    if not people:
        people = {node for node in named if not is_entity(node)}
    if question.is_personal or not people:
        people |= question.asker.accounts
    people = _aliases(index, people)
    names = {name for node in people for name in index.names_of(node, visible.views)}
    spoken = [of(name, word) for name in names for word in kin]
    found, whole = index.named("\n".join(spoken), visible.views), set(map(normalise, spoken))
    relatives = {node: name for node, name in found.items() if normalise(name) in whole}
    theirs, of_kin = np.zeros((2, len(visible)), np.bool_)
    for node in people:
        theirs[visible.positions[index.touching(node, visible)]] = True
    for word in (each for each in kin if len(each) > 1):
        of_kin[_saying(postings, word)] = True
    for name in names:
        theirs[_saying(postings, name)] = True
    telling = list[int]()
    told = theirs & (of_kin | index.documents.saying(("partner",), visible.numbers))
    for position in np.flatnonzero(told & (visible.kind == Kind.FACT)).tolist():
        fact = cast(Fact, index.documents[int(visible.numbers[position])].source)
        told_of = _relatives(index, visible, fact, people, names, kin)
        if told_of is not None:
            telling.append(position)
            known = (node for node in told_of if index.knows(node, visible.views))
            relatives |= {node: index.called(node, visible.views) for node in known}
        elif fact.predicate == "partner":
            of_kin[position] = False  # it is another one
    is_known = bool(relatives) or bool((theirs & of_kin).any())
    for name in relatives.values():
        of_kin[_saying(postings, name)] = True
    meant = (found if is_known and asks(question.text) else {}) | relatives | named
    whose = people & meant.keys()
    return Referents(meant, _aliases(index, meant.keys() - whose), whose, of_kin, telling)


def _relatives(
    index: Index,
    visible: VisibleSet,
    fact: Fact,
    people: set[str],
    names: set[str],
    kin: frozenset[str],
) -> set[str] | None:
    """Relatives of some people that a fact tells of; ``None`` if it tells of none."""
    nodes = {fact.subject, fact.object}
    is_of_partner = fact.predicate == "partner" and not kin.isdisjoint(PARTNERS | FORMER_PARTNERS)
    if is_of_partner and nodes & people:
        newer = index.replaced_by(fact.id, visible.views)
        is_over = newer is not None or fact.valid_to is not None
        is_over = is_over or is_said(fact.statement, names, FORMER_PARTNERS)
        return None if kin.isdisjoint(FORMER_PARTNERS if is_over else PARTNERS) else nodes - people
    if not is_said(fact.statement, names, kin):
        return None
    if fact.predicate in SYMMETRIC:
        return nodes - people
    own = index.names_of(fact.subject, visible.views) if fact.subject not in people else ()
    return {fact.subject} if own and is_one(fact.statement, own, names, kin) else None


def _saying(postings: VisiblePostings, name: str) -> Numbers:
    """Positions of the visible documents that have all words of a name."""
    found = [postings.having(term) for term in search_terms(name)]
    return reduce(np.intersect1d, found) if found else np.arange(0)


def _is_askers(
    visible: VisibleSet, question: Question, named: Mapping[str, str], likeness: Likeness | None
) -> bool:
    """Whether who names nobody in a private chat asks of themselves (按揭啥时候是个头)."""
    if named or question.is_personal or question.is_addressed or question.asker.is_group:
        return False
    if question.parts[0].is_for_note:
        return True
    if len(visible) < ENOUGH or any(part.is_for_somebody for part in question.parts):
        return False
    return likeness is not None and wants_memory(likeness) is True


def _aliases(index: Index, nodes: Iterable[str]) -> set[str]:
    """Nodes, and those that are the same as one of them."""
    return {one for node in nodes for one in index.identities.nodes(node)}


@dataclass(slots=True)
class _Ranker:
    """Ranks what is visible for each question of one message."""

    index: Index
    visible: VisibleSet
    question: Question
    options: RecallOptions
    context: SearchContext
    meant: Referents
    base: Scores
    called: NDArray[np.bool_]
    postings: VisiblePostings
    likenesses: Sequence[Likeness | None]
    is_whole: bool
    cited: list[Citation] = field(default_factory=list)
    bearing: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)

    def answer(self, number: int, times: list[Span]) -> list[Candidate]:
        """Candidates for one question, best first."""
        index, visible, question = self.index, self.visible, self.question
        part = question.parts[number]
        if self.meant.telling:
            part = self._with_kin(part)
        vector = question.vectors[number] if question.vectors else None
        likeness = self.likenesses[number]
        is_asking = may_ask(part.text) or not self.options.brief
        # Of fewer, whether the examples are known may depend on what the asker does not see.
        if is_asking and likeness is not None and len(visible) >= ENOUGH:
            part = replace(part, predicates=part.predicates | predicates_like(likeness))
        lexical, covered = lexical_scores(self.postings, part.terms, part.words)
        meant = meanings(index, visible, vector, covered)
        close = lean_on_neighbours(meant, visible) if meant is not None else None
        foreign = index.documents.chinese[visible.numbers] != is_chinese(part.text)
        relevance = lift_conversations(fuse(lexical, close, foreign), visible)
        relevance += standing(index, visible, covered, meant)
        relevance = second_step(index, visible, self.postings, part.terms, relevance, close)
        if part.many:
            relevance = vote(index, visible, self.postings, part.terms, relevance)
        boost, mentioned = nearby(index, visible, relevance, self.meant.named)
        mentioned[self.called] = _naming(int(np.count_nonzero(self.called)))
        earlier = self._favour(number, part, boost, mentioned)
        near = timely(index, visible, times)
        if times:
            boost += near
            inside = near >= STRONG
            # Of a time that is asked about as a whole everything tells, whatever there is.
            share = 1.0 if self.is_whole else FEW / max(FEW, int(np.count_nonzero(inside)))
            mentioned[inside] = np.maximum(mentioned[inside], share)
        relevance = relevance + boost + self.base
        self._settle(relevance, earlier)
        order = _most_relevant(index, visible, relevance, max(CANDIDATES, self.options.limit))
        followed = add_successors(index, visible, order, relevance)
        ranked = len(order)
        self._trust_unlearned(number, part, order, mentioned)
        # Messages can be shown as the facts that rest on them, in fewer words.
        stating = sorted({fact for fact, _ in followed.cited}.difference(order))
        followed.replaced.update(_outdated(index, visible, stating, []))
        order += stating
        self.cited += followed.cited
        coverage = covered[order]
        closeness = close[order] if close is not None else None
        evidence = _evidence(coverage, closeness)
        if question.is_addressed:
            evidence /= 2
        evidence += mentioned[order] + np.where(near[order] < MINOR, 0.0, MINOR)
        for old, new in followed.heirs:
            at = order.index(new)
            evidence[at] = max(evidence[at], evidence[order.index(old)])
        shown = np.zeros(len(order)) if closeness is None else closeness
        signals = (coverage, shown, boost[order])
        if times and self.options.brief and asks(part.text):
            self._bar_other_times(part, times, order, near, evidence)
        candidates = self._candidates(
            number, order, relevance, evidence, signals, followed.replaced
        )
        best_of, others = _sorted(candidates[:ranked]), _sorted(candidates[ranked:])
        return diversify(index, visible, part, best_of) + others

    def _favour(
        self, number: int, part: Subquery, boost: Scores, mentioned: Scores
    ) -> dict[int, int]:
        """Lift facts of the kind that is asked for, and conditions that advice bears on.

        Returns the positions of what something later took the place of, with that.
        """
        meant: list[tuple[NDArray[np.bool_], float]] = []
        earlier: dict[int, int] = {}
        if part.predicates and (fitting := self._fitting(part)).any():
            self.answered.add(number)
            if not (part.former or part.many):
                fitting, earlier = self._holding(fitting)
            # What is one of many tells little, unless all are asked for.
            count = FEW if part.many else int(np.count_nonzero(fitting))
            meant.append((fitting, FEW / max(FEW, count)))
        if self.options.brief and (bearing := self._bearing(number, part)).any():
            self.bearing[number] = bearing
            meant.append((bearing, 1.0))
        for some, share in meant:
            boost[some] += STRONG * share
            mentioned[some] = np.maximum(mentioned[some], share)
        return earlier

    def _trust_unlearned(
        self, number: int, part: Subquery, order: list[int], mentioned: Scores
    ) -> None:
        """Trust messages of which nothing is learned, if they are like what is asked for.

        As facts of the kind are trusted (:meth:`_favour`); their order stays. Only the best are
        looked at: each takes a tenth of a millisecond.
        """
        vectors, documents = self.index.vectors, self.index.documents
        is_of_kind = part.predicates and not part.predicates.issuperset(PREDICATES)
        if not is_of_kind or vectors is None or len(self.visible) < ENOUGH:
            return
        numbers = self.visible.numbers[order]
        own = documents.of(self.meant.nodes, numbers) & (documents.kind[numbers] == Kind.MESSAGE)
        own &= ~np.isin(order, self.visible.messages)
        near: dict[int, float] = {}
        for place in np.flatnonzero(own)[:SEVERAL].tolist():
            likeness = _likeness(self.index, vectors.vector(int(numbers[place])))
            if likeness is not None:
                told, like = likeliest(likeness)
                if like >= CLOSE and not told.isdisjoint(part.predicates):
                    near[order[place]] = like
        telling = [at for at, like in near.items() if like >= NEAR * max(near.values())]
        if telling:
            self.answered.add(number)
            share = FEW / max(FEW, len(telling))
            mentioned[telling] = np.maximum(mentioned[telling], share)

    def _settle(self, relevance: Scores, earlier: Mapping[int, int]) -> None:
        """Put the earlier after the later, and who somebody is after what is asked."""
        for old, new in earlier.items():
            relevance[new] = max(relevance[new], relevance[old])
        relevance[[*earlier]] *= 1 - MINOR
        telling = self.meant.telling
        if telling and len(rest := np.delete(relevance, telling)):
            relevance[telling] = np.minimum(relevance[telling], (1 - WEAK) * rest.max())

    def _with_kin(self, part: Subquery) -> Subquery:
        """A question with the names of the relatives that it is about."""
        named = self.meant.named
        names = " ".join(named[node] for node in sorted(named.keys() - self.meant.whose))
        return replace(part, terms=dict.fromkeys(search_terms(names), 1.0) | dict(part.terms))

    def _fitting(self, part: Subquery) -> NDArray[np.bool_]:
        """Facts of the kind that is asked for, about whom the question is about.

        Of whose relative it is about, those that tell of one; of anybody, if that is asked.
        """
        documents, numbers, meant = self.index.documents, self.visible.numbers, self.meant
        fitting: NDArray[np.bool_] = documents.of(meant.nodes, numbers)
        if not meant.nodes and part.is_for_somebody:  # as it says, not as it is like
            return documents.saying(predicates_of(part.text), numbers)
        if part.is_for_somebody:  # 谁欠我钱: it is of another, and about whom is asked
            for node in meant.nodes:
                fitting[self.visible.positions[self.index.touching(node, self.visible)]] = True
        if meant.of_kin is not None:
            fitting |= documents.of(meant.whose, numbers) & meant.of_kin
        wanted = part.predicates - (_OF_ONESELF if self.question.is_of_theirs else set())
        learned = fitting & documents.saying(wanted, numbers)
        if learned.any() or not part.predicates.issuperset(PREDICATES):
            fitting = learned  # else nothing is learned of what is known
        fitting[meant.telling] = True
        return fitting

    def _holding(self, fitting: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], dict[int, int]]:
        """What fits and holds, if anything does, and what takes the place of what fits.

        The latest job takes the place of earlier ones, by positions. Nobody may have said that
        an earlier one is over, and both may hold.
        """
        index, now, holding = self.index, self.context.now, fitting.copy()
        taken: dict[tuple[str, str], list[tuple[float, int, str]]] = defaultdict(list)
        for position in np.flatnonzero(fitting & (self.visible.kind == Kind.FACT)).tolist():
            fact = cast(Fact, index.documents[int(self.visible.numbers[position])].source)
            if index.replaced_by(fact.id, self.visible.views):
                continue
            since = fact.said_at if fact.valid_from is None else fact.valid_from
            if fact.is_over(now):
                holding[position] = False
            elif fact.predicate in TAKING_TURNS and since <= now:
                subject, thing = map(index.identities.canonical, (fact.subject, fact.object))
                taken[subject, fact.predicate].append((since, position, thing))
        earlier: dict[int, int] = {}
        for turns in taken.values():
            _, latest, thing = max(turns)
            earlier |= {position: latest for _, position, other in turns if other != thing}
        holding[[*earlier]] = False
        return (holding if holding.any() else fitting), earlier

    def _is_beside(self, position: int, fact: Fact) -> bool:
        """Whether a fact is about another than is meant: the asker, or a relative."""
        meant, subject = self.meant, fact.subject
        if meant.is_own:
            return not is_entity(subject) and subject not in self.question.asker.accounts
        if meant.of_kin is None or not meant.nodes or subject not in meant.whose:
            return False
        return fact.object not in meant.nodes and not meant.of_kin[position]

    def _requested(self, number: int, part: Subquery) -> Topic:
        """What a question wants advice on."""
        if is_small_talk(self.question.said):
            return Topic.NONE
        return requested(part.text, self.likenesses[number])

    def _bearing(self, number: int, part: Subquery) -> NDArray[np.bool_]:
        """Conditions of whoever is meant that a request for advice bears on.

        In a group that asks for all, these are the people of whom any are known.
        """
        documents, numbers = self.index.documents, self.visible.numbers
        topics = documents.bears_on[numbers]
        if not (self.question.asker.is_group and includes_all(part.text)):
            people = _aliases(self.index, self.meant.named)
            if self.question.is_personal or all(map(is_entity, self.meant.named)):
                people |= self.question.asker.accounts
            topics[~documents.of(people, numbers)] = 0
        if topics.any():  # of most people none are known, and it need not be asked for
            topics &= int(self._requested(number, part))
        bearing: NDArray[np.bool_] = topics != 0
        for position in np.flatnonzero(bearing).tolist():
            fact = cast(Fact, self.index.documents[int(numbers[position])].source)
            bearing[position] = not fact.is_over(self.context.now)
        return bearing

    def _bar_other_times(
        self, part: Subquery, times: list[Span], order: list[int], near: Scores, evidence: Scores
    ) -> None:
        """Bar what is of another time than is asked for, however well it matches."""
        for place in np.flatnonzero((near[order] < MINOR) & (evidence >= 0)).tolist():
            if self._is_away(part, order[place], times, is_after=near[order[place]] > 0):
                evidence[place] = BARRED

    def _is_away(self, part: Subquery, position: int, times: list[Span], *, is_after: bool) -> bool:
        """Whether what was said at no time that is asked for is not about one either.

        What was said soon after, and names no time, may be.
        """
        document = self.index.documents[int(self.visible.numbers[position])]
        is_of_talk = recalls(part.text)
        if isinstance(document.source, Fact) and document.source.predicate == "birthday":
            return False  # it comes again each year
        named = [] if is_of_talk else spans(document.text, document.at, self.context.zone)
        if named:
            if len(named) == 2 and _UNTIL.search(document.text):  # a stretch: 2020年到2023年
                named = [(min(named)[0], max(named)[1])]
            return not any(a < end and start < b for a, b in named for start, end in times)
        if is_after:
            return False
        is_over = all(start <= self.context.now for start, _ in times)
        return is_over and (is_of_talk or not isinstance(document.source, Fact))

    def _candidates(
        self,
        number: int,
        order: list[int],
        relevance: Scores,
        evidence: Scores,
        signals: tuple[Scores, ...],
        replaced: dict[int, Fact],
    ) -> list[Candidate]:
        """Candidates with their scores."""
        found: list[Candidate] = []
        bearing = self.bearing.get(number)
        documents, numbers = self.index.documents, self.visible.numbers[order].tolist()
        former, heirs = self.question.parts[number].former, {new.id for new in replaced.values()}
        for place, (position, at) in enumerate(zip(order, numbers, strict=True)):
            document = documents[at]
            newer = replaced.get(position)
            factor = kept = 1.0
            if isinstance(document.source, Fact):
                kept = strength(document.source, self.context.now, self.context.rate)
                factor -= MINOR * (1 - kept)
                if self._is_beside(position, document.source):
                    factor *= 1 - MINOR
            elif isinstance(document.source, Message):
                told = documents.telling(at, document.source.text)
                factor -= MINOR * (1 - told)
                if self.options.brief:
                    evidence[place] = evidence[place] * factor if told else BARRED
            if document.source.id in heirs if former else newer is not None:
                factor *= 1 - MINOR
            if not former and self.options.brief and _is_history(document.source, self.context.now):
                evidence[place] = BARRED
            score = float(relevance[position]) * factor
            found.append(
                Candidate(
                    position,
                    document,
                    number,
                    round(score, DIGITS),
                    float(evidence[place]),
                    bool(self.visible.foreign[position]),
                    (*(float(signal[place]) for signal in signals), kept),
                    newer,
                    newer is None and bearing is not None and bool(bearing[position]),
                )
            )
        return found


def _is_history(source: Source, now: float) -> bool:
    """Whether it is a plan that was settled long ago."""
    if not isinstance(source, Fact):
        return False
    return source.predicate in TASKS and source.is_over(now - LATELY)


def _needed(
    question: Question,
    part: Subquery,
    times: list[Span],
    context: SearchContext,
    named: Mapping[str, str],
) -> float:
    """Evidence that the best memory for a question needs, or nothing is reminded of."""
    if _is_earnest(question, part, times, context):
        return BESIDE
    is_anybodys = is_task(part.text) and not (named or times or question.is_personal)
    return float(FEW) if is_anybodys and not question.vectors else 1.0


def _by_meaning(
    likenesses: Iterable[Likeness | None], needed: Iterable[float], is_about: Iterable[bool]
) -> tuple[float, ...]:
    """Evidence that is needed by what means a question, or is like small talk.

    Whoever names somebody, or asks for what is known, makes no small talk.
    """

    def enough(evidence: float, likeness: Likeness | None, is_about: bool) -> float:
        is_wanted = None if likeness is None else wants_memory(likeness)
        if is_wanted:
            return min(evidence, BESIDE)
        return evidence if is_wanted is None or is_about else max(evidence, FEW)

    return tuple(map(enough, needed, likenesses, is_about))


def _likeness(index: Index, vector: Vectors | None) -> Likeness | None:
    """Cosine of a vector with those of the examples that are known, if any."""
    examples = index.examples
    if vector is None or examples is None or examples.count < SMALL_TALK:
        return None
    return examples.cosines(np.arange(examples.count), vector)


def _is_earnest(
    question: Question, part: Subquery, times: list[Span], context: SearchContext
) -> bool:
    """Whether a question is for all of a kind, for something of one's own or the past."""
    if part.many or question.is_addressed or not asks(part.text):
        return part.many
    is_own = question.is_personal or part.is_for_known
    return is_own or any(end <= context.now for _, end in times)


def _sorted(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.foreign, -c.score, -c.document.at, c.document.key))


def _records(
    index: Index, visible: VisibleSet, question: Question, context: SearchContext
) -> list[Candidate]:
    """Summaries of the time that is asked about as a whole, as a question of its own."""
    found = index.summaries.asked(question.text, visible.views, context.now, context.zone)
    return [
        Candidate(
            NOWHERE,
            Document.of(record),
            len(question.parts),
            1.0,
            1.0,
            standing is Rank.FOREIGN,
            (),
        )
        for record, standing in found
    ]


def nearby(
    index: Index, visible: VisibleSet, relevance: Scores, named: dict[str, str]
) -> tuple[Scores, Scores]:
    """Boost and evidence of facts about named nodes and nodes of the best facts."""
    boost, mentioned = np.zeros(len(visible)), np.zeros(len(visible))
    for node in dict.fromkeys(index.distinct(named).values()):
        facts = visible.positions[index.touching(node, visible)]
        boost[facts] += WEAK / (1 + math.log1p(len(facts)))
        mentioned[facts] = np.maximum(mentioned[facts], _naming(len(facts)))
    for node, weight in sorted(_reached(index, visible, relevance, named).items()):
        facts = visible.positions[index.touching(node, visible)]
        boost[facts] += WEAK * weight / (1 + math.log1p(len(facts)))
    return boost, mentioned


def _naming(count: int) -> float:
    """Evidence, 0…1, of each of ``count`` documents of somebody who is named."""
    return min(1.0, FEW / (1 + math.log1p(count)))


def _reached(
    index: Index, visible: VisibleSet, relevance: Scores, named: dict[str, str]
) -> dict[str, float]:
    """Entities of the best facts, but not the named ones, with the best relevance."""
    reached: dict[str, float] = {}
    passed = {index.identities.canonical(node) for node in named}
    for position in best(relevance, FEW):
        source = index.documents[int(visible.numbers[position])].source
        if isinstance(source, Fact):
            for node in (source.subject, source.object):
                if not is_entity(node) or index.identities.canonical(node) in passed:
                    continue
                if index.knows(node, visible.views):
                    reached[node] = max(reached.get(node, 0.0), float(relevance[position]))
    best_of: dict[str, float] = {}
    for node, first in index.distinct(reached).items():
        best_of[first] = max(best_of.get(first, 0.0), reached[node])
    return best_of


def timely(index: Index, visible: VisibleSet, times: Sequence[Span]) -> Scores:
    """Boost of what was said, or is so or due, at some times, by position."""
    boost = np.zeros(len(visible))
    at = index.documents.since[visible.numbers]
    due = index.documents.due[visible.numbers]
    for start, end in times:
        inside = ((start <= at) & (at < end)) | ((start <= due) & (due < end))
        after = (end <= at) & (at < end + LATELY)
        np.maximum(boost, np.where(inside, STRONG, np.where(after, STRONG / 2, 0.0)), out=boost)
    return boost


@dataclass(frozen=True, slots=True)
class Successors:
    """Facts that replace some documents, and the citations of all of them.

    Attributes:
        heirs: Positions ``(old, new)``: new has, in this order, the evidence of old.
    """

    replaced: dict[int, Fact] = field(default_factory=dict)
    heirs: list[tuple[int, int]] = field(default_factory=list)
    cited: list[Citation] = field(default_factory=list)


def add_successors(
    index: Index, visible: VisibleSet, order: list[int], relevance: Scores
) -> Successors:
    """Add successors to ``order``, as relevant as what they replace."""
    found = Successors()
    known, left = set(order), list(order)
    while left:
        cited = visible.citations(left)
        found.cited.extend(cited)
        outdated = _outdated(index, visible, left, cited)
        found.replaced.update(outdated)
        left = []
        # Oldest first: relevance is handed on along a chain of replacements.
        for old, newer in sorted(outdated.items(), key=lambda o: (o[1].recorded_at, o[1].id)):
            number = index.documents.number(newer.id)
            new = int(visible.positions[number]) if number is not None else -1
            if new < 0:
                continue
            relevance[new] = max(relevance[new], relevance[old])
            found.heirs.append((old, new))
            if new not in known:
                known.add(new)
                order.append(new)
                left.append(new)
    return found


def _outdated(
    index: Index, visible: VisibleSet, positions: list[int], cited: list[Citation]
) -> dict[int, Fact]:
    """Successors by position; a message has one if all visible facts resting on it do."""
    found: dict[int, Fact] = {}
    standing: set[int] = set()
    pairs = [(position, position) for position in positions] + cited
    numbers = visible.numbers[[fact for fact, _ in pairs]].tolist()
    keys = [index.documents[number].key for number in numbers]
    for (fact, document), key in zip(pairs, keys, strict=True):
        newer = index.replaced_by(key, visible.views)
        if newer is None:
            if fact != document:
                standing.add(document)
        elif document not in found or newer.id > found[document].id:
            found[document] = newer
    return {position: newer for position, newer in found.items() if position not in standing}


def vote(
    index: Index,
    visible: VisibleSet,
    postings: VisiblePostings,
    query: Mapping[str, float],
    relevance: Scores,
) -> Scores:
    """Relevance, raised for words of the question that the best hits have in common.

    "How many people were born in June?" finds those of June first; "born" lifts the others.
    """
    order = best(relevance, SEVERAL)[:SEVERAL]
    most = float(relevance[order[0]])
    votes: Counter[str] = Counter()
    for hit in order:
        votes.update(set(index_terms(index.documents[int(visible.numbers[hit])].searched)))
    shared = np.zeros(len(visible))
    total = 0.0
    for term in query:
        if (count := votes[term]) < max(2, MINOR * len(order)):
            continue
        rare = significance(term) * idf(len(visible), postings.occurrences(term))
        np.add.at(shared, postings.having(term), rare * count / len(order))
        total += rare * count / len(order)
    if total <= 0 or most <= 0:
        return relevance
    voted: Scores = relevance + STRONG * most * shared / total
    return voted


def diversify(
    index: Index, visible: VisibleSet, part: Subquery, ranked: list[Candidate]
) -> list[Candidate]:
    """Maximal-marginal-relevance order of candidates, which come best first.

    In a question for all of a kind, what says little that is new comes later as well.
    """
    if not ranked:
        return []
    numbers = [int(visible.numbers[candidate.position]) for candidate in ranked]
    left = np.array([candidate.score for candidate in ranked])
    most = float(left.max())
    penalties = np.zeros((len(numbers), len(numbers)))
    if index.vectors and (alike := index.vectors.pairwise(numbers)) is not None:
        scaled = (alike.astype(np.float64) - ALIKE) / (SAME - ALIKE)
        penalties = WEAK * np.minimum(np.maximum(scaled, 0.0), 1.0) * most
    costs_others = ((penalties > 0).sum(1) > 1).tolist()
    own = _OwnWords(index, part, numbers) if part.many else None
    loss = np.zeros(len(ranked))
    worth = left.copy()
    order: list[Candidate] = []
    for _ in ranked:
        place = int(worth.argmax())
        order.append(ranked[place])
        left[place] = worth[place] = -np.inf
        if costs_others[place]:
            np.maximum(loss, penalties[place], out=loss)
            np.subtract(left, loss, out=worth)
        if own:
            worth = left - loss - MINOR * most * own.said_after(place)
    return order


class _OwnWords:
    """Words of candidates that are not in the question and have not been said."""

    def __init__(self, index: Index, part: Subquery, numbers: list[int]) -> None:
        documents = [set(index_terms(index.documents[number].text)) for number in numbers]
        counts = Counter(term for document in documents for term in document)
        columns = {term: at for at, term in enumerate(sorted(counts.keys() - part.terms.keys()))}
        rare = np.array([significance(term) * idf(len(numbers), counts[term]) for term in columns])
        self._worths = np.zeros((len(numbers), len(columns)))
        for row, document in enumerate(documents):
            own = [columns[term] for term in document if term in columns]
            self._worths[row, own] = rare[own]
        self._left = self._worths.sum(1)
        self._enough = max(float(np.median(self._left[:SEVERAL])), 1e-9)

    def said_after(self, place: int) -> Scores:
        """By candidate: the share, 0…1, that was said once one more is chosen."""
        said = np.flatnonzero(self._worths[place])
        self._left -= self._worths[:, said].sum(1)
        self._worths[:, said] = 0
        return 1 - np.minimum(self._left / self._enough, 1.0)


def interleave(lists: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Candidates of several questions in turns, everything once."""
    merged: dict[int, Candidate] = {}
    for candidate in chain.from_iterable(zip_longest(*lists)):
        if candidate is not None:
            merged.setdefault(candidate.position, candidate)
    return list(merged.values())


def _evidence(coverage: Scores, close: Scores | None) -> Scores:
    if close is None:
        return coverage / COVERED_BLINDLY
    by_meaning = np.maximum(close, 0.0) / CLOSE
    by_words = np.minimum(coverage / COVERED, FEW)
    by_words *= (1 + np.minimum(by_meaning, 1.0)) / 2
    evidence: Scores = by_words + by_meaning
    return evidence


def _most_relevant(index: Index, visible: VisibleSet, relevance: Scores, count: int) -> list[int]:
    """Positions of the most relevant documents, in order; of equals the newest."""
    order = best(relevance, count)
    order = order[: np.count_nonzero(relevance[order] > 0)]
    if len(order) <= count + EQUALS:
        return order
    least = relevance[order[count - 1]]
    better = [position for position in order if relevance[position] > least]
    equal = (relevance == least).nonzero()[0]
    room = count + EQUALS - len(better)
    age = -index.documents.since[visible.numbers[equal]]
    newest = equal[age <= np.partition(age, room - 1)[room - 1]].tolist()

    def older(position: int) -> tuple[float, str]:
        document = index.documents[int(visible.numbers[position])]
        return -document.at, document.key

    return better + heapq.nsmallest(room, newest, key=older)


def lexical_scores(
    postings: VisiblePostings, query: Mapping[str, float], said: Iterable[str]
) -> tuple[Scores, Scores]:
    """BM25 and coverage of every visible document, for weighted terms of a query.

    Coverage, the share 0…1 of the terms ``said``, is comparable between queries and memories.
    """
    count = postings.count
    coverage = np.zeros(count)
    total = 0.0
    postings.look_up(query)
    for term in said:
        occurrences = postings.occurrences(term)
        says = term_weight(term, count, occurrences)
        total += says
        if occurrences:
            found = postings.find(term)
            np.add.at(coverage, found.positions, says * np.minimum(1.0, found.frequencies))
    return bm25(postings, query), coverage / max(total, FEW * idf(LEAST, 0))


def bm25(postings: VisiblePostings, query: Mapping[str, float]) -> Scores:
    """BM25 of every visible document, by position."""
    scores = np.zeros(postings.count)
    for term, weight in query.items():
        if postings.occurrences(term):
            found = postings.find(term)
            # In half the time of +=, though here no position comes twice.
            np.add.at(scores, found.positions, weight * found.gains)
    return scores


def idf(count: int, occurrences: int) -> float:
    """Inverse document frequency of a term that ``occurrences`` of ``count`` have."""
    return math.log(1 + (count - occurrences + 0.5) / (occurrences + 0.5))


def term_weight(term: str, count: int, occurrences: int) -> float:
    """Weight of a term that ``occurrences`` of ``count`` documents have."""
    return significance(term) * idf(max(count, LEAST), occurrences)


@dataclass(frozen=True, slots=True)
class TermHits:
    """Documents that have a term in context, its frequency and share of their BM25."""

    positions: Numbers
    frequencies: Scores
    gains: Scores


class VisiblePostings:
    """Postings of the visible documents, in context; made for one search."""

    def __init__(self, index: Index, visible: VisibleSet) -> None:
        self._index = index
        self._visible = visible
        self.count = len(visible)
        self._found: dict[str, TermHits] = {}
        self._owners: dict[str, tuple[Numbers, NDArray[np.integer[Any]]]] = {}
        lengths = visible.lengths
        mean = max(1.0, float(lengths.sum()) / max(1, len(visible)))
        self._damping = K1 * (1 - B + B * lengths / mean)

    def occurrences(self, term: str) -> int:
        return len(self.having(term))

    def having(self, term: str) -> Numbers:
        """Positions of the visible documents that have a term themselves."""
        if term not in self._owners:
            self.look_up((term,))
        return self._owners[term][0]

    def find(self, term: str) -> TermHits:
        """Where a term is, among the visible documents."""
        found = self._found.get(term)
        if found is None:
            positions, frequencies = self.having(term), self._owners[term][1]
            if is_character(term):  # found in many places already, and costly to look for
                if len(positions) > max(FAMILIAR, self.count * FAMILIAR_SHARE):
                    positions, frequencies = positions[:0], frequencies[:0]
                hit, frequency = positions, frequencies.astype(np.float64)
            else:
                hit, frequency = self._visible.conversations.spread(positions, frequencies)
            gains = frequency * (K1 + 1)
            gains /= frequency + self._damping.take(hit)
            gains *= idf(self.count, len(positions))
            found = self._found[term] = TermHits(hit, frequency, gains)
        return found

    def look_up(self, terms: Iterable[str]) -> None:
        """Look up many terms at once, which is faster than one by one."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._owners]
        if not wanted:
            return
        numbers, frequencies, ends = self._index.inverted.postings(wanted)
        positions = self._visible.positions.take(numbers)
        seen = (positions >= 0).nonzero()[0]
        if len(seen) < len(positions):
            ends = np.searchsorted(seen, ends)
            positions, frequencies = positions.take(seen), frequencies.take(seen)
        start = 0
        for term, end in zip(wanted, ends.tolist(), strict=True):
            self._owners[term] = positions[start:end], frequencies[start:end]
            start = end


def meanings(
    index: Index, visible: VisibleSet, vector: Vectors | None, covered: Scores
) -> Scores | None:
    """Cosine of every visible document above the model's floor.

    Without a vector, as of what is new, coverage by words stands for it. A message has that of
    the closer of itself and the facts that rest on it.
    """
    vectors = index.vectors
    if vectors is None or vector is None or not len(visible):
        return None
    own = vectors.cosines(visible.numbers, vector).astype(np.float64)
    own -= vectors.floor
    unknown = np.isnan(own).nonzero()[0]
    if len(unknown) == len(own):
        return None
    own[unknown] = CLOSE * np.minimum(covered[unknown] / COVERED_BLINDLY, 1.0)
    if len(visible.facts):
        np.maximum.at(own, visible.messages, own.take(visible.facts))
    return own


def lean_on_neighbours(meant: Scores, visible: VisibleSet) -> Scores:
    """Meaning of every visible document in context.

    A message means a little of what its neighbours mean.
    """
    leaning = meant.copy()
    members = visible.conversations.members
    values = meant.take(members)
    leans = MINOR * (visible.kind[members] == Kind.MESSAGE)
    leaning[members] = (1 - leans) * values + leans * visible.conversations.around(values)
    return leaning


def standing(index: Index, visible: VisibleSet, covered: Scores, meant: Scores | None) -> Scores:
    """Evidence of every visible document by itself, above the mean.

    Relevance compares documents; this does not. It is how much of the question a
    document says, how close it is, how much it says at all, and how close the question is that
    it answers.
    """
    numbers = visible.numbers
    length = index.documents.length[numbers].astype(np.float64)
    speaks: Scores = covered / COVERED
    speaks += length / (length + LONG)
    if meant is not None:
        own = np.maximum(meant, 0.0) / CLOSE
        speaks += own
        answers = visible.conversations.follows.nonzero()[0]
        answers = answers[index.documents.asking[numbers[answers - 1]]]
        speaks[answers] += STRONG * own[answers - 1]
    speaks -= speaks.sum() / max(len(speaks), LEAST)  # of few, all may be meant
    return EVIDENCE * speaks


def best(scores: Scores, count: int) -> list[int]:
    """Positions of the ``count`` best scores, in order; more if the last are equal."""
    if len(scores) > count:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        kept = (scores >= least).nonzero()[0]
    else:
        kept = np.arange(len(scores))
    found: list[int] = kept[np.argsort(-scores.take(kept), kind="stable")].tolist()
    return found


def fuse(lexical: Scores, close: Scores | None, foreign: NDArray[np.bool_]) -> Scores:
    """One relevance, 0…1, of words and meaning.

    What is in a ``foreign`` language has other words than the question: for them stands what
    it means.
    """
    most = float(lexical.max())
    by_words: Scores = lexical / most if most > 0 else lexical.copy()
    if close is None:
        return by_words
    low, high = min(0.0, float(close.min())), float(close.max())
    by_meaning = close - low
    if high > low:
        by_meaning /= high - low
    np.maximum(by_words, by_meaning, out=by_words, where=foreign)
    by_words *= WORDS
    by_meaning *= 1 - WORDS
    by_words += by_meaning
    return by_words


def lift_conversations(relevance: Scores, visible: VisibleSet) -> Scores:
    """Add to each score the mean of the best of its conversation (itself, if alone)."""
    lifted: Scores = relevance + MINOR * relevance
    conversations = visible.conversations
    if len(conversations.members):
        values = relevance.take(conversations.members)
        top = conversations.best(values, FEW)
        lift = MINOR * top / np.minimum(conversations.sizes, FEW)
        lifted[conversations.members] = values + conversations.of_members(lift)
    return lifted


def second_step(
    index: Index,
    visible: VisibleSet,
    postings: VisiblePostings,
    query: Mapping[str, float],
    relevance: Scores,
    close: Scores | None,
) -> Scores:
    """Add what follows from the best hits, by position; there must be a document.

    "Where does the one with the orange cat work?" finds the cat, whose sentence names 小红;
    this rare word leads to her work. A document gains with the relevance of the hit, what
    the hit leaves unsaid, the rare words they share, and how well it answers the rest, in
    words or in meaning (``close``); but it does not overtake the best hit.
    """
    order = best(relevance, FEW)[:FEW]
    most = float(relevance[order[0]])
    if most <= 0:
        return relevance
    gained = np.zeros(len(visible))
    meant = _meant(close) if close is not None else None
    texts = [index.documents[int(visible.numbers[hit])].searched for hit in order]
    says = [set(index_terms(text)) for text in texts]
    leads = [
        [
            term
            for term in set(search_terms(text)) - query.keys()
            if significance(term) == 1 and not index.inverted.is_lone(term)
        ]
        for text in texts
    ]
    postings.look_up(chain.from_iterable(leads))
    worths = {
        term: weight * term_weight(term, postings.count, postings.occurrences(term))
        for term, weight in query.items()
    }
    for hit, said, leading in zip(order, says, leads, strict=True):
        rest = {term: weight for term, weight in query.items() if term not in said}
        reach = _unsaid(worths, rest) * float(relevance[hit]) / most
        shared = _shared(postings, leading, reach) if rest else None
        if shared is None:
            continue
        answers = bm25(postings, rest)
        if (whole := float(answers.max())) > 0:
            answers *= (1.0 if meant is None else 1 - MINOR) / whole
        if meant is not None:
            answers += meant
        shared *= answers
        shared[hit] = 0.0
        np.maximum(gained, shared, out=gained)
    stepped: Scores = relevance + most * gained
    return np.where(relevance < most, _below(most, stepped), stepped)


def _below(most: float, scores: Scores) -> Scores:
    """Scores pressed below ``most``, in the same order."""
    room = WEAK * most
    over = np.maximum(scores - (most - room), 0.0)
    pressed: Scores = scores - over + over * room / (over + room)
    return pressed


def _unsaid(worths: Mapping[str, float], rest: Iterable[str]) -> float:
    """Root of the share, 0…1, of a query's weight that is in its ``rest``."""
    total = sum(worths.values())
    return math.sqrt(sum(worths[term] for term in rest) / total) if total > 0 else 0.0


def _meant(close: Scores) -> Scores:
    """Share of meaning in how well a document answers; 0 for the less close half."""
    middle, most = float(np.median(close)), float(close.max())
    if most <= middle:
        return np.zeros(len(close))
    meant: Scores = (MINOR / (most - middle)) * np.maximum(close - middle, 0.0)
    return meant


def _shared(postings: VisiblePostings, leading: list[str], whole: float) -> Scores | None:
    """Share, 0…``whole``, of a hit's rarest words that each document has."""
    count = postings.count
    most = max(FEW, count * MINOR)
    counted = sorted((postings.occurrences(term), term) for term in leading)
    bridges = [(times, term) for times, term in counted if 2 <= times <= most][:SEVERAL]
    if not bridges:
        return None
    shared = np.zeros(count)
    weights = [idf(count, occurrences) for occurrences, _ in bridges]
    unit = whole / sum(weights)
    for weight, (_, term) in zip(weights, bridges, strict=True):
        np.add.at(shared, postings.having(term), weight * unit)
    return shared
