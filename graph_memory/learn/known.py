"""What the model is shown of the memory: people, things and facts near a batch.

All of it is visible to the Session that the batch belongs to (``outlook.py``). Rows are
shown as small labels, which ``resolve.py`` maps back; a model never sees an id.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from ..model import Batch, EntityType, Fact, Name, Status, is_entity
from ..text import normalise, one_line, terms, tokens
from .outlook import Outlook
from .record import episode_at

BUDGET = 400
"""Tokens that the known items may cost (``text.tokens``)."""
MAX_FACTS = 20
MAX_LOOKED_AT = 150
"""Newest facts about one node among which those to show are chosen."""
MAX_THINGS = 12
MAX_ABSENT = 6
"""People shown who do not speak in the batch."""
_SHORTEST_NAME = 2
"""Names of one character match everywhere."""
_NAME_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Person:
    """A user under a label (``U1``)."""

    node: str
    name: str
    speaks: bool = True


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity under a label (``E1``)."""

    node: str
    name: str
    type: EntityType


@dataclass(slots=True)
class Known:
    """What the model is shown beside the messages.

    Attributes:
        people: Speakers first, in order of appearance, then others who are named.
        facts: By the number they are shown under, from 1.
        episode: Id of the episode that the batch is part of.
        summary: The episode so far, if earlier batches were part of it.
    """

    people: dict[str, Person] = field(default_factory=dict)
    things: dict[str, Thing] = field(default_factory=dict)
    facts: dict[int, Fact] = field(default_factory=dict)
    episode: str = ""
    summary: str = ""

    def label(self, node: str) -> str:
        """The label of a node; empty if it has none."""
        items: dict[str, Person | Thing] = {**self.people, **self.things}
        return next((label for label, item in items.items() if item.node == node), "")

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


def safe(text: str, limit: int) -> str:
    """Chat text on one line, without the brackets that our fences are made of."""
    return one_line(text, limit).replace("<", "‹").replace(">", "›")


def _person_line(label: str, person: Person) -> str:
    return f"{label} {person.name}"


def _thing_line(label: str, thing: Thing) -> str:
    return f"{label} {thing.name} ({thing.type.value})"


def _fact_line(number: int, fact: Fact, subject: str, zone: tzinfo) -> str:
    date = datetime.fromtimestamp(fact.said_at, zone).strftime("%Y-%m-%d")
    return f"{number}. {date} {subject} {fact.predicate}: {safe(fact.statement, 200)}"


def speakers(batch: Batch) -> dict[str, Person]:
    """The people who speak in a batch, by label."""
    names: dict[str, str] = {}
    for message in batch.messages:
        if message.is_human:
            names[message.sender] = message.name or names.get(message.sender, "")
    return {
        f"U{number}": Person(node, safe(name, _NAME_LENGTH))
        for number, (node, name) in enumerate(names.items(), 1)
    }


def gather(outlook: Outlook, batch: Batch, zone: tzinfo) -> Known:
    """Choose what is shown beside a batch: what it names, then what is newest about the
    people who speak."""
    text = "\n".join(m.text for m in batch.messages)
    episode = episode_at(outlook.rows, batch.session.id, batch.messages[0].id)
    known = Known(people=speakers(batch))
    if episode is not None:
        known.episode, known.summary = episode.id, episode.summary
    named = _named(outlook, normalise(text))
    spent = 0
    for name in named:
        spent += _introduce(known, outlook, name.node, BUDGET // 2 - spent)
    present = [person.node for person in known.people.values() if person.speaks]
    for fact in _ranked(outlook, text, present, {name.node for name in named}):
        if len(known.facts) == MAX_FACTS:
            break
        number = len(known.facts) + 1
        cost = tokens(_fact_line(number, fact, "U10", zone))
        if spent + cost > BUDGET:
            continue
        spent += _introduce(known, outlook, fact.subject, BUDGET - spent - cost)
        if known.label(fact.subject):
            known.facts[number] = fact
            spent += cost
    return known


def _introduce(known: Known, outlook: Outlook, node: str, budget: int) -> int:
    """Give a node a label if it has none and there is room; returns what its line costs."""
    called = outlook.called(node)
    if known.label(node) or called is None:
        return 0
    name = safe(called.text, _NAME_LENGTH)
    if is_entity(node):
        label, room = f"E{len(known.things) + 1}", len(known.things) < MAX_THINGS
        thing = Thing(node, name, outlook.type_of(node) or EntityType.TOPIC)
        cost = tokens(_thing_line(label, thing))
        if room and cost <= budget:
            known.things[label] = thing
            return cost
        return 0
    person = Person(node, name, speaks=False)
    absent = sum(1 for p in known.people.values() if not p.speaks)
    label = f"U{len(known.people) + 1}"
    cost = tokens(_person_line(label, person))
    if absent < MAX_ABSENT and cost <= budget:
        known.people[label] = person
        return cost
    return 0


def _named(outlook: Outlook, text: str) -> list[Name]:
    """One name of each node that ``text`` names, longest names first.

    People are those of this chat window: two who share a name elsewhere are strangers.
    """
    found: dict[str, Name] = {}
    for name in outlook.rows.names_in(text):
        if not _occurs(name.norm, text) or not outlook.shows(name):
            continue
        if not is_entity(name.node) and not outlook.is_same_circle(name.session):
            continue
        best = found.get(name.node)
        if best is None or len(name.norm) > len(best.norm):
            found[name.node] = name
    return sorted(found.values(), key=lambda n: (-len(n.norm), -n.last_at, n.id))


def _occurs(norm: str, text: str) -> bool:
    if len(norm) < _SHORTEST_NAME or norm not in text:
        return False
    if not norm.isascii():
        return True
    padded, at = f" {text} ", -1
    while (at := padded.find(norm, at + 1)) >= 0:
        around = padded[at - 1] + padded[at + len(norm)]
        if not any(c.isascii() and c.isalnum() for c in around):
            return True
    return False


def _ranked(outlook: Outlook, text: str, present: Iterable[str], named: set[str]) -> list[Fact]:
    """Current facts near the batch, nearest first."""
    words = set(terms(text))
    near: dict[str, Fact] = {}
    for node in present:
        near.update((fact.id, fact) for fact in outlook.facts_of(node, MAX_LOOKED_AT))
    for node in named:
        near.update((fact.id, fact) for fact in outlook.facts_of(node, MAX_LOOKED_AT))
        near.update((fact.id, fact) for fact in outlook.facts_with(node, MAX_LOOKED_AT))

    def distance(fact: Fact) -> tuple[float, float, str]:
        shared = len(words.intersection(terms(fact.statement)))
        return (-shared - 2.0 * (fact.object in named), -fact.last_used, fact.id)

    current = (
        fact
        for fact in near.values()
        if fact.status == Status.ACTIVE and fact.valid_to is None and not outlook.is_replaced(fact)
    )
    return sorted(current, key=distance)
