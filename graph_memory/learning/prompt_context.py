"""Prompt context: people, things and facts that the model is shown with a batch.

All of it is visible to the Session that the batch belongs to. Rows are shown as small
labels, which ``entities.py`` maps back; a model never sees an id.

The facts are ranked, which decides nothing else. Vectors, where there are any, bring up
what is said again in other words (无辣不欢 for 爱吃辣); whether that is the same is the
model's to say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from ..model import BOT, Batch, EntityType, Fact, Name, Status, is_entity
from ..text import clean_name, fenced, normalise, terms, tokens
from ..visible_rows import LearnerRows
from .entities import Labels, Person, Thing, kin_in, occurs, of, relative

BUDGET = 400
"""Tokens that the known items may cost (``text.tokens``)."""
FOR_FACTS = 360
"""What is left of it is for things that are named and that no fact shown is about."""
MAX_FACTS = 20
MAX_STATEMENT = 100
"""Characters of a statement that are shown: enough to recognise it."""
MAX_THINGS = 12
MAX_ABSENT = 6
"""People shown who do not speak in the batch."""
MAX_LOOKED_AT = 150
"""Newest facts about one node among which those to show are chosen."""
ALIKE = 3
"""Words in common with the batch from which a fact about anything else is looked at."""
NAMED = 1.0
"""What it counts that a message names who or what a fact is about, in words shared."""
_SMOOTHING = 5.0
"""How little the very first places count more than the next ones."""
_SHORTEST_NAME = 2
"""Names of one character match everywhere."""
MAX_NAME = 32
MAX_QUOTED = 40
"""Characters of a quoted message that are shown."""
QUOTE = "↪"
"""Goes before what is quoted; nothing else in a prompt has it."""


@dataclass(slots=True)
class PromptContext(Labels):
    """What the model is shown beside the messages.

    Attributes:
        facts: By the number they are shown under, from 1.
        episode: Id of the episode that the batch is part of.
        summary: The episode so far, if earlier batches were part of it.
        quoted: How messages begin that are quoted here and were said before, by id.
    """

    facts: dict[int, Fact] = field(default_factory=dict)
    episode: str = ""
    summary: str = ""
    quoted: dict[int, str] = field(default_factory=dict)

    def lines(self, zone: tzinfo) -> list[str]:
        """The known items, a line each; speakers are introduced by what they say."""
        absent = [(label, p) for label, p in self.people.items() if not p.speaks]
        return [
            *(_person_line(label, person) for label, person in absent),
            *(_thing_line(label, thing) for label, thing in self.things.items()),
            *(
                _fact_line(number, fact, self.label(fact.subject), zone)
                for number, fact in self.facts.items()
            ),
        ]


def _person_line(label: str, person: Person) -> str:
    return f"{label} {person.name}".strip()


def _thing_line(label: str, thing: Thing) -> str:
    return f"{label} {thing.name} ({thing.type.value})"


def _fact_line(number: int, fact: Fact, subject: str, zone: tzinfo) -> str:
    date = datetime.fromtimestamp(fact.said_at, zone).strftime("%Y-%m-%d")
    return f"{number}. {date} {subject} {fact.predicate}: {fenced(fact.statement, MAX_STATEMENT)}"


def speakers(batch: Batch) -> dict[str, Person]:
    """The people who speak in a batch, by label."""
    names: dict[str, str] = {}
    for message in batch.messages:
        if message.is_human:
            names[message.sender] = message.name or names.get(message.sender, "")
    return {
        f"U{number}": Person(node, clean_name(name))
        for number, (node, name) in enumerate(names.items(), 1)
    }


class ContextBuilder:
    """Chooses what is shown with a batch: what it names and what is known of that.

    Made within one read of the journal; :meth:`fill` needs no rows any more.

    Attributes:
        context: The speakers, whom they turn to and what they quote; filled by :meth:`fill`.
        facts: Those among which :meth:`fill` chooses.
    """

    def __init__(self, visible: LearnerRows, batch: Batch, zone: tzinfo) -> None:
        self._visible = visible
        self._zone = zone
        self._said = [message.text for message in batch.messages]
        self._spent = 0
        self.context = PromptContext(speakers(batch))
        episode = visible.rows.episode(batch.session.id, batch.messages[0].id)
        if episode is not None:
            self.context.episode, self.context.summary = episode.id, episode.summary
        self._named = _nodes(visible, batch)
        present = [person.node for person in self.context.people.values()]
        found = _candidates(visible, present, self._named, self._said)
        self._ends = {f.id: {visible.canonical(n) for n in (f.subject, f.object)} for f in found}
        self.facts = [replace(fact, subject=visible.canonical(fact.subject)) for fact in found]
        addressees = [one for message in batch.messages for one in message.to]
        mentioned = [one for one in addressees if one.user not in ("", BOT)]
        about = {*self._named, *(fact.subject for fact in self.facts)}
        about |= {one.user for one in mentioned}
        self._called = {node: visible.called(node) for node in about}
        self._types = {node: visible.type_of(node) for node in about if is_entity(node)}
        for one in mentioned:
            self._introduce(one.user, BUDGET // 2, one.name)
        here = {message.id for message in batch.messages}
        for id in {one.quoted for one in addressees} - here:
            if id:
                self._quote(id)

    def fill(self, likeness: Mapping[str, float]) -> PromptContext:
        """Choose what is shown.

        Args:
            likeness: How like the batch facts are, by id, for their order.
        """
        # Facts before things: only what is shown can be recognised as said again, while a
        # thing that is named again resolves by its name.
        known = self.context
        for fact in ranked(self.facts, self._ends, self._said, self._named, likeness):
            if len(known.facts) == MAX_FACTS:
                break
            number = len(known.facts) + 1
            cost = tokens(_fact_line(number, fact, "U10", self._zone))
            if self._spent + cost > FOR_FACTS:
                continue
            self._introduce(fact.subject, FOR_FACTS - cost)
            if known.label(fact.subject):
                known.facts[number] = fact
                self._spent += cost
        for node in self._named:
            self._introduce(node, BUDGET)
        return known

    def _introduce(self, node: str, budget: int, mentioned: str | None = None) -> None:
        """Give a node a label if it has none and there is room.

        Args:
            budget: What may be spent in all.
            mentioned: What a mention calls it (that may be nothing); ``None`` if it is none.
        """
        called = self._called[node]
        if self.context.label(node) or (called is None and mentioned is None):
            return
        if is_entity(node):
            self._introduce_thing(node, called, budget)
        else:
            self._introduce_person(node, called.text if called else mentioned or "", budget)

    def _introduce_thing(self, node: str, called: Name | None, budget: int) -> None:
        # By the names by which the batch speaks of it, beside the one it had last.
        things, used = self.context.things, self._named.get(node, ())
        name = " / ".join(_apart(called.text, *used)) if called else ""
        thing = Thing(node, name, self._types[node] or EntityType.TOPIC)
        label = f"E{len(things) + 1}"
        if len(things) < MAX_THINGS and self._pay(_thing_line(label, thing), budget):
            things[label] = thing

    def _introduce_person(self, node: str, name: str, budget: int) -> None:
        people = self.context.people
        person, label = Person(node, clean_name(name), speaks=False), f"U{len(people) + 1}"
        absent = sum(1 for each in people.values() if not each.speaks)
        if absent < MAX_ABSENT and self._pay(_person_line(label, person), budget):
            people[label] = person

    def _pay(self, line: str, budget: int) -> bool:
        cost = tokens(line)
        if self._spent + cost > budget:
            return False
        self._spent += cost
        return True

    def _quote(self, id: int) -> None:
        """Show how a quoted message begins, if this Session may see it."""
        rows = self._visible.rows
        said = rows.message(id)
        if said and self._visible.shows(said) and not rows.is_forgotten(said):
            words = fenced(said.text, MAX_QUOTED).translate({ord("「"): "“", ord("」"): "”"})
            self.context.quoted[id] = f"「{words}」"


def _nodes(visible: LearnerRows, batch: Batch) -> dict[str, tuple[str, ...]]:
    """Each node that a batch names, and in which words."""
    text = "\n".join(m.text for m in batch.messages)
    named = _named(visible, normalise(text))
    relatives = _relatives(visible, batch)
    order = dict.fromkeys((*relatives, *named))
    return {
        node: (*((named[node],) if node in named else ()), *relatives.get(node, ()))
        for node in order
    }


def _relatives(visible: LearnerRows, batch: Batch) -> dict[str, tuple[str, str]]:
    """Known relatives of speakers who say mother, boss …: the word, and with whose.

    Both are needed: who is shown under a name of their own would not be recognised by
    what they are to somebody, and several people may have a mother.
    """
    found: dict[str, tuple[str, str]] = {}
    for message in batch.messages:
        for word in kin_in(normalise(message.text)) if message.is_human else ():
            node = relative(visible, message.sender, word)
            if node is not None:
                found[node] = (word, of(message.name, word))
    return found


def _named(visible: LearnerRows, text: str) -> dict[str, str]:
    """Each node that ``text`` names, by its longest name, the longest names first.

    People are those of this chat window: two who share a name elsewhere are strangers, and
    two who share it here are not told apart by it.
    """
    found: dict[str, Name] = {}
    for name in visible.rows.names_in(text):
        is_named = len(name.norm) >= _SHORTEST_NAME and occurs(name.norm, text)
        if not is_named or not visible.shows(name):
            continue
        if not is_entity(name.node) and visible.bearers(name.norm, seen=True) != {
            visible.canonical(name.node)
        }:
            continue
        node = visible.canonical(name.node)
        best = found.get(node)
        if best is None or len(name.norm) > len(best.norm):
            found[node] = name
    order = sorted(found, key=lambda n: (-len(found[n].norm), -found[n].last_at, found[n].id))
    return {node: found[node].text for node in order}


def _apart(*names: str) -> list[str]:
    """Names that are not part of another one of them, as they are shown."""
    norms = [normalise(name) for name in names]
    return [
        fenced(name, MAX_NAME)
        for at, name in enumerate(names)
        if not any(
            norms[at] in other and (norms[at] != other or place < at)
            for place, other in enumerate(norms)
            if place != at
        )
    ]


def _candidates(
    visible: LearnerRows, present: Iterable[str], named: Iterable[str], said: Iterable[str]
) -> list[Fact]:
    """Current facts about speakers and with what is named, or worded like the batch."""
    near: dict[str, Fact] = {}
    for node in present:
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_LOOKED_AT))
    for node in named:
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_LOOKED_AT))
        near.update((fact.id, fact) for fact in visible.facts_with(node, MAX_LOOKED_AT))
    words = set(terms("\n".join(said)))
    for fact in visible.facts_here(MAX_LOOKED_AT):
        if len(words.intersection(terms(fact.statement))) >= ALIKE:
            near.setdefault(fact.id, fact)
    return [
        fact
        for fact in near.values()
        if fact.status == Status.ACTIVE and fact.valid_to is None and not visible.is_replaced(fact)
    ]


def ranked(
    facts: Sequence[Fact],
    ends: Mapping[str, Collection[str]],
    said: Iterable[str],
    named: Mapping[str, Collection[str]],
    likeness: Mapping[str, float],
) -> list[Fact]:
    """Facts, nearest to a batch first: by shared words, names, recency and likeness.

    Every message has its turn: first what is nearest to each of them, then what is second
    nearest, so that one of which much is known does not take the place of all others. The
    two orders are fused by place, so that neither needs a scale: what is first in one of
    them is offered whatever the other says.

    Args:
        ends: Subject and object of each fact, by its id.
        said: The messages.
        named: What they name, and in which words.
        likeness: Of facts to the batch, by id; empty: by words only.
    """
    by_words = _by_words(facts, ends, said, named)
    alike = [fact for fact in by_words if fact.id in likeness]
    if not alike:
        return by_words
    places = {fact.id: 1 / (_SMOOTHING + place) for place, fact in enumerate(by_words)}
    for place, fact in enumerate(sorted(alike, key=lambda fact: -likeness[fact.id])):
        places[fact.id] += 1 / (_SMOOTHING + place)
    return sorted(by_words, key=lambda fact: -places[fact.id])


def _by_words(
    facts: Sequence[Fact],
    ends: Mapping[str, Collection[str]],
    said: Iterable[str],
    named: Mapping[str, Collection[str]],
) -> list[Fact]:
    words = {fact.id: set(terms(fact.statement)) for fact in facts}
    known = Counter(word for each in words.values() for word in each)
    # What is in every other fact says little about which of them is meant.
    weight = {word: math.log1p(len(facts) / count) for word, count in known.items()}
    turns: dict[str, tuple[int, float]] = {}
    for text in said:
        spoken, norm = set(terms(text)), normalise(text)
        meant = {node for node, used in named.items() if any(normalise(u) in norm for u in used)}
        score = {
            # A long statement has some words in common with anything, and costs as much.
            fact.id: sum(weight[word] for word in words[fact.id] & spoken)
            / math.sqrt(len(words[fact.id]) or 1)
            + NAMED * len(meant.intersection(ends[fact.id]))
            for fact in facts
        }
        near = sorted(
            (f for f in facts if score[f.id]), key=lambda f: (-score[f.id], -f.last_used, f.id)
        )
        for place, fact in enumerate(near):
            turn = (place, -score[fact.id])
            turns[fact.id] = min(turns.get(fact.id, turn), turn)
    last = (len(facts), 0.0)
    return sorted(facts, key=lambda f: (turns.get(f.id, last), -f.last_used, f.id))
