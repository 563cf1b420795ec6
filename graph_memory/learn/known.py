"""What the model is shown of the memory: people, things and facts near a batch.

All of it is visible to the Session that the batch belongs to (``visible.py``). Rows are
shown as small labels, which ``resolve.py`` maps back; a model never sees an id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from ..model import BOT, Batch, EntityType, Fact, Name, is_entity
from ..text import clean_name, fenced, normalise, tokens
from ..visible_rows import SessionRows
from . import ranking
from .record import episode_at
from .words import kin_in, of, relative

BUDGET = 400
"""Tokens that the known items may cost (``text.tokens``)."""
FOR_FACTS = 360
"""What is left of it is for things that are named and that no fact shown is about."""
MAX_FACTS = 20
MAX_STATEMENT = 100
"""Characters of a statement that are shown: enough to recognise it."""
LIKE = 3
"""Words that a fact of this Session about anything else shares with the batch at least."""
MAX_THINGS = 12
MAX_ABSENT = 6
"""People shown who do not speak in the batch."""
_SHORTEST_NAME = 2
"""Names of one character match everywhere."""
MAX_NAME = 32
MAX_QUOTED = 40
"""Characters of a quoted message that are shown."""
QUOTE = "↪"
"""Goes before what is quoted; nothing else in a prompt has it."""


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
        quoted: How messages begin that are quoted here and were said before, by id.
    """

    people: dict[str, Person] = field(default_factory=dict)
    things: dict[str, Thing] = field(default_factory=dict)
    facts: dict[int, Fact] = field(default_factory=dict)
    episode: str = ""
    summary: str = ""
    quoted: dict[int, str] = field(default_factory=dict)

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


def candidates(visible: SessionRows, batch: Batch) -> list[str]:
    """Ids of the facts among which :func:`gather` chooses."""
    present = [person.node for person in speakers(batch).values()]
    said = "\n".join(m.text for m in batch.messages)
    facts = ranking.candidates(visible, present, _nodes(visible, batch), said)
    return [fact.id for fact in facts]


def gather(
    visible: SessionRows, batch: Batch, zone: tzinfo, likeness: Mapping[str, float] | None = None
) -> Known:
    """Choose what is shown beside a batch: what it names, then what is newest about the
    people who speak.

    Args:
        likeness: How like the batch facts are, by id, for their order.
    """
    text = "\n".join(m.text for m in batch.messages)
    episode = episode_at(visible.rows, batch.session.id, batch.messages[0].id)
    known = Known(people=speakers(batch))
    if episode is not None:
        known.episode, known.summary = episode.id, episode.summary
    named = _nodes(visible, batch)
    spent = 0
    for one in (one for message in batch.messages for one in message.to):
        if one.user not in ("", BOT):
            spent += _introduce(known, visible, one.user, BUDGET // 2 - spent, one.name)
        if one.quoted:
            _quote(known, visible, batch, one.quoted)
    present = [person.node for person in known.people.values() if person.speaks]
    facts = ranking.candidates(visible, present, named, text)
    # Facts before things: only what is shown can be recognised as said again, while a
    # thing that is named again resolves by its name.
    said = [message.text for message in batch.messages]
    for fact in ranking.ranked(visible, facts, said, named, likeness or {}):
        if len(known.facts) == MAX_FACTS:
            break
        number = len(known.facts) + 1
        cost = tokens(_fact_line(number, fact, "U10", zone))
        if spent + cost > FOR_FACTS:
            continue
        fact = replace(fact, subject=visible.canonical(fact.subject))
        used = named.get(fact.subject, ())
        spent += _introduce(known, visible, fact.subject, FOR_FACTS - spent - cost, used=used)
        if known.label(fact.subject):
            known.facts[number] = fact
            spent += cost
    for node, used in named.items():
        spent += _introduce(known, visible, node, BUDGET - spent, used=used)
    return known


def _introduce(
    known: Known,
    visible: SessionRows,
    node: str,
    budget: int,
    mentioned: str | None = None,
    used: Sequence[str] = (),
) -> int:
    """Give a node a label if it has none and there is room; returns what its line costs.

    Args:
        mentioned: What a mention calls it (that may be nothing); ``None`` if it is none.
        used: By which names the batch speaks of it; shown beside the one it had last.
    """
    called = visible.called(node)
    if known.label(node) or (called is None and mentioned is None):
        return 0
    if is_entity(node):
        name = " / ".join(_apart(called.text, *used)) if called else ""
        label, room = f"E{len(known.things) + 1}", len(known.things) < MAX_THINGS
        thing = Thing(node, name, visible.type_of(node) or EntityType.TOPIC)
        cost = tokens(_thing_line(label, thing))
        if room and cost <= budget:
            known.things[label] = thing
            return cost
        return 0
    name = clean_name(called.text if called else mentioned or "")
    person = Person(node, name, speaks=False)
    absent = sum(1 for p in known.people.values() if not p.speaks)
    label = f"U{len(known.people) + 1}"
    cost = tokens(_person_line(label, person))
    if absent < MAX_ABSENT and cost <= budget:
        known.people[label] = person
        return cost
    return 0


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


def _quote(known: Known, visible: SessionRows, batch: Batch, id: int) -> None:
    """Show how a quoted message begins, if this Session may see it."""
    said = visible.rows.message(id)
    if said is None or not visible.shows(said) or visible.rows.is_forgotten(said):
        return
    if id not in {message.id for message in batch.messages}:
        words = fenced(said.text, MAX_QUOTED).translate({ord("「"): "“", ord("」"): "”"})
        known.quoted[id] = f"「{words}」"


def _nodes(visible: SessionRows, batch: Batch) -> dict[str, tuple[str, ...]]:
    """Each node that a batch names, and in which words."""
    text = "\n".join(m.text for m in batch.messages)
    named = _named(visible, normalise(text))
    relatives = _relatives(visible, batch)
    order = dict.fromkeys((*relatives, *named))
    return {
        node: (*((named[node],) if node in named else ()), *relatives.get(node, ()))
        for node in order
    }


def _relatives(visible: SessionRows, batch: Batch) -> dict[str, tuple[str, str]]:
    """Who is known as a speaker's mother, boss …, where the speaker says that word: the
    word, and with whose they are.

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


def _named(visible: SessionRows, text: str) -> dict[str, str]:
    """Each node that ``text`` names and by which name, those with the longest names first.

    People are those of this chat window: two who share a name elsewhere are strangers, and
    two who share it here are not told apart by it.
    """
    found: dict[str, Name] = {}
    for name in visible.rows.names_in(text):
        if not _occurs(name.norm, text) or not visible.shows(name):
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
