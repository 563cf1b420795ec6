"""From what a model calls somebody or something to the node that is meant.

Labels first, then names as they are used where the batch was said. Names resolve when
they are equal (``text.normalise``), never because they are similar, and a name that two
users of the chat window share resolves to neither of them, whoever is speaking: what is
said of it is told of somebody who does not chat. Nor does the label of such a user, but
for what they say themselves and for what mentions or quotes their account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..model import (
    BOT,
    NO_PERSONA,
    Batch,
    EntityType,
    Message,
    Name,
    is_entity,
    stable_id,
)
from ..text import normalise, one_line, terms
from ..visible_rows import SessionRows
from .extraction import EntityClaim, FactClaim
from .known import Known, Person
from .wording import kin_words
from .words import BOT_WORDS, FIRST, KIN, ONLY, SECOND, is_generic, kin, of, relative

_USER_LABEL = re.compile(r"u\d{1,3}")
_ENTITY_LABEL = re.compile(r"e\d{1,3}")
_QUOTES = "@＠\"'“”‘’「」『』《》<>[]【】()（）,，.。!！?？:：;；"


@dataclass(frozen=True, slots=True)
class Node:
    """A node with what it is called here.

    Attributes:
        names: What it was called, the plainest name first.
        type: ``None`` for users.
    """

    id: str
    names: tuple[str, ...] = ()
    type: EntityType | None = None


class Nodes:
    """Resolves the references of one answer."""

    def __init__(
        self, visible: SessionRows, batch: Batch, known: Known, claims: Iterable[EntityClaim]
    ) -> None:
        self._visible = visible
        self._batch = batch
        self._known = known
        self._session = batch.session
        self._claims: dict[str, EntityClaim] = {}
        for claim in claims:
            self._claims.setdefault(normalise(claim.id), claim)
            self._claims.setdefault(normalise(claim.name), claim)
            for alias in KIN.intersection(map(normalise, claim.aliases)):
                self._claims.setdefault(alias, claim)
        self._said = normalise("\n".join(m.text for m in batch.messages if m.is_human))
        to = [one for m in batch.messages for one in m.to if one.user not in ("", BOT)]
        self._mentioned = {one.user: one.name for one in sorted(to, key=lambda one: one.name)}
        self.bot = self._bot()

    def _bot(self) -> Node:
        persona = self._session.persona
        name = BOT.upper() if persona in ("", NO_PERSONA) else one_line(persona, 64)
        id = stable_id("e", f"bot:{persona}", BOT)
        return Node(self._visible.canonical(id), (name or BOT.upper(),), EntityType.BOT)

    def find(self, reference: str, message: Message, *, is_object: bool = False) -> Node | None:
        """The node that is meant.

        Args:
            reference: A label, a pronoun or a name.
            message: Where it is meant.
            is_object: It may be a thing that happens to read like a label (the band U2);
                it is, if somebody spoke of it.

        Returns:
            The node, which may be new; ``None`` if nobody in particular is meant.
        """
        speaker = message.sender
        word = normalise(reference.strip(_QUOTES + " "))
        if word == BOT or (word in BOT_WORDS and not is_object):
            return self.bot
        is_thing = is_object and self._is_word(word)
        if _USER_LABEL.fullmatch(word) and not is_thing:
            person = self._known.people.get(word.upper())
            return self._labelled(person, message) if person else None
        if word in FIRST:
            return self.bot if speaker == BOT else Node(speaker)
        if word in SECOND:
            return self._spoken_to(message)
        claim = self._claims.get(word)
        if claim is not None:
            return self.claimed(claim, message)
        if _ENTITY_LABEL.fullmatch(word) and not is_thing:
            thing = self._known.things.get(word.upper())
            return self.by_id(thing.node) if thing else None
        return self._named(reference, None, (), message)

    def subject(self, claim: FactClaim, evidence: list[Message]) -> tuple[Node | None, str]:
        """Whom a claim is about, and whose word it is: theirs, if they said it, too.

        Beside what others say, only words of theirs that say some of it count as theirs.
        """
        person = self._known.people.get(claim.subject.strip(_QUOTES + " ").upper())
        others = [m for m in evidence if not (person and m.sender == person.node)]
        words = set(terms(claim.statement)).difference(terms(person.name if person else ""))
        telling = [m for m in evidence if not others or words.intersection(terms(m.text))]
        own = [m for m in telling if m not in others]
        told = (own or others or evidence)[0]
        subject = self.find(claim.subject, told)
        is_own = subject is not None and any(m.sender == subject.id for m in telling)
        return subject, subject.id if subject and is_own else told.sender

    def _labelled(self, person: Person, message: Message) -> Node | None:
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
        thing = self._known.things.get(claim.id.upper())
        speaker = message.sender
        aliases = tuple(self._owned(a, speaker) for a in claim.aliases if self._is_said(a))
        if thing and self._is_called(thing.node, claim):
            found = self.by_id(thing.node)
            if normalise(claim.name) in KIN and self._is_said(claim.name):
                aliases = (self._owned(claim.name, speaker), *aliases)
            return replace(found, names=(*found.names, *aliases))
        return self._named(claim.name, claim.type, aliases, message)

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
        claim = self._claims.get(word)
        if claim is not None:
            return claim.name
        is_label = _USER_LABEL.fullmatch(word) or _ENTITY_LABEL.fullmatch(word) or word == BOT
        return "" if is_label or is_generic(word) else reference

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

    def _is_word(self, word: str) -> bool:
        """Whether people wrote a word that reads like a label."""
        return bool(re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", self._said))

    def _is_said(self, name: str) -> bool:
        norm = normalise(name)
        return len(norm) > 1 and norm in self._said and not is_generic(norm)

    def _is_called(self, node: str, claim: EntityClaim) -> bool:
        """Whether a known label was used for what it stands for."""
        wanted = {normalise(name) for name in (claim.name, *claim.aliases)}
        called = self._visible.called(node)
        if called is not None and called.norm in wanted:
            return True
        is_one = self._visible.is_one
        return any(is_one(n.node, node) for norm in wanted for n in self._visible.names(norm))

    def _named(
        self, text: str, type: EntityType | None, aliases: tuple[str, ...], message: Message
    ) -> Node | None:
        text = one_line(text.strip(_QUOTES + " "), 64)
        norm = normalise(text)
        relative = self._kin(norm, message.sender)
        if relative is not None:
            return self._introduced(relative, aliases, message)
        if not norm or is_generic(norm) or not any(c.isalnum() for c in norm):
            return None
        if type is None or type is EntityType.PERSON:
            person = self._person(norm, message)
            if person is not None:
                return self.by_id(person)
            if self._visible.bearers(norm):
                type = EntityType.PERSON
        return self._somebody(text, type, aliases)

    def _somebody(self, text: str, type: EntityType | None, aliases: tuple[str, ...]) -> Node:
        """Whoever or whatever is called that and is no user."""
        norm = normalise(text)
        entity, is_what = self._entity(self._visible.names(norm), norm, type)
        return Node(self._visible.canonical(entity), (text, *aliases), is_what)

    def _person(self, norm: str, message: Message | None = None) -> str | None:
        """The one user of this chat window who is called that.

        Args:
            message: Of several it is the one whom it mentions or quotes.
        """
        mentioned = {user for user, name in self._mentioned.items() if normalise(name) == norm}
        users = self._visible.bearers(norm) | mentioned
        if message and len(users) > 1:
            users &= {*message.mentions}
        seen = mentioned.union(self._visible.canonical(n.node) for n in self._visible.names(norm))
        return users.pop() if len(users) == 1 and users <= seen else None

    def _entity(
        self, names: list[Name], norm: str, type: EntityType | None
    ) -> tuple[str, EntityType]:
        """The entity that is called that; a new one if there is none."""
        is_person = type is EntityType.PERSON
        domain = self._session.circle if is_person else ""
        own = stable_id("e", domain, norm)
        best: tuple[tuple[bool, bool, float, str], str, EntityType] | None = None
        for name in names:
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
                best = (key, name.node, is_what)
        if best is None:
            return own, type or EntityType.TOPIC
        return best[1], type if type and best[2] is EntityType.TOPIC else best[2]

    def _kin(self, norm: str, speaker: str) -> Node | None:
        """Somebody's mother is a person of her own, whatever others call theirs."""
        label = self._known.label(speaker)
        name = self._known.people[label].name if label else ""
        # "张三的妈妈" said of 张三 and 我妈妈 said by him are one person.
        for person in self._known.people.values():
            for mark in ("的", "'s ", "’s "):
                prefix = normalise(person.name) + mark
                if person.name and norm.startswith(prefix) and norm[len(prefix) :] in KIN:
                    whose = self._person(normalise(person.name))
                    whose = whose or self._somebody(person.name, EntityType.PERSON, ()).id
                    return self._kin_of(whose, person.name, norm[len(prefix) :])
        word = norm
        for prefix in ("我的", "我", "my "):
            if norm.startswith(prefix) and norm[len(prefix) :] in KIN:
                word = norm[len(prefix) :]
        return self._kin_of(speaker, name, word) if word in KIN else None

    def _kin_of(self, user: str, name: str, word: str) -> Node:
        own = self._visible.canonical(kin(self._session.circle, user, word))
        known = relative(self._visible, user, word)
        return Node(known or own, (of(name, word),), EntityType.PERSON)

    def _owned(self, alias: str, speaker: str) -> str:
        """What somebody is called; if that is what they are to the speaker, with whose."""
        label = self._known.label(speaker)
        if normalise(alias) not in KIN or not label:
            return alias
        return of(self._known.people[label].name, normalise(alias))

    def _introduced(
        self, relative: Node, aliases: tuple[str, ...], message: Message
    ) -> Node | None:
        """Whoever is somebody's colleague and goes by a name of their own.

        One who was known by that name before is no new person, and another one than the
        colleague who goes by another name.
        """
        named = {normalise(a) for a in aliases if not kin_words([normalise(a)])}
        own = {norm for norm in self._visible.norms(relative.id) if not kin_words([norm])}
        known = self._visible.called(relative.id) is not None
        if named and not known:
            before = {
                self._visible.canonical(node) for norm in named for node in self._people(norm)
            }
            if len(before) == 1:
                found = self.by_id(before.pop())
                return replace(found, names=(*found.names, *relative.names, *aliases))
        is_only = bool(kin_words(map(normalise, relative.names)) & ONLY)
        if named and own and not named & own and not is_only:
            called = next(alias for alias in aliases if normalise(alias) in named)
            return self._named(called, EntityType.PERSON, (), message)
        return replace(relative, names=(*relative.names, *aliases))

    def _people(self, norm: str) -> set[str]:
        """The people of this chat window who do not chat and are called that."""
        here = (n for n in self._visible.names(norm) if self._visible.is_same_circle(n.session))
        return {
            n.node
            for n in here
            if is_entity(n.node) and self._visible.type_of(n.node) is EntityType.PERSON
        }
