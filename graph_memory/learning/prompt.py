"""The extraction prompt: known items and messages, in the language of the chat.

What comes from a chat stands between fences, on lines of its own, and is announced as data.
Rows are shown under labels, which ``entities.py`` maps back. Change a text, and
:data:`VERSION` counts up (a test asserts it).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Protocol

from ..inference import ToolSchema
from ..kinship import kin_in, of
from ..model import (
    BOT,
    LITERAL,
    PREDICATES,
    TASKS,
    Batch,
    EntityType,
    Episode,
    Fact,
    Message,
    Name,
    Status,
    is_entity,
)
from ..privacy.redaction import disclosed
from ..settings import Settings
from ..store import Draft, Rows
from ..text import (
    clean_name,
    fenced,
    is_chinese,
    normalise,
    significance,
    simplified,
    terms,
    tokens,
)
from ..visible_rows import LearnerRows
from .attribution import DENIES, denials, share
from .entities import Labelled, Labels, bot_of, occurs, relative

VERSION = 8
MAX_LINE = 2_000
"""Characters of one message that are shown; longer ones lose their middle."""

_TYPES = " ".join(type.value for type in EntityType if type is not EntityType.BOT)
INSTRUCTIONS = {
    tongue: Path(__file__)
    .with_name(f"instructions.{tongue}.txt")
    .read_text("utf-8")
    .format(predicates=" ".join(PREDICATES), types=_TYPES)
    for tongue in ("zh", "en")
}
"""What the model is to do, by language."""

TOOL = ToolSchema(
    "save_memory",
    "Save",
    {"type": "object", "properties": {"lines": {"type": "string"}}},
)

DENIED = {
    "zh": "已知里的 ✗12：BOT 刚照它说了，消息 12 说不对。"
    "确是说它的，改成的写 >编号，光否认写 ended|编号:12\n",
    "en": "Known ✗12: BOT just said it, message 12 says it is wrong. If it means that, the correct "
    "fact is marked >number; mere denial is ended|number:12\n",
}
"""Goes with the instructions if anything is denied."""

OWNERS = {
    "zh": ("另有谓词，合适就用：", "主人的要求（上面的格式不变）："),
    "en": ("More predicates, where they fit: ", "The owner asks for (the format above stays): "),
}
"""Before the owner's own predicates, and before their words."""

_WORDS = {
    "zh": {
        "group": "群聊", "private": "私聊", "earlier": "此前：", "before": "前文",
        "days": "周一 周二 周三 周四 周五 周六 周日",
    },
    "en": {
        "group": "Group chat", "private": "Private chat", "earlier": "Earlier: ",
        "before": "Before",
        "days": "Mon Tue Wed Thu Fri Sat Sun",
    },
}  # fmt: skip

BUDGET = 400
"""Tokens that the known items may cost (``text.tokens``)."""
FOR_FACTS = 360
"""What is left of it is for things that are named and that no fact shown is about."""
MAX_FACTS = 20
MAX_FORESEEN = 4
"""Plans and promises of the speakers that come first, as what they tell of may be their end."""
MAX_NEAREST = 3
"""Facts nearest to the batch in meaning, which are shown even if they were in vain lately."""
MAX_STATEMENT = 100
"""Characters of a statement that are shown: enough to recognise it."""
MAX_THINGS = 12
MAX_ABSENT = 6
"""People shown who do not speak in the batch."""
MAX_LOOKED_AT = 150
"""Newest facts about one node among which those to show are chosen."""
MAX_STEPS = 30
"""Things the speakers' facts are about, of which facts are looked at; as many of each."""
NAMED = 1.0
"""What it counts that a message names who or what a fact is about, in words shared."""
_SMOOTHING = 5.0
"""How little the very first places count more than the next ones."""
_SHORTEST_NAME = 2
"""Names of one character match everywhere."""
_TITLE = re.compile(r"[A-Z][a-z]+")
BEINGS = frozenset({EntityType.PERSON, EntityType.ANIMAL, EntityType.PLACE})
"""Entities whose names people write in small letters, too, and rarely as ordinary words."""
MAX_NAME = 32
MAX_QUOTED = 40
"""Characters of a quoted message that are shown."""
MAX_NICKNAMES = 2
MAX_BEFORE, BEFORE = 3, 3_600.0
"""Messages before the batch that are shown, if they are not older than so many seconds."""
PAUSE = 600.0
"""Seconds after which the time of day is shown again."""
BREAK = "---"
"""Between two conversations."""
AS_SAID = 0.5
"""Share of a fact that a line of the bot's has to say to have been said from it."""
MAX_DENIED = 3
"""Facts that one line may have been said from."""
QUOTE = "↪"
"""Goes before what is quoted; nothing else in a prompt has it."""


@dataclass(slots=True)
class PromptContext(Labels):
    """What the model is shown beside the messages.

    Attributes:
        facts: By the number they are shown under, from 1.
        episodes: Ids of the episodes that the batch is part of, by its first message in each.
        summary: The first one so far, if earlier batches were part of it.
        quoted: How messages begin that are quoted here and were said before, by id.
        before: The messages right before the batch.
        denied: By id of a fact that the bot spoke from: the number of the message that denies it.
    """

    facts: dict[int, Fact] = field(default_factory=dict)
    episodes: dict[int, str] = field(default_factory=dict)
    summary: str = ""
    quoted: dict[int, str] = field(default_factory=dict)
    before: list[Message] = field(default_factory=list)
    denied: dict[str, int] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The known items, a line each; who speaks is introduced there, but for nicknames."""
        return [
            *(p.line(label) for label, p in self.people.items() if p.also or not p.speaks),
            *(thing.line(label) for label, thing in self.things.items()),
            *(
                _fact_line(n, f, self.label(f.subject), self.denied.get(f.id, 0))
                for n, f in self.facts.items()
            ),
        ]


def _fact_line(number: int, fact: Fact, subject: str, denied: int = 0) -> str:
    statement = fenced(fact.statement, MAX_STATEMENT)
    subject = f"✗{denied} {subject}" if denied else subject
    return f"{number}. {subject} {fact.predicate}: {statement}"


def speakers(batch: Batch) -> dict[str, Labelled]:
    """The people who speak in a batch, by label."""
    names: dict[str, str] = {}
    for message in batch.messages:
        if message.is_human:
            names[message.sender] = message.name or names.get(message.sender, "")
    return {
        f"U{number}": Labelled(node, clean_name(name))
        for number, (node, name) in enumerate(names.items(), 1)
    }


class ContextBuilder:
    """Chooses what is shown with a batch, within one read of the journal.

    Attributes:
        context: The speakers, whom they turn to and what they quote; filled by :meth:`fill`.
        facts: Those among which :meth:`fill` chooses, without any rows.
    """

    def __init__(self, visible: LearnerRows, batch: Batch) -> None:
        self._visible = visible
        self._said = [message.text for message in batch.messages]
        self._spoken: dict[str, set[str]] = defaultdict(set)
        for message in batch.messages:
            self._spoken[visible.canonical(message.sender)].update(_telling(message.text))
        self._spent = 0
        self.context = PromptContext(speakers(batch), bot=bot_of(visible, batch.session.persona))
        for episode in self._episodes(batch):
            self.context.summary = self.context.summary or episode.summary
        self.context.before = self._before(batch)
        said = (*self.context.before, *batch.messages)
        self.context.heard = [message for message in said if message.is_human]
        self._named = _nodes(visible, batch)
        for label, person in self.context.people.items():
            self.context.people[label] = replace(person, also=self._also(person.node, person.name))
        present = [person.node for person in self.context.people.values()]
        self._at = batch.messages[-1].at
        found = _candidates(visible, present, self._named, self._at)
        self._ends = {f.id: {visible.canonical(n) for n in (f.subject, f.object)} for f in found}
        self._values = {visible.canonical(f.object) for f in found if f.predicate in LITERAL}
        self.facts = [replace(fact, subject=visible.canonical(fact.subject)) for fact in found]
        addressees = [one for message in batch.messages for one in message.to]
        mentioned = [one for one in addressees if one.user not in ("", BOT)]
        if any(DENIES.match(simplified(text)) for text in self._said):
            self._deny(batch)
        about = {*self._named, *(fact.subject for fact in self.facts)}
        about |= {one.user for one in mentioned}
        self._called = {node: visible.called(node) for node in about}
        self._types = {node: visible.type_of(node) for node in about if is_entity(node)}
        for one in mentioned:
            self._introduce(one.user, BUDGET // 2, one.name)
        here = {message.id for message in batch.messages}
        for id in dict.fromkeys(one.quoted for one in addressees):
            if id and id not in here:
                self._quote(id)

    def fill(self, likeness: Mapping[str, float], idle: Collection[str] = ()) -> PromptContext:
        """Choose what is shown.

        Args:
            likeness: To the batch, by id; it orders facts.
            idle: Ids of facts that were shown in vain lately; they come last, as do plans whose
                day has passed.
        """
        # Facts before things: only what is shown can be recognised as said again, while a
        # thing that is named again resolves by its name.
        known = self.context
        near = ranked(self.facts, self._ends, self._said, self._named, likeness)
        foreseen = [fact for fact in near if self._is_spoken_of(fact, by_subject=True)]
        first = {*known.denied, *(fact.id for fact in foreseen[:MAX_FORESEEN])}
        kept = first.union(sorted(likeness, key=lambda fact: -likeness[fact])[:MAX_NEAREST])
        tired = [f for f in near if f.id in idle or (f.due is not None and f.due < self._at)]
        last = {f.id for f in tired if f.id not in kept and not self._is_spoken_of(f)}
        for fact in sorted(near, key=lambda fact: (fact.id in last) - (fact.id in first)):
            if len(known.facts) == MAX_FACTS:
                break
            number = len(known.facts) + 1
            cost = tokens(_fact_line(number, fact, "U10"))
            if self._spent + cost > FOR_FACTS:
                continue
            self._introduce(fact.subject, FOR_FACTS - cost)
            if known.label(fact.subject):
                known.facts[number] = fact
                self._spent += cost
        for node in self._named:  # no set: its order would be another one in each process
            # Plain words mean the same without a label, and what only has a value is no thing.
            if node not in self._values and self._types.get(node) is not EntityType.TOPIC:
                self._introduce(node, BUDGET)
        return known

    def _is_spoken_of(self, fact: Fact, *, by_subject: bool = False) -> bool:
        """Whether the batch has a telling word of a fact, or names what it is about.

        ``by_subject``: whether it is a plan or promise, and its subject speaks of it.
        """
        subject = fact.subject
        if by_subject and (fact.predicate not in TASKS or not self._spoken[subject]):
            return False
        said = self._spoken[subject] if by_subject else set().union(*self._spoken.values())
        names = {word for p in self.context.people.values() for word in terms(p.name)}
        is_named = any(node in self._named for node in self._ends[fact.id] - {subject})
        return is_named or not said.isdisjoint(_telling(fact.statement) - names)

    def _deny(self, batch: Batch) -> None:
        """Note which facts the bot spoke from where somebody says that it is wrong."""
        numbers = {message.id: number for number, message in enumerate(batch.messages, 1)}
        names = [person.name for person in self.context.people.values()]
        for id, line in denials((*self.context.before, *batch.messages)).items():
            shares = {fact.id: share(fact.statement, [line.text], names) for fact in self.facts}
            least = max(AS_SAID, max(shares.values(), default=0.0) * AS_SAID)
            told = sorted((f for f in shares if shares[f] >= least), key=lambda f: (-shares[f], f))
            if id in numbers:
                self.context.denied |= dict.fromkeys(told[:MAX_DENIED], numbers[id])

    def _episodes(self, batch: Batch) -> Iterator[Episode]:
        last = 0
        for message in batch.messages:
            if message.id > last:
                episode = self._visible.rows.episode(batch.session.id, message.id)
                if episode is not None:
                    last, self.context.episodes[message.id] = episode.last_message, episode.id
                    yield episode

    def _before(self, batch: Batch) -> list[Message]:
        """What was said right before, for references to it."""
        rows, first = self._visible.rows, batch.messages[0]
        said = rows.messages_before(batch.session.id, first.id, MAX_BEFORE)
        near = (message for message in said if first.at - message.at < BEFORE)
        return list(filter(self._visible.shows, near))

    def _also(self, user: str, card: str) -> tuple[str, ...]:
        """What a user was called last, by whomever, beside what they call themselves now."""
        names = self._visible.find(Name, self._visible.nodes(user))
        found = _apart(card, *(n.text for n in sorted(names, key=lambda n: n.order, reverse=True)))
        return tuple(name for name in found if name != fenced(card, MAX_NAME))[:MAX_NICKNAMES]

    def _introduce(self, node: str, budget: int, mentioned: str | None = None) -> None:
        """Give a node a label if it has none and the budget allows.

        Args:
            mentioned: What a mention calls it, maybe nothing; ``None`` without a mention.
        """
        called = self._called[node]
        if self.context.label(node) or (called is None and mentioned is None):
            return
        people, things = self.context.people, self.context.things
        if is_entity(node):
            # By the names by which the batch speaks of it, beside the one it had last.
            name = " / ".join(_apart(called.text, *self._named.get(node, ()))) if called else ""
            thing = Labelled(node, name, self._types[node] or EntityType.TOPIC)
            label = f"E{len(things) + 1}"
            if len(things) < MAX_THINGS and self._pay(thing.line(label), budget):
                things[label] = thing
            return
        label, absent = f"U{len(people) + 1}", sum(not each.speaks for each in people.values())
        name = clean_name(called.text if called else mentioned or "")
        person = Labelled(node, name, speaks=False, also=self._also(node, name))
        if absent < MAX_ABSENT and self._pay(person.line(label), budget):
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
        if said and self._visible.shows(said):
            words = fenced(disclosed(said).text, MAX_QUOTED).translate(
                {ord("「"): "“", ord("」"): "”"}
            )
            self.context.quoted[id] = f"「{words}」"
            self.context.heard += [said] if said.is_human else []


def _telling(text: str) -> set[str]:
    """Words that say something by themselves, dates left out."""
    return {word for word in terms(text) if significance(word) == 1 and not word.isdigit()}


def _nodes(visible: LearnerRows, batch: Batch) -> dict[str, tuple[str, ...]]:
    """Each node that a batch names, in which words; relatives with whose they are."""
    found: dict[str, tuple[str, ...]] = {}
    for message in batch.messages:
        for word in kin_in(normalise(message.text)) if message.is_human else ():
            node = relative(visible, message.sender, word)
            if node is not None:
                found[node] = (word, of(message.name, word))
    named = _named(visible, "\n".join(m.text for m in batch.messages))
    return found | {node: (name, *found.get(node, ())) for node, name in named.items()}


def _named(visible: LearnerRows, said: str) -> dict[str, str]:
    """Each node that ``said`` names, by its longest name, the longest names first.

    A user only by a name that nobody else in this chat window bears; a thing that is called
    by one English word not by the word, but with its capital.
    """
    found: dict[str, Name] = {}
    text = normalise(said)
    for name in visible.rows.names_in(text):
        is_named = len(name.norm) >= _SHORTEST_NAME and occurs(name.norm, text)
        if not is_named or not visible.shows(name):
            continue
        is_word = is_entity(name.node) and _TITLE.fullmatch(name.text)
        if is_word and visible.type_of(name.node) not in BEINGS and name.text not in said:
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
    visible: LearnerRows,
    present: Iterable[str],
    named: Iterable[str],
    now: float,
) -> list[Fact]:
    """Current facts of speakers, of what is named and of this Session, once."""
    near: dict[str, Fact] = {}
    for node in present:
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_LOOKED_AT))
    own = [f.object for f in near.values() if f.session == visible.here.id and is_entity(f.object)]
    for node in dict.fromkeys(own[:MAX_STEPS]):  # one step along the graph
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_STEPS))
    for node in named:
        near.update((fact.id, fact) for fact in visible.facts_of(node, MAX_LOOKED_AT))
        near.update((fact.id, fact) for fact in visible.facts_with(node, MAX_LOOKED_AT))
    here = visible.rows.find(Fact, session=visible.here.id, newest=MAX_LOOKED_AT)
    for fact in filter(visible.shows, here):
        near.setdefault(fact.id, fact)
    found = {
        (visible.canonical(fact.subject), normalise(fact.statement)): fact
        for fact in reversed(near.values())  # of the copies of two Sessions that of this one
        if fact.status == Status.ACTIVE and not fact.is_over(now) and not visible.is_replaced(fact)
    }
    return list(found.values())


def ranked(
    facts: Sequence[Fact],
    ends: Mapping[str, Collection[str]],
    said: Iterable[str],
    named: Mapping[str, Collection[str]],
    likeness: Mapping[str, float],
) -> list[Fact]:
    """Facts, nearest to a batch first: by shared words, names, recency and likeness.

    What is nearest to each message comes before what is second nearest to any; the order by
    words and that by likeness are fused by place.

    Args:
        ends: Subject and object of each fact, by its id.
        named: What the messages name, and in which words.
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


class ExtractionExtension(Protocol):
    """Fields that one batch's call is asked for besides, and what becomes of them.

    Attributes:
        properties: JSON schemas of the fields that are asked for, by name.
        instructions: What they mean, a line each, by language.
        lines: What is shown beside the known items; safe to stand in the fence.
    """

    @property
    def properties(self) -> Mapping[str, Any]: ...

    @property
    def instructions(self) -> Mapping[str, str]: ...

    @property
    def lines(self) -> Sequence[str]: ...

    def write(self, rows: Rows, draft: Draft, answer: Mapping[str, Any], now: float) -> None:
        """Add to the batch's change; ``answer`` has the fields as the model gave them."""


Extend = Callable[[Rows, Batch, PromptContext], Sequence[ExtractionExtension]]
"""Makes the extensions of a batch; of the context, only the speakers are there."""


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """What the model is asked about one batch."""

    system: str
    prompt: str
    tool: ToolSchema


def language(batch: Batch) -> str:
    """``zh`` or ``en``, by what the people in a batch wrote."""
    return "zh" if is_chinese("\n".join(m.text for m in batch.messages if m.is_human)) else "en"


def owners_words(settings: Settings, tongue: str) -> str:
    """What the owner adds to the instructions: predicates, and what matters to them."""
    relations = [f"{name}={called}" for name, called in settings.relations(tongue).items()]
    given = (", ".join(relations), settings.learning_note)
    return "".join(
        f"{head}{text}\n" for head, text in zip(OWNERS[tongue], given, strict=True) if text
    )


def compose(
    batch: Batch,
    known: PromptContext,
    zone: tzinfo,
    extensions: Sequence[ExtractionExtension] = (),
    settings: Settings | None = None,
) -> ExtractionRequest:
    """The request for a batch."""
    tongue = language(batch)
    words = _WORDS[tongue]
    lines = [words["group" if batch.session.is_group else "private"]]
    shown = known.lines()
    if known.summary:
        shown.insert(0, words["earlier"] + fenced(known.summary, 200))
    shown += [line for extension in extensions for line in extension.lines]
    if shown:
        lines += ["<known>", *shown, "</known>"]
    lines += ["<chat>", *_chat(batch, known, zone, words), "</chat>"]
    system, fields = INSTRUCTIONS[tongue], TOOL.parameters["properties"]
    if settings and (settings.learning_note or settings.extra_relations):
        system += owners_words(settings, tongue)
    system += DENIED[tongue] if known.denied else ""
    for extension in extensions:
        system += extension.instructions[tongue]
        fields = {**fields, **extension.properties}
    tool = replace(TOOL, parameters={**TOOL.parameters, "properties": fields})
    return ExtractionRequest(system, "\n".join(lines), tool)


def _chat(batch: Batch, known: PromptContext, zone: tzinfo, words: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    days = words["days"].split()
    day, shown, met = "", -math.inf, set[str]()

    def speaker(message: Message) -> str:
        if not message.is_human:
            return BOT.upper()
        label = known.label(message.sender)
        person = known.people.get(label)
        name = person.name if person else fenced(clean_name(message.name), MAX_NAME)
        is_met = message.sender in met
        met.add(message.sender)
        return label if label and is_met else f"{label} {name}".strip()

    for message in known.before:
        text = fenced(disclosed(message).text, MAX_STATEMENT)
        lines.append(f"{words['before']} {speaker(message)}: {text}")
    for number, message in enumerate(batch.messages, 1):
        at = datetime.fromtimestamp(message.at, zone)
        if number > 1 and message.id in known.episodes:
            lines.append(BREAK)
        today = f"{at:%Y-%m-%d} {days[at.weekday()]}"
        if today != day:
            lines.append(today)
            day = today
        time = ""
        if message.at - shown >= PAUSE:
            time, shown = f"{at:%H:%M} ", message.at
        text = f"{_turn(message, batch, known)}{_shown(message, known)}"
        lines.append(f"[{number}] {time}{speaker(message)}: {text}")
    return lines


def _turn(message: Message, batch: Batch, known: PromptContext) -> str:
    """Whom a message turns to before it says anything: what it quotes, and the bot."""
    parts: list[str] = []
    numbers = {each.id: number for number, each in enumerate(batch.messages, 1)}
    for one in message.to:
        who = BOT.upper() if one.user == BOT else known.label(one.user) if one.user else ""
        words = known.quoted.get(one.quoted or 0, "")
        if one.quoted in numbers:
            parts.append(f"{QUOTE}[{numbers[one.quoted]}] ")
        elif one.quoted is not None and (who or words):
            parts.append(f"{QUOTE}{who}{words} ")
        elif one.user == BOT:
            parts.append(f"@{who} ")
    return "".join(dict.fromkeys(parts))


def _shown(message: Message, known: PromptContext) -> str:
    """What a message says, with labels for those it mentions."""
    line = fenced(message.text, len(message.text) + 1)
    if len(line) > MAX_LINE:
        line = f"{line[: MAX_LINE * 3 // 4]} … {line[-(MAX_LINE // 4) :]}"
    for one in sorted(message.to, key=lambda one: -len(one.name)):
        label, name = known.label(one.user), fenced(one.name, len(one.name) + 1)
        if one.quoted is None and label and name:
            line = re.sub(rf"@{re.escape(name)}(?!\w)", f"@{label}", line)
    return line
