"""Entity resolution: from what a model calls somebody to the node that is meant.

Labels first, then names as they are used in the chat window: equal, never similar. A name
that two of its users share means neither of them, but somebody who does not chat; so does
their label, but for what they say themselves and what mentions or quotes their account.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..kinship import KIN, ONLY, first_word, kin_words, of, same_kin, without_mine
from ..model import BOT, NO_PERSONA, Batch, EntityType, Message, is_entity, stable_id
from ..text import normalise, one_line, simplified, terms, words
from ..visible_rows import LearnerRows
from .attribution import MOST, bearing, corrected, share, speaker_of
from .parse import EntityClaim, FactClaim

FIRST, SECOND, NOBODY, BOT_WORDS = words(Path(__file__).with_name("anybody.txt"))
"""Words for the speaker, for whom they speak to, for nobody in particular, and for the bot."""
_GENERIC = NOBODY | FIRST | SECOND | BOT_WORDS
_NUMBERED = re.compile(r"(?:用户|使用者|发言者|说话人|群友|user|speaker)[ _#]?[0-9a-z甲乙丙丁]")
"""Nobody in particular, told apart from others."""
_USER_LABEL = re.compile(r"u\d{1,3}")
LABEL = re.compile(r"(?<![A-Za-z0-9])[UE]\d{1,3}(?![A-Za-z0-9])")
_ENTITY_LABEL = re.compile(r"e\d{1,3}")
_QUOTES = "=*`@＠\"'“”‘’「」『』《》<>[]【】()（）,，.。!！?？:：;；"


def kin(circle: str, user: str, word: str) -> str:
    """Id of somebody's mother, boss …: one for each person in each chat window."""
    return stable_id("e", f"{circle}\x1e{user}", first_word(word))


def relative(visible: LearnerRows, user: str, word: str) -> str | None:
    """Who is known as somebody's mother, boss … (one of :data:`KIN`), if anybody."""
    own = visible.canonical(kin(visible.here.circle, user, word))
    if visible.called(own) is not None:
        return own
    # By the names that nobody else in this chat window bears.
    names = (n for n in visible.norms(user) if len(visible.bearers(n, seen=True)) == 1)
    found = {
        visible.canonical(name.node)
        for called in names
        for each in same_kin(word)
        for name in visible.names(normalise(of(called, each)))
        if is_entity(name.node) and visible.is_same_circle(name.session)
    }
    return found.pop() if len(found) == 1 else None


def occurs(norm: str, text: str) -> bool:
    """Whether a normalised text has a word or name in it, and not within another word."""
    if not norm.isascii():
        return norm in text
    return re.search(rf"(?<![a-z0-9]){re.escape(norm)}(?![a-z0-9])", text) is not None


def _plain(name: str) -> str:
    return simplified(normalise(name))


def is_generic(norm: str) -> bool:
    """Whether a normalised name is a word for anybody."""
    norm = simplified(norm)
    return norm in _GENERIC or _NUMBERED.fullmatch(norm) is not None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A user (``U1``) or an entity (``E1``) under a label; users have no type.

    Attributes:
        also: What it is called besides.
    """

    node: str
    name: str
    type: EntityType | None = None
    speaks: bool = True
    also: tuple[str, ...] = ()

    def line(self, label: str) -> str:
        """How it is introduced to the model."""
        kind = f" ({self.type.value})" if self.type else ""
        names = " / ".join(name for name in (self.name, *self.also) if name)
        return f"{label} {names}".strip() + kind


@dataclass(slots=True)
class Labels:
    """People (speakers first) and things by the labels a model is shown.

    Attributes:
        bot: The node of the bot, whose label is its word in a prompt.
        heard: What people said, as far as it is shown: in the batch, before it, quoted.
    """

    people: dict[str, Labelled] = field(default_factory=dict)
    things: dict[str, Labelled] = field(default_factory=dict)
    bot: str = ""
    heard: list[Message] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """What the people are called."""
        return {name for each in self.people.values() for name in (each.name, *each.also)}

    def label(self, node: str) -> str:
        """The label of a node; empty if it has none."""
        if node and node == self.bot:
            return BOT.upper()
        items = {**self.people, **self.things}.items()
        return next((label for label, item in items if item.node == node), "")


@dataclass(frozen=True, slots=True)
class Node:
    """A node with what it is called here, the plainest name first; users have no type."""

    id: str
    names: tuple[str, ...] = ()
    type: EntityType | None = None


def bot_of(visible: LearnerRows, persona: str) -> str:
    """The node of the bot under a persona."""
    return visible.canonical(stable_id("e", f"bot:{persona}", BOT))


class EntityResolver:
    """Resolves the references of one answer to nodes.

    Attributes:
        nicknames: What people who chat are called by others (node, name, message).
    """

    def __init__(
        self, visible: LearnerRows, batch: Batch, labels: Labels, claims: Sequence[EntityClaim]
    ) -> None:
        self._visible = visible
        self._batch = batch
        self._labels = labels
        self._session = batch.session
        self._claims: dict[str, EntityClaim] = {}
        self._named_by = defaultdict[str, list[str]](list)
        for claim in claims:
            if claim.id.upper() in labels.people:
                continue  # what somebody who chats is called
            self._named_by[normalise(claim.id)].append(claim.name)
            self._claims.setdefault(normalise(claim.id), claim)
            self._claims.setdefault(normalise(claim.name), claim)
            for alias in KIN.intersection(map(_plain, claim.aliases)):
                self._claims.setdefault(alias, claim)
        self._said = normalise("\n".join(m.text for m in batch.messages if m.is_human))
        to = [one for m in batch.messages for one in m.to if one.user not in ("", BOT)]
        self._mentioned = {one.user: one.name for one in sorted(to, key=lambda one: one.name)}
        self.nicknames = list(self._nicknames(claims))
        self._by_nickname = {normalise(name): node for node, name, _ in self.nicknames}
        persona = self._session.persona
        called = "" if persona in ("", NO_PERSONA) else one_line(persona, 64)
        self.bot = Node(bot_of(visible, persona), (called or BOT.upper(),), EntityType.BOT)

    def plain(self, reference: str, statement: str = "") -> str:
        """A reference without the name beside a label (U1 张三), or with it: U1的妈妈.

        Of several things under one label that is the name which a statement has.
        """
        word = reference.strip(_QUOTES + " ")
        for name in self._named_by.get(normalise(word), [])[1:]:
            if name in statement:
                return name
        found = LABEL.search(word)
        if found is None or found[0] == word or not (names := self.called(found[0])):
            return reference
        beside = word.replace(found[0], "").strip(_QUOTES + " ")
        return found[0] if beside in names else word.replace(found[0], names[0])

    def called(self, label: str) -> tuple[str, ...]:
        """What stands under a label is called, if that is none: somebody may speak of E1."""
        item = {**self._labels.people, **self._labels.things}.get(label)
        claim = self._claims.get(normalise(label))
        known = (*item.name.split(" / "), *item.also) if item else ()
        names = (*known, claim.name, *claim.aliases) if claim else known
        said = "\n".join(m.text for m in (*self._batch.messages, *self._labels.heard))
        return () if occurs(normalise(label), normalise(said)) else names

    def find(self, reference: str, message: Message, *, is_object: bool = False) -> Node | None:
        """The node that a label, pronoun or name means in a message, if any in particular.

        Args:
            is_object: It may be a thing that reads like a label (the band U2), if somebody
                spoke of it.
        """
        speaker = message.sender
        word = normalise(reference.strip(_QUOTES + " "))
        if word == BOT or (word in BOT_WORDS and not is_object):
            return self.bot
        is_thing = is_object and occurs(word, self._said)
        if _USER_LABEL.fullmatch(word) and not is_thing:
            person = self._labels.people.get(word.upper())
            return self._labelled(person, message) if person else None
        if word in FIRST:
            return self.bot if speaker == BOT else Node(speaker)
        if word in SECOND:
            return self._spoken_to(message)
        if word in self._by_nickname:
            return self.by_id(self._by_nickname[word])
        if claim := self._claims.get(word):
            return self.claimed(claim, message)
        if _ENTITY_LABEL.fullmatch(word) and not is_thing:
            thing = self._labels.things.get(word.upper())
            return self.by_id(thing.node) if thing else None
        return self._named(reference, None, (), message)

    def subject(self, claim: FactClaim, evidence: list[Message]) -> tuple[Node | None, str]:
        """Whom a claim is about, and whose word it is; empty if nobody's."""
        person = self._labels.people.get(claim.subject.strip(_QUOTES + " ").upper())
        others = [m for m in evidence if not (person and m.sender == person.node)]
        words = set(terms(claim.statement)).difference(terms(person.name if person else ""))
        telling = [m for m in evidence if not others or words.intersection(terms(m.text))]
        own = [m for m in telling if m not in others]
        told = (own or others or evidence)[0]
        subject = self.find(claim.subject, told)
        if subject is None or not told.is_human:
            return subject, told.sender
        if self._session.owner == subject.id:
            return subject, subject.id  # nobody else can have said it
        return subject, self.speaker(claim.statement, subject.id, evidence)

    def speaker(self, statement: str, subject: str, evidence: Iterable[Message]) -> str:
        """Whose word a statement about a node is, by what was said in the batch."""
        known = self._known(subject)
        return speaker_of(statement, subject, list(evidence), self._labels.heard, known)

    def vouches(self, statement: str, subject: str, evidence: Iterable[Message]) -> bool:
        """Whether a node itself says again most of what was said about it."""
        own = [message.text for message in evidence if message.sender == subject]
        return share(statement, own, self._known(subject)) >= MOST

    def _known(self, subject: str) -> set[str]:
        return {*self._visible.norms(subject), *self._labels.names}

    def bearing(self, statement: str, cited: Sequence[Message]) -> list[Message]:
        """The cited messages that a statement rests on, and what they correct of it."""
        people = self._labels.people.values()
        names = {name for p in people for name in (p.name, *p.also)}
        before = corrected(statement, cited, self._batch.messages, names)
        left = (m for m in before if not self._visible.rows.is_forgotten(m))
        told = {m.id: m for m in (*cited, *left)}
        return bearing(statement, [told[id] for id in sorted(told)], names)

    def _labelled(self, person: Labelled, message: Message) -> Node | None:
        """The user behind a label, or somebody of the name if it was not given for them."""
        given = {message.sender, *message.mentions}
        said = normalise(message.text)
        used = [norm for norm in sorted(self._visible.norms(person.node)) if norm in said]
        own = {self._visible.canonical(person.node)}
        names = [person.name, *used]
        shared = [name for name in names if self._visible.bearers(normalise(name)) - own]
        if person.node in given or not shared:
            return self.by_id(person.node)
        return self._somebody(shared[0], EntityType.PERSON, ())

    def _spoken_to(self, message: Message) -> Node | None:
        """Whoever is 你 in a message; ``None`` if that may be one or another."""
        to = {one.user for one in message.to} - {"", message.sender}
        if not to and not self._session.is_group:
            to = {BOT}
        (user,) = to if len(to) == 1 else ("",)
        if user == BOT:
            return None if message.sender == BOT else self.bot
        return self.by_id(user) if user else None

    def claimed(self, claim: EntityClaim, message: Message) -> Node | None:
        """The node that an entity of the answer is, meant in a message."""
        thing = self._labels.things.get(claim.id.upper())
        speaker = message.sender
        aliases = tuple(self._owned(a, speaker) for a in claim.aliases if self._is_said(a))
        if thing and self._is_called(thing.node, claim):
            found = self.by_id(thing.node)
            if _plain(claim.name) in KIN and self._is_said(claim.name):
                aliases = (self._owned(claim.name, speaker), *aliases)
            return replace(found, names=(*found.names, *aliases))
        return self._named(self.plain(claim.name), claim.type, aliases, message)

    def by_id(self, id: str) -> Node:
        """A node that is known already, under the name it was last called."""
        id = self._visible.canonical(id)
        called = self._visible.called(id)
        names = (called.text,) if called else ()
        if not names and (mentioned := self._mentioned.get(id)):
            names = (mentioned,)
        if not is_entity(id):
            return Node(id, names)
        return Node(id, names, self._visible.type_of(id) or EntityType.TOPIC)

    def text(self, reference: str) -> str:
        """What a reference reads like when it is a value and no node; empty for labels."""
        word = normalise(reference.strip(_QUOTES + " "))
        if claim := self._claims.get(word):
            return claim.name
        is_label = _USER_LABEL.fullmatch(word) or _ENTITY_LABEL.fullmatch(word) or word == BOT
        return "" if is_label or is_generic(word) else reference

    def _nicknames(self, claims: Iterable[EntityClaim]) -> Iterator[tuple[str, str, Message]]:
        # Not what anybody else is called here already: a name must not be made ambiguous.
        for claim in claims:
            person = self._labels.people.get(claim.id.upper())
            for alias in (claim.name, *claim.aliases) if person else ():
                norm, said = normalise(alias), self.first_said(alias)
                if said is None or not self._is_said(alias) or _plain(alias) in KIN:
                    continue
                nodes = {self._visible.canonical(n.node) for n in self._visible.names(norm)}
                nodes |= self._visible.bearers(norm)
                if person and all(self._visible.is_one(node, person.node) for node in nodes):
                    yield person.node, alias, said

    def topic(self, text: str) -> Node:
        """A topic to hang a fact on whose object is no node of its own."""
        name = one_line(text, 32)
        id = self._visible.canonical(stable_id("e", "", normalise(name)))
        return Node(id, (name,), EntityType.TOPIC)

    def first_said(self, name: str) -> Message | None:
        """Where a person of the batch first said a name."""
        norm = normalise(name)
        for message in self._batch.messages:
            if message.is_human and norm and norm in normalise(message.text):
                return message
        return None

    # ---------------------------------------------------------------- names

    def _is_said(self, name: str) -> bool:
        norm = normalise(name)
        return len(norm) > 1 and norm in self._said and not is_generic(norm)

    def _is_called(self, node: str, claim: EntityClaim) -> bool:
        """Whether a known label was used for what it stands for."""
        wanted = {normalise(name) for name in (claim.name, *claim.aliases)}
        called, is_one = self._visible.called(node), self._visible.is_one
        return (called is not None and called.norm in wanted) or any(
            is_one(n.node, node) for norm in wanted for n in self._visible.names(norm)
        )

    def _named(
        self, text: str, type: EntityType | None, aliases: tuple[str, ...], message: Message
    ) -> Node | None:
        text = one_line(text.strip(_QUOTES + " "), 64)
        norm = normalise(text)
        if relative := self._kin(norm, message.sender):
            return self._introduced(relative, aliases, message)
        if not norm or is_generic(norm) or not any(c.isalnum() for c in norm):
            return None
        if type is None or type is EntityType.PERSON:
            if person := self._person(norm, message):
                return self.by_id(person)
            if self._visible.bearers(norm):
                type = EntityType.PERSON
        return self._somebody(text, type, aliases)

    def _somebody(self, text: str, type: EntityType | None, aliases: tuple[str, ...]) -> Node:
        """Whoever or whatever is called that and is no user; somebody new if nobody is."""
        norm = normalise(text)
        is_person = type is EntityType.PERSON
        own = stable_id("e", self._session.circle if is_person else "", norm)
        best: tuple[tuple[bool, bool, float, str], EntityType] | None = None
        for name in self._visible.names(norm):
            if not is_entity(name.node):
                continue
            is_what = self._visible.type_of(name.node) or EntityType.TOPIC
            is_somebody = is_what is EntityType.PERSON
            if type is not None and is_person != is_somebody and is_what is not EntityType.TOPIC:
                continue
            if (is_person or is_somebody) and not self._visible.is_same_circle(name.session):
                continue
            here = name.session == self._session.id
            key = (name.node == own, here, name.last_at, name.node)
            if best is None or key > best[0]:
                best = (key, is_what)
        found, is_what = (best[0][-1], best[1]) if best else (own, EntityType.TOPIC)
        if type and is_what is EntityType.TOPIC:
            is_what = type
        return Node(self._visible.canonical(found), (text, *aliases), is_what)

    def _person(self, norm: str, message: Message | None = None) -> str | None:
        """The one user of this chat window who is called that, or whom ``message`` means."""
        mentioned = {user for user, name in self._mentioned.items() if normalise(name) == norm}
        users = self._visible.bearers(norm) | mentioned
        if message and len(users) > 1:
            users &= {*message.mentions}
        seen = mentioned | self._visible.bearers(norm, seen=True)
        return users.pop() if len(users) == 1 and users <= seen else None

    def _kin(self, norm: str, speaker: str) -> Node | None:
        """Somebody's mother is a person of her own, whatever others call theirs."""
        label, norm = self._labels.label(speaker), simplified(norm)
        name = self._labels.people[label].name if label else ""
        # "张三的妈妈" said of 张三 and 我妈妈 said by him are one person.
        for person in self._labels.people.values():
            for mark in ("的", "'s ", "’s "):
                prefix = _plain(person.name) + mark
                if person.name and norm.startswith(prefix) and norm[len(prefix) :] in KIN:
                    whose = self._person(normalise(person.name))
                    whose = whose or self._somebody(person.name, EntityType.PERSON, ()).id
                    return self._kin_of(whose, person.name, norm[len(prefix) :])
        word = without_mine(norm)
        return self._kin_of(speaker, name, word) if word in KIN else None

    def _kin_of(self, user: str, name: str, word: str) -> Node:
        own = self._visible.canonical(kin(self._session.circle, user, word))
        known = relative(self._visible, user, word)
        return Node(known or own, (of(name, word),), EntityType.PERSON)

    def _owned(self, alias: str, speaker: str) -> str:
        """What somebody is called; if that is what they are to the speaker, with whose."""
        label = self._labels.label(speaker)
        word = _plain(alias)
        return of(self._labels.people[label].name, word) if word in KIN and label else alias

    def _introduced(
        self, relative: Node, aliases: tuple[str, ...], message: Message
    ) -> Node | None:
        """Somebody's colleague by a name of their own: the person known by it, if any.

        Who goes by another name is another colleague.
        """
        named = {normalise(a) for a in aliases if not kin_words([normalise(a)])}
        own = {norm for norm in self._visible.norms(relative.id) if not kin_words([norm])}
        known = self._visible.called(relative.id) is not None
        if named and not known:
            here = [n for norm in named for n in self._visible.names(norm)]
            before = {
                self._visible.canonical(n.node)
                for n in here
                if self._visible.is_same_circle(n.session)
                and is_entity(n.node)
                and self._visible.type_of(n.node) is EntityType.PERSON
            }
            if len(before) == 1:
                found = self.by_id(before.pop())
                return replace(found, names=(*found.names, *relative.names, *aliases))
        is_only = bool(kin_words(map(normalise, relative.names)) & ONLY)
        if named and own and not named & own and not is_only:
            called = next(alias for alias in aliases if normalise(alias) in named)
            return self._named(called, EntityType.PERSON, (), message)
        return replace(relative, names=(*relative.names, *aliases))
