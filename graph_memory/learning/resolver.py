"""Resolution of claims into rows: what of a model's answer becomes memory. Pure.

A fact rests on a message that a person wrote; the bot's lines prove its promises only. What
is told again is strengthened, what no longer holds replaced by a row that says so: what a
row states is never altered, as people may see it who were not there when it changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from ..context import Context
from ..dates import end_of, extent, precision
from ..model import (
    BOT,
    LITERAL,
    SYMMETRIC,
    TASKS,
    Batch,
    Entity,
    EntityType,
    Episode,
    Fact,
    Message,
    Status,
    User,
    is_entity,
)
from ..privacy.scope import in_confidence
from ..retention import DAY, RESTATED, USED, initial_half_life, used
from ..store import Rows
from ..store.rows import retold
from ..text import is_chinese, normalise, one_line
from .attribution import ends
from .batching import ChangeBuilder
from .dedup import MAX_EVIDENCE, FactHistory, ended, fact_id, moves, repeated
from .entities import LABEL, EntityResolver, Node
from .parse import Extraction, FactClaim
from .prompt import PromptContext

_UNDATED = frozenset({"is_named", "age", "birthday", "from"})
"""Their date is not when they began to be true."""
_NO_VALUE = frozenset({"", "生日", "年龄", "岁数", "birthday", "age"})
"""What a model calls the kind of a value; the value itself is in the statement."""


def resolve(
    rows: Rows,
    batch: Batch,
    extraction: Extraction,
    known: PromptContext,
    context: Context,
    now: float,
) -> ChangeBuilder:
    """The rows that an answer about a batch makes, all in the batch's Session.

    Args:
        rows: As they stand now; ``known`` may have been gathered from older ones.
        known: What the model was shown.
        now: When the facts are recorded.
    """
    work = _Resolution(rows, batch, extraction, known, context, now)
    for claim in sorted(extraction.facts, key=lambda c: min(c.evidence, default=0)):
        work.learn(claim)
    work.name(extraction)
    work.summarise(extraction)
    if extraction.known:
        work.follow_marks(extraction)
    return work.changes


class _Resolution:
    """One answer on its way into rows, which :attr:`changes` collects."""

    def __init__(
        self,
        rows: Rows,
        batch: Batch,
        extraction: Extraction,
        known: PromptContext,
        context: Context,
        now: float,
    ) -> None:
        self.changes = ChangeBuilder(rows)
        self._visible = visible = context.learnable(rows, batch.session)
        self._batch = batch
        self._session = batch.session
        self._known = known
        self._context = context
        self._now = now
        self._nodes = EntityResolver(visible, batch, known, extraction.entities)
        self._humans = [m for m in batch.messages if m.is_human]
        self._kept = {m.id for m in batch.messages if in_confidence(m)}
        cited = {n for claim in extraction.facts if claim.secret for n in claim.evidence}
        marked = {m.id for n, m in enumerate(batch.messages, 1) if n in cited}
        self._secret = self._kept | marked
        self._history = FactHistory(visible, self.changes, now)
        self._touched: set[str] = set()
        self._mentioned: set[str] = set()

    # ---------------------------------------------------------------- claims

    def learn(self, claim: FactClaim) -> None:
        """Enter a claim: a new fact, one that is told again, or one that is over."""
        plain, said = self._nodes.plain, claim.statement
        claim = replace(claim, subject=plain(claim.subject, said), object=plain(claim.object, said))
        evidence = self._evidence(claim)
        meant = self._meant(claim, evidence) if evidence else None
        if meant is None or (claim.predicate == "is_named" and self._is_on_card(claim, meant[0])):
            return
        subject, object, speaker = meant
        if speaker == BOT:
            claim = replace(claim, predicate="promised")
        fact = self._fact(claim, subject, object, speaker, evidence)
        denied = self._denied(evidence) if self._known.denied else set()
        replaces = self._replaced(claim, fact, evidence) if claim.replaces else []
        if denied and not replaces and not claim.past:
            replaces = self._meant_by(fact, denied)
        same = self._history.same(fact, subject.names, object.names)
        if same and moves(fact, same, is_meant=same.id in {old.id for old in replaces}):
            replaces, same = [*replaces, same], None
        if same is None:
            placed = self._history.place(fact, replaces, object.names)
            corrects = not denied.isdisjoint(placed.supersedes)
            self._write(replace(placed, corrects=corrects), subject, object)
        elif not claim.past:
            self._strengthen(same, RESTATED, evidence)
            for old in replaces:  # what stands in its place was known already
                if normalise(old.statement) != normalise(same.statement):
                    self._end(old, [m for m in evidence if self._may_end(m, old)])
        elif self._history.may_replace(fact, same):
            copies, here = self._history.copies(same), self._session.id
            over = ended(same, here, fact.speaker, evidence, self._now, copies, fact.valid_to)
            self._write(over, subject, object)
        if fact.predicate == "is_named" and (speaker == subject.id or is_entity(subject.id)):
            text = self._nodes.text(claim.object)
            if any(normalise(text) in normalise(message.text) for message in evidence):
                self._call(subject.id, text, fact.said_at)

    def _denied(self, said: Iterable[Message]) -> set[str]:
        """Ids of the facts that the bot spoke from and that some messages deny."""
        ids = {message.id for message in said}
        messages, denied = self._batch.messages, self._known.denied
        return {fact for fact, number in denied.items() if messages[number - 1].id in ids}

    def _meant_by(self, fact: Fact, denied: set[str]) -> list[Fact]:
        """The denied fact that a fact is put in place of: the only one of its kind."""
        visible = self._visible
        found = [
            f for f in map(visible.fact, sorted(denied)) if f and f.predicate == fact.predicate
        ]
        kind = [old for old in found if visible.is_one(old.subject, fact.subject)]
        return kind if len(kind) == 1 else []

    def _is_on_card(self, claim: FactClaim, subject: Node) -> bool:
        """Whether a claim says of somebody the name that they bear anyway."""
        person = self._known.people.get(self._known.label(subject.id))
        name = normalise(self._nodes.text(claim.object))
        return person is not None and normalise(person.name) == name

    def _evidence(self, claim: FactClaim) -> list[Message]:
        """The messages that a claim rests on: by people, if it rests on any of theirs."""
        messages = self._batch.messages
        cited = [messages[n - 1] for n in sorted(set(claim.evidence)) if 0 < n <= len(messages)]
        cited = [m for m in cited if not self._visible.rows.is_forgotten(m)]
        return self._nodes.bearing(claim.statement, [m for m in cited if m.is_human] or cited)

    def _meant(self, claim: FactClaim, evidence: list[Message]) -> tuple[Node, Node, str] | None:
        """Subject, object and whose word a claim is; ``None`` if it is of nobody."""
        subject, speaker = self._nodes.subject(claim, evidence)
        if subject is None:
            return None
        if speaker == BOT and (subject.id != self._nodes.bot.id or claim.predicate not in TASKS):
            return None
        topic = self._nodes.topic(self._plain(claim.statement))
        if claim.predicate in LITERAL:
            text = self._nodes.text(claim.object)
            object = topic if normalise(text) in _NO_VALUE else self._nodes.topic(text)
        else:
            known = claim.object and self._nodes.find(claim.object, evidence[0], is_object=True)
            object = known or topic
        if is_entity(subject.id) and not is_entity(object.id):
            if claim.predicate in SYMMETRIC:
                subject, object = object, subject
            else:  # entities are related to entities only; the statement keeps the name
                object = topic
        if object.id == subject.id:  # a place by the name that it is said to have
            object = topic
        return None if object.id == subject.id else (subject, object, speaker)

    def _fact(
        self, claim: FactClaim, subject: Node, object: Node, speaker: str, evidence: list[Message]
    ) -> Fact:
        said, here = min(m.at for m in evidence), self._session.id
        statement = self._plain(claim.statement)
        return Fact(
            id=fact_id(here, subject.id, claim.predicate, object.id, statement, evidence[0].id),
            session=here,
            subject=subject.id,
            predicate=claim.predicate,
            object=object.id,
            statement=statement,
            keywords=claim.keywords,
            speaker=speaker,
            said_at=said,
            recorded_at=self._now,
            last_used=said,
            half_life=initial_half_life(claim.importance),
            importance=claim.importance,
            **self._validity(claim, said),
            evidence=tuple(m.id for m in evidence[:MAX_EVIDENCE]),
            hearsay=claim.hearsay,
            confidential=claim.secret,
        )

    def _validity(self, claim: FactClaim, said: float) -> dict[str, Any]:
        """When a claim is true, as exactly as was said, and by when what it tells is due."""
        period = extent(claim.date, self._context.zone)
        start, end = period if period and claim.predicate not in _UNDATED else (inf, -inf)
        over = end_of(claim.date, self._context.zone) or -inf
        vague = precision(claim.date) if start < inf else ""
        is_over = -inf < over <= said and claim.predicate not in _UNDATED | TASKS | {"did"}
        if claim.past or is_over:
            begun = {"valid_from": start, "precision": vague} if start < said else {}
            is_told = -inf < over < said and not over <= start < said
            return {**begun, "valid_to": over if is_told else said}
        if claim.predicate in TASKS:
            due = max(over, end)
            return {"valid_from": said, "due": due if due > said else None}
        lasting = {}
        if over > said and claim.predicate not in _UNDATED:
            lasting = {"valid_to": over}
        if start == inf or said < start <= said + DAY:
            return {"valid_from": said, **lasting}
        # Of a year or month that goes on nobody knows more than that it was so by now.
        since = said if start <= said < end else start
        return {"valid_from": since, "precision": vague, **lasting}

    def name(self, extraction: Extraction) -> None:
        """Note what people call each other, and entities that they named."""
        for person, text, said in self._nodes.nicknames:
            self.changes.name(self._session.id, person, text, said.at, given=True)
        for claim in extraction.entities:
            if claim.id.upper() in self._known.people:
                continue
            message = self._nodes.first_said(claim.name)
            node = self._nodes.claimed(claim, message) if message else None
            if message and node and is_entity(node.id):
                self._anchor(node, message.at)

    def summarise(self, extraction: Extraction) -> None:
        """Let the episodes be summed up; what a group reads must tell no secret.

        If there are not as many summaries, nobody knows of which each tells, and a digest of
        what was said stands for it.
        """
        ids, summaries = list(self._known.episodes.values()), extraction.summaries
        is_clear = len(ids) == len(summaries)
        if not is_clear:
            summaries = summaries[:1] * len(ids)
        for id, summary in zip(ids, summaries, strict=False):
            episode = self._visible.rows.get(Episode, id)
            if episode is None or not summary:
                continue
            if not is_clear:
                whole = replace(episode, summary=summary)
                summary = retold(self._visible.rows, whole, lambda _: False).summary
            first, last = episode.first_message, episode.last_message
            is_kept = episode.confidential or any(first <= each <= last for each in self._secret)
            if not (is_kept and self._session.is_group):
                text = self._plain(summary)
                self.changes.put(replace(episode, summary=text, confidential=is_kept))

    def _plain(self, text: str) -> str:
        """``text`` with names where the model left labels."""

        def name(found: re.Match[str]) -> str:
            names = self._nodes.called(found[0]) or found
            return names[0] or ("有人" if is_chinese(text) else "somebody")

        return one_line(LABEL.sub(name, text), 300)

    # ----------------------------------------------------------------- marks

    def follow_marks(self, extraction: Extraction) -> None:
        """End, restate and use the known facts that the answer says so of."""
        for fact, message in self._marked(extraction.ended):
            if message and self._may_end(message, fact):
                self._end(fact, [message])
        for fact, message in self._marked(extraction.restated):
            self._restate(fact, [message] if message else [])
        for fact in self._shown(extraction.used):
            if fact.status == Status.ACTIVE:
                self._strengthen(fact, USED, ())

    def _marked(self, marks: Mapping[int, int]) -> Iterable[tuple[Fact, Message | None]]:
        """Known facts that marks name, and the person's message that each mark rests on.

        If it names none, that is what was said last by the only person who spoke.
        """
        is_alone = len({m.sender for m in self._humans}) == 1
        last = self._humans[-1] if is_alone else None
        for number, said in marks.items():
            cited = (
                self._batch.messages[said - 1] if 0 < said <= len(self._batch.messages) else last
            )
            for fact in self._shown([number]):
                yield fact, cited if cited and cited in self._humans else None

    def _shown(self, numbers: Iterable[int]) -> list[Fact]:
        """Known facts by the numbers they were shown under, as they stand now."""
        ids = (self._known.facts[n].id for n in numbers if n in self._known.facts)
        found = ((id, self._visible.fact(id)) for id in dict.fromkeys(ids))
        return [self.changes.get(Fact, id) or fact for id, fact in found if fact is not None]

    def _end(self, fact: Fact, said: Iterable[Message]) -> None:
        """Write that a known fact is over, if any of those who said so has a say."""
        told = [message for message in said if self._has_a_say(message.sender, fact)][:1]
        if told and self._history.holds(fact):
            whose = self._whose(fact, told) or fact.speaker
            copies = self._history.copies(fact)
            over = ended(fact, self._session.id, whose, told, self._now, copies)
            is_denied = fact.id in self._known.denied and fact.id in self._denied(told)
            self._retell(replace(over, corrects=is_denied))

    def _replaced(self, claim: FactClaim, new: Fact, said: Sequence[Message]) -> list[Fact]:
        """Known facts in whose place a fact is; what was so ends the very same instead."""
        marked, is_one = self._shown(claim.replaces), self._visible.is_one
        for old in marked:
            is_same = old.predicate == new.predicate and is_one(old.object, new.object)
            if not is_one(old.subject, new.subject):  # a new owner, say
                if not claim.past:
                    self._end(old, [m for m in said if self._is_about(m, old)])
            elif claim.past and is_same:
                self._end(old, [m for m in said if self._may_end(m, old)])
        return [] if claim.past else marked

    def _may_end(self, message: Message, fact: Fact) -> bool:
        """Whether a message may be taken to say that a fact is over.

        In private nobody else can have put it into their mouth.
        """
        return not self._session.is_group or self._is_about(message, fact)

    def _has_a_say(self, sender: str, fact: Fact) -> bool:
        """Whether somebody may end a fact.

        Nobody else may end one's own word, or what the bot promised to somebody.
        """
        is_one, whose = self._visible.is_one, fact.subject
        may = not is_one(fact.speaker, whose)
        if fact.speaker == BOT and (line := self._visible.rows.message(fact.evidence[0])):
            asked = self._visible.rows.answered(line)
            may, whose = asked is None, asked.sender if asked else ""
        return may or is_one(sender, whose)

    def _is_about(self, message: Message, fact: Fact) -> bool:
        """Whether a message is about a fact, or says that what was just said is over."""
        before = [each.text for each in self._batch.messages if each.id < message.id]
        known = self._history.names(fact.subject)
        return ends(fact.statement, message, "".join(before[-1:]), known)

    def _restate(self, fact: Fact, evidence: list[Message]) -> None:
        """Strengthen what this Session knows; note what it had from elsewhere."""
        if not self._history.holds(fact):
            return
        same = fact if fact.session == self._session.id else self._history.same(fact)
        if same is not None:
            self._strengthen(same, RESTATED, evidence)
        elif evidence:
            whose = self._whose(fact, evidence)
            self._retell(repeated(fact, self._session.id, whose, evidence, self._now))

    def _whose(self, fact: Fact, evidence: list[Message]) -> str:
        """Whose word the statement of a known fact is in some messages."""
        return self._nodes.speaker(fact.statement, self._visible.canonical(fact.subject), evidence)

    # ---------------------------------------------------------------- writing

    def _retell(self, fact: Fact) -> None:
        """Write a new row of what was known before."""
        self._write(fact, self._nodes.by_id(fact.subject), self._nodes.by_id(fact.object))

    def _write(self, fact: Fact, subject: Node, object: Node) -> None:
        if fact.id in self._touched:
            return
        self._touched.add(fact.id)
        # What is retold of a merged node is told of the survivor.
        fact = self._kept_too(replace(fact, subject=subject.id, object=object.id))
        self._anchor(subject, fact.said_at, fact.confidential)
        self._anchor(object, fact.said_at, fact.confidential)
        self.changes.put(fact)

    def _strengthen(self, fact: Fact, weight: float, evidence: Sequence[Message]) -> None:
        """Count a use, once for each batch; a restated fact comes back from the archive."""
        if fact.id in self._touched:
            return
        self._touched.add(fact.id)
        at = max((m.at for m in evidence or self._batch.messages), default=fact.last_used)
        stronger = used(fact, at, weight, self._context.settings.time_decay_rate)
        if weight == RESTATED:
            claimed = fact.claimed or fact.evidence[:1]
            added = [id for id in fact.evidence if id not in claimed]
            told = self._nodes.bearing(fact.statement, evidence)
            added += [m.id for m in told if m.id not in fact.evidence]
            added = added[-max(1, MAX_EVIDENCE - len(claimed)) :]
            stronger = replace(
                stronger,
                status=Status.ACTIVE.value,
                archived_at=None,
                evidence=(*claimed, *added),
                added=tuple(added),
            )
            subject = self._visible.canonical(fact.subject)
            if evidence and self._nodes.vouches(fact.statement, subject, evidence):
                # Who confirms it of themselves vouches for it, whoever brought it up.
                stronger = replace(stronger, speaker=fact.subject, hearsay=False)
        self.changes.put(self._kept_too(stronger))

    def _kept_too(self, fact: Fact) -> Fact:
        """A fact, confidential if a message that it rests on is."""
        is_kept = fact.confidential or not self._kept.isdisjoint(fact.evidence)
        return replace(fact, confidential=is_kept)

    def _anchor(self, node: Node, at: float, is_kept: bool = False) -> None:
        """Write a node and what it is called here, once for each batch.

        ``is_kept``: It comes up in confidence, unless it is called so elsewhere.
        """
        if node.id in self._mentioned:
            return
        self._mentioned.add(node.id)
        if not is_entity(node.id):
            self.changes.put(User(node.id))
            if node.id in {m.sender for m in self._humans}:
                return  # their names are recorded when they speak
        else:
            self.changes.put(Entity(node.id))
            type = node.type or EntityType.TOPIC
            said = [message for name in node.names for message in self._saying(name)]
            kept = self._is_kept(said, is_kept)
            self.changes.mention(self._session.id, node.id, type, at, confidential=kept)
        for name in node.names:
            self._call(node.id, name, at, is_kept)

    def _call(self, node: str, name: str, at: float, is_kept: bool = False) -> None:
        """Write what a node is called here.

        A thing that has a name goes by another one once two people say it.
        """
        said, is_thing = self._saying(name), is_entity(node)
        is_lone = is_thing and self._session.is_group and self._is_lone(node, name, said)
        kept = is_thing and self._is_kept(said, is_kept)
        at = said[0].at if said else at
        self.changes.name(self._session.id, node, name, at, given=is_lone, confidential=kept)

    def _saying(self, name: str) -> list[Message]:
        """The messages of people that say a name."""
        norm = normalise(name)
        return [each for each in self._humans if norm and norm in normalise(each.text)]

    def _is_kept(self, said: Collection[Message], is_kept: bool) -> bool:
        return all(each.id in self._secret for each in said) if said else is_kept

    def _is_lone(self, node: str, name: str, said: Iterable[Message]) -> bool:
        """Whether nobody but one person calls a thing so, which has a name already."""
        known, norm = self._visible.called(node), normalise(name)
        if known is None or known.norm == norm:
            return False
        facts = self._visible.facts_of(node, MAX_EVIDENCE)
        told = {fact.speaker for fact in facts if norm in normalise(fact.statement)}
        return len(told.union(message.sender for message in said)) < 2
